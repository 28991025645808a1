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
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// editedInPlace edits what calls for no other attempt.
func editedInPlace(s *Snapshot) {
	s.Application.Generation, s.Application.Spec.TimeToLiveSeconds = 2, new(int64(3600))
}

func oldHash(s *Snapshot) { s.Application.Status.RestartHash = "v0:0123" }

func suspendIt(s *Snapshot) { s.Application.Spec.Suspend = new(true) }

// editCases are about edits of the spec, suspension and deletion in every state.
func editCases() map[string]decideCase {
	const (
		invalidating = v1beta2.ApplicationStateInvalidating
		running      = v1beta2.ApplicationStateRunning
		suspending   = v1beta2.ApplicationStateSuspending
		submitted    = v1beta2.ApplicationStateSubmitted
	)
	cases := map[string]decideCase{
		"an edit in place is taken over": {
			snapshot: snapshotOf(inState(running), withDriver(corev1.PodRunning), editedInPlace),
			rule:     RuleEditInPlace, state: running, ensure: []Step{StepSideObjects},
			check: func(t *testing.T, plan Plan) { assert.Equal(t, int64(2), plan.Status.ObservedGeneration) },
		},
		"an edit of the restart policy acts in place": {
			snapshot: snapshotOf(inState(running), withDriver(corev1.PodRunning), func(s *Snapshot) {
				s.Application.Generation = 2
				s.Application.Spec.RestartPolicy.Type = v1beta2.RestartPolicyAlways
			}),
			rule: RuleEditInPlace, state: running, ensure: []Step{StepSideObjects},
		},
		"a hash of another release is no reason to run again": {
			snapshot: snapshotOf(inState(running), withDriver(corev1.PodRunning), edited, oldHash),
			rule:     RuleEditInPlace, state: running, ensure: []Step{StepSideObjects},
			check: func(t *testing.T, plan Plan) { assert.True(t, currentHash(plan.Status.RestartHash)) },
		},
		"a missing hash is no reason to run again": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateCompleted), withDriver(corev1.PodSucceeded), edited, func(s *Snapshot) { s.Application.Status.RestartHash = "" }),
			rule:     RuleEditInPlace, state: v1beta2.ApplicationStateCompleted,
			check: func(t *testing.T, plan Plan) { assert.True(t, currentHash(plan.Status.RestartHash)) },
		},
		"another default of another release is no edit": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateCompleted), withDriver(corev1.PodSucceeded), func(s *Snapshot) { s.Application.Spec.Executor.Cores = new(int32(2)) }),
			rule:     RuleEnded, state: v1beta2.ApplicationStateCompleted,
			check: func(t *testing.T, plan Plan) { assert.Equal(t, int64(1), plan.Status.ObservedGeneration) },
		},
		"an old hash is replaced with the next write": {
			snapshot: snapshotOf(inState(running), withDriver(corev1.PodSucceeded), oldHash),
			rule:     RuleDriverSucceeded, state: v1beta2.ApplicationStateSucceeding,
			check: func(t *testing.T, plan Plan) { assert.True(t, currentHash(plan.Status.RestartHash)) },
		},
		"an old hash causes no write": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateCompleted), withDriver(corev1.PodSucceeded), oldHash),
			rule:     RuleEnded, state: v1beta2.ApplicationStateCompleted,
			check: func(t *testing.T, plan Plan) { assert.Equal(t, "v0:0123", plan.Status.RestartHash) },
		},
		"invalidating deletes the driver": {
			snapshot: snapshotOf(inState(invalidating), withDriver(corev1.PodRunning), edited),
			rule:     RuleInvalidate, state: invalidating, deletes: []string{"pi-driver"}, requeue: true,
		},
		"invalidating waits for the group": {
			snapshot: snapshotOf(inState(invalidating, withGang), absent, withGroup(1), edited),
			rule:     RuleInvalidate, state: invalidating, deletes: []string{testGroup}, requeue: true,
		},
		"invalidating ends when nothing is left": {
			snapshot: snapshotOf(inState(invalidating), absent, edited),
			rule:     RuleInvalidated, state: v1beta2.ApplicationStatePendingRerun, running: ReasonPendingRerun,
		},
		"an edit begins to count anew": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStatePendingRerun), absent, edited, endedFor(time.Hour, v1beta2.FailureCounts{Run: 3})),
			rule:     RuleSubmit, state: submitted, ensure: []Step{StepSubmit},
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, int32(1), plan.Status.ExecutionAttempts)
				assert.Equal(t, int32(1), plan.Status.SubmissionAttempts)
				assert.Nil(t, plan.Status.FailureCounts)
				assert.Equal(t, int64(2), plan.Status.ObservedGeneration)
			},
		},
		"an edit while suspended begins to count anew, without a detour": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateResuming), edited, endedFor(time.Hour, v1beta2.FailureCounts{Run: 3})),
			rule:     RuleSubmit, state: submitted, ensure: []Step{StepSubmit},
			check: func(t *testing.T, plan Plan) { assert.Equal(t, int32(1), plan.Status.ExecutionAttempts) },
		},
		"Kueue edits and releases with one patch": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSuspended), func(s *Snapshot) {
				s.Application.Generation = 2
				s.Application.Spec.NodeSelector = map[string]string{"flavor": "spot"}
				s.Application.Spec.Driver.Labels = map[string]string{"kueue.x-k8s.io/podset": "driver"}
			}),
			rule: RuleResume, state: v1beta2.ApplicationStateResuming,
		},
		"a suspended application stays so": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSuspended, withSuspend), edited),
			rule:     RuleStaySuspended, state: v1beta2.ApplicationStateSuspended,
			check: func(t *testing.T, plan Plan) { assert.Equal(t, int64(2), plan.Status.ObservedGeneration) },
		},
		"an edit and suspend in one": {
			snapshot: snapshotOf(inState(running, withSuspend), withDriver(corev1.PodRunning), edited),
			rule:     RuleSuspend, state: suspending,
		},
		"a failed run that nothing follows is not suspended": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateFailing, withSuspend), withDriver(corev1.PodFailed)),
			rule:     RuleFailed, state: v1beta2.ApplicationStateFailed,
		},
		"a failed submission that nothing follows is not suspended": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateFailedSubmission, withSuspend), absent),
			rule:     RuleFailed, state: v1beta2.ApplicationStateFailed,
		},
		"suspending is done": {
			snapshot: snapshotOf(inState(suspending, withSuspend), absent),
			rule:     RuleSuspended, state: v1beta2.ApplicationStateSuspended, running: ReasonSuspended,
		},
	}
	for state, driver := range map[v1beta2.ApplicationStateType]func(s *Snapshot){
		submitted: withDriver(corev1.PodPending), running: withDriver(corev1.PodRunning), v1beta2.ApplicationStateUnknown: withDriver(corev1.PodUnknown),
		v1beta2.ApplicationStateFailing: withDriver(corev1.PodFailed), v1beta2.ApplicationStateFailedSubmission: absent,
		v1beta2.ApplicationStateCompleted: withDriver(corev1.PodSucceeded), v1beta2.ApplicationStateFailed: withDriver(corev1.PodFailed),
	} {
		cases["an edit in state "+string(state)] = decideCase{
			snapshot: snapshotOf(inState(state), driver, edited), rule: RuleEdit, state: invalidating, running: ReasonInvalidating,
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, int64(1), plan.Status.ObservedGeneration, "what ran was made from the old spec")
				assert.Nil(t, findCondition(&plan.Status, v1beta2.ConditionComplete))
			},
		}
	}
	for _, state := range []v1beta2.ApplicationStateType{
		submitted, running, v1beta2.ApplicationStateUnknown, v1beta2.ApplicationStateResuming, v1beta2.ApplicationStatePendingRerun,
		invalidating, v1beta2.ApplicationStateFailing, v1beta2.ApplicationStateFailedSubmission,
	} {
		cases["suspended in state "+string(state)] = decideCase{
			snapshot: snapshotOf(inState(state, policy(v1beta2.RestartPolicyAlways, 0)), suspendIt), rule: RuleSuspend, state: suspending, running: ReasonSuspending,
		}
	}
	for _, state := range []v1beta2.ApplicationStateType{
		v1beta2.ApplicationStateNew, submitted, running, v1beta2.ApplicationStateUnknown, v1beta2.ApplicationStateSucceeding, v1beta2.ApplicationStateFailing,
		v1beta2.ApplicationStateFailedSubmission, v1beta2.ApplicationStatePendingRerun, invalidating, v1beta2.ApplicationStateCompleted,
		v1beta2.ApplicationStateFailed, suspending, v1beta2.ApplicationStateSuspended, v1beta2.ApplicationStateResuming,
	} {
		cases["deleted in state "+string(state)] = decideCase{
			snapshot: snapshotOf(inState(state), edited, func(s *Snapshot) { s.Application.DeletionTimestamp = &s.Application.CreationTimestamp }),
			rule:     RuleDeleting, state: state,
			check: func(t *testing.T, plan Plan) { assert.Empty(t, plan.Events) },
		}
	}
	return cases
}

// TestRestartHashIsStable guards the hashes that are stored: a spec that hashes differently restarts running applications
// at their next edit, whatever it edits. Whoever changes a default or the shape of the spec raises restartHashVersion, and
// then this value.
func TestRestartHashIsStable(t *testing.T) {
	hash, err := restartHash(&newApp(withGang).Spec)
	require.NoError(t, err)
	assert.Equal(t, "v1:52d29f8912fa1f16a21f481e17427677", hash)
}
