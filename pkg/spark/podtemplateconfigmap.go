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
	corev1 "k8s.io/api/core/v1"
)

// Where the executors' template is in the ConfigMap and in the driver (Constants.POD_TEMPLATE_KEY and following).
const (
	podTemplateKey      = "podspec-configmap-key"
	podTemplateVolume   = "pod-template-volume"
	podTemplateDir      = "/opt/spark/pod-template"
	podTemplateFileName = "pod-spec-template.yml"
)

// podTemplateConfigMap is PodTemplateConfigMapStep, except that the template is in the driver's own ConfigMap.
func podTemplateConfigMap(b *driverBuilder) {
	b.addVolume(corev1.Volume{Name: podTemplateVolume, VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: b.names.configMap},
			Items:                []corev1.KeyToPath{{Key: podTemplateKey, Path: podTemplateFileName}},
		},
	}}, corev1.VolumeMount{MountPath: podTemplateDir}, nil)
	b.property(keyExecutorTemplateFile, podTemplateDir+"/"+podTemplateFileName)
	containers, _ := lookup(b.objects.ExecutorTemplate, "spec", "containers")
	if list, ok := containers.([]any); ok && len(list) > 0 {
		container, _ := list[len(list)-1].(map[string]any)
		b.property(keyExecutorTemplateContainer, text(container, "name"))
	}
	for _, key := range []string{keyDriverTemplateFile, keyDriverTemplateContainer} {
		if s, ok := b.conf[key]; ok {
			b.rep.warnf(s.path, "the value %q has no effect: use %s", s.value, b.a.driverTemplate.path)
			delete(b.objects.Properties, key)
		}
	}
}
