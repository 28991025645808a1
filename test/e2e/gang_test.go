//go:build linux

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

package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/realnode"
)

// oneByOne lets the driver create its executors one at a time, so that a gang could be torn apart.
func oneByOne(app *v1beta2.SparkApplication) {
	if app.Spec.SparkConf == nil {
		app.Spec.SparkConf = map[string]string{}
	}
	app.Spec.SparkConf["spark.kubernetes.allocation.batch.size"] = "1"
}

// The main job, in both languages, on the oldest and on the newest Spark: the driver creates the executors one by one,
// none is placed before the last exists, all are placed together, and the result is pi.
func TestGangRuns(t *testing.T) {
	for _, line := range lines {
		for _, language := range []string{"jvm", "python"} {
			t.Run(line+"/"+language, func(t *testing.T) {
				n := newTenant(t)
				executors := n.watchExecutors()
				n.create(n.pi(language, line, oneByOne))
				app := n.untilState("pi", v1beta2.ApplicationStateCompleted)
				assert.Contains(t, n.driverLog("pi"), "Pi is roughly 3.1")
				require.NotNil(t, app.Status.WorkloadScheduling)
				assert.EqualValues(t, 3, *app.Status.WorkloadScheduling.PodGroups[0].MinCount)

				existed, bound, spread := executors.placement()
				assert.Equal(t, 3, existed, "executors that existed when the first got a node")
				assert.Equal(t, 3, bound)
				// What is asked for is that they are placed together; the times are those of the scheduler, in whole seconds.
				assert.LessOrEqual(t, spread, 2*time.Second)
				n.until("the PodGroup is removed at the end", func(c *attempt) {
					groups, err := n.kube.SchedulingV1beta1().PodGroups(n.namespace).List(t.Context(), metav1.ListOptions{})
					require.NoError(t, err)
					assert.Empty(c, groups.Items)
				})
			})
		}
	}
}

// With room for two of three executors none is placed, and the application says why. Once there is room, the same
// attempt runs.
func TestGangThatDoesNotFitWaits(t *testing.T) {
	n := newTenant(t)
	n.leaveRoomFor(100 + 250) // the driver and two and a half executors, in thousandths of a core
	executors := n.watchExecutors()
	n.create(n.pi("jvm", newest))

	condition := n.untilScheduling("pi", metav1.ConditionFalse, "GangUnschedulable")
	assert.Contains(t, condition.Message, "minCount (3) cannot be satisfied", "the scheduler's own words")
	before := n.get("pi")
	assert.Equal(t, v1beta2.ApplicationStateRunning, before.Status.AppState.State, "the driver runs")
	require.Len(t, n.executors("pi"), 3)
	require.Zero(t, bound(n.executors("pi")), "a member has a node although the gang does not fit")

	require.NoError(t, n.kube.CoreV1().Pods(n.namespace).Delete(t.Context(), "blocker", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
	after := n.untilState("pi", v1beta2.ApplicationStateCompleted)
	assert.Equal(t, before.Status.SubmissionID, after.Status.SubmissionID, "another attempt was made")
	assert.Contains(t, n.driverLog("pi"), "Pi is roughly 3.1")
	existed, _, spread := executors.placement()
	assert.Equal(t, 3, existed)
	assert.LessOrEqual(t, spread, 2*time.Second)
}

// leaveRoomFor requests what the node has to offer but for some thousandths of a core.
func (n *tenant) leaveRoomFor(milli int64) {
	n.t.Helper()
	node, err := n.kube.CoreV1().Nodes().Get(n.t.Context(), realnode.NodeName, metav1.GetOptions{})
	require.NoError(n.t, err)
	free := node.Status.Allocatable.Cpu().MilliValue()
	all, err := n.kube.CoreV1().Pods("").List(n.t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=" + realnode.NodeName})
	require.NoError(n.t, err)
	for i := range all.Items {
		for j := range all.Items[i].Spec.Containers {
			free -= all.Items[i].Spec.Containers[j].Resources.Requests.Cpu().MilliValue()
		}
	}
	require.Greater(n.t, free, milli, "the node is too full for the test")
	_, err = n.kube.CoreV1().Pods(n.namespace).Create(n.t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "blocker"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "blocker", Image: realnode.PauseImage, ImagePullPolicy: corev1.PullNever,
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(free-milli, resource.DecimalSI)}},
		}}},
	}, metav1.CreateOptions{})
	require.NoError(n.t, err)
	n.until("the blocker has its room", func(c *attempt) {
		pod, err := n.kube.CoreV1().Pods(n.namespace).Get(n.t.Context(), "blocker", metav1.GetOptions{})
		require.NoError(n.t, err)
		assert.Equal(c, corev1.PodRunning, pod.Status.Phase)
	})
}

// An application without a word about scheduling is placed as any pods are.
func TestApplicationWithoutScheduling(t *testing.T) {
	n := newTenant(t)
	app := n.pi("python", newest)
	app.Spec.Scheduling = nil
	app.Spec.Executor.Instances = new(int32(2))
	app.Spec.Arguments = []string{"40"}
	n.create(app)
	n.until("executors have nodes", func(c *attempt) {
		assert.Equal(c, 2, bound(n.executors("pi")))
	})
	for _, pod := range n.executors("pi") {
		assert.Nil(t, pod.Spec.SchedulingGroup)
	}
	groups, err := n.kube.SchedulingV1beta1().PodGroups(n.namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Empty(t, groups.Items)
	done := n.untilState("pi", v1beta2.ApplicationStateCompleted)
	assert.Nil(t, done.Status.WorkloadScheduling)
	assert.Contains(t, n.driverLog("pi"), "Pi is roughly 3.1")
}
