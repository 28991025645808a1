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

package sparkoperator

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConcurrencyPolicy says what becomes of a run that is due while an earlier one has not ended.
type ConcurrencyPolicy string

const (
	// ConcurrencyAllow starts the run beside the earlier ones.
	ConcurrencyAllow ConcurrencyPolicy = "Allow"
	// ConcurrencyForbid leaves the run out.
	ConcurrencyForbid ConcurrencyPolicy = "Forbid"
	// ConcurrencyReplace deletes the earlier ones and starts the run.
	ConcurrencyReplace ConcurrencyPolicy = "Replace"
)

// ScheduleState says whether the runs of a schedule are started.
type ScheduleState string

const (
	// ScheduleStateNew is the state of a schedule that the controller has not handled yet.
	ScheduleStateNew ScheduleState = ""
	// ScheduleStateValidating is part of the API for the sake of old clients and is never set.
	ScheduleStateValidating ScheduleState = "Validating"
	// ScheduleStateScheduled says that the next run is waited for.
	ScheduleStateScheduled ScheduleState = "Scheduled"
	// ScheduleStateFailedValidation says that the schedule can't be read, or that the last run that was due was refused as
	// invalid. The next run is tried nevertheless, and an edit of the spec is looked at anew.
	ScheduleStateFailedValidation ScheduleState = "FailedValidation"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ScheduledSparkApplication creates a SparkApplication whenever its schedule says so.
type ScheduledSparkApplication struct {
	metav1.TypeMeta
	// metadata is the standard object metadata. The name is a DNS-1035 label of at most 63 characters.
	metav1.ObjectMeta

	// spec is what to run and when.
	Spec ScheduledSparkApplicationSpec

	// status is what the controller has observed.
	Status ScheduledSparkApplicationStatus
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ScheduledSparkApplicationList is a list of ScheduledSparkApplications.
type ScheduledSparkApplicationList struct {
	metav1.TypeMeta
	// metadata is the standard list metadata.
	metav1.ListMeta

	// items are the schedules.
	Items []ScheduledSparkApplication
}

// ScheduledSparkApplicationSpec says what to run and when.
type ScheduledSparkApplicationSpec struct {
	// schedule says when to run: five fields of cron (minute, hour, day of the month, month, day of the week), or one of
	// @yearly, @monthly, @weekly, @daily, @hourly and "@every <duration>". It may start with "CRON_TZ=<zone> ", which takes
	// the place of timeZone.
	Schedule string

	// timeZone is the name of the time zone, in the IANA database, that the schedule is read in. Default: the time zone of
	// the server, which is UTC in its image.
	TimeZone string

	// template is the spec of the SparkApplications that are created. An edit of it, its scheduling block included, is
	// for the next run.
	Template SparkApplicationSpec

	// suspend keeps new runs from being started while it is true. A run that has started goes on.
	Suspend *bool

	// concurrencyPolicy says what becomes of a run that is due while an earlier one has not ended. Default: Allow.
	ConcurrencyPolicy ConcurrencyPolicy

	// successfulRunHistoryLimit is how many completed runs are kept. Default: 1.
	SuccessfulRunHistoryLimit *int32

	// failedRunHistoryLimit is how many failed runs are kept. Default: 1.
	FailedRunHistoryLimit *int32

	// startingDeadlineSeconds is how many seconds after its time a run may still be started. One that can't be is missed.
	// Default: no limit; of the runs that were missed, the last one is made up for.
	StartingDeadlineSeconds *int64
}

// ScheduledSparkApplicationStatus is what the controller has observed of a schedule.
type ScheduledSparkApplicationStatus struct {
	// lastRun is when the last run was started.
	LastRun metav1.Time

	// nextRun is when the next run is due. It is in the past while that run can't be started.
	NextRun metav1.Time

	// lastRunName is the name of the SparkApplication of the last run.
	LastRunName string

	// pastSuccessfulRunNames are the names of the completed runs that are kept, the latest first.
	PastSuccessfulRunNames []string

	// pastFailedRunNames are the names of the failed runs that are kept, the latest first.
	PastFailedRunNames []string

	// scheduleState says whether runs are started.
	ScheduleState ScheduleState

	// reason says what is wrong with the schedule, or why the last run that was due could not be started.
	Reason string

	// lastScheduledTime is the time that the last run was due at. "@every" counts from it.
	LastScheduledTime metav1.Time

	// observedGeneration is the generation of the spec that the status holds for.
	ObservedGeneration int64
}
