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
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// A pod requests what its containers do, with the largest init container, and limits where there is no request.
func TestPodRequests(t *testing.T) {
	sidecar := corev1.Container{Name: "a", Image: "b", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("100Mi")},
	}}
	a, _ := built(t, func(app *v1beta2.SparkApplication) {
		app.Spec.Driver.Sidecars = []corev1.Container{sidecar}
		app.Spec.Executor.GPU = &v1beta2.GPUSpec{Name: "nvidia.com/gpu", Quantity: 2}
		app.Spec.Executor.Instances = new(int32(3))
		app.Spec.NodeSelector = map[string]string{"pool": "spark"}
	}, withConf("spark.memory.offHeap.enabled", "true", "spark.memory.offHeap.size", "100m", "spark.kubernetes.executor.node.selector.disk", "ssd"),
		executorTemplateOf(`{"spec":{"initContainers":[{"name":"i","image":"i","resources":{"requests":{"cpu":"4"}}}],
			"containers":[{"name":"x","image":"x","resources":{"requests":{"cpu":"9","ephemeral-storage":"1Gi"}}}]}}`))

	driver := a.PodRequests(Driver)
	assertQuantity(t, "1100m", driver[corev1.ResourceCPU])
	assertQuantity(t, "1508Mi", driver[corev1.ResourceMemory])
	executor := a.PodRequests(Executor)
	assertQuantity(t, "4", executor[corev1.ResourceCPU])
	assertQuantity(t, "1508Mi", executor[corev1.ResourceMemory])
	assertQuantity(t, "1Gi", executor[corev1.ResourceEphemeralStorage])
	assertQuantity(t, "2", executor["nvidia.com/gpu"])

	sum := a.Requests()
	assertQuantity(t, "13100m", sum[corev1.ResourceCPU])
	assertQuantity(t, "6032Mi", sum[corev1.ResourceMemory])
	assertQuantity(t, "6", sum["nvidia.com/gpu"])
	assert.Equal(t, a.PodRequests(Driver), driver, "what was returned before is not changed")

	spec := a.PodSpec(Executor)
	assert.Equal(t, map[string]string{"pool": "spark", "disk": "ssd"}, spec.NodeSelector)
	assert.Nil(t, spec.SchedulingGroup)
}

// Marks of a batch scheduler and membership in a PodGroup exclude each other.
func TestBuildRefusesTwoPlacements(t *testing.T) {
	a, errs := Resolve(newApp(), testSpecPath)
	require.Empty(t, errs)
	at := testAttempt
	at.Group, at.Placement = &Group{PodGroupName: "g"}, &Placement{SchedulerName: "volcano"}
	_, err := Build(a, at)
	require.ErrorContains(t, err, "volcano")
}
