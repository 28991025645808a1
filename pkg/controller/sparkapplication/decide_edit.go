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
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// invalidatable says whether an edit of the spec ends what there is and begins anew. Where no driver was made yet the
// next attempt, or the same one under another identity, takes the edit in its stride; an attempt that has just ended well
// is first shown to have done so.
func (d *decision) invalidatable() bool {
	switch d.status.AppState.State {
	case v1beta2.ApplicationStateSubmitted:
		return d.Driver != nil
	case v1beta2.ApplicationStateRunning, v1beta2.ApplicationStateUnknown, v1beta2.ApplicationStateFailing,
		v1beta2.ApplicationStateFailedSubmission, v1beta2.ApplicationStateCompleted, v1beta2.ApplicationStateFailed:
		return true
	default:
		return false
	}
}

// invalidate ends the attempt because its spec was edited. observedGeneration and the hash still tell from what the old
// attempt was made: the next one replaces them.
func (d *decision) invalidate() {
	message := "the spec was edited; what was made from the old one is being removed"
	d.freezeScheduling()
	d.endSide()
	d.removeCondition(v1beta2.ConditionComplete)
	d.removeCondition(v1beta2.ConditionFailed)
	d.setCondition(v1beta2.ConditionRunning, metav1.ConditionFalse, ReasonInvalidating, message)
	if d.status.WorkloadScheduling != nil {
		d.notReady(ReasonInvalidating, message)
	}
	d.enter(v1beta2.ApplicationStateInvalidating, eventInvalidating(d.app))
}

// decideInvalidating removes what was made from the old spec.
func (d *decision) decideInvalidating() {
	d.followExecutors()
	if !d.removeAttempt() {
		d.rule(RuleInvalidate)
		return
	}
	d.rule(RuleInvalidated)
	d.plan.ClearSubmission = d.status.SubmissionID
	d.rerun("the spec was edited")
}

// acceptGeneration takes over the generation of an edit that acts in place, so that it isn't taken for one that waits
// for the next attempt. Where the hash can't be compared, the edit is taken for such a one.
func (d *decision) acceptGeneration() {
	if d.app.Generation == d.status.ObservedGeneration || d.status.SubmissionID == "" || specEdited(d.app) {
		return
	}
	d.rule(RuleEditInPlace)
	d.observeGeneration()
	d.renewRestartHash()
}

// adoptRestartHash replaces a hash that another release has made, wherever the status is written anyway. Nothing is
// written for it alone: after an upgrade thousands of applications would be.
func (d *decision) adoptRestartHash() {
	if d.status.SubmissionID == "" || currentHash(d.status.RestartHash) || d.app.Generation != d.app.Status.ObservedGeneration ||
		equality.Semantic.DeepEqual(d.status, &d.app.Status) {
		return
	}
	d.renewRestartHash()
}

func (d *decision) renewRestartHash() {
	if hash, err := restartHash(&d.app.Spec); err == nil {
		d.status.RestartHash = hash
	}
}
