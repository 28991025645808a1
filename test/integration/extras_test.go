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

package integration

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/clustertest"
)

// everyGate of ours.
var everyGate = map[string]bool{
	"SparkApplicationWorkloadAwareScheduling": true,
	"SparkApplicationGroupPriorityClass":      true,
	"SparkApplicationDisruptionMode":          true,
	"SparkApplicationTopology":                true,
	"SparkApplicationSharedResourceClaims":    true,
	"SparkApplicationGroupDynamicAllocation":  true,
}

const rackLabel = "example.com/rack"

// scheduling makes a gang with more than that.
func scheduling(edit func(*v1beta2.SparkSchedulingSpec)) change {
	return func(app *v1beta2.SparkApplication) {
		gang(app)
		edit(app.Spec.Scheduling)
	}
}

// label puts a label on a node.
func (n *tenant) label(node, key, value string) {
	n.t.Helper()
	patch := []byte(`{"metadata":{"labels":{"` + key + `":"` + value + `"}}}`)
	_, err := n.kube.CoreV1().Nodes().Patch(n.t.Context(), node, types.MergePatchType, patch, metav1.PatchOptions{})
	require.NoError(n.t, err)
}

func (n *tenant) podGroup() *schedulingv1beta1.PodGroup {
	n.t.Helper()
	groups, err := n.kube.SchedulingV1beta1().PodGroups(n.namespace).List(n.t.Context(), metav1.ListOptions{})
	require.NoError(n.t, err)
	require.Len(n.t, groups.Items, 1)
	return &groups.Items[0]
}

// What a scheduling block can ask for beyond a gang, on a cluster with the alpha gates that this takes.
func TestExtras(t *testing.T) {
	c := clustertest.New(t, cluster.Options{FeatureGates: map[string]bool{
		"TopologyAwareWorkloadScheduling": true, "DRAWorkloadResourceClaims": true,
	}})
	server, err := c.StartSparkAPIServer(t.Context(), cluster.ServerOptions{FeatureGates: everyGate})
	require.NoError(t, err)
	e, err := newEnvironment(c, server)
	require.NoError(t, err)
	for name, value := range map[string]int32{"low": 10, "high": 1000} {
		_, err := e.kube.SchedulingV1().PriorityClasses().Create(t.Context(), &schedulingv1.PriorityClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value,
		}, metav1.CreateOptions{})
		require.NoError(t, err)
	}

	t.Run("priority class and disruption together", func(t *testing.T) {
		n := e.tenant(t)
		n.addNode("4")
		n.create(n.application("pi", executors(3), outcome("hang"), scheduling(func(s *v1beta2.SparkSchedulingSpec) {
			s.PriorityClassName = new("low")
			s.DisruptionMode = &sparkoperator.DisruptionMode{All: &sparkoperator.AllDisruptionMode{}}
		}), func(app *v1beta2.SparkApplication) { app.Spec.Driver.PriorityClassName = new("high") }))
		n.untilCondition("pi", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionTrue, "GangAdmitted")
		group := n.podGroup()
		assert.EqualValues(t, 10, *group.Spec.Priority)
		assert.NotNil(t, group.Spec.DisruptionMode.All)
		first := sets.New[types.UID]()
		for _, pod := range n.executorPods("pi") {
			assert.EqualValues(t, 10, *pod.Spec.Priority)
			first.Insert(pod.UID)
		}
		require.Len(t, first, 3)

		// One pod of more importance needs the room of one executor, and takes all of them.
		pi := n.driverPods("pi")[0]
		_, err := n.kube.CoreV1().Pods(n.namespace).Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "urgent"},
			Spec: corev1.PodSpec{
				PriorityClassName: "high", Tolerations: pi.Spec.Tolerations, NodeSelector: pi.Spec.NodeSelector,
				Containers: []corev1.Container{{Name: "urgent", Image: "urgent", Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
				}}},
			},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		n.until("all three are preempted, and the job goes on", func(c *assert.CollectT) {
			for _, pod := range n.executorPods("pi") {
				assert.False(c, first.Has(pod.UID), pod.Name)
			}
			assert.Equal(c, 2, bound(n.executorPods("pi")))
			assert.Equal(c, v1beta2.ApplicationStateRunning, n.get("pi").Status.AppState.State)
		})
		assert.Equal(t, pi.UID, n.driverPods("pi")[0].UID)
	})

	t.Run("one rack", func(t *testing.T) {
		n := e.tenant(t)
		n.label(n.addNode("1"), rackLabel, "driver")
		n.label(n.addNode("3"), rackLabel, "a")
		n.label(n.addNode("3"), rackLabel, "b")
		n.create(n.application("pi", executors(4), outcome("hang"), scheduling(func(s *v1beta2.SparkSchedulingSpec) {
			s.SchedulingConstraints = &sparkoperator.SchedulingConstraints{Topology: []sparkoperator.TopologyConstraint{{Key: rackLabel}}}
		}), func(app *v1beta2.SparkApplication) {
			ours := app.Spec.NodeSelector
			app.Spec.NodeSelector = nil
			app.Spec.Driver.NodeSelector = map[string]string{reserved: n.namespace, rackLabel: "driver"}
			app.Spec.Executor.NodeSelector = ours
		}))
		// There is room for six, and in no rack for four.
		n.untilCondition("pi", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionFalse, "GangUnschedulable")
		assert.Zero(t, bound(n.executorPods("pi")))
		n.label(n.addNode("1"), rackLabel, "b")
		n.untilCondition("pi", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionTrue, "GangAdmitted")
		racks := sets.New[string]()
		n.until("all four run", func(c *assert.CollectT) { assert.Equal(c, 4, bound(n.executorPods("pi"))) })
		for _, pod := range n.executorPods("pi") {
			node, err := n.kube.CoreV1().Nodes().Get(t.Context(), pod.Spec.NodeName, metav1.GetOptions{})
			require.NoError(t, err)
			racks.Insert(node.Labels[rackLabel])
		}
		assert.Equal(t, []string{"b"}, sets.List(racks))
	})

	t.Run("dynamic allocation", func(t *testing.T) {
		n := e.tenant(t)
		n.addNode("2")
		n.create(n.application("pi", gang, outcome("hang"), func(app *v1beta2.SparkApplication) {
			app.Spec.DynamicAllocation = &v1beta2.DynamicAllocation{Enabled: true, MinExecutors: new(int32(2)), MaxExecutors: new(int32(6))}
		}))
		n.untilCondition("pi", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionFalse, "GangUnschedulable")
		assert.Zero(t, bound(n.executorPods("pi")))
		assert.EqualValues(t, 2, n.podGroup().Spec.SchedulingPolicy.Gang.MinCount)
		n.addNode("2")
		n.untilCondition("pi", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionTrue, "GangAdmitted")
		n.until("more executors are placed one by one", func(c *assert.CollectT) {
			assert.EqualValues(c, 1, n.podGroup().Spec.SchedulingPolicy.Gang.MinCount)
		})
		n.killExecutors("pi", 2)
		n.until("they are replaced", func(c *assert.CollectT) { assert.Equal(c, 2, bound(n.executorPods("pi"))) })
	})

	t.Run("a device that all executors share", func(t *testing.T) {
		n := e.tenant(t)
		node := n.addNode("4")
		resources := n.kube.ResourceV1()
		_, err := resources.DeviceClasses().Create(t.Context(), &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu.example.com"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = resources.ResourceSlices().Create(t.Context(), &resourcev1.ResourceSlice{
			ObjectMeta: metav1.ObjectMeta{Name: node},
			Spec: resourcev1.ResourceSliceSpec{
				Driver: "gpu.example.com", NodeName: &node, Devices: []resourcev1.Device{{Name: "gpu-0"}},
				Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
			},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = resources.ResourceClaimTemplates(n.namespace).Create(t.Context(), &resourcev1.ResourceClaimTemplate{
			ObjectMeta: metav1.ObjectMeta{Name: "shared-gpu"},
			Spec: resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{
				Requests: []resourcev1.DeviceRequest{{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu.example.com"}}},
			}}},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		n.create(n.application("pi", executors(2), outcome("hang"), scheduling(func(s *v1beta2.SparkSchedulingSpec) {
			s.ResourceClaims = []sparkoperator.ResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("shared-gpu")}}
		})))
		n.untilCondition("pi", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionTrue, "GangAdmitted")
		n.until("both run", func(c *assert.CollectT) { assert.Equal(c, 2, bound(n.executorPods("pi"))) })
		claims, err := resources.ResourceClaims(n.namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.Len(t, claims.Items, 1, "one claim for both")
		require.Len(t, claims.Items[0].Status.ReservedFor, 1)
		assert.Equal(t, "podgroups", claims.Items[0].Status.ReservedFor[0].Resource)
	})
}
