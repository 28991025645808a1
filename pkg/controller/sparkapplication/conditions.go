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
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// Reasons of the condition Running.
const (
	ReasonSubmitting        = "Submitting"
	ReasonWaitingForCleanup = "WaitingForCleanup"
	ReasonNotAuthorized     = "NotAuthorized"
	ReasonDriverPending     = "DriverPending"
	ReasonDriverRunning     = "DriverRunning"
	ReasonDriverUnknown     = "DriverUnknown"
)

// Reasons of the conditions Complete, Failed and Suspended, and of Running once the application runs no more.
const (
	ReasonDriverSucceeded  = "DriverSucceeded"
	ReasonDriverFailed     = "DriverFailed"
	ReasonDriverNotFound   = "DriverNotFound"
	ReasonSubmissionFailed = "SubmissionFailed"
	ReasonSuspending       = "Suspending"
	ReasonSuspended        = "Suspended"
	ReasonResumed          = "Resumed"
)

// Reasons of the condition WorkloadSchedulingReady.
const (
	ReasonPreparingAttempt          = "PreparingAttempt"
	ReasonWorkloadAPINotServed      = "WorkloadAPINotServed"
	ReasonSchedulingFieldsDropped   = "SchedulingFieldsDropped"
	ReasonFeatureGateDisabled       = "FeatureGateDisabled"
	ReasonCompilationFailed         = "CompilationFailed"
	ReasonObjectConflict            = "ObjectConflict"
	ReasonWaitingForDriver          = "WaitingForDriver"
	ReasonWaitingForExecutors       = "WaitingForExecutors"
	ReasonGangUnschedulable         = "GangUnschedulable"
	ReasonSchedulerError            = "SchedulerError"
	ReasonSchedulerNotEnforcing     = "SchedulerNotEnforcing"
	ReasonExecutorMembershipMissing = "ExecutorMembershipMissing"
	ReasonGangAdmitted              = "GangAdmitted"
	ReasonBasicScheduled            = "BasicScheduled"
)

// setCondition sets a condition. Its time changes with its status only.
func (d *decision) setCondition(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&d.status.Conditions, metav1.Condition{
		Type:               kind,
		Status:             status,
		Reason:             reason,
		Message:            message,
		ObservedGeneration: d.status.ObservedGeneration,
		LastTransitionTime: d.now,
	})
}

func (d *decision) removeCondition(kind string) {
	meta.RemoveStatusCondition(&d.status.Conditions, kind)
}

// findCondition returns a condition, or nil.
func findCondition(status *v1beta2.SparkApplicationStatus, kind string) *metav1.Condition {
	return meta.FindStatusCondition(status.Conditions, kind)
}

// conditionReason returns the reason of a condition, or "" where there is none.
func conditionReason(status *v1beta2.SparkApplicationStatus, kind string) string {
	if c := findCondition(status, kind); c != nil {
		return c.Reason
	}
	return ""
}

// conditionsFlipped says whether a condition became true, or is true no more. Between False and Unknown lie details.
func conditionsFlipped(before, after []metav1.Condition) bool {
	for _, list := range [][]metav1.Condition{before, after} {
		for i := range list {
			kind := list[i].Type
			if meta.IsStatusConditionTrue(before, kind) != meta.IsStatusConditionTrue(after, kind) {
				return true
			}
		}
	}
	return false
}
