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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// suspendable says whether spec.suspend can act. An attempt that has ended, with nothing to follow it, is not suspended:
// that would run again what has ended.
func (d *decision) suspendable() bool {
	switch d.status.AppState.State {
	case v1beta2.ApplicationStateNew, v1beta2.ApplicationStateSubmitted, v1beta2.ApplicationStateRunning,
		v1beta2.ApplicationStateUnknown, v1beta2.ApplicationStateResuming, v1beta2.ApplicationStatePendingRerun,
		v1beta2.ApplicationStateInvalidating:
		return true
	case v1beta2.ApplicationStateFailing:
		return d.mayRerun()
	case v1beta2.ApplicationStateFailedSubmission:
		return d.mayResubmit()
	default:
		return false
	}
}

func (d *decision) suspend() {
	added := d.addedEvent()
	d.setCondition(v1beta2.ConditionRunning, metav1.ConditionFalse, ReasonSuspending, "the application is being suspended")
	d.enter(v1beta2.ApplicationStateSuspending, append(added, eventSuspending(d.app))...)
}

// decideSuspending removes the pods and the objects of the attempt. The Workload is kept.
func (d *decision) decideSuspending() {
	if !d.removeAttempt() {
		return
	}
	d.rule(RuleSuspended)
	d.endSuspending()
}

func (d *decision) endSuspending() {
	d.plan.ClearSubmission = d.status.SubmissionID
	d.endSide()
	d.resetAttempt()
	d.status.ObservedGeneration = d.app.Generation
	message := "spec.suspend is true; the application holds no resources"
	d.setCondition(v1beta2.ConditionRunning, metav1.ConditionFalse, ReasonSuspended, message)
	d.setCondition(v1beta2.ConditionSuspended, metav1.ConditionTrue, ReasonSuspended, message)
	if d.native {
		d.setCondition(v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionFalse, ReasonSuspended, message)
	}
	d.enter(v1beta2.ApplicationStateSuspended, eventSuspended(d.app))
}

// decideSuspended waits for spec.suspend to be lifted.
func (d *decision) decideSuspended() {
	if suspended(d.app) {
		d.rule(RuleStaySuspended)
		// Nothing was made from an older spec.
		d.observeGeneration()
		return
	}
	d.rule(RuleResume)
	d.setCondition(v1beta2.ConditionSuspended, metav1.ConditionFalse, ReasonResumed, "spec.suspend was lifted")
	d.enter(v1beta2.ApplicationStateResuming, eventResuming(d.app))
}
