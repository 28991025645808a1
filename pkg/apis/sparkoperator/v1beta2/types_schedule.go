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

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConcurrencyPolicy says what becomes of a run that is due while an earlier one has not ended.
// +enum
// +k8s:enum
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
// +enum
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

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ScheduledSparkApplication creates a SparkApplication whenever its schedule says so.
type ScheduledSparkApplication struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata. The name is a DNS-1035 label of at most 63 characters.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// spec is what to run and when.
	Spec ScheduledSparkApplicationSpec `json:"spec" protobuf:"bytes,2,opt,name=spec"`

	// status is what the controller has observed.
	// +optional
	Status ScheduledSparkApplicationStatus `json:"status,omitzero" protobuf:"bytes,3,opt,name=status"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ScheduledSparkApplicationList is a list of ScheduledSparkApplications.
type ScheduledSparkApplicationList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// items are the schedules.
	Items []ScheduledSparkApplication `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// ScheduledSparkApplicationSpec says what to run and when.
type ScheduledSparkApplicationSpec struct {
	// schedule says when to run: five fields of cron (minute, hour, day of the month, month, day of the week), or one of
	// @yearly, @monthly, @weekly, @daily, @hourly and "@every <duration>". It may start with "CRON_TZ=<zone> ", which takes
	// the place of timeZone.
	// +k8s:required
	Schedule string `json:"schedule" protobuf:"bytes,1,opt,name=schedule"`

	// timeZone is the name of the time zone, in the IANA database, that the schedule is read in. Default: the time zone of
	// the server, which is UTC in its image.
	// +optional
	// +k8s:optional
	TimeZone string `json:"timeZone,omitempty" protobuf:"bytes,2,opt,name=timeZone"`

	// template is the spec of the SparkApplications that are created. An edit of it, its scheduling block included, is
	// for the next run.
	Template SparkApplicationSpec `json:"template" protobuf:"bytes,3,opt,name=template"`

	// suspend keeps new runs from being started while it is true. A run that has started goes on.
	// +optional
	// +k8s:optional
	Suspend *bool `json:"suspend,omitempty" protobuf:"varint,4,opt,name=suspend"`

	// concurrencyPolicy says what becomes of a run that is due while an earlier one has not ended. Default: Allow.
	// +optional
	// +k8s:optional
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty" protobuf:"bytes,5,opt,name=concurrencyPolicy,casttype=ConcurrencyPolicy"`

	// successfulRunHistoryLimit is how many completed runs are kept. Default: 1.
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	SuccessfulRunHistoryLimit *int32 `json:"successfulRunHistoryLimit,omitempty" protobuf:"varint,6,opt,name=successfulRunHistoryLimit"`

	// failedRunHistoryLimit is how many failed runs are kept. Default: 1.
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	FailedRunHistoryLimit *int32 `json:"failedRunHistoryLimit,omitempty" protobuf:"varint,7,opt,name=failedRunHistoryLimit"`

	// startingDeadlineSeconds is how many seconds after its time a run may still be started. One that can't be is missed.
	// Default: no limit; of the runs that were missed, the last one is made up for.
	// +optional
	// +k8s:optional
	// +k8s:minimum=1
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty" protobuf:"varint,8,opt,name=startingDeadlineSeconds"`
}

// ScheduledSparkApplicationStatus is what the controller has observed of a schedule.
type ScheduledSparkApplicationStatus struct {
	// lastRun is when the last run was started.
	// +optional
	// +nullable
	LastRun metav1.Time `json:"lastRun,omitempty" protobuf:"bytes,1,opt,name=lastRun"`

	// nextRun is when the next run is due. It is in the past while that run can't be started.
	// +optional
	// +nullable
	NextRun metav1.Time `json:"nextRun,omitempty" protobuf:"bytes,2,opt,name=nextRun"`

	// lastRunName is the name of the SparkApplication of the last run.
	// +optional
	LastRunName string `json:"lastRunName,omitempty" protobuf:"bytes,3,opt,name=lastRunName"`

	// pastSuccessfulRunNames are the names of the completed runs that are kept, the latest first.
	// +optional
	// +listType=atomic
	PastSuccessfulRunNames []string `json:"pastSuccessfulRunNames,omitempty" protobuf:"bytes,4,rep,name=pastSuccessfulRunNames"`

	// pastFailedRunNames are the names of the failed runs that are kept, the latest first.
	// +optional
	// +listType=atomic
	PastFailedRunNames []string `json:"pastFailedRunNames,omitempty" protobuf:"bytes,5,rep,name=pastFailedRunNames"`

	// scheduleState says whether runs are started.
	// +optional
	ScheduleState ScheduleState `json:"scheduleState,omitempty" protobuf:"bytes,6,opt,name=scheduleState,casttype=ScheduleState"`

	// reason says what is wrong with the schedule, or why the last run that was due could not be started.
	// +optional
	Reason string `json:"reason,omitempty" protobuf:"bytes,7,opt,name=reason"`

	// lastScheduledTime is the time that the last run was due at. "@every" counts from it.
	// +optional
	// +nullable
	LastScheduledTime metav1.Time `json:"lastScheduledTime,omitempty" protobuf:"bytes,8,opt,name=lastScheduledTime"`

	// observedGeneration is the generation of the spec that the status holds for.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty" protobuf:"varint,9,opt,name=observedGeneration"`
}
