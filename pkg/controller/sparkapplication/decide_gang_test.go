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
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func withDeadline(seconds int64) func(app *v1beta2.SparkApplication) {
	return func(app *v1beta2.SparkApplication) {
		withGang(app)
		app.Spec.Scheduling.AdmissionDeadlineSeconds = new(seconds)
	}
}

// startedAgo is a driver whose container has run for some time.
func startedAgo(ago time.Duration) func(pod *corev1.Pod) {
	return func(pod *corev1.Pod) {
		waitsWith("", "")(pod)
		pod.Status.Phase = corev1.PodRunning
		pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(decideTime.Add(-ago))}}
	}
}

func atPlace(position, waiting int) func(s *Snapshot) {
	return func(s *Snapshot) { s.Queue = &Place{Position: position, Waiting: waiting} }
}

// gangCases are about deadlines, turns and groups.
func gangCases() map[string]decideCase {
	const (
		submitted = v1beta2.ApplicationStateSubmitted
		running   = v1beta2.ApplicationStateRunning
		failing   = v1beta2.ApplicationStateFailing
	)
	noRoom := withGroup(2, groupReport(metav1.ConditionFalse, "Unschedulable", "no room"))
	members := func(s *Snapshot) {
		withExecutor(1, testGroup, corev1.PodPending, "")(s)
		withExecutor(2, testGroup, corev1.PodPending, "")(s)
	}
	return map[string]decideCase{
		"the clock of a gang starts with the driver's container": {
			snapshot: snapshotOf(inState(submitted, withDeadline(60)), withDriver(corev1.PodRunning, startedAgo(10*time.Second)), noRoom, members),
			rule:     RuleDriverRunning, state: running, ready: ReasonGangUnschedulable, requeue: true,
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, decideTime.Add(-10*time.Second), plan.Status.WorkloadScheduling.WaitStartTime.Time)
				assert.Equal(t, decideTime.Add(50*time.Second), plan.Status.WorkloadScheduling.DeadlineTime.Time)
				assert.Equal(t, 50*time.Second, plan.RequeueAfter)
			},
		},
		"a gang that was not placed in time": {
			snapshot: snapshotOf(inState(running, withDeadline(60)), withDriver(corev1.PodRunning, startedAgo(time.Minute)), noRoom, members),
			rule:     RuleAdmissionDeadline, state: failing, running: ReasonAdmissionDeadlineExceeded, ready: ReasonAdmissionDeadlineExceeded,
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, "executor gang not admitted within 1m0s: no room", plan.Status.AppState.ErrorMessage)
				assert.Equal(t, v1beta2.FailureCounts{Run: 1}, *plan.Status.FailureCounts)
				assert.Equal(t, decideTime, plan.Status.TerminationTime.Time)
			},
		},
		"a gang that was placed at the last moment": {
			snapshot: snapshotOf(inState(running, withDeadline(60)), withDriver(corev1.PodRunning, startedAgo(time.Hour)), members,
				withGroup(2, groupReport(metav1.ConditionTrue, "Scheduled", ""))),
			rule: RuleGangAdmitted, state: running, ready: ReasonGangAdmitted, ensure: []Step{StepLowerMinCount},
		},
		"the server's deadline holds for gangs without": {
			snapshot: snapshotOf(inState(running, withGang), settings(func(s *Settings) { s.GangAdmissionDeadline = time.Minute }), withDriver(corev1.PodRunning, startedAgo(time.Hour)), noRoom, members),
			rule:     RuleAdmissionDeadline, state: failing,
		},
		"another flag does not move a clock that runs": {
			snapshot: snapshotOf(inState(running, withGang), settings(func(s *Settings) { s.GangAdmissionDeadline = time.Second }), withDriver(corev1.PodRunning, startedAgo(time.Hour)), noRoom, members, func(s *Snapshot) {
				s.Application.Status.WorkloadScheduling.WaitStartTime = new(metav1.NewTime(startOfTime))
				s.Application.Status.WorkloadScheduling.DeadlineTime = new(metav1.NewTime(decideTime.Add(time.Hour)))
			}),
			rule: RuleDriverRunning, state: running, ready: ReasonGangUnschedulable, requeue: true,
		},
		"without a deadline a gang waits": {
			snapshot: snapshotOf(inState(running, withGang), withDriver(corev1.PodRunning, startedAgo(1000*time.Hour)), noRoom, members),
			rule:     RuleDriverRunning, state: running, ready: ReasonGangUnschedulable,
		},
		"a group that is not a gang has no deadline": {
			snapshot: snapshotOf(inState(running, withBasic, func(*v1beta2.SparkApplication) {}), settings(func(s *Settings) { s.GangAdmissionDeadline = time.Second }), func(s *Snapshot) {
				s.Application.Status.WorkloadScheduling.Policy = v1beta2.WorkloadSchedulingPolicyBasic
			}, withDriver(corev1.PodRunning, startedAgo(time.Hour)), noRoom, members),
			rule: RuleDriverRunning, state: running, ready: ReasonGangUnschedulable,
		},
		"a group that was removed has its deadline still": {
			snapshot: snapshotOf(inState(running, withDeadline(60)), withDriver(corev1.PodRunning, startedAgo(time.Hour)), members),
			rule:     RuleAdmissionDeadline, state: failing,
		},
		"a group that can't be made again is told": {
			snapshot: snapshotOf(inState(running, withGang), withDriver(corev1.PodRunning), withObstacle(ObstacleRefused)),
			rule:     RuleGroupObstacle, state: running, ready: ReasonObjectConflict, requeue: true,
		},
		"groups that are not known yet": {
			snapshot: snapshotOf(inState(running, withGang), withDriver(corev1.PodRunning), func(s *Snapshot) { s.PodGroupsKnown = false }),
			rule:     RuleGroupsNotKnown, state: running, requeue: true,
		},
		"a minCount that something raised is lowered again": {
			snapshot: snapshotOf(inState(running, withGang), withDriver(corev1.PodRunning), withGroup(2), func(s *Snapshot) {
				s.Application.Status.WorkloadScheduling.AdmittedTime = new(metav1.NewTime(startOfTime))
			}),
			rule: RuleLowerMinCount, state: running, ready: ReasonGangAdmitted, ensure: []Step{StepLowerMinCount},
		},
		"a new gang waits for its turn": {
			snapshot: snapshotOf(newApp(withGang), atPlace(3, 50)),
			rule:     RuleDriverQueued, state: submitted, running: ReasonDriverQueued, ready: ReasonDriverQueued, requeue: true,
			check: func(t *testing.T, plan Plan) {
				assert.Contains(t, findCondition(&plan.Status, v1beta2.ConditionRunning).Message, "at place 3: 50 drivers")
				assert.Equal(t, safetyRequeue, plan.RequeueAfter)
				assert.False(t, (&decision{Snapshot: &Snapshot{}, status: &plan.Status}).driverSeen(), "it is not taken for one with a driver")
			},
		},
		"a gang waits on, far behind": {
			snapshot: snapshotOf(inState(submitted, withGang), absent, runningReason(ReasonDriverQueued, ""), atPlace(300, 50)),
			rule:     RuleDriverQueued, state: submitted, running: ReasonDriverQueued, requeue: true,
			check: func(t *testing.T, plan Plan) {
				assert.Empty(t, plan.Events, "told once")
				assert.Equal(t, 300*time.Second, plan.RequeueAfter)
			},
		},
		"a gang has its turn": {
			snapshot: snapshotOf(inState(submitted, withGang), absent, runningReason(ReasonDriverQueued, "")),
			rule:     RuleCarryOutSubmission, state: submitted, running: ReasonSubmitting, ready: ReasonPreparingAttempt, ensure: []Step{StepSubmit},
		},
		"a gate that is off lets a running gang run": {
			snapshot: snapshotOf(inState(running, withGang), withDriver(corev1.PodRunning), noRoom, members, func(s *Snapshot) { s.FeatureEnabled = false }),
			rule:     RuleDriverRunning, state: running, ready: ReasonGangUnschedulable,
		},
		"a gate that is off stops a rerun": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStatePendingRerun, withGang), absent, func(s *Snapshot) { s.FeatureEnabled = false }),
			rule:     RuleCannotSubmit, state: v1beta2.ApplicationStateFailedSubmission, running: ReasonFeatureGateDisabled, ready: ReasonFeatureGateDisabled,
		},
	}
}
