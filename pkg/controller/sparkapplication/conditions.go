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
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// Reasons of the condition Running of an attempt without a driver.
const (
	ReasonSubmitting              = "Submitting"
	ReasonWaitingForCleanup       = "WaitingForCleanup"
	ReasonNotAuthorized           = "NotAuthorized"
	ReasonServiceAccountForbidden = "ServiceAccountForbidden"
	ReasonDriverQueued            = "DriverQueued"
	ReasonSuspending              = "Suspending"
	ReasonSuspended               = "Suspended"
	ReasonResumed                 = "Resumed"
	ReasonInvalidating            = "SpecEdited"
	ReasonPendingRerun            = "PendingRerun"
)

// Reasons of the condition Running of an attempt whose driver pod exists. All begin with "Driver", so that they also say
// that there was one (see saysDriver).
const (
	ReasonDriverPending        = "DriverPending"
	ReasonDriverUnschedulable  = "DriverUnschedulable"
	ReasonDriverImageError     = "DriverImageError"
	ReasonDriverContainerError = "DriverContainerError"
	ReasonDriverVolumeError    = "DriverVolumeError"
	ReasonDriverRunning        = "DriverRunning"
	ReasonDriverUnknown        = "DriverUnknown"
	ReasonDriverTerminating    = "DriverTerminating"
)

// Reasons for which an attempt has ended, of the conditions Running, Failed and Complete.
const (
	ReasonDriverSucceeded     = "DriverSucceeded"
	ReasonDriverFailed        = "DriverFailed"
	ReasonDriverOOMKilled     = "DriverOOMKilled"
	ReasonDriverNotFound      = "DriverNotFound"
	ReasonDriverStartDeadline = "DriverStartDeadlineExceeded"
	ReasonExecutorCannotStart = "ExecutorCannotStart"
	// By the cluster's doing.
	ReasonDriverEvicted   = "DriverEvicted"
	ReasonDriverPreempted = "DriverPreempted"
	ReasonDriverNodeLost  = "DriverNodeLost"
)

// Reasons for which a submission was refused.
const (
	ReasonSubmissionFailed       = "SubmissionFailed"
	ReasonQuotaExceeded          = "QuotaExceeded"
	ReasonLimitRangeExceeded     = "LimitRangeExceeded"
	ReasonPodSecurityViolated    = "PodSecurityViolated"
	ReasonPriorityClassNotFound  = "PriorityClassNotFound"
	ReasonServiceAccountNotFound = "ServiceAccountNotFound"
	ReasonAdmissionDenied        = "AdmissionDenied"
)

// saysDriver says whether a reason of the condition Running tells of a driver pod.
func saysDriver(reason string) bool {
	return strings.HasPrefix(reason, "Driver") && reason != ReasonDriverQueued
}

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
	ReasonAdmissionDeadlineExceeded = "AdmissionDeadlineExceeded"
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
