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
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/registry/sparkoperator/table"
)

// columns are those of the Spark Operator in its order, the state of the gang before the age, and further ones for -o wide.
var columns = []metav1.TableColumnDefinition{
	{Name: "Name", Type: "string", Format: "name", Description: "Name of the application."},
	{Name: "Suspend", Type: "boolean", Description: "Whether the application is to be suspended."},
	{Name: "Status", Type: "string", Description: "State of the application as a whole."},
	{Name: "Attempts", Type: "integer", Description: "How many times the application was submitted with success."},
	{Name: "Start", Type: "string", Description: "When the current attempt was submitted."},
	{Name: "Finish", Type: "string", Description: "When the current attempt ended."},
	{Name: "Gang", Type: "string", Description: "How many executors of how many that are placed together have a node, and how far their placement has come."},
	{Name: "Age", Type: "string", Description: "Time since the application was created."},
	{Name: "Driver", Type: "string", Priority: 1, Description: "Name of the driver's pod."},
	{Name: "Executors", Type: "string", Priority: 1, Description: "How many executors run, of those that are alive."},
	{Name: "Version", Type: "string", Priority: 1, Description: "Version of Spark."},
	{Name: "Message", Type: "string", Priority: 1, Description: "Why the application failed, or why its driver or its executors wait."},
}

// NewTableConvertor returns what prints applications for kubectl get.
func NewTableConvertor() rest.TableConvertor {
	return table.Kind[*sparkoperator.SparkApplication]{Name: "SparkApplication", Columns: columns, Cells: cells}
}

func cells(app *sparkoperator.SparkApplication, name, age string) []any {
	status := &app.Status
	return []any{
		name,
		app.Spec.Suspend != nil && *app.Spec.Suspend,
		table.OrNone(string(status.AppState.State)),
		int64(status.ExecutionAttempts),
		table.Timestamp(status.LastSubmissionAttemptTime),
		table.Timestamp(status.TerminationTime),
		gang(app),
		age,
		table.OrNone(status.DriverInfo.PodName),
		executors(status.ExecutorCounts),
		app.Spec.SparkVersion,
		message(status),
	}
}

// gang says how many of how many executors have a node and why, such as "3/4 Unschedulable".
func gang(app *sparkoperator.SparkApplication) string {
	scheduling := app.Spec.Scheduling
	if scheduling == nil || scheduling.SchedulingPolicy == nil || scheduling.SchedulingPolicy.Gang == nil {
		return table.None
	}
	state := ""
	if condition := meta.FindStatusCondition(app.Status.Conditions, sparkoperator.ConditionWorkloadSchedulingReady); condition != nil {
		state = condition.Reason
	}
	record := app.Status.WorkloadScheduling
	if record == nil || len(record.PodGroups) == 0 {
		return table.OrNone(state)
	}
	var bound, together int64
	for _, group := range record.PodGroups {
		bound += int64(group.BoundMembers)
		if group.MinCount != nil {
			together += int64(*group.MinCount)
		}
	}
	// With dynamic allocation there can be more than the gang, and without a gang there is nothing to reach.
	together = max(together, bound)
	text := strconv.FormatInt(bound, 10) + "/" + strconv.FormatInt(together, 10)
	if state != "" {
		text += " " + state
	}
	return text
}

// executors counts no executor of unknown state: most of these were removed by their driver.
func executors(counts *sparkoperator.ExecutorCounts) string {
	if counts == nil {
		return table.None
	}
	return fmt.Sprintf("%d/%d", counts.Running, counts.Pending+counts.Running)
}

func message(status *sparkoperator.SparkApplicationStatus) string {
	if status.AppState.ErrorMessage != "" {
		return status.AppState.ErrorMessage
	}
	kinds := []string{sparkoperator.ConditionWorkloadSchedulingReady}
	if status.AppState.State == sparkoperator.ApplicationStateSubmitted {
		kinds = []string{sparkoperator.ConditionRunning, sparkoperator.ConditionWorkloadSchedulingReady}
	}
	for _, kind := range kinds {
		if condition := meta.FindStatusCondition(status.Conditions, kind); condition != nil && condition.Status != metav1.ConditionTrue {
			return table.OrNone(condition.Message)
		}
	}
	return table.None
}
