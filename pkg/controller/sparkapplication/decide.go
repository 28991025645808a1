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
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
)

// safetyRequeue is when to look again at something whose end an event should announce. It makes sure that a lost event
// delays an application and never strands it.
const safetyRequeue = 30 * time.Second

// decision is a Plan in the making.
type decision struct {
	*Snapshot
	app    *v1beta2.SparkApplication
	now    metav1.Time
	status *v1beta2.SparkApplicationStatus
	native bool
	plan   Plan
}

// Decide says what should be, given what is. It is pure: the same snapshot and time give the same plan.
func Decide(s *Snapshot, now time.Time) Plan {
	d := &decision{
		Snapshot: s,
		app:      s.Application,
		// Times are stored in whole seconds, and what is stored must equal what was decided.
		now:    metav1.NewTime(now.Truncate(time.Second)),
		status: s.Application.Status.DeepCopy(),
		native: scheduling.Choose(&s.Application.Spec, field.NewPath("spec")).Native(),
	}
	if deleting(d.app) {
		// Owner references take everything along. While the application lingers nothing is created any more.
		d.rule(RuleDeleting)
	} else {
		d.decide()
		d.adoptRestartHash()
	}
	d.plan.Status = *d.status
	return d.plan
}

func (d *decision) decide() {
	d.acceptGeneration()
	if d.suspendable() && suspended(d.app) {
		d.rule(RuleSuspend)
		d.suspend()
		return
	}
	if d.invalidatable() && specEdited(d.app) {
		d.rule(RuleEdit)
		d.invalidate()
		return
	}
	switch d.status.AppState.State {
	case v1beta2.ApplicationStateNew:
		d.decideNew()
	case v1beta2.ApplicationStateSubmitted:
		d.decideSubmitted()
	case v1beta2.ApplicationStateRunning, v1beta2.ApplicationStateUnknown:
		d.decideRunning()
	case v1beta2.ApplicationStateSucceeding:
		d.decideSucceeding()
	case v1beta2.ApplicationStateFailing:
		d.decideFailing()
	case v1beta2.ApplicationStateFailedSubmission:
		d.decideSubmissionFailed()
	case v1beta2.ApplicationStatePendingRerun:
		d.decidePendingRerun()
	case v1beta2.ApplicationStateInvalidating:
		d.decideInvalidating()
	case v1beta2.ApplicationStateCompleted, v1beta2.ApplicationStateFailed:
		d.decideEnded()
	case v1beta2.ApplicationStateSuspending:
		d.decideSuspending()
	case v1beta2.ApplicationStateSuspended:
		d.decideSuspended()
	case v1beta2.ApplicationStateResuming:
		d.begin()
	}
}

// enter changes the state and tells so.
func (d *decision) enter(state v1beta2.ApplicationStateType, events ...Event) {
	d.status.AppState.State = state
	d.plan.Events = append(d.plan.Events, events...)
}

func (d *decision) event(e Event) {
	d.plan.Events = append(d.plan.Events, e)
}

// observeGeneration says that the status holds for the spec as it is. Conditions say so of themselves: kubectl wait passes
// over one of an older generation.
func (d *decision) observeGeneration() {
	d.status.ObservedGeneration = d.app.Generation
	for i := range d.status.Conditions {
		d.status.Conditions[i].ObservedGeneration = d.app.Generation
	}
}

func suspended(app *v1beta2.SparkApplication) bool {
	return app.Spec.Suspend != nil && *app.Spec.Suspend
}
