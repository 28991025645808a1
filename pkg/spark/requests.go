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
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	kjson "sigs.k8s.io/json"
)

// PodSpec is the spec of a role's pods, as far as a scheduler looks at it: as the cluster will see it, with what Spark's
// driver adds to the template of executors. It has no membership in a group.
func (a *Application) PodSpec(role Role) *corev1.PodSpec {
	if role == Executor {
		return a.executorPodSpec()
	}
	return a.sample.Driver.Spec.DeepCopy()
}

// executorPodSpec adds to the template what BasicExecutorFeatureStep adds: resources and node selectors.
func (a *Application) executorPodSpec() *corev1.PodSpec {
	pod := &corev1.Pod{}
	if encoded, err := json.Marshal(a.sample.ExecutorTemplate); err == nil {
		_ = kjson.UnmarshalCaseSensitivePreserveInts(encoded, pod) // what the template says was type-checked
	}
	spec := &pod.Spec
	spec.SchedulingGroup = nil // the sample's
	for _, prefix := range []string{prefixNodeSelector, a.executor.prefixNodeSelector} {
		for _, p := range a.conf.withPrefix(prefix) {
			spec.NodeSelector = overlaid(spec.NodeSelector, map[string]string{p.name: p.value})
		}
	}
	if last := len(spec.Containers) - 1; last >= 0 { // Spark's own is the last one
		resources := &spec.Containers[last].Resources
		resources.Requests = overlaid(resources.Requests, a.executor.resources.Requests)
		resources.Limits = overlaid(resources.Limits, a.executor.resources.Limits)
	}
	return spec
}

// PodRequests is what one pod of a role requests, by the rules of kube-scheduler and of resource quotas: that of Spark's
// container, with overhead, PySpark and off-heap memory and devices, and that of the containers beside it. What has only a
// limit requests that much. The overhead of a RuntimeClass, which only the cluster knows, is not in it.
func (a *Application) PodRequests(role Role) corev1.ResourceList {
	pod := &corev1.Pod{Spec: *a.PodSpec(role)}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			resources := &containers[i].Resources
			for name, limit := range resources.Limits {
				if _, ok := resources.Requests[name]; !ok {
					resources.Requests = overlaid(resources.Requests, corev1.ResourceList{name: limit})
				}
			}
		}
	}
	return resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
}

// Requests is what the application requests when it has started: its driver and the executors that it starts with.
func (a *Application) Requests() corev1.ResourceList {
	sum := a.PodRequests(Driver)
	for name, quantity := range a.PodRequests(Executor) {
		quantity.Mul(int64(a.Executors.Initial))
		total := sum[name]
		total.Add(quantity)
		sum[name] = total
	}
	return sum
}
