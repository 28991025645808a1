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
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

const (
	testSubmission  = "11111111-1111-1111-1111-111111111111"
	freshSubmission = "22222222-2222-2222-2222-222222222222"
	testGroup       = "pi-group"
)

// inState is an application in the middle of an attempt.
func inState(state v1beta2.ApplicationStateType, edits ...func(app *v1beta2.SparkApplication)) *v1beta2.SparkApplication {
	app := newApp(edits...)
	app.Status = v1beta2.SparkApplicationStatus{
		SubmissionID:              testSubmission,
		LastSubmissionAttemptTime: metav1.NewTime(startOfTime),
		SubmissionAttempts:        1,
		ExecutionAttempts:         1,
		ObservedGeneration:        1,
		AppState:                  v1beta2.ApplicationState{State: state},
		DriverInfo:                v1beta2.DriverInfo{PodName: "pi-driver"},
	}
	hash, err := restartHash(&app.Spec)
	if err != nil {
		panic(err)
	}
	app.Status.RestartHash = hash
	if scheduling.Choose(&app.Spec, nil).Native() {
		app.Status.WorkloadScheduling = &v1beta2.WorkloadSchedulingStatus{
			Policy: v1beta2.WorkloadSchedulingPolicyGang, SubmissionID: testSubmission, WorkloadName: "pi-workload",
			PodGroups: []v1beta2.PodGroupRecord{{TemplateName: "executors", PodGroupName: testGroup, MinCount: new(int32(2))}},
		}
	}
	return app
}

// edited edits the spec in a way that calls for another attempt.
func edited(s *Snapshot) {
	s.Application.Generation, s.Application.Spec.Image = 2, new("another")
}

func snapshotOf(app *v1beta2.SparkApplication, edits ...func(s *Snapshot)) *Snapshot {
	s := &Snapshot{
		Application:       app,
		Settings:          DefaultSettings(),
		FreshSubmissionID: freshSubmission,
		FeatureEnabled:    true,
		Capability:        Capability{State: CapabilityReady},
		PodGroupsKnown:    true,
		Side:              sideOutcome{key: sideKeyOf(app)},
		Compile: func(id string, at time.Time, class string) (*scheduling.Submission, error) {
			return scheduling.CompileSubmission(app, id, at, class)
		},
	}
	for _, edit := range edits {
		edit(s)
	}
	return s
}

func withDriver(phase corev1.PodPhase, edits ...func(pod *corev1.Pod)) func(s *Snapshot) {
	return func(s *Snapshot) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pi-driver", UID: "driver", CreationTimestamp: metav1.NewTime(startOfTime)}, Status: corev1.PodStatus{Phase: phase}}
		if phase == corev1.PodSucceeded {
			pod.Status = endedDriverStatus(0)
		}
		for _, edit := range edits {
			edit(pod)
		}
		s.Driver, s.DriverSeen = pod, true
	}
}

func exit(code int32) func(pod *corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.ContainerStatuses = endedDriverStatus(code).ContainerStatuses }
}

func terminating(pod *corev1.Pod) { pod.DeletionTimestamp = new(metav1.NewTime(startOfTime)) }

func absent(s *Snapshot) { s.DriverAbsent = true }

func seenAndGone(s *Snapshot) { s.DriverAbsent, s.DriverSeen = true, true }

func withExecutor(id int, group string, phase corev1.PodPhase, node string, edits ...func(pod *corev1.Pod)) func(s *Snapshot) {
	return func(s *Snapshot) {
		pod := executorPod(s.Application, id, group, phase, node)
		pod.UID = types.UID("executor-" + pod.Name)
		for _, edit := range edits {
			edit(pod)
		}
		s.Executors = append(s.Executors, pod)
	}
}

func boundSince(at time.Time) func(pod *corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(at)}}
	}
}

func withGroup(minCount int32, conditions ...metav1.Condition) func(s *Snapshot) {
	return func(s *Snapshot) {
		s.PodGroup = &schedulingv1beta1.PodGroup{
			ObjectMeta: metav1.ObjectMeta{Name: testGroup, UID: "group"},
			Spec:       schedulingv1beta1.PodGroupSpec{SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: minCount}}},
			Status:     schedulingv1beta1.PodGroupStatus{Conditions: conditions},
		}
	}
}

func groupReport(status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: schedulingv1beta1.PodGroupInitiallyScheduled, Status: status, Reason: reason, Message: message}
}

// decideCase is a row of the table test: what Decide makes of a snapshot, and by which rule.
type decideCase struct {
	snapshot *Snapshot
	// rule is among the rules of the plan.
	rule  Rule
	state v1beta2.ApplicationStateType
	// ready is the reason of WorkloadSchedulingReady, running that of Running.
	ready, running string
	ensure         []Step
	deletes        []string
	requeue        bool
	check          func(t *testing.T, plan Plan)
}

// decideTime is when the cases are decided.
var decideTime = startOfTime.Add(time.Minute)

func withObstacle(kind ObstacleKind) func(s *Snapshot) {
	return func(s *Snapshot) {
		s.Obstacle = &Obstacle{Kind: kind, Reason: ReasonObjectConflict, Message: "in the way"}
	}
}

func attemptCases() map[string]decideCase {
	now := decideTime
	obstacle := withObstacle
	return map[string]decideCase{
		"a new application is submitted": {
			snapshot: snapshotOf(newApp()),
			state:    v1beta2.ApplicationStateSubmitted, running: ReasonSubmitting, ensure: []Step{StepSubmit},
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, freshSubmission, plan.Status.SubmissionID)
				assert.Equal(t, "spark-22222222222222222222222222222222", plan.Status.SparkApplicationID)
				assert.Equal(t, now, plan.Status.LastSubmissionAttemptTime.Time)
				assert.Nil(t, plan.Status.WorkloadScheduling)
			},
		},
		"a new gang is recorded before anything is created": {
			snapshot: snapshotOf(newApp(withGang)),
			state:    v1beta2.ApplicationStateSubmitted, ready: ReasonPreparingAttempt, ensure: []Step{StepSubmit},
			check: func(t *testing.T, plan Plan) {
				record := plan.Status.WorkloadScheduling
				require.NotNil(t, record)
				assert.Equal(t, freshSubmission, record.SubmissionID)
				assert.Equal(t, v1beta2.WorkloadSchedulingPolicyGang, record.Policy)
				assert.Equal(t, int32(2), *record.PodGroups[0].MinCount)
			},
		},
		"a new basic group has no size": {
			snapshot: snapshotOf(newApp(withBasic)),
			state:    v1beta2.ApplicationStateSubmitted, ready: ReasonPreparingAttempt, ensure: []Step{StepSubmit},
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, v1beta2.WorkloadSchedulingPolicyBasic, plan.Status.WorkloadScheduling.Policy)
				assert.Nil(t, plan.Status.WorkloadScheduling.PodGroups[0].MinCount)
			},
		},
		"a new suspended application is not submitted": {
			snapshot: snapshotOf(newApp(withSuspend)), state: v1beta2.ApplicationStateSuspending, running: ReasonSuspending,
		},
		"a new application that does not compile fails": {
			snapshot: snapshotOf(newApp(), func(s *Snapshot) {
				s.Compile = func(string, time.Time, string) (*scheduling.Submission, error) { return nil, errInjected }
			}),
			state: v1beta2.ApplicationStateFailedSubmission, running: ReasonCompilationFailed,
			check: func(t *testing.T, plan Plan) { assert.Equal(t, "injected", plan.Status.AppState.ErrorMessage) },
		},
		"a new application waits for the driver of an attempt that its status names no more": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateNew), func(s *Snapshot) {
				s.OtherDrivers = []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "pi-driver", UID: "old"}}}
			}),
			state: v1beta2.ApplicationStateNew, deletes: []string{"pi-driver"}, requeue: true,
		},
		"a driver that the status knows nothing of is taken up": {
			snapshot: snapshotOf(newApp(), func(s *Snapshot) {
				s.OtherDrivers = []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "pi-driver", UID: "old", Labels: map[string]string{spark.LabelSubmissionID: testSubmission}}}}
			}),
			rule: RuleAdoptDriver, state: v1beta2.ApplicationStateSubmitted, running: ReasonDriverPending,
			check: func(t *testing.T, plan Plan) { assert.Equal(t, testSubmission, plan.Status.SubmissionID) },
		},
		"nothing is submitted while nobody knows what the cluster can do": {
			snapshot: snapshotOf(newApp(withGang), func(s *Snapshot) { s.Capability = Capability{} }),
			rule:     RuleCapabilityUnknown, state: v1beta2.ApplicationStateNew, requeue: true,
		},
		"a submission without a driver is carried out": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSubmitted), absent),
			state:    v1beta2.ApplicationStateSubmitted, ensure: []Step{StepSubmit},
		},
		"a submission waits while nobody knows of a driver": {
			rule:     RuleDriverNotKnown,
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSubmitted)),
			state:    v1beta2.ApplicationStateSubmitted, requeue: true,
		},
		"a refused submission fails": {
			rule:     RuleRefused,
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSubmitted, withGang), absent, obstacle(ObstacleRefused)),
			state:    v1beta2.ApplicationStateFailedSubmission, running: ReasonObjectConflict, ready: ReasonObjectConflict,
			check: func(t *testing.T, plan Plan) {
				assert.Zero(t, plan.Status.ExecutionAttempts)
				assert.Equal(t, int32(1), plan.Status.SubmissionAttempts)
				assert.Equal(t, int32(1), plan.Status.FailureCounts.Submission)
			},
		},
		"a submission that must wait says for what": {
			rule:     RuleObstacle,
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSubmitted), absent, obstacle(ObstacleWaiting)),
			state:    v1beta2.ApplicationStateSubmitted, running: ReasonObjectConflict, requeue: true,
		},
		"a submission under a stale identity gets another": {
			rule:     RuleStaleIdentity,
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSubmitted), absent, obstacle(ObstacleStaleIdentity)),
			state:    v1beta2.ApplicationStateSubmitted, running: ReasonSubmitting, ensure: []Step{StepSubmit},
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, freshSubmission, plan.Status.SubmissionID)
				assert.Equal(t, testSubmission, plan.ClearSubmission)
				assert.Equal(t, int32(1), plan.Status.SubmissionAttempts)
			},
		},
		"a submission whose spec was edited gets another identity": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSubmitted), absent, edited),
			rule:     RuleRenewAfterEdit,
			state:    v1beta2.ApplicationStateSubmitted, running: ReasonSubmitting, ensure: []Step{StepSubmit},
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, freshSubmission, plan.Status.SubmissionID)
				assert.Equal(t, testSubmission, plan.ClearSubmission)
				assert.Equal(t, int64(2), plan.Status.ObservedGeneration)
			},
		},
		"a gate that was switched off stops a submission": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSubmitted, withGang), absent, func(s *Snapshot) { s.FeatureEnabled = false }),
			state:    v1beta2.ApplicationStateFailedSubmission, ready: ReasonFeatureGateDisabled, running: ReasonFeatureGateDisabled,
		},
		"a gate that was switched off leaves a running attempt alone": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateRunning, withGang), withDriver(corev1.PodRunning), withGroup(2), func(s *Snapshot) { s.FeatureEnabled = false }),
			state:    v1beta2.ApplicationStateRunning, running: ReasonDriverRunning, ready: ReasonWaitingForExecutors,
		},
		"a pending driver": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSubmitted), withDriver(corev1.PodPending)),
			state:    v1beta2.ApplicationStateSubmitted, running: ReasonDriverPending,
		},
		"a running driver": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSubmitted), withDriver(corev1.PodRunning)),
			state:    v1beta2.ApplicationStateRunning, running: ReasonDriverRunning,
		},
		"a driver of which nothing is known": {
			rule:     RuleDriverUnknown,
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateRunning), withDriver(corev1.PodUnknown)),
			state:    v1beta2.ApplicationStateUnknown, running: ReasonDriverUnknown, requeue: true,
		},
		"a driver that is known again": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateUnknown), withDriver(corev1.PodRunning)),
			state:    v1beta2.ApplicationStateRunning, running: ReasonDriverRunning,
		},
		"a driver that ended well": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateRunning), withDriver(corev1.PodSucceeded)),
			state:    v1beta2.ApplicationStateSucceeding, running: ReasonDriverSucceeded,
		},
		"a driver that ended well beside a sidecar": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateRunning), withDriver(corev1.PodRunning, exit(0))),
			state:    v1beta2.ApplicationStateSucceeding, running: ReasonDriverSucceeded,
		},
		"a driver that ended well in a pod that a sidecar failed": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateRunning), withDriver(corev1.PodFailed, exit(0))),
			state:    v1beta2.ApplicationStateSucceeding, running: ReasonDriverSucceeded,
		},
		"a driver that failed": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateRunning), withDriver(corev1.PodFailed, exit(3))),
			state:    v1beta2.ApplicationStateFailing, running: ReasonDriverFailed,
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, "driver container failed with ExitCode: 3, Reason: Error", plan.Status.AppState.ErrorMessage)
				assert.Equal(t, now, plan.Status.TerminationTime.Time)
			},
		},
		"a driver that was evicted": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateRunning), withDriver(corev1.PodFailed, func(pod *corev1.Pod) { pod.Status.Reason, pod.Status.Message = "Evicted", "low on memory" })),
			state:    v1beta2.ApplicationStateFailing, running: ReasonDriverEvicted,
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, "driver container status missing: Evicted: low on memory", plan.Status.AppState.ErrorMessage)
			},
		},
		"a driver that is gone": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateRunning), absent),
			state:    v1beta2.ApplicationStateFailing, running: ReasonDriverNotFound,
		},
		"a pending driver that is gone": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSubmitted), seenAndGone),
			state:    v1beta2.ApplicationStateFailing, running: ReasonDriverNotFound,
		},
		"a gang whose driver does not run": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSubmitted, withGang), withDriver(corev1.PodPending), withGroup(2)),
			state:    v1beta2.ApplicationStateSubmitted, running: ReasonDriverPending, ready: ReasonWaitingForDriver,
		},
		"a gang that is not complete": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateRunning, withGang), withDriver(corev1.PodRunning), withGroup(2), withExecutor(1, testGroup, corev1.PodPending, "")),
			state:    v1beta2.ApplicationStateRunning, running: ReasonDriverRunning, ready: ReasonWaitingForExecutors,
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, "1 of 2 executors were created", findCondition(&plan.Status, v1beta2.ConditionWorkloadSchedulingReady).Message)
			},
		},
		"a gang without room": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateRunning, withGang), withDriver(corev1.PodRunning),
				withGroup(2, groupReport(metav1.ConditionFalse, "Unschedulable", "no room")),
				withExecutor(1, testGroup, corev1.PodPending, ""), withExecutor(2, testGroup, corev1.PodPending, "")),
			state: v1beta2.ApplicationStateRunning, running: ReasonDriverRunning, ready: ReasonGangUnschedulable,
		},
		"a gang that the scheduler refuses": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateRunning, withGang), withDriver(corev1.PodRunning),
				withGroup(2, groupReport(metav1.ConditionFalse, "SchedulerError", "different priorities")),
				withExecutor(1, testGroup, corev1.PodPending, "")),
			state: v1beta2.ApplicationStateRunning, running: ReasonDriverRunning, ready: ReasonSchedulerError,
		},
		"an admitted gang is recorded, and its minCount lowered": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateRunning, withGang), withDriver(corev1.PodRunning),
				withGroup(2, groupReport(metav1.ConditionTrue, "Scheduled", "")),
				withExecutor(1, testGroup, corev1.PodRunning, "node"), withExecutor(2, testGroup, corev1.PodRunning, "node")),
			state: v1beta2.ApplicationStateRunning, running: ReasonDriverRunning, ready: ReasonGangAdmitted, ensure: []Step{StepLowerMinCount},
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, now, plan.Status.WorkloadScheduling.AdmittedTime.Time)
				assert.Equal(t, int32(2), plan.Status.WorkloadScheduling.PodGroups[0].BoundMembers)
			},
		},
		"an admitted gang stays admitted when executors are lost": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateRunning, withGang, func(app *v1beta2.SparkApplication) {}), func(s *Snapshot) {
				s.Application.Status.WorkloadScheduling.AdmittedTime = new(metav1.NewTime(startOfTime))
			}, withDriver(corev1.PodRunning), withGroup(1), withExecutor(1, testGroup, corev1.PodRunning, "node")),
			state: v1beta2.ApplicationStateRunning, running: ReasonDriverRunning, ready: ReasonGangAdmitted,
			check: func(t *testing.T, plan Plan) {
				assert.Contains(t, findCondition(&plan.Status, v1beta2.ConditionWorkloadSchedulingReady).Message, "bound 1 of 2")
			},
		},
		"a scheduler that does not enforce is given time": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateRunning, withGang), withDriver(corev1.PodRunning), withGroup(2),
				withExecutor(1, testGroup, corev1.PodRunning, "node", boundSince(now.Add(-10*time.Second)))),
			state: v1beta2.ApplicationStateRunning, running: ReasonDriverRunning, ready: ReasonWaitingForExecutors, requeue: true,
		},
		"a scheduler that does not enforce is named, and the attempt left alone": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateRunning, withGang), withDriver(corev1.PodRunning), withGroup(2),
				withExecutor(1, testGroup, corev1.PodRunning, "node", boundSince(now.Add(-31*time.Second)))),
			state: v1beta2.ApplicationStateRunning, running: ReasonDriverRunning, ready: ReasonSchedulerNotEnforcing,
		},
		"an executor outside of the group ends the attempt": {
			rule:     RuleMembershipMissing,
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateRunning, withGang), withDriver(corev1.PodRunning), withGroup(2), withExecutor(1, "other", corev1.PodPending, "")),
			state:    v1beta2.ApplicationStateFailing, running: ReasonExecutorMembershipMissing, ready: ReasonExecutorMembershipMissing,
		},
		"an executor of a plain application needs no group": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateRunning), withDriver(corev1.PodRunning), withExecutor(1, "", corev1.PodRunning, "node")),
			state:    v1beta2.ApplicationStateRunning, running: ReasonDriverRunning,
		},
		"a group that somebody removed is made again": {
			rule:     RuleGroupRestored,
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateRunning, withGang), withDriver(corev1.PodRunning)),
			state:    v1beta2.ApplicationStateRunning, running: ReasonDriverRunning, ensure: []Step{StepRestorePodGroup},
		},
		"success deletes executors before the group": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSucceeding, withGang), withDriver(corev1.PodSucceeded), withGroup(1), withExecutor(1, testGroup, corev1.PodRunning, "node")),
			state:    v1beta2.ApplicationStateCompleted, deletes: []string{"pi-exec-1"}, requeue: true,
		},
		"success deletes the group when no member is left": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateCompleted, withGang), withDriver(corev1.PodSucceeded), withGroup(1), withExecutor(1, testGroup, corev1.PodSucceeded, "node")),
			state:    v1beta2.ApplicationStateCompleted, deletes: []string{testGroup},
		},
		"failure deletes a driver that lives before anything else": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateFailing, withGang), withDriver(corev1.PodRunning), withGroup(1), withExecutor(1, testGroup, corev1.PodRunning, "node")),
			state:    v1beta2.ApplicationStateFailing, deletes: []string{"pi-driver"}, requeue: true,
		},
		"failure is final once the driver goes": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateFailing), withDriver(corev1.PodRunning, terminating)),
			state:    v1beta2.ApplicationStateFailed, requeue: true,
		},
		"a failed submission ends and clears what it made": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateFailedSubmission, withGang), withGroup(2)),
			state:    v1beta2.ApplicationStateFailed, deletes: []string{testGroup},
			check: func(t *testing.T, plan Plan) { assert.Equal(t, testSubmission, plan.ClearSubmission) },
		},
		"an ended application is kept": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateCompleted), withDriver(corev1.PodSucceeded)),
			state:    v1beta2.ApplicationStateCompleted,
		},
		"an ended application is not suspended": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSucceeding, withSuspend), withDriver(corev1.PodSucceeded)),
			state:    v1beta2.ApplicationStateCompleted,
		},
		"an ended application is deleted after its time to live": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateCompleted, func(app *v1beta2.SparkApplication) { app.Spec.TimeToLiveSeconds = new(int64(0)) }), func(s *Snapshot) {
				s.Application.Status.TerminationTime = metav1.NewTime(now)
			}),
			state: v1beta2.ApplicationStateCompleted,
			check: func(t *testing.T, plan Plan) { assert.True(t, plan.DeleteApplication) },
		},
		"a running application is suspended": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateRunning, withSuspend), withDriver(corev1.PodRunning)),
			state:    v1beta2.ApplicationStateSuspending, running: ReasonSuspending,
		},
		"suspending deletes the driver first": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSuspending, withSuspend, withGang), withDriver(corev1.PodRunning), withGroup(1), withExecutor(1, testGroup, corev1.PodRunning, "node")),
			state:    v1beta2.ApplicationStateSuspending, deletes: []string{"pi-driver"}, requeue: true,
		},
		"suspending then deletes the executors": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSuspending, withSuspend, withGang), absent, withGroup(1), withExecutor(1, testGroup, corev1.PodRunning, "node")),
			state:    v1beta2.ApplicationStateSuspending, deletes: []string{"pi-exec-1"}, requeue: true,
		},
		"suspending then deletes the group": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSuspending, withSuspend, withGang), absent, withGroup(1)),
			state:    v1beta2.ApplicationStateSuspending, deletes: []string{testGroup}, requeue: true,
		},
		"suspending ends when nothing is left, even if suspend was lifted meanwhile": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSuspending, withGang), absent),
			state:    v1beta2.ApplicationStateSuspended, running: ReasonSuspended, ready: ReasonSuspended,
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, testSubmission, plan.ClearSubmission)
				assert.Nil(t, plan.Status.WorkloadScheduling)
			},
		},
		"a suspended application waits": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSuspended, withSuspend)),
			state:    v1beta2.ApplicationStateSuspended,
		},
		"a released application resumes": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateSuspended)),
			state:    v1beta2.ApplicationStateResuming,
		},
		"a resumed application is submitted as another attempt": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateResuming)),
			state:    v1beta2.ApplicationStateSubmitted, running: ReasonSubmitting, ensure: []Step{StepSubmit},
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, freshSubmission, plan.Status.SubmissionID)
				assert.Equal(t, int32(2), plan.Status.SubmissionAttempts)
			},
		},
		"a resumed application waits for pods of the last attempt": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateResuming), withExecutor(1, "", corev1.PodRunning, "node")),
			state:    v1beta2.ApplicationStateResuming, deletes: []string{"pi-exec-1"}, requeue: true,
		},
		"an application that is being deleted is left alone": {
			snapshot: snapshotOf(inState(v1beta2.ApplicationStateRunning, func(app *v1beta2.SparkApplication) {
				app.DeletionTimestamp = new(metav1.NewTime(startOfTime))
			}), absent),
			state: v1beta2.ApplicationStateRunning,
		},
	}
}

func allDecideCases() map[string]decideCase {
	all := map[string]decideCase{}
	for _, cases := range []map[string]decideCase{attemptCases(), retryCases(), editCases(), failureCases(), gangCases()} {
		maps.Copy(all, cases)
	}
	return all
}

func TestDecide(t *testing.T) {
	for name, test := range allDecideCases() {
		t.Run(name, func(t *testing.T) {
			original := test.snapshot.Application.DeepCopy()
			plan := Decide(test.snapshot, decideTime)
			assert.Equal(t, original, test.snapshot.Application, "a snapshot is never changed")
			if test.rule != "" {
				assert.Contains(t, plan.Rules, test.rule)
			}
			assert.Equal(t, test.state, plan.Status.AppState.State)
			assert.Equal(t, test.ensure, plan.Ensure)
			var deletes []string
			for _, d := range plan.Delete {
				deletes = append(deletes, d.Name)
				assert.NotEmpty(t, d.UID)
			}
			assert.Equal(t, test.deletes, deletes)
			assert.Equal(t, test.requeue, plan.RequeueAfter > 0, "requeue after %s", plan.RequeueAfter)
			if test.running != "" {
				assert.Equal(t, test.running, conditionReason(&plan.Status, v1beta2.ConditionRunning))
			}
			if test.ready != "" {
				assert.Equal(t, test.ready, conditionReason(&plan.Status, v1beta2.ConditionWorkloadSchedulingReady))
			}
			if test.check != nil {
				test.check(t, plan)
			}
			assert.NotEmpty(t, plan.Rules, "every decision has a rule")

			// What is decided once and carried out needs no second decision of the same kind.
			again := Decide(test.snapshot, decideTime)
			assert.Equal(t, plan, again, "the same snapshot and time give the same plan")
		})
	}
}

func TestDriverContainerByTemplateName(t *testing.T) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{spark.AnnotationDefaultContainer: "main"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "sidecar"}, {Name: "main"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{
			{Name: "sidecar", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}},
			{Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
		}},
	}
	assert.Equal(t, driverRunning, driverStatusOf(pod).phase)
	trimmed, err := trimPod(pod)
	require.NoError(t, err)
	assert.Equal(t, "main", driverContainerName(trimmed.(*corev1.Pod)), "the cache keeps what names the container")
}
