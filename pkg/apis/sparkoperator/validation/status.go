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
	"maps"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
)

var (
	applicationStates = []sparkoperator.ApplicationStateType{
		sparkoperator.ApplicationStateNew, sparkoperator.ApplicationStateSubmitted, sparkoperator.ApplicationStateRunning,
		sparkoperator.ApplicationStateCompleted, sparkoperator.ApplicationStateFailed, sparkoperator.ApplicationStateFailedSubmission,
		sparkoperator.ApplicationStatePendingRerun, sparkoperator.ApplicationStateInvalidating, sparkoperator.ApplicationStateSucceeding,
		sparkoperator.ApplicationStateFailing, sparkoperator.ApplicationStateSuspending, sparkoperator.ApplicationStateSuspended,
		sparkoperator.ApplicationStateResuming, sparkoperator.ApplicationStateUnknown,
	}
	executorStates = []sparkoperator.ExecutorState{
		sparkoperator.ExecutorStatePending, sparkoperator.ExecutorStateRunning, sparkoperator.ExecutorStateCompleted,
		sparkoperator.ExecutorStateFailed, sparkoperator.ExecutorStateUnknown,
	}
	schedulingPolicies = []sparkoperator.WorkloadSchedulingPolicy{
		sparkoperator.WorkloadSchedulingPolicyBasic, sparkoperator.WorkloadSchedulingPolicyGang,
	}
)

// ValidateSparkApplicationStatusUpdate validates an update through the status subresource. Only what changed is looked
// at, so that a status of another release stays writable.
func ValidateSparkApplicationStatusUpdate(app, old *sparkoperator.SparkApplication) field.ErrorList {
	errs := apimachineryvalidation.ValidateObjectMetaUpdate(&app.ObjectMeta, &old.ObjectMeta, metadataPath)
	status, oldStatus := &app.Status, &old.Status

	errs = append(errs, validateState(app, old)...)
	errs = append(errs, validateNumbers(status, oldStatus)...)
	if !equality.Semantic.DeepEqual(status.Conditions, oldStatus.Conditions) {
		errs = append(errs, metav1validation.ValidateConditions(status.Conditions, statusPath.Child("conditions"))...)
	}
	for _, pod := range slices.Sorted(maps.Keys(status.ExecutorState)) {
		if state := status.ExecutorState[pod]; state != oldStatus.ExecutorState[pod] {
			errs = append(errs, oneOf(statusPath.Child("executorState").Key(pod), state, executorStates)...)
		}
	}
	if !equality.Semantic.DeepEqual(status.WorkloadScheduling, oldStatus.WorkloadScheduling) {
		errs = append(errs, validateAttemptRecord(status.WorkloadScheduling, statusPath.Child("workloadScheduling"))...)
	}
	return errs
}

// validateState refuses an attempt that comes back to life. COMPLETED and FAILED are promises: clients stop watching,
// and quota is given away. What may follow is another attempt under an id of its own, or the end of this one because of
// an edit of the spec, which the observed generation tells.
func validateState(app, old *sparkoperator.SparkApplication) field.ErrorList {
	state, oldState := app.Status.AppState.State, old.Status.AppState.State
	if state == oldState {
		return nil
	}
	path := statusPath.Child("applicationState", "state")
	if errs := oneOf(path, state, applicationStates); len(errs) > 0 {
		return errs
	}
	sameAttempt := app.Status.SubmissionID == old.Status.SubmissionID
	edited := state == sparkoperator.ApplicationStateInvalidating && app.Generation != old.Status.ObservedGeneration
	if terminal(oldState) && sameAttempt && !edited {
		return field.ErrorList{field.Invalid(path, state, fmt.Sprintf(
			"the attempt %q has ended as %s; another attempt has a submission id of its own", old.Status.SubmissionID, oldState))}
	}
	return nil
}

func terminal(state sparkoperator.ApplicationStateType) bool {
	return state == sparkoperator.ApplicationStateCompleted || state == sparkoperator.ApplicationStateFailed
}

func validateNumbers(status, old *sparkoperator.SparkApplicationStatus) field.ErrorList {
	var errs field.ErrorList
	notNegative := func(path *field.Path, value, oldValue int64) {
		if value != oldValue {
			errs = append(errs, apimachineryvalidation.ValidateNonnegativeField(value, path)...)
		}
	}
	notNegative(statusPath.Child("executionAttempts"), int64(status.ExecutionAttempts), int64(old.ExecutionAttempts))
	notNegative(statusPath.Child("submissionAttempts"), int64(status.SubmissionAttempts), int64(old.SubmissionAttempts))
	notNegative(statusPath.Child("observedGeneration"), status.ObservedGeneration, old.ObservedGeneration)

	if counts := status.ExecutorCounts; counts != nil {
		oldCounts := old.ExecutorCounts
		if oldCounts == nil {
			oldCounts = &sparkoperator.ExecutorCounts{}
		}
		path := statusPath.Child("executorCounts")
		notNegative(path.Child("pending"), int64(counts.Pending), int64(oldCounts.Pending))
		notNegative(path.Child("running"), int64(counts.Running), int64(oldCounts.Running))
		notNegative(path.Child("completed"), int64(counts.Completed), int64(oldCounts.Completed))
		notNegative(path.Child("failed"), int64(counts.Failed), int64(oldCounts.Failed))
		notNegative(path.Child("unknown"), int64(counts.Unknown), int64(oldCounts.Unknown))
	}
	if counts := status.FailureCounts; counts != nil {
		oldCounts := old.FailureCounts
		if oldCounts == nil {
			oldCounts = &sparkoperator.FailureCounts{}
		}
		path := statusPath.Child("failureCounts")
		notNegative(path.Child("submission"), int64(counts.Submission), int64(oldCounts.Submission))
		notNegative(path.Child("run"), int64(counts.Run), int64(oldCounts.Run))
		notNegative(path.Child("infrastructure"), int64(counts.Infrastructure), int64(oldCounts.Infrastructure))
	}
	if port := status.DriverInfo.WebUIPort; port != old.DriverInfo.WebUIPort && (port < 0 || port > math.MaxUint16) {
		errs = append(errs, field.Invalid(statusPath.Child("driverInfo", "webUIPort"), port, "must be from 0 (none) to 65535"))
	}
	return errs
}

// validateAttemptRecord checks the record of an attempt that uses workload-aware scheduling. The controller finds its
// way by it after a restart, so that a record which names nothing would lose a group.
func validateAttemptRecord(record *sparkoperator.WorkloadSchedulingStatus, path *field.Path) field.ErrorList {
	if record == nil {
		return nil
	}
	var errs field.ErrorList
	required := func(path *field.Path, value string) {
		if value == "" {
			errs = append(errs, field.Required(path, ""))
		}
	}
	errs = append(errs, oneOf(path.Child("policy"), record.Policy, schedulingPolicies)...)
	required(path.Child("submissionID"), record.SubmissionID)
	required(path.Child("workloadName"), record.WorkloadName)

	templates := map[string]bool{}
	for i, group := range record.PodGroups {
		groupPath := path.Child("podGroups").Index(i)
		required(groupPath.Child("templateName"), group.TemplateName)
		required(groupPath.Child("podGroupName"), group.PodGroupName)
		if templates[group.TemplateName] {
			errs = append(errs, field.Duplicate(groupPath.Child("templateName"), group.TemplateName))
		}
		templates[group.TemplateName] = true
		if group.MinCount != nil && *group.MinCount < 1 {
			errs = append(errs, field.Invalid(groupPath.Child("minCount"), *group.MinCount, "must be 1 or more"))
		}
		errs = append(errs, apimachineryvalidation.ValidateNonnegativeField(int64(group.BoundMembers), groupPath.Child("boundMembers"))...)
	}
	return errs
}
