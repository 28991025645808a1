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
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func image(name string) change {
	return func(app *v1beta2.SparkApplication) { app.Spec.Image = new(name) }
}

// Each failure has a name that programs can read, and a sentence.
func TestFailuresHaveNames(t *testing.T) {
	for name, test := range map[string]struct {
		changes []change
		reason  string
		message string
	}{
		// What doesn't even look like a name is refused when it is applied.
		"an image name that is none": {[]change{image(strings.Repeat("0a", 32))}, "DriverImageError", "InvalidImageName"},
		"an image that is not there": {[]change{image("non-existent:1")}, "DriverImageError", "can't be pulled"},
		"out of memory":              {[]change{outcome("oom")}, "DriverOOMKilled", "driver.memoryOverhead"},
		"evicted":                    {[]change{outcome("evicted")}, "DriverEvicted", "low on resource"},
		"a service account that is not there": {[]change{func(app *v1beta2.SparkApplication) { app.Spec.Driver.ServiceAccount = new("nobody") }},
			"ServiceAccountNotFound", `serviceaccount "nobody" not found`},
		"a service account without rights": {[]change{func(app *v1beta2.SparkApplication) { app.Spec.Driver.ServiceAccount = new("default") }},
			"ServiceAccountForbidden", "may not get pods"},
		"a priority class that is not there": {[]change{func(app *v1beta2.SparkApplication) { app.Spec.Executor.PriorityClassName = new("no-such-class") }},
			"PriorityClassNotFound", "no-such-class"},
		"executors that can't start": {[]change{func(app *v1beta2.SparkApplication) { app.Spec.Executor.Image = new("non-existent:1") }},
			"ExecutorCannotStart", "non-existent:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := shared.tenant(t)
			n.addNode("4")
			n.create(n.application("pi", test.changes...))
			app := n.untilState("pi", v1beta2.ApplicationStateFailed)
			failed := meta.FindStatusCondition(app.Status.Conditions, v1beta2.ConditionFailed)
			require.NotNil(t, failed)
			assert.Equal(t, test.reason, failed.Reason, failed.Message)
			assert.Contains(t, failed.Message, test.message)
			n.until("nothing runs any more", func(c *assert.CollectT) { assert.Empty(c, n.executorPods("pi")) })
		})
	}
}

// What the cluster would refuse of executors is told before there is a driver.
func TestExecutorsThatAreTooLargeForALimitRange(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	_, err := n.kube.CoreV1().LimitRanges(n.namespace).Create(t.Context(), &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Name: "small"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("4Gi")},
		}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	n.create(n.application("pi", func(app *v1beta2.SparkApplication) { app.Spec.Executor.Memory = new("8g") }))
	app := n.untilState("pi", v1beta2.ApplicationStateFailed)
	assert.Equal(t, "LimitRangeExceeded", meta.FindStatusCondition(app.Status.Conditions, v1beta2.ConditionFailed).Reason)
	assert.Contains(t, app.Status.AppState.ErrorMessage, "create an executor")
	assert.Empty(t, n.driverPods("pi"))
}

// A quota and Pod Security answer with words of their own, and both name what would have to be changed.
func TestWhatTheNamespaceRefuses(t *testing.T) {
	t.Parallel()
	t.Run("quota", func(t *testing.T) {
		n := shared.tenant(t)
		_, err := n.kube.CoreV1().ResourceQuotas(n.namespace).Create(t.Context(), &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Name: "small"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourceRequestsMemory: resource.MustParse("1Gi")}},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		n.until("the quota is counted", func(c *assert.CollectT) {
			quota, err := n.kube.CoreV1().ResourceQuotas(n.namespace).Get(t.Context(), "small", metav1.GetOptions{})
			require.NoError(c, err)
			assert.NotEmpty(c, quota.Status.Hard)
		})
		n.create(n.application("pi"))
		app := n.untilState("pi", v1beta2.ApplicationStateFailed)
		n.untilCondition("pi", v1beta2.ConditionFailed, metav1.ConditionTrue, "QuotaExceeded")
		assert.Contains(t, app.Status.AppState.ErrorMessage, "exceeded quota: small")
		assert.Empty(t, n.driverPods("pi"))
	})
	t.Run("Pod Security", func(t *testing.T) {
		n := shared.tenant(t)
		n.mustKubectl("", "label", "namespace", n.namespace, "pod-security.kubernetes.io/enforce=restricted")
		n.create(n.application("pi"))
		app := n.untilState("pi", v1beta2.ApplicationStateFailed)
		n.untilCondition("pi", v1beta2.ConditionFailed, metav1.ConditionTrue, "PodSecurityViolated")
		assert.Contains(t, app.Status.AppState.ErrorMessage, "allowPrivilegeEscalation")
		assert.Empty(t, n.driverPods("pi"))
	})
}

// A node that is gone takes its driver along. The run is repeated on another node, although the user's retries are none but
// one, and that one is not used (kubeflow/spark-operator#1847, #2658).
func TestNodeThatIsLost(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	lost := n.addNode("4")
	n.create(n.application("pi", outcome("hang"), retries(1)))
	first := n.untilState("pi", v1beta2.ApplicationStateRunning)
	n.addNode("4")
	require.NoError(t, n.RemoveNode(t.Context(), lost))
	n.until("another attempt runs", func(c *assert.CollectT) {
		app := n.get("pi")
		assert.NotEqual(c, first.Status.SubmissionID, app.Status.SubmissionID)
		assert.Equal(c, v1beta2.ApplicationStateRunning, app.Status.AppState.State)
		if assert.NotNil(c, app.Status.FailureCounts) {
			assert.EqualValues(c, 1, app.Status.FailureCounts.Infrastructure)
			assert.Zero(c, app.Status.FailureCounts.Run)
		}
	})
	assert.Len(t, n.driverPods("pi"), 1)
}

// The driver pod of an application runs on beside a sidecar; the application has ended.
func TestSidecarThatRunsOn(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("4")
	n.create(n.application("pi", func(app *v1beta2.SparkApplication) {
		app.Spec.Driver.Annotations = map[string]string{"simulated.spark-apiserver.io/sidecars": "keep-running"}
		app.Spec.Driver.Sidecars = []corev1.Container{{Name: "proxy", Image: "proxy"}}
	}))
	n.untilState("pi", v1beta2.ApplicationStateCompleted)
}

// A gang that finds no room within its deadline fails, and leaves nothing behind that holds room.
func TestAdmissionDeadline(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("3")
	n.create(n.application("pi", gang, executors(4), func(app *v1beta2.SparkApplication) {
		app.Spec.Scheduling.AdmissionDeadlineSeconds = new(int64(5))
	}))
	app := n.untilState("pi", v1beta2.ApplicationStateFailed)
	assert.Contains(t, app.Status.AppState.ErrorMessage, "executor gang not admitted within 5s")
	n.untilCondition("pi", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionFalse, "AdmissionDeadlineExceeded")
	n.until("nothing is left that holds room", func(c *assert.CollectT) {
		assert.Empty(c, n.pods(labelApp+"=pi"))
		groups, err := n.kube.SchedulingV1beta1().PodGroups(n.namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.Empty(c, groups.Items)
	})
}

// Three times as many gangs as may wait, with room for the drivers and one gang: never do more drivers wait than may, and
// all complete (kubeflow/spark-operator#594, #883).
func TestDriversWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("6") // three drivers and one gang
	const count = 3 * maxWaitingGangs
	for i := range count {
		n.create(n.application(fmt.Sprintf("pi-%d", i), gang, executors(3)))
	}
	sawQueued := false
	n.until("all complete", func(c *assert.CollectT) {
		apps, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		completed, waiting := 0, 0
		for i := range apps.Items {
			status := &apps.Items[i].Status
			if status.AppState.State == v1beta2.ApplicationStateCompleted {
				completed++
			}
			running := meta.FindStatusCondition(status.Conditions, v1beta2.ConditionRunning)
			switch {
			case running != nil && running.Reason == "DriverQueued":
				sawQueued = true
			case status.WorkloadScheduling != nil && status.WorkloadScheduling.AdmittedTime == nil && !terminal(status.AppState.State):
				waiting++
			}
		}
		require.LessOrEqual(t, waiting, maxWaitingGangs)
		assert.Equal(c, count, completed)
	})
	assert.True(t, sawQueued)
}

// A ConfigMap that somebody removes from a running driver is made again, for the executors that come later.
func TestRemovedConfigMapIsMadeAgain(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("4")
	n.create(n.application("pi", outcome("hang")))
	app := n.untilState("pi", v1beta2.ApplicationStateRunning)
	// The driver has read it then.
	n.until("the executors run", func(c *assert.CollectT) { assert.Equal(c, 1, bound(n.executorPods("pi"))) })
	configMaps := n.kube.CoreV1().ConfigMaps(n.namespace)
	selector := metav1.ListOptions{LabelSelector: labelSubmission + "=" + app.Status.SubmissionID}
	list, err := configMaps.List(t.Context(), selector)
	require.NoError(t, err)
	var old types.UID
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], app) {
			old = list.Items[i].UID
			require.NoError(t, configMaps.Delete(t.Context(), list.Items[i].Name, metav1.DeleteOptions{}))
		}
	}
	require.NotEmpty(t, old)
	n.until("it is there again", func(c *assert.CollectT) {
		list, err := configMaps.List(t.Context(), selector)
		require.NoError(t, err)
		found := false
		for i := range list.Items {
			found = found || metav1.IsControlledBy(&list.Items[i], app) && list.Items[i].UID != old
		}
		assert.True(c, found)
	})
	assert.Equal(t, app.Status.SubmissionID, n.get("pi").Status.SubmissionID)
}
