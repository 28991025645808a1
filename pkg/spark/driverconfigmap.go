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
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	confVolumeName = "spark-conf-volume-driver"
	// maxConfigMapSize is the API server's bound of a ConfigMap's content, in bytes.
	maxConfigMapSize = 1 << 20
	// inClusterMaster is the API server as pods reach it. Only the form matters: the driver reaches the API server by
	// spark.kubernetes.driver.master, whose default is the same.
	inClusterMaster = "k8s://https://kubernetes.default.svc"
	redacted        = "<present_but_redacted>"
)

// driverConfVolume mounts the properties, which KubernetesClientApplication does after all steps.
func driverConfVolume(b *driverBuilder) {
	b.addVolume(corev1.Volume{Name: confVolumeName, VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: b.names.configMap},
			Items:                []corev1.KeyToPath{{Key: propertiesFileName, Path: propertiesFileName, Mode: new(int32(0o644))}},
		},
	}}, corev1.VolumeMount{MountPath: sparkConfDir}, nil)
	b.addEnv(envSparkConfDir, sparkConfDir)
}

// driverEnvironment adds the variables of the typed fields, after all that Spark sets: they win.
func driverEnvironment(b *driverBuilder) {
	if given(b.a.App.Spec.HadoopConfigMap) {
		b.addEnv(envHadoopConfDir, hadoopConfigMapDir)
	}
	if given(b.a.App.Spec.SparkConfigMap) {
		b.addEnv(envSparkConfDir, sparkConfigMapDir)
	}
	spec := b.a.driver.spec
	for i := range spec.Env {
		b.ledger.env(spec.Env[i].Name, indexed(b.a.driver.path, "env", i).Child("name"))
		b.container.Env = append(b.container.Env, *spec.Env[i].DeepCopy())
	}
	for i := range spec.EnvFrom {
		b.container.EnvFrom = append(b.container.EnvFrom, *spec.EnvFrom[i].DeepCopy())
	}
	b.container.Env = withoutShadowed(b.container.Env)
}

// properties finishes the content of spark.properties.
func (b *driverBuilder) properties() {
	p := b.objects.Properties
	p[keyMaster] = inClusterMaster
	b.property(keySubmitTime, strconv.FormatInt(b.attempt.SubmitTime.UnixMilli(), 10))
	if !b.a.Executors.Dynamic {
		p[keyExecutorInstances] = strconv.Itoa(int(b.a.Executors.Initial))
	}
	setDefault(p, keyExecutorPodNamePrefix, b.names.prefix)
	pinGroup(b.a, b.attempt.Group, p)
	b.uiProxyProperties()
	for key := range p {
		if isToken(key) {
			p[key] = redacted
		}
	}
}

// configMap makes the one ConfigMap of the attempt.
func (b *driverBuilder) configMap() {
	// JSON is YAML; written as JSON, no text can be taken for a number or a truth value by any reader.
	var executor bytes.Buffer
	encoder := json.NewEncoder(&executor)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(b.objects.ExecutorTemplate); err != nil {
		b.rep.err(field.InternalError(b.a.executorTemplate.path, err))
		return
	}
	b.objects.ConfigMap = &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: b.objectMeta(b.names.configMap),
		Immutable:  new(true),
		Data: map[string]string{
			propertiesFileName: writeProperties(b.objects.Properties, b.names.configMap, b.attempt.SubmitTime),
			podTemplateKey:     executor.String(),
			// Not mounted; Spark has it for those who list the ConfigMaps of drivers.
			keyNamespace: b.a.App.Namespace,
		},
	}
	maps.Copy(b.objects.ConfigMap.Data, b.a.monitoring.files)
	size := 0
	for key, value := range b.objects.ConfigMap.Data {
		size += len(key) + len(value)
	}
	if size > maxConfigMapSize {
		b.rep.invalid(b.a.specPath, size, "properties and the executors' template are more than the %d bytes that a ConfigMap holds", maxConfigMapSize)
	}
}

// isToken says whether Spark keeps a property out of files (DriverKubernetesCredentialsFeatureStep, which redacts them).
func isToken(key string) bool { return strings.HasSuffix(key, "oauthToken") }

// withoutShadowed drops definitions of variables that are repeated word by word later on. Of different definitions the
// last one wins, and an earlier one may be referred to in between, so that those stay.
func withoutShadowed(env []corev1.EnvVar) []corev1.EnvVar {
	var out []corev1.EnvVar
	for i := range env {
		repeated := slices.ContainsFunc(env[i+1:], func(e corev1.EnvVar) bool { return equality.Semantic.DeepEqual(e, env[i]) })
		if !repeated {
			out = append(out, env[i])
		}
	}
	return out
}
