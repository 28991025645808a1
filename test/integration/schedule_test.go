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
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/schedules"
)

const labelSchedule = "sparkoperator.k8s.io/scheduled-app-name"

func (n *tenant) schedule(name, when string, changes ...change) *v1beta2.ScheduledSparkApplication {
	return &v1beta2.ScheduledSparkApplication{
		TypeMeta:   metav1.TypeMeta{APIVersion: "sparkoperator.k8s.io/v1beta2", Kind: "ScheduledSparkApplication"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: n.namespace, Labels: map[string]string{"team": "a"}},
		Spec: v1beta2.ScheduledSparkApplicationSpec{
			Schedule: when, ConcurrencyPolicy: v1beta2.ConcurrencyForbid, SuccessfulRunHistoryLimit: new(int32(50)),
			Template: n.application(name, changes...).Spec,
		},
	}
}

func (n *tenant) createSchedule(schedule *v1beta2.ScheduledSparkApplication) *v1beta2.ScheduledSparkApplication {
	n.t.Helper()
	created, err := n.spark.SparkoperatorV1beta2().ScheduledSparkApplications(n.namespace).Create(n.t.Context(), schedule, metav1.CreateOptions{})
	require.NoError(n.t, err)
	return created
}

func (n *tenant) getSchedule(name string) *v1beta2.ScheduledSparkApplication {
	n.t.Helper()
	schedule, err := n.spark.SparkoperatorV1beta2().ScheduledSparkApplications(n.namespace).Get(n.t.Context(), name, metav1.GetOptions{})
	require.NoError(n.t, err)
	return schedule
}

func (n *tenant) patchSchedule(name, patch string, subresources ...string) {
	n.t.Helper()
	_, err := n.spark.SparkoperatorV1beta2().ScheduledSparkApplications(n.namespace).Patch(n.t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
	require.NoError(n.t, err)
}

func (n *tenant) scheduledRuns(schedule string) []v1beta2.SparkApplication {
	n.t.Helper()
	list, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).List(n.t.Context(), metav1.ListOptions{LabelSelector: labelSchedule + "=" + schedule})
	require.NoError(n.t, err)
	return list.Items
}

// untilRun waits until the run of a slot exists, and then until it has completed.
func (n *tenant) untilRun(schedule string, slot time.Time) *v1beta2.SparkApplication {
	n.t.Helper()
	name := schedules.RunName(schedule, slot)
	n.until("the run "+name+" exists", func(c *assert.CollectT) {
		_, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Get(n.t.Context(), name, metav1.GetOptions{})
		assert.NoError(c, err)
	})
	return n.untilState(name, v1beta2.ApplicationStateCompleted)
}

// dueOnce makes a schedule of long intervals due now, by a status that says when the run before was due. The next slot is
// one interval away, so that a test has this one for itself. It returns the slot.
func (n *tenant) dueOnce(name string, interval time.Duration) time.Time {
	n.t.Helper()
	slot := time.Now().Truncate(time.Second)
	last := slot.Add(-interval)
	n.patchSchedule(name, fmt.Sprintf(`{"status":{"scheduleState":"Scheduled","observedGeneration":%d,"lastScheduledTime":%q,"nextRun":%q}}`,
		n.getSchedule(name).Generation, last.UTC().Format(time.RFC3339), slot.UTC().Format(time.RFC3339)), "status")
	return slot
}

// A schedule runs its applications one after another, keeps as many as it should, and stops when it is told to.
func TestSchedule(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("4")
	file, err := yaml.Marshal(n.schedule("often", "@every 1s", executors(1)))
	require.NoError(t, err)
	n.mustKubectl(string(file), "apply", "--server-side", "--validate=strict", "-f", "-")

	n.until("three runs have completed", func(c *assert.CollectT) {
		assert.GreaterOrEqual(c, len(n.getSchedule("often").Status.PastSuccessfulRunNames), 3)
	})
	n.patchSchedule("often", `{"spec":{"suspend":true}}`)
	n.until("the last run has ended", func(c *assert.CollectT) {
		schedule := n.getSchedule("often")
		assert.Equal(c, schedule.Generation, schedule.Status.ObservedGeneration)
		for _, run := range n.scheduledRuns("often") {
			assert.Equal(c, v1beta2.ApplicationStateCompleted, run.Status.AppState.State)
		}
		assert.Len(c, schedule.Status.PastSuccessfulRunNames, len(n.scheduledRuns("often")))
	})

	schedule := n.getSchedule("often")
	runs := n.scheduledRuns("often")
	slots := map[time.Time]bool{}
	for i := range runs {
		run := &runs[i]
		slot, err := time.Parse(time.RFC3339, run.Annotations[schedules.AnnotationScheduledTime])
		require.NoError(t, err)
		assert.False(t, slots[slot], "the slot %s has run twice", slot)
		slots[slot] = true
		assert.Equal(t, schedules.RunName("often", slot), run.Name)
		assert.Equal(t, "a", run.Labels["team"])
		require.Len(t, run.OwnerReferences, 1)
		assert.Equal(t, schedule.UID, run.OwnerReferences[0].UID)
		assert.Nil(t, run.OwnerReferences[0].Controller)
		// One at a time: Forbid.
		for j := range runs {
			other := &runs[j]
			if i != j && run.CreationTimestamp.Before(&other.CreationTimestamp) {
				assert.False(t, other.CreationTimestamp.Before(&run.Status.TerminationTime), "%s was started before %s had ended", other.Name, run.Name)
			}
		}
	}
	pods := n.pods(labelSchedule + "=often")
	assert.NotEmpty(t, pods, "the label reaches the pods")

	n.patchSchedule("often", `{"spec":{"successfulRunHistoryLimit":1}}`)
	n.until("only the last run is kept", func(c *assert.CollectT) {
		kept := n.scheduledRuns("often")
		if assert.Len(c, kept, 1) {
			assert.Equal(c, n.getSchedule("often").Status.LastRunName, kept[0].Name)
		}
	})
	schedule = n.getSchedule("often")

	t.Run("kubectl", func(t *testing.T) {
		n := in(n, t)
		wide := n.mustKubectl("", "get", "scheduledsparkapps", "-o", "wide")
		for _, part := range []string{"SCHEDULE", "TIMEZONE", "LAST RUN NAME", "NEXT RUN", "@every 1s", "Forbid", "Scheduled", schedule.Status.LastRunName} {
			assert.Contains(t, wide, part)
		}
		assert.Contains(t, n.mustKubectl("", "explain", "scheduledsparkapp.spec.template.scheduling"), "schedulingPolicy")
		assert.Contains(t, n.mustKubectl("", "describe", "scheduledsparkapp", "often"), "RunStarted")
		_, errOut, err := n.kubectl("", "patch", "scheduledsparkapp", "often", "--type=merge", "-p", `{"spec":{"timeZone":"Mars","template":{"driver":{"memory":"lots"}}}}`)
		require.Error(t, err)
		assert.Contains(t, errOut, "spec.timeZone")
		assert.Contains(t, errOut, "spec.template.driver.memory")
	})
	n.mustKubectl("", "delete", "scheduledsparkapp", "often", "--timeout=60s")
	n.until("the runs go with their schedule", func(c *assert.CollectT) { assert.Empty(c, n.scheduledRuns("often")) })
}

// A template's scheduling block is for the next run, and may be edited.
func TestScheduleOfGangs(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("4")
	n.createSchedule(n.schedule("gangs", "@every 1h", executors(2)))
	first := n.dueOnce("gangs", time.Hour)
	n.untilRun("gangs", first)

	n.patchSchedule("gangs", `{"spec":{"template":{"scheduling":{"schedulingPolicy":{"gang":{}}}}}}`)
	second := n.dueOnce("gangs", time.Hour)
	run := n.untilRun("gangs", second)
	require.NotNil(t, run.Status.WorkloadScheduling)
	assert.Equal(t, v1beta2.WorkloadSchedulingPolicyGang, run.Status.WorkloadScheduling.Policy)
}

// A policy that refuses a run is no end of the schedule: the slot is told of, and the next one is tried.
func TestScheduleOutlivesARefusal(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("4")
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: n.namespace},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: new(admissionregistrationv1.Fail),
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": n.namespace}},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule: admissionregistrationv1.Rule{
						APIGroups: []string{"sparkoperator.k8s.io"}, APIVersions: []string{"*"}, Resources: []string{"sparkapplications"},
					},
				}}},
			},
			Validations: []admissionregistrationv1.Validation{{Expression: "false", Message: "nothing runs on holidays"}},
		},
	}
	policies := n.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	_, err := policies.Create(t.Context(), policy, metav1.CreateOptions{})
	require.NoError(t, err)
	bindings := n.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	_, err = bindings.Create(t.Context(), &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: n.namespace},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: n.namespace, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx := context.Background()
		_ = bindings.Delete(ctx, n.namespace, metav1.DeleteOptions{})
		_ = policies.Delete(ctx, n.namespace, metav1.DeleteOptions{})
	})
	n.until("the policy is in force", func(c *assert.CollectT) {
		_, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Create(t.Context(), n.application("probe", suspended),
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		assert.ErrorContains(c, err, "holidays")
	})

	n.createSchedule(n.schedule("workdays", "@every 1h", executors(1)))
	n.dueOnce("workdays", time.Hour)
	n.until("the refusal is told of", func(c *assert.CollectT) {
		status := n.getSchedule("workdays").Status
		assert.Contains(c, status.Reason, "nothing runs on holidays")
		assert.True(c, status.NextRun.After(time.Now()))
	})
	assert.Empty(t, n.scheduledRuns("workdays"))
	n.until("an event tells of it", func(c *assert.CollectT) {
		events, err := n.kube.EventsV1().Events(n.namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		reasons := map[string]string{}
		for i := range events.Items {
			reasons[events.Items[i].Reason] = events.Items[i].Note
		}
		assert.Contains(c, reasons["RunRefused"], "nothing runs on holidays")
	})

	require.NoError(t, bindings.Delete(t.Context(), n.namespace, metav1.DeleteOptions{}))
	n.until("the policy is in force no longer", func(c *assert.CollectT) {
		_, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Create(t.Context(), n.application("probe", suspended),
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		assert.NoError(c, err)
	})
	slot := n.dueOnce("workdays", time.Hour)
	n.untilRun("workdays", slot)
	n.until("the reason is gone", func(c *assert.CollectT) {
		status := n.getSchedule("workdays").Status
		assert.Empty(c, status.Reason)
		assert.Equal(c, v1beta2.ScheduleStateScheduled, status.ScheduleState)
	})
}

// fieldScheduleRuns applies the manifest of a schedule from the field unchanged, and sees it run its child.
func (n *tenant) fieldScheduleRuns(path string) {
	t := n.t
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	n.mustKubectl(string(content), "apply", "-f", "-")
	t.Cleanup(func() {
		_, _, err := n.Kubectl(context.Background(), string(content), "delete", "--ignore-not-found", "--cascade=foreground", "--timeout=90s", "-f", "-")
		assert.NoError(t, err)
	})
	slot := n.dueOnce("spark-pi-scheduled", 3*time.Minute)
	run := n.untilRun("spark-pi-scheduled", slot)
	sent := map[string]any{}
	require.NoError(t, yaml.Unmarshal(content, &sent))
	template, err := json.Marshal(sent["spec"].(map[string]any)["template"])
	require.NoError(t, err)
	want := v1beta2.SparkApplicationSpec{}
	require.NoError(t, json.Unmarshal(template, &want))
	assert.Equal(t, want.MainClass, run.Spec.MainClass)
	assert.Equal(t, want.Executor.SecurityContext, run.Spec.Executor.SecurityContext)
}
