/*
Copyright The spark-apiserver Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package spark

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	hadoopTokenDir     = "/mnt/secrets/hadoop-credentials"
	envHadoopTokenFile = "HADOOP_TOKEN_FILE_LOCATION"
)

// kerberosConfDriver is KerberosConfDriverFeatureStep for what exists in the cluster already: a ConfigMap with krb5.conf
// and a secret with delegation tokens. A keytab has to be in the image or in a mounted secret.
func kerberosConfDriver(b *driverBuilder) {
	if s, ok := b.conf[keyKrb5ConfigMap]; ok {
		b.ledger.objectName("ConfigMap", s.value, s.path)
		b.addVolume(corev1.Volume{Name: "krb5-file", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: s.value}},
		}}, corev1.VolumeMount{MountPath: "/etc/krb5.conf", SubPath: "krb5.conf"}, s.path)
	}
	secret, ok := b.conf[keyTokenSecretName]
	if !ok {
		return
	}
	b.ledger.objectName("Secret", secret.value, secret.path)
	b.addVolume(corev1.Volume{Name: "hadoop-secret", VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: secret.value},
	}}, corev1.VolumeMount{MountPath: hadoopTokenDir}, secret.path)
	b.addEnv(envHadoopTokenFile, inFolder(hadoopTokenDir, b.conf.value("", keyTokenSecretItemKey)))
}

// checkKerberos refuses combinations that Spark refuses when it submits.
func (a *Application) checkKerberos(rep *report) {
	both := func(one, other string) {
		s, ok := a.conf[one]
		if _, paired := a.conf[other]; ok && !paired {
			rep.err(field.Required(a.sparkConfPath(other), "must be given together with "+s.path.String()))
		}
	}
	both(keyKeytab, keyPrincipal)
	both(keyPrincipal, keyKeytab)
	both(keyTokenSecretName, keyTokenSecretItemKey)
	both(keyTokenSecretItemKey, keyTokenSecretName)
	if s, ok := a.conf[keyKeytab]; ok && !strings.HasPrefix(s.value, "local:") {
		rep.invalid(s.path, s.value, "names a file of the submitter's machine, which can't be reached: mount a secret and name the file with local://")
	}
	if s, ok := a.conf[keyPrincipal]; ok && given(a.App.Spec.ProxyUser) {
		rep.invalid(a.specPath.Child("proxyUser"), *a.App.Spec.ProxyUser, "must not be given together with %s", s.path)
	}
}
