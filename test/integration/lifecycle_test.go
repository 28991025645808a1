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
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// An application without .spec.scheduling is today's application: it completes and nothing of scheduling.k8s.io is
// made or asked for on its behalf.
func TestApplicationWithoutScheduling(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("4")
	n.create(n.application("pi", executors(2)))
	app := n.untilState("pi", v1beta2.ApplicationStateCompleted)
	assert.Nil(t, app.Status.WorkloadScheduling)
	assert.EqualValues(t, 1, app.Status.ExecutionAttempts)
	assert.EqualValues(t, 1, app.Status.SubmissionAttempts)
	assert.Equal(t, app.Generation, app.Status.ObservedGeneration)
	assert.Equal(t, "pi-driver", app.Status.DriverInfo.PodName)
	assert.Equal(t, "spark-"+strings.ReplaceAll(app.Status.SubmissionID, "-", ""), app.Status.SparkApplicationID)
	n.until("executors are accounted for", func(c *assert.CollectT) {
		counts := n.get("pi").Status.ExecutorCounts
		if assert.NotNil(c, counts) {
			assert.Equal(c, v1beta2.ExecutorCounts{Completed: 2}, *counts)
		}
	})
	n.until("the driver pod alone is kept, for its log", func(c *assert.CollectT) {
		assert.ElementsMatch(c, []string{"sparkapplication.sparkoperator.k8s.io/pi", "pod/pi-driver"}, n.leftovers())
	})
	events, err := n.AuditEvents(func(e *auditv1.Event) bool {
		return e.ObjectRef != nil && e.ObjectRef.APIGroup == "scheduling.k8s.io" && e.ObjectRef.Namespace == n.namespace
	})
	require.NoError(t, err)
	assert.Empty(t, events)
}

func TestFailedDriverFailsTheApplication(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("4")
	n.create(n.application("pi", outcome("3")))
	app := n.untilState("pi", v1beta2.ApplicationStateFailed)
	assert.Contains(t, app.Status.AppState.ErrorMessage, "ExitCode: 3")
	assert.EqualValues(t, 1, app.Status.ExecutionAttempts)
	n.untilCondition("pi", v1beta2.ConditionFailed, metav1.ConditionTrue, "")
	n.untilCondition("pi", v1beta2.ConditionRunning, metav1.ConditionFalse, "")
}

// Kueue's way: created suspended, admitted later by one patch.
func TestSuspendAtCreationAndRelease(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("4")
	n.create(n.application("pi", gang, func(app *v1beta2.SparkApplication) { app.Spec.Suspend = new(true) }))
	app := n.untilState("pi", v1beta2.ApplicationStateSuspended)
	assert.Empty(t, app.Status.SubmissionID, "a suspended application has no attempt")
	n.untilCondition("pi", v1beta2.ConditionSuspended, metav1.ConditionTrue, "")
	assert.Empty(t, n.pods(labelApp+"=pi"))

	_, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Patch(t.Context(), "pi", types.MergePatchType,
		[]byte(`{"spec":{"suspend":false}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	n.untilState("pi", v1beta2.ApplicationStateCompleted)
	n.untilCondition("pi", v1beta2.ConditionSuspended, metav1.ConditionFalse, "")
}

// An edit of a running application ends its attempt and starts another one, once, under the same driver's name.
func TestSpecEditRestartsOnce(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("6")
	n.create(n.application("pi", gang, executors(2), outcome("hang")))
	n.untilCondition("pi", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionTrue, "GangAdmitted")
	before := n.get("pi")
	old := n.driverPods("pi")[0].UID
	out, errOut, err := n.Kubectl(t.Context(), "", "-n", n.namespace, "patch", "sparkapp", "pi", "--type=merge", "-p", `{"spec":{"executor":{"instances":3}}}`)
	require.NoError(t, err, out)
	assert.Contains(t, errOut, "Warning: spec: the edit ends the current attempt (RUNNING) and starts another one")
	n.until("another attempt has its gang", func(c *assert.CollectT) {
		app := n.get("pi")
		assert.Equal(c, app.Generation, app.Status.ObservedGeneration)
		assert.NotEqual(c, before.Status.SubmissionID, app.Status.SubmissionID)
		if assert.NotNil(c, app.Status.WorkloadScheduling) {
			assert.NotNil(c, app.Status.WorkloadScheduling.AdmittedTime)
		}
	})
	app := n.get("pi")
	assert.Equal(t, before.Generation+1, app.Generation)
	assert.EqualValues(t, 3, *app.Status.WorkloadScheduling.PodGroups[0].MinCount)
	assert.EqualValues(t, 1, app.Status.ExecutionAttempts, "an edit begins to count anew")
	drivers := n.driverPods("pi")
	require.Len(t, drivers, 1)
	assert.Equal(t, "pi-driver", drivers[0].Name)
	assert.NotEqual(t, old, drivers[0].UID)
	n.never("an edit restarts twice", func() bool { return n.get("pi").Status.SubmissionID != app.Status.SubmissionID })
}

// What an application made goes with it, by the real garbage collector.
func TestDeletionLeavesNothing(t *testing.T) {
	for _, propagation := range []string{"background", "foreground"} {
		t.Run(propagation, func(t *testing.T) {
			t.Parallel()
			n := shared.tenant(t)
			n.addNode("4")
			n.create(n.application("pi", gang, executors(2), outcome("hang")))
			n.untilCondition("pi", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionTrue, "GangAdmitted")
			out, _, err := n.Kubectl(t.Context(), "", "-n", n.namespace, "delete", "sparkapp", "pi", "--cascade="+propagation, "--timeout=90s")
			require.NoError(t, err, out)
			n.until("nothing of the application is left", func(c *assert.CollectT) { assert.Empty(c, n.leftovers()) })
		})
	}
}

func TestOrphanedDriverIsLeftAlone(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("4")
	n.create(n.application("pi", outcome("hang")))
	n.untilState("pi", v1beta2.ApplicationStateRunning)
	out, _, err := n.Kubectl(t.Context(), "", "-n", n.namespace, "delete", "sparkapp", "pi", "--cascade=orphan", "--timeout=60s")
	require.NoError(t, err, out)
	_, err = n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Get(t.Context(), "pi", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	drivers := n.driverPods("pi")
	require.Len(t, drivers, 1)
	assert.Empty(t, drivers[0].OwnerReferences)
	assert.Nil(t, drivers[0].DeletionTimestamp)
}

func TestNamespaceDeletionLeavesNothing(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("4")
	n.create(n.application("pi", gang, executors(2), outcome("hang")))
	n.untilCondition("pi", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionTrue, "GangAdmitted")
	require.NoError(t, n.kube.CoreV1().Namespaces().Delete(t.Context(), n.namespace, metav1.DeleteOptions{}))
	n.until("the namespace is gone", func(c *assert.CollectT) {
		_, err := n.kube.CoreV1().Namespaces().Get(t.Context(), n.namespace, metav1.GetOptions{})
		assert.True(c, apierrors.IsNotFound(err), "%v", err)
	})
}

// A new application under the name of a deleted one waits for what the old one left, and is not taken for it.
func TestNamesakeOfADeletedApplication(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("6")
	n.create(n.application("pi", gang, executors(2), outcome("hang")))
	n.untilCondition("pi", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionTrue, "GangAdmitted")
	oldDriver := n.driverPods("pi")[0].UID
	require.NoError(t, n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Delete(t.Context(), "pi", metav1.DeleteOptions{}))
	n.create(n.application("pi", gang, executors(2)))
	n.untilState("pi", v1beta2.ApplicationStateCompleted)
	drivers := n.driverPods("pi")
	require.Len(t, drivers, 1)
	assert.NotEqual(t, oldDriver, drivers[0].UID)
}

// A pod of somebody else under the driver's name is a conflict and stays untouched.
func TestForeignPodIsNeverAdopted(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("4")
	foreign, err := n.kube.CoreV1().Pods(n.namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "pi-driver"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "busybox"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	n.create(n.application("pi"))
	app := n.untilState("pi", v1beta2.ApplicationStateFailed)
	assert.Contains(t, app.Status.AppState.ErrorMessage, "pi-driver")
	still, err := n.kube.CoreV1().Pods(n.namespace).Get(t.Context(), "pi-driver", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, foreign.UID, still.UID)
}

// leftovers names everything in the namespace that an application could have made.
func (n *tenant) leftovers() []string {
	n.t.Helper()
	out, _, err := n.Kubectl(n.t.Context(), "", "-n", n.namespace, "get", "-o", "name",
		"sparkapplications,pods,services,ingresses,poddisruptionbudgets,configmaps,persistentvolumeclaims,workloads.scheduling.k8s.io,podgroups.scheduling.k8s.io")
	require.NoError(n.t, err)
	return slices.DeleteFunc(strings.Fields(out), func(name string) bool { return name == "configmap/kube-root-ca.crt" })
}
