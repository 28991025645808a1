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
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// retries restarts an application that failed, some times, after two seconds and more.
func retries(count int32) change {
	return func(app *v1beta2.SparkApplication) {
		app.Spec.RestartPolicy = v1beta2.RestartPolicy{
			Type: v1beta2.RestartPolicyOnFailure, OnFailureRetries: new(count), OnFailureRetryInterval: new(int64(2)),
			OnSubmissionFailureRetries: new(count), OnSubmissionFailureRetryInterval: new(int64(2)),
		}
	}
}

// A failed run is followed by another attempt under the same driver's name, once the old pod is gone, until the retries are
// used up.
func TestRetryAfterFailure(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("6")
	n.create(n.application("pi", gang, executors(2), outcome("3"), retries(1)))
	n.until("the first run has failed", func(c *assert.CollectT) {
		app := n.get("pi")
		if assert.NotNil(c, app.Status.FailureCounts) {
			assert.EqualValues(c, 1, app.Status.FailureCounts.Run)
		}
	})
	first := n.get("pi")
	drivers := n.driverPods("pi")
	app := n.untilState("pi", v1beta2.ApplicationStateFailed)
	assert.Contains(t, app.Status.AppState.ErrorMessage, "ExitCode: 3")
	assert.EqualValues(t, 2, app.Status.ExecutionAttempts)
	assert.EqualValues(t, 2, app.Status.SubmissionAttempts)
	assert.EqualValues(t, 2, app.Status.FailureCounts.Run)
	if first.Status.AppState.State == v1beta2.ApplicationStateFailing {
		assert.NotEqual(t, first.Status.SubmissionID, app.Status.SubmissionID)
		assert.GreaterOrEqual(t, app.Status.LastSubmissionAttemptTime.Sub(first.Status.TerminationTime.Time), 2*time.Second, "the wait begins with the failure")
	}
	last := n.driverPods("pi")
	require.Len(t, last, 1)
	assert.Equal(t, "pi-driver", last[0].Name)
	for _, driver := range drivers {
		if driver.Labels[labelSubmission] == first.Status.SubmissionID {
			assert.NotEqual(t, driver.UID, last[0].UID)
		}
	}
	n.until("no group is left", func(c *assert.CollectT) {
		groups, err := n.kube.SchedulingV1beta1().PodGroups(n.namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.Empty(c, groups.Items)
	})
	if first.Status.SubmissionID != app.Status.SubmissionID {
		n.until("what the first attempt made is removed", func(c *assert.CollectT) {
			out, _, err := n.Kubectl(t.Context(), "", "-n", n.namespace, "get", "pods,services,configmaps", "-o", "name", "-l", labelSubmission+"="+first.Status.SubmissionID)
			require.NoError(t, err)
			assert.Empty(c, out)
		})
	}
}

// A driver that somebody deletes by hand is a failed run, and is followed by another.
func TestDriverDeletedByHand(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("4")
	n.create(n.application("pi", outcome("hang"), retries(1)))
	n.untilState("pi", v1beta2.ApplicationStateRunning)
	before := n.get("pi")
	require.NoError(t, n.kube.CoreV1().Pods(n.namespace).Delete(t.Context(), "pi-driver", metav1.DeleteOptions{}))
	n.until("another attempt runs", func(c *assert.CollectT) {
		app := n.get("pi")
		assert.NotEqual(c, before.Status.SubmissionID, app.Status.SubmissionID)
		assert.Equal(c, v1beta2.ApplicationStateRunning, app.Status.AppState.State)
	})
	assert.EqualValues(t, 1, n.get("pi").Status.FailureCounts.Run)
}

// What the cluster did is forgiven: the retries are not used up.
func TestEvictionUsesUpNoRetry(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("4")
	n.create(n.application("pi", outcome("evicted"), retries(1)))
	n.until("two runs were evicted", func(c *assert.CollectT) {
		counts := n.get("pi").Status.FailureCounts
		if assert.NotNil(c, counts) {
			assert.GreaterOrEqual(c, counts.Infrastructure, int32(2))
			assert.Zero(c, counts.Run)
		}
	})
}

// A running gang is suspended, holds nothing, and is resumed by Kueue's single patch as one other attempt.
func TestSuspendAndResumeWhileItRuns(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("4")
	n.create(n.application("pi", gang, executors(2), outcome("hang")))
	n.untilCondition("pi", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionTrue, "GangAdmitted")
	first := n.get("pi")
	apps := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace)
	_, err := apps.Patch(t.Context(), "pi", types.MergePatchType, []byte(`{"spec":{"suspend":true}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	app := n.untilState("pi", v1beta2.ApplicationStateSuspended)
	assert.Nil(t, app.Status.WorkloadScheduling)
	n.until("nothing that holds resources is left", func(c *assert.CollectT) {
		assert.Empty(c, n.pods(labelApp+"=pi"))
		groups, err := n.kube.SchedulingV1beta1().PodGroups(n.namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.Empty(c, groups.Items)
	})
	_, err = apps.Patch(t.Context(), "pi", types.MergePatchType, []byte(`{"spec":{"suspend":false,
		"driver":{"labels":{"kueue.example.com/podset":"driver"},"annotations":{"simulated.spark-apiserver.io/outcome":"succeed"}},
		"executor":{"labels":{"kueue.example.com/podset":"executor"}}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	app = n.untilState("pi", v1beta2.ApplicationStateCompleted)
	assert.NotEqual(t, first.Status.SubmissionID, app.Status.SubmissionID)
	assert.EqualValues(t, 1, app.Status.ExecutionAttempts, "the patch edits as well, and begins to count anew")
	assert.Equal(t, "driver", n.driverPods("pi")[0].Labels["kueue.example.com/podset"])
}

func TestTimeToLive(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("4")
	n.create(n.application("pi", func(app *v1beta2.SparkApplication) { app.Spec.TimeToLiveSeconds = new(int64(1)) }))
	n.until("the application and all of it are gone", func(c *assert.CollectT) {
		_, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Get(t.Context(), "pi", metav1.GetOptions{})
		assert.True(c, apierrors.IsNotFound(err), "%v", err)
		assert.Empty(c, n.leftovers())
	})
}
