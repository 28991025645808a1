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
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/schedules"
)

// someTime is a time of the calendar's present, from which every day of every year comes within five years: validation
// depends on the object alone, and what is valid today is tomorrow.
var someTime = time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC)

var scheduleStates = []sparkoperator.ScheduleState{
	sparkoperator.ScheduleStateNew, sparkoperator.ScheduleStateValidating, sparkoperator.ScheduleStateScheduled,
	sparkoperator.ScheduleStateFailedValidation,
}

// ValidateScheduledSparkApplication validates a new, defaulted schedule.
func ValidateScheduledSparkApplication(schedule *sparkoperator.ScheduledSparkApplication, opts Options) field.ErrorList {
	// The name becomes a label of the runs and a part of their names.
	errs := apimachineryvalidation.ValidateObjectMeta(&schedule.ObjectMeta, true, apimachineryvalidation.NameIsDNS1035Label, metadataPath)
	return appendNew(errs, validateScheduleSpec(versionedSchedule(schedule), opts))
}

// ValidateScheduledSparkApplicationUpdate validates an update of a schedule by anything but a subresource. Both are
// defaulted. Everything may be edited, the scheduling block of the template as well: it is for runs that are yet to come.
// As for applications, what is wrong with the stored object already doesn't stand in the way of other edits.
func ValidateScheduledSparkApplicationUpdate(schedule, old *sparkoperator.ScheduledSparkApplication, opts Options) field.ErrorList {
	errs := apimachineryvalidation.ValidateObjectMetaUpdate(&schedule.ObjectMeta, &old.ObjectMeta, metadataPath)
	if schedule.DeletionTimestamp != nil || !runRelevantChange(&schedule.Spec, &old.Spec) {
		return errs
	}
	return append(errs, withoutOldErrors(validateScheduleSpec(versionedSchedule(schedule), opts), func() field.ErrorList {
		return validateScheduleSpec(versionedSchedule(old), opts)
	})...)
}

// runRelevantChange says whether a spec differs in more than suspend: a schedule must be suspendable whatever is wrong
// with it.
func runRelevantChange(spec, old *sparkoperator.ScheduledSparkApplicationSpec) bool {
	a, b := *spec, *old
	a.Suspend, b.Suspend = nil, nil
	return !equality.Semantic.DeepEqual(&a, &b)
}

func validateScheduleSpec(schedule *v1beta2.ScheduledSparkApplication, opts Options) field.ErrorList {
	errs := validateCalendar(&schedule.Spec)
	return append(errs, validateSpec(representativeRun(schedule), specPath.Child("template"), opts)...)
}

func validateCalendar(spec *v1beta2.ScheduledSparkApplicationSpec) field.ErrorList {
	if spec.Schedule == "" {
		return nil // the tag beside the field says that it is required
	}
	path := specPath.Child("schedule")
	calendar, err := schedules.Parse(spec, time.UTC)
	switch {
	case err != nil && err.TimeZone:
		return field.ErrorList{field.Invalid(specPath.Child("timeZone"), spec.TimeZone, err.Detail+"; it is the name of a zone of the IANA database, such as Europe/Berlin, or UTC")}
	case err != nil:
		return field.ErrorList{field.Invalid(path, spec.Schedule, err.Detail+"; it has the five fields of cron, or is a descriptor such as @hourly or @every 10m")}
	case calendar.Next(someTime).IsZero():
		return field.ErrorList{field.Invalid(path, spec.Schedule, "no day of any year is a day of this schedule")}
	}
	return nil
}

// representativeRun returns an application as the schedule will create it. Which slot it is of makes no difference: the
// names of all of them are equally long.
func representativeRun(schedule *v1beta2.ScheduledSparkApplication) *v1beta2.SparkApplication {
	return schedules.Run(schedule, someTime)
}

// WarningsForScheduledSparkApplication says what of a valid schedule is accepted and will not do what its author may think.
// The old object is nil for a create.
func WarningsForScheduledSparkApplication(schedule, old *sparkoperator.ScheduledSparkApplication) []string {
	if old != nil && (schedule.DeletionTimestamp != nil || equality.Semantic.DeepEqual(&schedule.Spec, &old.Spec)) {
		return nil
	}
	object := versionedSchedule(schedule)
	warnings := calendarWarnings(&object.Spec)
	for _, warning := range specWarnings(representativeRun(object), specPath.Child("template")) {
		if !slices.Contains(warnings, warning) {
			warnings = append(warnings, warning)
		}
	}
	return warnings
}

func calendarWarnings(spec *v1beta2.ScheduledSparkApplicationSpec) []string {
	var warnings []string
	if spec.TimeZone != "" && schedules.HasZone(spec.Schedule) {
		warnings = append(warnings, fmt.Sprintf("%s: %q has no effect, because %s has a time zone of its own",
			specPath.Child("timeZone"), spec.TimeZone, specPath.Child("schedule")))
	}
	if used, fractional := schedules.FractionalInterval(spec); fractional {
		warnings = append(warnings, fmt.Sprintf("%s: %q is no interval of whole seconds; runs are due every %s",
			specPath.Child("schedule"), spec.Schedule, used))
	}
	if spec.Template.Suspend != nil && *spec.Template.Suspend {
		warnings = append(warnings, fmt.Sprintf("%s: every run is created suspended and waits for somebody to resume it; suspending the schedule is %s",
			specPath.Child("template", "suspend"), specPath.Child("suspend")))
	}
	if policy := spec.Template.RestartPolicy.Type; policy == v1beta2.RestartPolicyAlways && spec.ConcurrencyPolicy != v1beta2.ConcurrencyReplace {
		warnings = append(warnings, fmt.Sprintf("%s: a run with %q never ends, so that %s",
			specPath.Child("template", "restartPolicy", "type"), policy, endlessRuns(spec.ConcurrencyPolicy)))
	}
	return warnings
}

func endlessRuns(policy v1beta2.ConcurrencyPolicy) string {
	if policy == v1beta2.ConcurrencyForbid {
		return "the first run is the last one"
	}
	return "there are ever more of them"
}

// ValidateScheduledSparkApplicationStatusUpdate validates an update through the status subresource. Only what changed is
// looked at, so that a status of another release stays writable.
func ValidateScheduledSparkApplicationStatusUpdate(schedule, old *sparkoperator.ScheduledSparkApplication) field.ErrorList {
	errs := apimachineryvalidation.ValidateObjectMetaUpdate(&schedule.ObjectMeta, &old.ObjectMeta, metadataPath)
	if state := schedule.Status.ScheduleState; state != old.Status.ScheduleState {
		errs = append(errs, oneOf(statusPath.Child("scheduleState"), state, scheduleStates)...)
	}
	if generation := schedule.Status.ObservedGeneration; generation != old.Status.ObservedGeneration {
		errs = append(errs, apimachineryvalidation.ValidateNonnegativeField(generation, statusPath.Child("observedGeneration"))...)
	}
	return errs
}

// versionedSchedule returns the same object as the type that the pure packages read. It shares its memory and must not be
// changed.
func versionedSchedule(schedule *sparkoperator.ScheduledSparkApplication) *v1beta2.ScheduledSparkApplication {
	out := &v1beta2.ScheduledSparkApplication{}
	// The two are equal field for field; the generated conversion copies pointers and can't fail.
	_ = v1beta2.Convert_sparkoperator_ScheduledSparkApplication_To_v1beta2_ScheduledSparkApplication(schedule, out, nil)
	return out
}
