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

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// What a driver of Spark sets in executors over their template, whatever that says (BasicExecutorFeatureStep). Where a
// property decides on it, the property is set to what the field or the template says; all else is worth a warning.

// overriddenConf sets the properties by which the driver decides.
func (a *Application) overriddenConf(rep *report) {
	if a.Line.overridesExecutorGracePeriod() {
		a.executorGracePeriod(rep)
	}
	if a.Line.setsPrivilegeEscalation() {
		a.executorPrivilegeEscalation(rep)
	}
}

// executorGracePeriod: the field wins over the property, which wins over the template.
func (a *Application) executorGracePeriod(rep *report) {
	if s := a.executor.spec.TerminationGracePeriodSeconds; s != nil {
		a.conf.set(keyExecutorGracePeriod, strconv.FormatInt(*s, 10)+"s", a.executor.path.Child("terminationGracePeriodSeconds"), rep)
		return
	}
	value, path, _ := a.TemplateField(Executor, "spec", "terminationGracePeriodSeconds")
	if seconds, ok := value.(int64); ok {
		if _, given := a.conf[keyExecutorGracePeriod]; !given {
			a.conf.set(keyExecutorGracePeriod, strconv.FormatInt(seconds, 10)+"s", path, rep)
		}
	}
}

// executorPrivilegeEscalation: the field wins over the property, which wins over the template. A container that needs its
// privileges may always escalate, since the API server refuses what contradicts itself.
func (a *Application) executorPrivilegeEscalation(rep *report) {
	context, path := a.executor.spec.SecurityContext, a.executor.path.Child("securityContext")
	typed := context != nil
	if !typed {
		_, container, ok := a.templateContainer(&a.executor)
		if !ok || a.executorTemplate.typed == nil {
			return
		}
		containers := a.executorTemplate.typed.Spec.Containers
		at := max(0, slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == a.executor.containerName }))
		if at >= len(containers) || containers[at].SecurityContext == nil {
			return
		}
		context, path = containers[at].SecurityContext, container.Child("securityContext")
	}
	_, given := a.conf.first(keyExecutorPrivilegeEscalation, keyPrivilegeEscalation)
	switch {
	case context.AllowPrivilegeEscalation != nil:
		if typed || !given {
			a.conf.set(keyExecutorPrivilegeEscalation, strconv.FormatBool(*context.AllowPrivilegeEscalation), path.Child("allowPrivilegeEscalation"), rep)
		}
	case needsPrivileges(context):
		a.conf.set(keyExecutorPrivilegeEscalation, "true", path, rep)
	}
}

// needsPrivileges says whether a container can't be forbidden to escalate its privileges: the API server refuses that of
// privileged containers, and the kernel makes nothing of it for those that administer the system.
func needsPrivileges(c *corev1.SecurityContext) bool {
	return c.Privileged != nil && *c.Privileged || c.Capabilities != nil &&
		slices.ContainsFunc(c.Capabilities.Add, func(name corev1.Capability) bool { return name == "SYS_ADMIN" || name == "CAP_SYS_ADMIN" })
}

// warnOfOverridden warns of what a template says and Spark sets otherwise.
func (a *Application) warnOfOverridden(r *role, rep *report) {
	t := a.templateOf(r)
	if t.typed == nil {
		return
	}
	for _, key := range r.reservedLabels {
		if value, ok := t.typed.Labels[key]; ok {
			rep.warnf(t.path.Child("metadata", "labels").Key(key), "%q has no effect: Spark sets this label itself", value)
		}
	}
	spec, path := &t.typed.Spec, t.path.Child("spec")
	if p := spec.RestartPolicy; p != "" && p != corev1.RestartPolicyNever {
		rep.warnf(path.Child("restartPolicy"), "%q has no effect: Spark's pods are never restarted in place", p)
	}
	if r.name == Executor && spec.Hostname != "" {
		rep.warnf(path.Child("hostname"), "%q has no effect: Spark names executors after their pods", spec.Hostname)
	}
	if r.name == Executor && a.conf.boolean(keyDecommissionEnabled, false, &report{}) && r.lifecycle == nil {
		if container, at, ok := a.templateContainer(r); ok && container["lifecycle"] != nil {
			rep.warnf(at.Child("lifecycle"), "has no effect, because %s is on: Spark sets a hook of its own then", keyDecommissionEnabled)
		}
	}
	container, at, ok := a.templateContainer(r)
	if !ok {
		return
	}
	image := a.conf.value("", r.keyImage, keyImage)
	if own := text(container, "image"); own != "" && own != image {
		rep.warnf(at.Child("image"), "%q has no effect: Spark runs %q; set %s", own, image, r.path.Child("image"))
	}
	policy := a.conf.value(string(corev1.PullIfNotPresent), keyImagePullPolicy)
	if own := text(container, "imagePullPolicy"); own != "" && own != policy {
		rep.warnf(at.Child("imagePullPolicy"), "%q has no effect: Spark's is %q; set %s", own, policy, a.specPath.Child("imagePullPolicy"))
	}
	resources, _ := container["resources"].(map[string]any)
	for _, f := range []struct {
		list, resource, remedy string
		ours                   corev1.ResourceList
	}{
		{"requests", "cpu", "coreRequest", r.resources.Requests},
		{"requests", "memory", "memory", r.resources.Requests},
		{"limits", "cpu", "coreLimit", r.resources.Limits},
		{"limits", "memory", "memory", r.resources.Limits},
	} {
		own, _ := lookup(resources, f.list, f.resource)
		a.warnOfQuantity(own, f.ours, corev1.ResourceName(f.resource), at.Child("resources", f.list, f.resource), r.path.Child(f.remedy), rep)
	}
}

// warnOfQuantity warns of a quantity of a template that Spark replaces by another.
func (a *Application) warnOfQuantity(own any, ours corev1.ResourceList, name corev1.ResourceName, path, remedy *field.Path, rep *report) {
	var value string
	switch own := own.(type) {
	case string:
		value = own
	case int64:
		value = strconv.FormatInt(own, 10)
	default:
		return
	}
	set, ok := ours[name]
	quantity, err := resource.ParseQuantity(value)
	if ok && err == nil && quantity.Cmp(set) != 0 {
		rep.warnf(path, "%q has no effect: Spark makes it %s; use %s", value, set.String(), remedy)
	}
}
