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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// The main job: no member of a gang is bound before all can be, then all are, and the application completes.
func TestGangIsPlacedAllTogetherOrNotAtAll(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("4") // the driver and three of four executors
	n.create(n.application("pi", gang, executors(4)))

	// Unschedulable is reported only after the scheduler has tried all members together.
	condition := n.untilCondition("pi", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionFalse, "GangUnschedulable")
	assert.Contains(t, condition.Message, "minCount", "the scheduler's own words")
	require.Len(t, n.executorPods("pi"), 4)
	require.Zero(t, bound(n.executorPods("pi")), "a member is bound although the gang does not fit")
	app := n.get("pi")
	assert.Equal(t, v1beta2.ApplicationStateRunning, app.Status.AppState.State, "the driver runs")

	record := app.Status.WorkloadScheduling
	require.NotNil(t, record)
	require.Len(t, record.PodGroups, 1)
	assert.Equal(t, app.Status.SubmissionID, record.SubmissionID)
	assert.EqualValues(t, 4, *record.PodGroups[0].MinCount)
	group, err := n.kube.SchedulingV1beta1().PodGroups(n.namespace).Get(t.Context(), record.PodGroups[0].PodGroupName, metav1.GetOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 4, group.Spec.SchedulingPolicy.Gang.MinCount)
	_, err = n.kube.SchedulingV1beta1().Workloads(n.namespace).Get(t.Context(), record.WorkloadName, metav1.GetOptions{})
	require.NoError(t, err)

	n.addNode("4")
	n.until("all four are bound", func(c *assert.CollectT) {
		assert.Equal(c, 4, bound(n.executorPods("pi")))
	})
	n.untilState("pi", v1beta2.ApplicationStateCompleted)
	ready := n.untilCondition("pi", v1beta2.ConditionComplete, metav1.ConditionTrue, "")
	assert.NotEmpty(t, ready.Message)
	n.until("the PodGroup is removed at the end", func(c *assert.CollectT) {
		groups, err := n.kube.SchedulingV1beta1().PodGroups(n.namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.Empty(c, groups.Items)
	})
}

// Two gangs with room for one: they never share the room and block each other.
func TestOfTwoGangsOneWaitsForTheOther(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("5") // two drivers and three executors
	n.create(n.application("one", gang, executors(3), outcome("hang")))
	n.untilCondition("one", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionTrue, "GangAdmitted")
	n.create(n.application("two", gang, executors(3)))
	n.untilCondition("two", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionFalse, "GangUnschedulable")
	assert.Equal(t, 3, bound(n.executorPods("one")))
	assert.Zero(t, bound(n.executorPods("two")), "half of a gang holds room")

	require.NoError(t, n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Delete(t.Context(), "one", metav1.DeleteOptions{}))
	n.untilState("two", v1beta2.ApplicationStateCompleted)
}

// Both at once: whoever comes first, one runs whole and the other has nothing, and both complete in the end.
func TestTwoGangsSubmittedTogetherBothComplete(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("5")
	n.create(n.application("one", gang, executors(3)))
	n.create(n.application("two", gang, executors(3)))
	n.untilState("one", v1beta2.ApplicationStateCompleted)
	n.untilState("two", v1beta2.ApplicationStateCompleted)
}

// After the admission a lost executor is replaced by itself, without waiting for the whole gang.
func TestKilledExecutorIsReplaced(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("5")
	n.create(n.application("pi", gang, executors(4), outcome("hang")))
	n.untilCondition("pi", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionTrue, "GangAdmitted")
	n.until("minCount is lowered", func(c *assert.CollectT) {
		groups, err := n.kube.SchedulingV1beta1().PodGroups(n.namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		if assert.Len(c, groups.Items, 1) {
			assert.EqualValues(c, 1, groups.Items[0].Spec.SchedulingPolicy.Gang.MinCount)
		}
	})
	before := map[string]bool{}
	for _, pod := range n.executorPods("pi") {
		before[string(pod.UID)] = true
	}
	// Two at once: with the original minCount a lone replacement would wait for ever.
	n.killExecutors("pi", 2)
	n.until("the replacements are bound", func(c *assert.CollectT) {
		pods := n.executorPods("pi")
		assert.Equal(c, 4, bound(pods))
		fresh := 0
		for _, pod := range pods {
			if !before[string(pod.UID)] && pod.Spec.NodeName != "" {
				fresh++
			}
		}
		assert.Equal(c, 2, fresh)
	})
	record := n.get("pi").Status.WorkloadScheduling
	require.NotNil(t, record)
	assert.EqualValues(t, 4, *record.PodGroups[0].MinCount, "the record keeps the size of the gang")
}

func (n *tenant) killExecutors(app string, count int) {
	n.t.Helper()
	pods := n.executorPods(app)
	require.GreaterOrEqual(n.t, len(pods), count)
	for i := range count {
		require.NoError(n.t, n.kube.CoreV1().Pods(n.namespace).Delete(n.t.Context(), pods[i].Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
	}
}

// Basic: executors are placed one by one, under a PodGroup.
func TestBasicSchedulingPlacesOneByOne(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("3") // the driver and two of four executors
	app := n.create(n.application("pi", basic, executors(4), outcome("hang")))
	require.NotNil(t, app.Spec.Scheduling.SchedulingPolicy, "a scheduling block without a policy is stored as basic")
	assert.NotNil(t, app.Spec.Scheduling.SchedulingPolicy.Basic)
	n.until("two are bound", func(c *assert.CollectT) {
		assert.Equal(c, 2, bound(n.executorPods("pi")))
		assert.Len(c, n.executorPods("pi"), 4)
	})
	for _, pod := range n.executorPods("pi") {
		require.NotNil(t, pod.Spec.SchedulingGroup)
		assert.Equal(t, n.get("pi").Status.WorkloadScheduling.PodGroups[0].PodGroupName, *pod.Spec.SchedulingGroup.PodGroupName)
	}
	n.untilCondition("pi", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionTrue, "BasicScheduled")
}

// A driver that loses the membership of its executors must not run them outside of the gang.
func TestExecutorWithoutMembershipFailsTheAttempt(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("8")
	n.create(n.application("pi", gang, executors(2), func(app *v1beta2.SparkApplication) {
		app.Spec.Driver.Annotations = map[string]string{"simulated.spark-apiserver.io/misbehaviour": "drop-scheduling-group"}
		app.Spec.RestartPolicy.Type = v1beta2.RestartPolicyAlways
	}))
	n.untilCondition("pi", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionFalse, "ExecutorMembershipMissing")
	n.untilState("pi", v1beta2.ApplicationStateFailed)
	n.until("no executor survives", func(c *assert.CollectT) {
		for _, pod := range n.executorPods("pi") {
			assert.NotEqual(c, corev1.PodRunning, pod.Status.Phase, pod.Name)
		}
	})
}
