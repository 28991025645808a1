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

package render

import (
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/validation"
	"github.com/spark-apiserver/spark-apiserver/pkg/schedules"
)

const scheduledKind = "ScheduledSparkApplication"

// placeholderYear is when a schedule that no cluster has seen is taken to begin.
var placeholderYear = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// renderSchedule does for the next run of a schedule what render does for an application. The schedule is changed: it gets
// defaults, and stands in for what a cluster would have stored.
func (r *renderer) renderSchedule(schedule *v1beta2.ScheduledSparkApplication) *result {
	res := &result{}
	if !r.complete(res, schedule) {
		return res
	}
	r.scheme.Default(schedule)
	hub := &sparkoperator.ScheduledSparkApplication{}
	if err := r.scheme.Convert(schedule, hub, nil); err != nil {
		res.errors = append(res.errors, err)
		return res
	}
	res.warnings = validation.WarningsForScheduledSparkApplication(hub, nil)
	if !r.validate(res, schedule, validation.ValidateScheduledSparkApplication(hub, r.validationOptions())) {
		return res
	}
	slot, err := r.nextRun(res, schedule)
	if err != nil {
		res.errors = append(res.errors, err)
		return res
	}
	if schedule.UID == "" {
		schedule.UID = types.UID(placeholderID("schedule", schedule))
		res.placeholder("UID of the schedule", string(schedule.UID))
	}
	run := schedules.Run(schedule, slot)
	res.application = run
	res.schedule, res.due = schedule.Name, slot.Format(time.RFC3339)
	created := object{run.DeepCopy(), "the run; the objects that follow are created for it in turn"}
	r.compile(res)
	res.objects = append([]object{created}, res.objects...)
	return res
}

// nextRun returns the slot of the next run. Without a status and without a time zone the one of this machine would decide:
// UTC stands for the server's.
func (r *renderer) nextRun(res *result, schedule *v1beta2.ScheduledSparkApplication) (time.Time, error) {
	if next := schedule.Status.NextRun; !next.IsZero() {
		return next.UTC(), nil
	}
	calendar, parseErr := schedules.Parse(&schedule.Spec, time.UTC)
	if parseErr != nil {
		return time.Time{}, parseErr
	}
	slot := calendar.Anchored(schedule).Next(placeholderYear)
	if slot.IsZero() {
		return slot, errors.New("spec.schedule: nothing is due within five years")
	}
	res.placeholder("time that the run is due at", slot.Format(time.RFC3339))
	return slot, nil
}
