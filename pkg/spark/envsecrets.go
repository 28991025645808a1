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
	"k8s.io/apimachinery/pkg/util/validation"
)

// envSecrets is EnvSecretsFeatureStep.
func envSecrets(b *driverBuilder) {
	for _, p := range b.conf.withPrefix(b.a.driver.prefixSecretKeyRef) {
		b.container.Env = append(b.container.Env, corev1.EnvVar{
			Name: p.name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: secretKeyRef(p, b.ledger)},
		})
	}
}

// secretKeyRef reads SECRET:KEY, with exactly one colon.
func secretKeyRef(p named, l *ledger) *corev1.SecretKeySelector {
	l.env(p.name, p.path)
	secret, key, ok := strings.Cut(p.value, ":")
	if !ok || strings.Contains(key, ":") {
		l.rep.invalid(p.path, p.value, "must be the name of a secret, a colon and one of its keys")
	} else {
		l.objectName("Secret", secret, p.path)
		if problems := validation.IsConfigMapKey(key); len(problems) > 0 {
			l.rep.invalid(p.path, p.value, "is no key of a secret: %s", strings.Join(problems, "; "))
		}
	}
	return &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key}
}
