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
	"context"
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metatable "k8s.io/apimachinery/pkg/api/meta/table"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
)

// none stands for what a schedule doesn't have.
const none = "<none>"

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

// tableConvertor prints schedules as the rows of a table.
type tableConvertor struct{}

// NewTableConvertor returns what prints schedules for kubectl get.
func NewTableConvertor() rest.TableConvertor {
	return tableConvertor{}
}

// ConvertToTable implements rest.TableConvertor.
func (tableConvertor) ConvertToTable(_ context.Context, object runtime.Object, tableOptions runtime.Object) (*metav1.Table, error) {
	table := &metav1.Table{}
	if options, ok := tableOptions.(*metav1.TableOptions); !ok || !options.NoHeaders {
		table.ColumnDefinitions = columns
	}
	if list, err := meta.ListAccessor(object); err == nil {
		table.ResourceVersion = list.GetResourceVersion()
		table.Continue = list.GetContinue()
		table.RemainingItemCount = list.GetRemainingItemCount()
	} else if single, err := meta.CommonAccessor(object); err == nil {
		table.ResourceVersion = single.GetResourceVersion()
	}
	rows, err := metatable.MetaToTableRow(object, func(obj runtime.Object, _ metav1.Object, name, age string) ([]any, error) {
		schedule, ok := obj.(*sparkoperator.ScheduledSparkApplication)
		if !ok {
			return nil, fmt.Errorf("not a ScheduledSparkApplication: %T", obj)
		}
		return cells(schedule, name, age), nil
	})
	table.Rows = rows
	return table, err
}

func cells(schedule *sparkoperator.ScheduledSparkApplication, name, age string) []any {
	spec, status := &schedule.Spec, &schedule.Status
	lastRun := none
	if !status.LastRun.IsZero() {
		lastRun = metatable.ConvertToHumanReadableDateType(status.LastRun)
	}
	nextRun := none
	if !status.NextRun.IsZero() {
		nextRun = status.NextRun.UTC().Format(time.RFC3339)
	}
	return []any{
		name,
		spec.Schedule,
		orNone(spec.TimeZone),
		strconv.FormatBool(spec.Suspend != nil && *spec.Suspend),
		lastRun,
		orNone(status.LastRunName),
		age,
		nextRun,
		orNone(string(spec.ConcurrencyPolicy)),
		orNone(string(status.ScheduleState)),
		orNone(status.Reason),
	}
}

func orNone(text string) string {
	if text == "" {
		return none
	}
	return text
}
