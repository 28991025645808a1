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

package sparkapplication

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
)

func at(hour int) metav1.Time {
	return metav1.Date(2026, 3, 1, hour, 0, 0, 0, time.FixedZone("elsewhere", 3600))
}

func ready(status metav1.ConditionStatus, reason, message string) []metav1.Condition {
	return []metav1.Condition{{Type: sparkoperator.ConditionWorkloadSchedulingReady, Status: status, Reason: reason, Message: message}}
}

func record(bound int32) *sparkoperator.WorkloadSchedulingStatus {
	return &sparkoperator.WorkloadSchedulingStatus{
		Policy:    sparkoperator.WorkloadSchedulingPolicyGang,
		PodGroups: []sparkoperator.PodGroupRecord{{TemplateName: "executors", MinCount: new(int32(4)), BoundMembers: bound}},
	}
}

func TestRows(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*sparkoperator.SparkApplication)
		want   []any
	}{
		"fresh": {
			func(*sparkoperator.SparkApplication) {},
			[]any{"pi", false, "<none>", int64(0), "<none>", "<none>", "<none>", "<unknown>", "<none>", "<none>", "4.0.1", "<none>"},
		},
		"suspended": {
			func(app *sparkoperator.SparkApplication) {
				app.Spec.Suspend = new(true)
				app.Status.AppState.State = sparkoperator.ApplicationStateSuspended
			},
			[]any{"pi", true, "SUSPENDED", int64(0), "<none>", "<none>", "<none>", "<unknown>", "<none>", "<none>", "4.0.1", "<none>"},
		},
		"running without a gang": {
			func(app *sparkoperator.SparkApplication) {
				app.Status.AppState.State = sparkoperator.ApplicationStateRunning
				app.Status.ExecutionAttempts = 1
				app.Status.LastSubmissionAttemptTime = at(10)
				app.Status.DriverInfo.PodName = "pi-driver"
				app.Status.ExecutorCounts = &sparkoperator.ExecutorCounts{Pending: 1, Running: 2, Completed: 5, Unknown: 9}
			},
			[]any{"pi", false, "RUNNING", int64(1), "2026-03-01T09:00:00Z", "<none>", "<none>", "<unknown>", "pi-driver", "2/3", "4.0.1", "<none>"},
		},
		"a gang that waits": {
			func(app *sparkoperator.SparkApplication) {
				app.Spec.Scheduling = gangScheduling()
				app.Status.AppState.State = sparkoperator.ApplicationStateRunning
				app.Status.WorkloadScheduling = record(3)
				app.Status.Conditions = ready(metav1.ConditionFalse, "Unschedulable", "0/3 nodes fit")
			},
			[]any{"pi", false, "RUNNING", int64(0), "<none>", "<none>", "3/4 Unschedulable", "<unknown>", "<none>", "<none>", "4.0.1", "0/3 nodes fit"},
		},
		"a driver that waits": {
			func(app *sparkoperator.SparkApplication) {
				app.Status.AppState.State = sparkoperator.ApplicationStateSubmitted
				app.Status.Conditions = []metav1.Condition{{Type: sparkoperator.ConditionRunning, Status: metav1.ConditionFalse, Reason: "DriverPending", Message: "no room"}}
			},
			[]any{"pi", false, "SUBMITTED", int64(0), "<none>", "<none>", "<none>", "<unknown>", "<none>", "<none>", "4.0.1", "no room"},
		},
		"a gang that was placed": {
			func(app *sparkoperator.SparkApplication) {
				app.Spec.Scheduling = gangScheduling()
				app.Status.WorkloadScheduling = record(4)
				app.Status.Conditions = ready(metav1.ConditionTrue, "GangAdmitted", "all are bound")
			},
			[]any{"pi", false, "<none>", int64(0), "<none>", "<none>", "4/4 GangAdmitted", "<unknown>", "<none>", "<none>", "4.0.1", "<none>"},
		},
		"a gang that can't be asked for": {
			func(app *sparkoperator.SparkApplication) {
				app.Spec.Scheduling = gangScheduling()
				app.Status.Conditions = ready(metav1.ConditionFalse, "APINotAvailable", "no PodGroups here")
			},
			[]any{"pi", false, "<none>", int64(0), "<none>", "<none>", "APINotAvailable", "<unknown>", "<none>", "<none>", "4.0.1", "no PodGroups here"},
		},
		"basic is no gang": {
			func(app *sparkoperator.SparkApplication) {
				app.Spec.Scheduling = &sparkoperator.SparkSchedulingSpec{SchedulingPolicy: &sparkoperator.SchedulingPolicy{Basic: &sparkoperator.BasicSchedulingPolicy{}}}
				app.Status.Conditions = ready(metav1.ConditionTrue, "Scheduled", "")
			},
			[]any{"pi", false, "<none>", int64(0), "<none>", "<none>", "<none>", "<unknown>", "<none>", "<none>", "4.0.1", "<none>"},
		},
		"failed": {
			func(app *sparkoperator.SparkApplication) {
				app.Status.AppState = sparkoperator.ApplicationState{State: sparkoperator.ApplicationStateFailed, ErrorMessage: "driver exited with 1"}
				app.Status.ExecutionAttempts = 3
				app.Status.LastSubmissionAttemptTime = at(10)
				app.Status.TerminationTime = at(11)
			},
			[]any{"pi", false, "FAILED", int64(3), "2026-03-01T09:00:00Z", "2026-03-01T10:00:00Z", "<none>", "<unknown>", "<none>", "<none>", "4.0.1", "driver exited with 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			app := validApplication()
			test.change(app)
			table, err := NewTableConvertor().ConvertToTable(t.Context(), app, nil)
			require.NoError(t, err)
			require.Len(t, table.Rows, 1)
			assert.Equal(t, test.want, table.Rows[0].Cells)
			assert.Len(t, table.ColumnDefinitions, len(test.want))
			assert.Same(t, app, table.Rows[0].Object.Object)
		})
	}
}

func TestColumns(t *testing.T) {
	var narrow, wide []string
	for _, column := range columns {
		if column.Priority == 0 {
			narrow = append(narrow, column.Name)
		} else {
			wide = append(wide, column.Name)
		}
		assert.NotEmpty(t, column.Description, column.Name)
	}
	// The first six are where they are in the Spark Operator's table.
	assert.Equal(t, []string{"Name", "Suspend", "Status", "Attempts", "Start", "Finish", "Gang", "Age"}, narrow)
	assert.Equal(t, []string{"Driver", "Executors", "Version", "Message"}, wide)
}

func TestListTable(t *testing.T) {
	list := &sparkoperator.SparkApplicationList{
		ListMeta: metav1.ListMeta{ResourceVersion: "42", Continue: "token", RemainingItemCount: new(int64(7))},
		Items:    []sparkoperator.SparkApplication{*validApplication(), *validApplication()},
	}
	table, err := NewTableConvertor().ConvertToTable(t.Context(), list, &metav1.TableOptions{NoHeaders: true})
	require.NoError(t, err)
	assert.Len(t, table.Rows, 2)
	assert.Empty(t, table.ColumnDefinitions)
	assert.Equal(t, "42", table.ResourceVersion)
	assert.Equal(t, "token", table.Continue)
	assert.Equal(t, new(int64(7)), table.RemainingItemCount)

	_, err = NewTableConvertor().ConvertToTable(t.Context(), &metav1.Status{}, nil)
	require.Error(t, err)
}
