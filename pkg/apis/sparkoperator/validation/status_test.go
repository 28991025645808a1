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

package validation

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
)

func TestValidateStatusUpdate(t *testing.T) {
	state := func(s sparkoperator.ApplicationStateType) edit {
		return func(app *sparkoperator.SparkApplication) { app.Status.AppState.State = s }
	}
	condition := func(edits ...func(*metav1.Condition)) edit {
		return func(app *sparkoperator.SparkApplication) {
			c := metav1.Condition{
				Type: sparkoperator.ConditionRunning, Status: metav1.ConditionTrue, Reason: "DriverRunning",
				LastTransitionTime: metav1.Unix(1, 0),
			}
			for _, edit := range edits {
				edit(&c)
			}
			app.Status.Conditions = append(app.Status.Conditions, c)
		}
	}
	record := func(edits ...func(*sparkoperator.WorkloadSchedulingStatus)) edit {
		return func(app *sparkoperator.SparkApplication) {
			r := &sparkoperator.WorkloadSchedulingStatus{
				Policy: sparkoperator.WorkloadSchedulingPolicyGang, SubmissionID: "first", WorkloadName: "w",
				PodGroups: []sparkoperator.PodGroupRecord{{TemplateName: "executors", PodGroupName: "g", MinCount: new(int32(4))}},
			}
			for _, edit := range edits {
				edit(r)
			}
			app.Status.WorkloadScheduling = r
		}
	}
	none := func(*sparkoperator.SparkApplication) {}

	for _, tc := range []struct {
		name     string
		old, new edit
		want     []want
	}{
		{name: "nothing", old: none, new: none},
		{name: "a full status", old: none, new: func(app *sparkoperator.SparkApplication) {
			state(sparkoperator.ApplicationStateRunning)(app)
			condition()(app)
			record()(app)
			app.Status.SubmissionID = "first"
			app.Status.ExecutorState = map[string]sparkoperator.ExecutorState{"exec-1": sparkoperator.ExecutorStatePending}
			app.Status.ExecutorCounts = &sparkoperator.ExecutorCounts{Pending: 1}
			app.Status.SubmissionAttempts, app.Status.ExecutionAttempts, app.Status.ObservedGeneration = 1, 1, 1
			app.Status.DriverInfo = sparkoperator.DriverInfo{PodName: "spark-pi-driver", WebUIPort: 4040}
		}},

		{name: "unknown state", old: none, new: state("PAUSED"), want: []want{
			{field.ErrorTypeNotSupported, "status.applicationState.state", `"RUNNING"`},
		}},
		{name: "an unknown state that was there", old: state("PAUSED"), new: state("PAUSED")},
		{name: "back to life", old: withState(sparkoperator.ApplicationStateCompleted), new: withState(sparkoperator.ApplicationStateRunning), want: []want{
			{field.ErrorTypeInvalid, "status.applicationState.state", `the attempt "first" has ended as COMPLETED`},
		}},
		{name: "failed after all", old: withState(sparkoperator.ApplicationStateCompleted), new: withState(sparkoperator.ApplicationStateFailed), want: []want{
			{field.ErrorTypeInvalid, "status.applicationState.state", `the attempt "first" has ended as COMPLETED`},
		}},
		{name: "as if new", old: withState(sparkoperator.ApplicationStateFailed), new: withState(sparkoperator.ApplicationStateNew), want: []want{
			{field.ErrorTypeInvalid, "status.applicationState.state", `the attempt "first" has ended as FAILED`},
		}},
		{name: "another attempt", old: withState(sparkoperator.ApplicationStateFailed), new: func(app *sparkoperator.SparkApplication) {
			app.Status.AppState.State, app.Status.SubmissionID = sparkoperator.ApplicationStateSubmitted, "second"
		}},
		{name: "ended by an edit", old: withState(sparkoperator.ApplicationStateCompleted), new: withState(sparkoperator.ApplicationStateInvalidating)},
		{name: "ended by no edit", old: func(app *sparkoperator.SparkApplication) {
			withState(sparkoperator.ApplicationStateCompleted)(app)
			app.Status.ObservedGeneration = 1
		}, new: state(sparkoperator.ApplicationStateInvalidating), want: []want{
			{field.ErrorTypeInvalid, "status.applicationState.state", `has ended as COMPLETED`},
		}},
		{name: "other fields of an ended application", old: withState(sparkoperator.ApplicationStateCompleted), new: func(app *sparkoperator.SparkApplication) {
			app.Status.ExecutorCounts = &sparkoperator.ExecutorCounts{Completed: 3}
		}},

		{name: "condition without a reason", old: none, new: condition(func(c *metav1.Condition) { c.Reason = "" }), want: []want{
			{field.ErrorTypeRequired, "status.conditions[0].reason", ""},
		}},
		{name: "a type twice", old: none, new: func(app *sparkoperator.SparkApplication) {
			condition()(app)
			condition()(app)
		}, want: []want{{field.ErrorTypeDuplicate, "status.conditions[1]", ""}}},
		{name: "a broken condition that was there", old: condition(func(c *metav1.Condition) { c.Reason = "" }), new: none},

		{name: "negative numbers", old: none, new: func(app *sparkoperator.SparkApplication) {
			app.Status.ExecutionAttempts, app.Status.SubmissionAttempts, app.Status.ObservedGeneration = -1, -1, -1
			app.Status.ExecutorCounts = &sparkoperator.ExecutorCounts{Pending: -1, Running: -1, Completed: -1, Failed: -1, Unknown: -1}
			app.Status.DriverInfo.WebUIPort = -1
		}, want: []want{
			{field.ErrorTypeInvalid, "status.executionAttempts", ""},
			{field.ErrorTypeInvalid, "status.submissionAttempts", ""},
			{field.ErrorTypeInvalid, "status.observedGeneration", ""},
			{field.ErrorTypeInvalid, "status.executorCounts.pending", ""},
			{field.ErrorTypeInvalid, "status.executorCounts.running", ""},
			{field.ErrorTypeInvalid, "status.executorCounts.completed", ""},
			{field.ErrorTypeInvalid, "status.executorCounts.failed", ""},
			{field.ErrorTypeInvalid, "status.executorCounts.unknown", ""},
			{field.ErrorTypeInvalid, "status.driverInfo.webUIPort", ""},
		}},
		{name: "state of an executor", old: none, new: func(app *sparkoperator.SparkApplication) {
			app.Status.ExecutorState = map[string]sparkoperator.ExecutorState{"exec-1": "GONE", "exec-2": sparkoperator.ExecutorStateRunning}
		}, want: []want{{field.ErrorTypeNotSupported, "status.executorState[exec-1]", `"RUNNING"`}}},

		{name: "an empty record", old: none, new: func(app *sparkoperator.SparkApplication) {
			app.Status.WorkloadScheduling = &sparkoperator.WorkloadSchedulingStatus{PodGroups: make([]sparkoperator.PodGroupRecord, 1)}
		}, want: []want{
			{field.ErrorTypeNotSupported, "status.workloadScheduling.policy", `"Gang"`},
			{field.ErrorTypeRequired, "status.workloadScheduling.submissionID", ""},
			{field.ErrorTypeRequired, "status.workloadScheduling.workloadName", ""},
			{field.ErrorTypeRequired, "status.workloadScheduling.podGroups[0].templateName", ""},
			{field.ErrorTypeRequired, "status.workloadScheduling.podGroups[0].podGroupName", ""},
		}},
		{name: "a template twice, and numbers", old: none, new: record(func(r *sparkoperator.WorkloadSchedulingStatus) {
			r.PodGroups = append(r.PodGroups, sparkoperator.PodGroupRecord{
				TemplateName: "executors", PodGroupName: "h", MinCount: new(int32(0)), BoundMembers: -1,
			})
		}), want: []want{
			{field.ErrorTypeDuplicate, "status.workloadScheduling.podGroups[1].templateName", ""},
			{field.ErrorTypeInvalid, "status.workloadScheduling.podGroups[1].minCount", "1 or more"},
			{field.ErrorTypeInvalid, "status.workloadScheduling.podGroups[1].boundMembers", ""},
		}},
		{name: "a record that is cleared", old: record(), new: func(app *sparkoperator.SparkApplication) { app.Status.WorkloadScheduling = nil }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			old := newApplication(tc.old)
			app := edited(old, tc.new)
			assertErrors(t, tc.want, ValidateSparkApplicationStatusUpdate(app, old))
		})
	}
}

// TestEveryStateIsKnown keeps the list of states complete.
func TestEveryStateIsKnown(t *testing.T) {
	for _, state := range []sparkoperator.ApplicationStateType{
		"", "SUBMITTED", "RUNNING", "COMPLETED", "FAILED", "SUBMISSION_FAILED", "PENDING_RERUN", "INVALIDATING", "SUCCEEDING",
		"FAILING", "SUSPENDING", "SUSPENDED", "RESUMING", "UNKNOWN",
	} {
		old := newApplication(func(app *sparkoperator.SparkApplication) { app.Status.AppState.State = "OTHER" })
		app := edited(old, func(app *sparkoperator.SparkApplication) { app.Status.AppState.State = state })
		assert.Empty(t, ValidateSparkApplicationStatusUpdate(app, old), state)
	}
}
