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

package scheduledsparkapplication

import (
	"strconv"

	metatable "k8s.io/apimachinery/pkg/api/meta/table"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/registry/sparkoperator/table"
)

// columns are those of the Spark Operator in its order, and further ones for -o wide.
var columns = []metav1.TableColumnDefinition{
	{Name: "Name", Type: "string", Format: "name", Description: "Name of the schedule."},
	{Name: "Schedule", Type: "string", Description: "When runs are due."},
	{Name: "TimeZone", Type: "string", Description: "Time zone of the schedule, where it isn't the server's."},
	{Name: "Suspend", Type: "string", Description: "Whether no runs are started."},
	{Name: "Last Run", Type: "date", Description: "Time since the last run was started."},
	{Name: "Last Run Name", Type: "string", Description: "Name of the application of the last run."},
	{Name: "Age", Type: "string", Description: "Time since the schedule was created."},
	{Name: "Next Run", Type: "string", Priority: 1, Description: "When the next run is due."},
	{Name: "Concurrency", Type: "string", Priority: 1, Description: "What becomes of a run that is due while an earlier one has not ended."},
	{Name: "State", Type: "string", Priority: 1, Description: "Whether runs are started."},
	{Name: "Reason", Type: "string", Priority: 1, Description: "What is wrong with the schedule, or why the last run that was due could not be started."},
}

// NewTableConvertor returns what prints schedules for kubectl get.
func NewTableConvertor() rest.TableConvertor {
	return table.Kind[*sparkoperator.ScheduledSparkApplication]{Name: "ScheduledSparkApplication", Columns: columns, Cells: cells}
}

func cells(schedule *sparkoperator.ScheduledSparkApplication, name, age string) []any {
	spec, status := &schedule.Spec, &schedule.Status
	lastRun := table.None
	if !status.LastRun.IsZero() {
		lastRun = metatable.ConvertToHumanReadableDateType(status.LastRun)
	}
	return []any{
		name,
		spec.Schedule,
		table.OrNone(spec.TimeZone),
		strconv.FormatBool(spec.Suspend != nil && *spec.Suspend),
		lastRun,
		table.OrNone(status.LastRunName),
		age,
		table.Timestamp(status.NextRun),
		table.OrNone(string(spec.ConcurrencyPolicy)),
		table.OrNone(string(status.ScheduleState)),
		table.OrNone(status.Reason),
	}
}
