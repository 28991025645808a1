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
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// executorTemplateObject makes the pod template that the driver makes executors from: the user's template, the typed
// fields, and the membership in the attempt's group. What Spark sets itself is not in it, and is checked against it.
func executorTemplateObject(a *Application, at Attempt, rep *report) map[string]any {
	f := newPodFields(a, &a.executor, a.executorTemplate, rep)
	f.apply()
	f.executorEnvironment()
	names := namesOf(a.App.Name, a.App.UID, at.SubmissionID)
	f.metrics(names.configMap)
	f.sparkOwn(names.appID)
	if g := at.Group; g != nil {
		// All members must have the class of their group, also those that come later.
		if g.PriorityClassName != "" {
			setPriorityClass(f.spec, g.PriorityClassName)
		}
		child(f.spec, "schedulingGroup")["podGroupName"] = g.PodGroupName
		f.groupClaims(g.ResourceClaims)
	}
	if p := at.Placement; p != nil && p.SchedulerName != "" {
		f.spec["schedulerName"] = p.SchedulerName
	}
	for _, owner := range objectsAt(child(f.pod, "metadata"), "ownerReferences") {
		if controller, _ := owner["controller"].(bool); controller {
			rep.err(field.Forbidden(f.template.Child("metadata", "ownerReferences"), "the driver is the controller of its executors"))
		}
	}
	if len(child(f.pod, "metadata")) == 0 {
		delete(f.pod, "metadata")
	}
	f.pod["apiVersion"], f.pod["kind"] = "v1", "Pod"
	f.spec["containers"] = slices.Concat(f.others, []any{f.container})
	return f.pod
}

// groupClaims lets the executor use the devices of its group. A template that says the same already is left as it is.
func (f *podFields) groupClaims(claims []corev1.PodResourceClaim) {
	for i := range claims {
		claim := f.json(claims[i], f.a.specPath.Child("scheduling", "resourceClaims").Index(i))
		f.addNamed(f.spec, "resourceClaims", claims[i].Name, claim)
		f.addNamed(child(f.container, "resources"), "claims", claims[i].Name, map[string]any{"name": claims[i].Name})
	}
}

// addNamed adds an entry to a list, unless one of that name is there.
func (f *podFields) addNamed(parent map[string]any, list, name string, entry any) {
	for _, there := range objectsAt(parent, list) {
		if there["name"] == name {
			return
		}
	}
	appendAt(parent, list, entry)
}

// executorEnvironment adds the variables that no property can express. Those that can be expressed are properties.
func (f *podFields) executorEnvironment() {
	for i := range f.role.spec.Env {
		path := indexed(f.role.path, "env", i)
		f.ledger.env(f.role.spec.Env[i].Name, path.Child("name"))
		appendAt(f.container, "env", f.json(f.role.spec.Env[i], path))
	}
	for i := range f.role.spec.EnvFrom {
		appendAt(f.container, "envFrom", f.json(f.role.spec.EnvFrom[i], indexed(f.role.path, "envFrom", i)))
	}
}

// sparkOwn enters what the driver will add to the pods of executors, so that a collision is found before it happens.
func (f *podFields) sparkOwn(appID string) {
	c := f.a.conf
	for _, p := range c.withPrefix(f.role.prefixEnv) {
		f.ledger.env(p.name, p.path)
	}
	f.ledger.spark = true
	checkMetadata(f.a, f.role, f.ledger, appID)
	if c.value("", keyBlockManagerPort) != "0" {
		port := c.integer(keyBlockManagerPort, defaultBlockManagerPort, 1, 65535, f.rep)
		f.ledger.port(portBlockManager, port, containerPort(portBlockManager, port), nil)
	}
	for _, s := range c.withPrefix(f.role.prefixSecrets) {
		v := secretVolume(s.name)
		f.note(&corev1.Volume{Name: s.name + secretVolumeSuffix, VolumeSource: v.VolumeSource}, s.value, s.path)
	}
	for _, s := range c.withPrefix(f.role.prefixSecretKeyRef) {
		secretKeyRef(s, f.ledger)
	}
	for _, v := range f.role.volumes {
		f.ledger.volume(v.name, v.options, v.path)
		f.ledger.mount(v.mountPath, v, v.path)
	}
	if s, ok := c[keyHadoopConfigMap]; ok {
		f.note(hadoopVolume(s.value), hadoopDir, s.path)
	}
	if !c.boolean(keyExecutorDisableConfigMap, false, f.rep) {
		f.note(&corev1.Volume{Name: "spark-conf-volume-exec"}, sparkConfDir, nil)
	}
	if !f.hasLocalDirs() {
		for i, dir := range localDirsOf(f.a, "/var/data/spark-") {
			f.note(&corev1.Volume{Name: localDirPrefix + strconv.Itoa(i+1)}, dir, nil)
		}
	}
	f.ledger.checkWanted()
	if c.boolean(keyDecommissionEnabled, false, f.rep) && f.role.lifecycle != nil {
		f.rep.warnf(f.role.path.Child("lifecycle"), "has no effect, because %s is on: Spark sets a hook of its own then", keyDecommissionEnabled)
	}
	if s, ok := c[keyExecutorPodNamePrefix]; ok {
		problems := validation.IsDNS1123Subdomain(s.value)
		if len(s.value) > maxExecutorPrefix {
			problems = append(problems, "must be no more than 237 characters")
		}
		if len(problems) > 0 {
			f.rep.invalid(s.path, s.value, "is no start of a pod's name: %s", strings.Join(problems, "; "))
		}
	}
}

func (f *podFields) note(volume *corev1.Volume, dir string, path *field.Path) {
	f.ledger.volume(volume.Name, volume, path)
	f.ledger.mount(dir, corev1.VolumeMount{Name: volume.Name, MountPath: dir}, path)
}

func (f *podFields) hasLocalDirs() bool {
	for _, m := range objectsAt(f.container, "volumeMounts") {
		if strings.HasPrefix(text(m, "name"), localDirPrefix) {
			return true
		}
	}
	for _, v := range f.role.volumes {
		if strings.HasPrefix(v.name, localDirPrefix) {
			return true
		}
	}
	return false
}
