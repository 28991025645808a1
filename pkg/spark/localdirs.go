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
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// localDirPrefix starts the names of volumes that are Spark's scratch space (LocalDirsFeatureStep).
const localDirPrefix = "spark-local-dir-"

// localDirsOf are the folders for scratch space that no volume was named for.
func localDirsOf(a *Application, fallback string) []string {
	if dirs := commaList(a.conf.value("", keyLocalDir)); len(dirs) > 0 {
		return dirs
	}
	return []string{fallback}
}

// localDirs is LocalDirsFeatureStep.
func localDirs(b *driverBuilder) {
	var dirs []string
	for _, m := range b.container.VolumeMounts {
		if strings.HasPrefix(m.Name, localDirPrefix) {
			dirs = append(dirs, m.MountPath)
		}
	}
	if len(dirs) == 0 {
		dirs = localDirsOf(b.a, b.names.localDir)
		path := b.conf[keyLocalDir].path
		for i, dir := range dirs {
			source := &corev1.EmptyDirVolumeSource{}
			if b.conf.boolean(keyLocalDirsTmpfs, false, b.rep) {
				source.Medium = corev1.StorageMediumMemory
			}
			b.addVolume(
				corev1.Volume{Name: localDirPrefix + strconv.Itoa(i+1), VolumeSource: corev1.VolumeSource{EmptyDir: source}},
				corev1.VolumeMount{MountPath: dir}, path)
		}
	}
	b.addEnv(envSparkLocalDirs, strings.Join(dirs, ","))
}
