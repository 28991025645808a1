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
	"time"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/schedules"
)

// Snapshot is all that is decided by.
type Snapshot struct {
	// Schedule is the schedule. It must not be changed.
	Schedule *v1beta2.ScheduledSparkApplication
	// Runs are the applications that the schedule owns, in no order. They must not be changed.
	Runs []*v1beta2.SparkApplication
	// Refusal is what came of creating the run of a slot. Nil: it was not refused, or not tried.
	Refusal *Refusal
	// Local is the time zone of schedules that name none.
	Local *time.Location
}

// Refusal says why the run of a slot can't be created. Trying the same again would be refused again.
type Refusal struct {
	Slot    time.Time
	Message string
	// Invalid says that it is the template that is refused, and not the wish to run it now.
	Invalid bool
}

// Plan is what is to be done, in the order of its fields.
type Plan struct {
	// Status is the status that the schedule should have.
	Status v1beta2.ScheduledSparkApplicationStatus
	// Events tell of a change of status. They are sent once it is written.
	Events []Event
	// Counts are results of slots, to be counted once the status is written.
	Counts map[result]int
	// Replace are runs to be deleted because the next one takes their place.
	Replace []*v1beta2.SparkApplication
	// Create is the run to be created, of CreateSlot.
	Create     *v1beta2.SparkApplication
	CreateSlot time.Time
	// Prune are runs to be deleted because there are more than are to be kept.
	Prune []*v1beta2.SparkApplication
	// Again says that there is more to decide once the status is written.
	Again bool
	// RequeueAfter is when to look again. Zero: when something happens.
	RequeueAfter time.Duration
}

// with returns the snapshot with another version of the schedule.
func (s *Snapshot) with(schedule *v1beta2.ScheduledSparkApplication) *Snapshot {
	next := *s
	next.Schedule = schedule
	return &next
}

// withRun returns the snapshot with a run that was created, or found.
func (s *Snapshot) withRun(run *v1beta2.SparkApplication) *Snapshot {
	next := *s
	next.Runs = append([]*v1beta2.SparkApplication{run}, s.Runs...)
	return &next
}

// ended says whether a run has ended for good.
func ended(run *v1beta2.SparkApplication) bool {
	return run.Status.AppState.State == v1beta2.ApplicationStateCompleted || run.Status.AppState.State == v1beta2.ApplicationStateFailed
}

// later orders runs by when they were due, and those of one time by when they were created: runs of the Spark Operator
// don't say when they were due.
func later(a, b *v1beta2.SparkApplication) int {
	if order := schedules.SlotOf(b).Compare(schedules.SlotOf(a)); order != 0 {
		return order
	}
	return b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
}
