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

import corev1 "k8s.io/api/core/v1"

const hadoopDir = "/opt/hadoop/conf"

func hadoopVolume(configMap string) *corev1.Volume {
	return &corev1.Volume{Name: "hadoop-properties", VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: configMap}},
	}}
}

// hadoopConfDriver is HadoopConfDriverFeatureStep for a ConfigMap that exists. There is no HADOOP_CONF_DIR of a submitter
// that one could be made from.
func hadoopConfDriver(b *driverBuilder) {
	s, ok := b.conf[keyHadoopConfigMap]
	if !ok {
		return
	}
	b.ledger.objectName("ConfigMap", s.value, s.path)
	b.addVolume(*hadoopVolume(s.value), corev1.VolumeMount{MountPath: hadoopDir}, s.path)
	b.addEnv(envHadoopConfDir, hadoopDir)
	b.property(keyExecutorHadoopConfigMap, s.value)
}
