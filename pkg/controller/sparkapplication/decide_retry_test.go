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
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func policy(kind v1beta2.RestartPolicyType, retries int32) func(app *v1beta2.SparkApplication) {
	return func(app *v1beta2.SparkApplication) {
		app.Spec.RestartPolicy = v1beta2.RestartPolicy{Type: kind, OnFailureRetries: new(retries), OnSubmissionFailureRetries: new(retries),
			OnFailureRetryInterval: new(int64(10)), OnSubmissionFailureRetryInterval: new(int64(10))}
	}
}

// ended is an attempt that ended some time ago, after failures.
func endedFor(ago time.Duration, counts v1beta2.FailureCounts) func(s *Snapshot) {
	return func(s *Snapshot) {
		s.Application.Status.TerminationTime = metav1.NewTime(decideTime.Add(-ago))
		s.Application.Status.FailureCounts = &counts
	}
}

func runningReason(reason, message string) func(s *Snapshot) {
	return func(s *Snapshot) {
		s.Application.Status.Conditions = []metav1.Condition{{Type: v1beta2.ConditionRunning, Status: metav1.ConditionFalse, Reason: reason, Message: message}}
	}
}

func settings(edit func(s *Settings)) func(s *Snapshot) {
	return func(s *Snapshot) { edit(&s.Settings) }
}

// retryCases are about what follows an attempt.
func retryCases() map[string]decideCase {
	run := func(n int32) v1beta2.FailureCounts { return v1beta2.FailureCounts{Run: n} }
	submission := func(n int32) v1beta2.FailureCounts { return v1beta2.FailureCounts{Submission: n} }
	failing := v1beta2.ApplicationStateFailing
	refused := v1beta2.ApplicationStateFailedSubmission
	rerun := v1beta2.ApplicationStatePendingRerun
	return map[string]decideCase{
		"success is followed by nothing": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSucceeding, policy(v1beta2.RestartPolicyOnFailure, 3)), withDriver(corev1.PodSucceeded)),
			rule:     RuleCompleted, state: v1beta2.ApplicationStateCompleted,
		},
		"success is followed by another run with Always": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSucceeding, policy(v1beta2.RestartPolicyAlways, 0)), withDriver(corev1.PodSucceeded)),
			rule:     RuleRerunAfterSuccess, state: rerun, running: ReasonPendingRerun,
		},
		"a run that succeeds at once is not followed at once": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSucceeding, policy(v1beta2.RestartPolicyAlways, 0)), withDriver(corev1.PodSucceeded), func(s *Snapshot) {
				s.Application.Status.LastSubmissionAttemptTime = metav1.NewTime(decideTime.Add(-9 * time.Second))
			}),
			rule: RuleRetryWait, state: v1beta2.ApplicationStateSucceeding, requeue: true,
		},
		"failure is final with Never": {
			snapshot: snapshotOf(inState(failing, policy(v1beta2.RestartPolicyNever, 3)), withDriver(corev1.PodFailed), endedFor(time.Hour, run(1))),
			rule:     RuleFailed, state: v1beta2.ApplicationStateFailed,
		},
		"failure is final with OnFailure and no number": {
			snapshot: snapshotOf(inState(failing, policy(v1beta2.RestartPolicyOnFailure, 3), func(app *v1beta2.SparkApplication) {
				app.Spec.RestartPolicy.OnFailureRetries = nil
			}), withDriver(corev1.PodFailed), endedFor(time.Hour, run(1))),
			rule: RuleFailed, state: v1beta2.ApplicationStateFailed,
		},
		"the last retry is taken": {
			snapshot: snapshotOf(inState(failing, policy(v1beta2.RestartPolicyOnFailure, 3)), withDriver(corev1.PodFailed), endedFor(30*time.Second, run(3))),
			rule:     RuleRerun, state: rerun, running: ReasonPendingRerun,
			check: func(t *testing.T, plan Plan) {
				assert.Empty(t, plan.Status.AppState.ErrorMessage)
				assert.True(t, plan.Status.TerminationTime.IsZero())
				assert.Equal(t, int32(1), plan.Status.ExecutionAttempts)
				assert.Equal(t, testSubmission, plan.Status.SubmissionID)
				require.Len(t, plan.Events, 1)
				assert.Equal(t, eventReasonPendingRerun, plan.Events[0].Reason)
			},
		},
		"one failure more is final": {
			snapshot: snapshotOf(inState(failing, policy(v1beta2.RestartPolicyOnFailure, 3)), withDriver(corev1.PodFailed), endedFor(time.Hour, run(4))),
			rule:     RuleFailed, state: v1beta2.ApplicationStateFailed,
		},
		"attempts that were suspended use up no retries": {
			snapshot: snapshotOf(inState(failing, policy(v1beta2.RestartPolicyOnFailure, 1)), withDriver(corev1.PodFailed), endedFor(time.Hour, run(1)), func(s *Snapshot) {
				s.Application.Status.ExecutionAttempts, s.Application.Status.SubmissionAttempts = 9, 9
			}),
			rule: RuleRerun, state: rerun,
		},
		"a retry waits for its interval from the failure on": {
			snapshot: snapshotOf(inState(failing, policy(v1beta2.RestartPolicyOnFailure, 3)), withDriver(corev1.PodFailed), endedFor(19*time.Second, run(2))),
			rule:     RuleRetryWait, state: failing, requeue: true,
			check: func(t *testing.T, plan Plan) { assert.Equal(t, time.Second, plan.RequeueAfter) },
		},
		"Always retries without end": {
			snapshot: snapshotOf(inState(failing, policy(v1beta2.RestartPolicyAlways, 0)), withDriver(corev1.PodFailed), endedFor(2*time.Hour, run(5000))),
			rule:     RuleRerun, state: rerun,
		},
		"a clock that was set back makes nobody wait longer": {
			snapshot: snapshotOf(inState(failing, policy(v1beta2.RestartPolicyAlways, 0)), withDriver(corev1.PodFailed), endedFor(-time.Hour, run(1))),
			rule:     RuleRetryWait, state: failing, requeue: true,
			check: func(t *testing.T, plan Plan) { assert.Equal(t, 10*time.Second, plan.RequeueAfter) },
		},
		"a lost membership is never retried": {
			snapshot: snapshotOf(inState(failing, policy(v1beta2.RestartPolicyAlways, 0)), withDriver(corev1.PodFailed), endedFor(time.Hour, run(1)),
				runningReason(ReasonExecutorMembershipMissing, "")),
			rule: RuleFailed, state: v1beta2.ApplicationStateFailed,
		},
		"failures of the cluster are retried beside the budget": {
			snapshot: snapshotOf(inState(failing, policy(v1beta2.RestartPolicyOnFailure, 1)), withDriver(corev1.PodFailed), endedFor(time.Hour, v1beta2.FailureCounts{Run: 1, Infrastructure: 5})),
			rule:     RuleRerun, state: rerun,
		},
		"a policy without retries forgives nothing": {
			snapshot: snapshotOf(inState(failing, policy(v1beta2.RestartPolicyOnFailure, 0)), withDriver(corev1.PodFailed), endedFor(time.Hour, v1beta2.FailureCounts{Infrastructure: 1})),
			rule:     RuleFailed, state: v1beta2.ApplicationStateFailed,
		},
		"a driver that still lives is stopped first": {
			snapshot: snapshotOf(inState(failing, policy(v1beta2.RestartPolicyOnFailure, 3)), withDriver(corev1.PodRunning), endedFor(time.Hour, run(1))),
			rule:     RuleStopping, state: failing, deletes: []string{"pi-driver"}, requeue: true,
		},
		"a rerun removes the ended driver": {
			snapshot: snapshotOf(inState(rerun), withDriver(corev1.PodFailed)),
			rule:     RulePendingRerun, state: rerun, deletes: []string{"pi-driver"}, requeue: true,
		},
		"a rerun waits until the driver is known to be gone": {
			snapshot: snapshotOf(inState(rerun)),
			rule:     RuleRemovingPods, state: rerun, requeue: true,
		},
		"a rerun waits for a driver that goes": {
			snapshot: snapshotOf(inState(rerun), withDriver(corev1.PodFailed, terminating)),
			rule:     RuleRemovingPods, state: rerun, requeue: true,
		},
		"a rerun removes executors before their group": {
			snapshot: snapshotOf(inState(rerun, withGang), absent, withGroup(1), withExecutor(1, testGroup, corev1.PodRunning, "node")),
			rule:     RuleRemovingPods, state: rerun, deletes: []string{"pi-exec-1"}, requeue: true,
		},
		"a rerun does not know the groups yet": {
			snapshot: snapshotOf(inState(rerun, withGang), absent, func(s *Snapshot) { s.PodGroupsKnown = false }),
			rule:     RuleGroupsNotKnown, state: rerun, requeue: true,
		},
		"a rerun is another attempt": {
			snapshot: snapshotOf(inState(rerun), absent, endedFor(time.Hour, run(1))),
			rule:     RuleSubmit, state: v1beta2.ApplicationStateSubmitted, running: ReasonSubmitting, ensure: []Step{StepSubmit},
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, freshSubmission, plan.Status.SubmissionID)
				assert.Equal(t, testSubmission, plan.ClearSubmission)
				assert.Equal(t, int32(2), plan.Status.ExecutionAttempts)
				assert.Equal(t, int32(2), plan.Status.SubmissionAttempts)
				assert.Equal(t, run(1), *plan.Status.FailureCounts, "the count goes on")
			},
		},
		"a driver on a lost node is waited for": {
			snapshot: snapshotOf(inState(rerun), withDriver(corev1.PodRunning, terminating)),
			rule:     RuleRemovingPods, state: rerun, requeue: true,
		},
		"a driver on a lost node is removed by force where that is wanted": {
			snapshot: snapshotOf(inState(rerun), withDriver(corev1.PodRunning, terminating), settings(func(s *Settings) { s.ForceDeleteLostDrivers = true })),
			rule:     RuleRemovingPods, state: rerun, deletes: []string{"pi-driver"}, requeue: true,
			check: func(t *testing.T, plan Plan) { assert.True(t, plan.Delete[0].Force) },
		},
		"a refused submission is final with Never": {
			snapshot: snapshotOf(inState(refused, policy(v1beta2.RestartPolicyNever, 3)), absent, endedFor(time.Hour, submission(1)), runningReason(ReasonQuotaExceeded, "")),
			rule:     RuleFailed, state: v1beta2.ApplicationStateFailed,
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, ReasonQuotaExceeded, conditionReason(&plan.Status, v1beta2.ConditionFailed))
				assert.Equal(t, decideTime.Add(-time.Hour), plan.Status.TerminationTime.Time)
			},
		},
		"a refused submission waits": {
			snapshot: snapshotOf(inState(refused, policy(v1beta2.RestartPolicyOnFailure, 3)), absent, endedFor(29*time.Second, submission(3))),
			rule:     RuleRetryWait, state: refused, requeue: true,
		},
		"a refused submission is tried again": {
			snapshot: snapshotOf(inState(refused, policy(v1beta2.RestartPolicyOnFailure, 3)), absent, endedFor(30*time.Second, submission(3))),
			rule:     RuleResubmit, state: v1beta2.ApplicationStateSubmitted, running: ReasonSubmitting, ensure: []Step{StepSubmit},
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, testSubmission, plan.ClearSubmission)
				assert.Equal(t, int32(2), plan.Status.SubmissionAttempts)
			},
		},
		"a submission is refused once too often": {
			snapshot: snapshotOf(inState(refused, policy(v1beta2.RestartPolicyOnFailure, 3)), absent, endedFor(time.Hour, submission(4))),
			rule:     RuleFailed, state: v1beta2.ApplicationStateFailed,
		},
		"runs use up no submission": {
			snapshot: snapshotOf(inState(refused, policy(v1beta2.RestartPolicyOnFailure, 3)), absent, endedFor(time.Hour, v1beta2.FailureCounts{Run: 3, Submission: 1}), func(s *Snapshot) {
				s.Application.Status.SubmissionAttempts = 4
			}),
			rule: RuleResubmit, state: v1beta2.ApplicationStateSubmitted, ensure: []Step{StepSubmit},
		},
		"a submission whose driver was made after all is cleared first": {
			snapshot: snapshotOf(inState(refused, policy(v1beta2.RestartPolicyAlways, 0)), withDriver(corev1.PodPending), endedFor(time.Hour, submission(1))),
			rule:     RuleStopping, state: refused, deletes: []string{"pi-driver"}, requeue: true,
		},
		"a submission is refused again": {
			snapshot: snapshotOf(inState(refused, withGang, policy(v1beta2.RestartPolicyAlways, 0)), absent, endedFor(time.Hour, submission(1)), func(s *Snapshot) {
				s.Capability = Capability{State: CapabilityNotServed, Message: "not served"}
			}),
			rule: RuleCannotSubmit, state: refused, running: ReasonWorkloadAPINotServed, requeue: true,
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, submission(2), *plan.Status.FailureCounts)
				assert.Equal(t, decideTime, plan.Status.TerminationTime.Time, "the wait begins again")
				assert.Equal(t, 20*time.Second, plan.RequeueAfter)
			},
		},
		"an ended application without a time to live is kept": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateFailed), withDriver(corev1.PodFailed), endedFor(1000*time.Hour, run(1))),
			rule:     RuleEnded, state: v1beta2.ApplicationStateFailed,
		},
		"what an ended attempt was started with is removed": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateCompleted), withDriver(corev1.PodSucceeded), func(s *Snapshot) { s.ObjectsLeft = true }),
			rule:     RuleEnded, state: v1beta2.ApplicationStateCompleted,
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, testSubmission, plan.DeleteObjects)
				assert.Empty(t, plan.Delete, "the driver pod stays for its log")
			},
		},
		"but not while its executors live": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateCompleted), withDriver(corev1.PodSucceeded),
				withExecutor(1, "", corev1.PodRunning, "node"), func(s *Snapshot) { s.ObjectsLeft = true }),
			rule: RuleEnded, state: v1beta2.ApplicationStateCompleted, requeue: true, deletes: []string{"pi-exec-1"},
			check: func(t *testing.T, plan Plan) { assert.Empty(t, plan.DeleteObjects) },
		},
		"it is looked for again while nobody knows": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateCompleted), withDriver(corev1.PodSucceeded), func(s *Snapshot) { s.LookAgain = time.Second }),
			rule:     RuleEnded, state: v1beta2.ApplicationStateCompleted, requeue: true,
		},
		"the server's time to live holds for those without": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateFailed), withDriver(corev1.PodFailed), endedFor(time.Hour, run(1)), settings(func(s *Settings) { s.FailedTimeToLive = time.Hour })),
			rule:     RuleTimeToLiveOver, state: v1beta2.ApplicationStateFailed,
			check: func(t *testing.T, plan Plan) { assert.True(t, plan.DeleteApplication) },
		},
		"each outcome has its own time to live": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateCompleted), withDriver(corev1.PodSucceeded), endedFor(time.Hour, run(0)), settings(func(s *Settings) { s.FailedTimeToLive, s.CompletedTimeToLive = time.Minute, 2*time.Hour })),
			rule:     RuleEnded, state: v1beta2.ApplicationStateCompleted, requeue: true,
			check: func(t *testing.T, plan Plan) { assert.Equal(t, time.Hour, plan.RequeueAfter) },
		},
		"an application's own time to live comes first": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateCompleted, func(app *v1beta2.SparkApplication) { app.Spec.TimeToLiveSeconds = new(int64(7200)) }),
				endedFor(time.Hour, run(0)), settings(func(s *Settings) { s.CompletedTimeToLive = time.Minute })),
			rule: RuleEnded, state: v1beta2.ApplicationStateCompleted, requeue: true,
		},
	}
}

func TestRetryWait(t *testing.T) {
	for name, test := range map[string]struct {
		interval *int64
		n        int32
		want     time.Duration
	}{
		"default":              {nil, 1, 5 * time.Second},
		"grows":                {new(int64(10)), 3, 30 * time.Second},
		"before any failure":   {new(int64(10)), 0, 10 * time.Second},
		"is bounded":           {new(int64(10)), 1000, time.Hour},
		"does not overflow":    {new(int64(3599)), math.MaxInt32, time.Hour},
		"a long one stays":     {new(int64(7200)), 5, 2 * time.Hour},
		"as long as it can be": {new(int64(math.MaxInt64)), 5, time.Duration(longestLife) * time.Second},
		"stored as nonsense":   {new(int64(-3)), 1, time.Second},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, retryWait(test.interval, test.n)) })
	}
}

func TestOrdinal(t *testing.T) {
	for n, want := range map[int32]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 112: "112th"} {
		assert.Equal(t, want, ordinal(n))
	}
}
