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
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// waitsWith is a driver or an executor whose container can't start.
func waitsWith(reason, message string) func(pod *corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.NodeName = "node"
		pod.Status.Phase = corev1.PodPending
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: spark.DriverContainerName, Image: "an/image", State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message},
		}}}
	}
}

func initWaitsWith(reason string) func(pod *corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}}
	}
}

func unschedulable(message string) func(pod *corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: message}}
	}
}

func disrupted(reason, message string) func(pod *corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason, Message: message})
	}
}

func podReason(reason, message string) func(pod *corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.Reason, pod.Status.Message = reason, message }
}

// deletedAgo is being deleted; its time was over some while ago.
func deletedAgo(ago time.Duration) func(pod *corev1.Pod) {
	return func(pod *corev1.Pod) { pod.DeletionTimestamp = new(metav1.NewTime(decideTime.Add(-ago))) }
}

func killed(reason string, code int32) func(pod *corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: spark.DriverContainerName, State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason},
		}}}
	}
}

// failureCases are about drivers and executors that fail, or never start.
func failureCases() map[string]decideCase {
	const (
		submitted = v1beta2.ApplicationStateSubmitted
		running   = v1beta2.ApplicationStateRunning
		failing   = v1beta2.ApplicationStateFailing
	)
	grace := settings(func(s *Settings) { s.ContainerErrorGrace = 30 * time.Second })
	patience := settings(func(s *Settings) { s.ContainerErrorGrace = 2 * time.Minute })
	counts := func(want v1beta2.FailureCounts) func(t *testing.T, plan Plan) {
		return func(t *testing.T, plan Plan) { assert.Equal(t, want, *plan.Status.FailureCounts) }
	}
	ours, theirs := v1beta2.FailureCounts{Run: 1}, v1beta2.FailureCounts{Infrastructure: 1}
	cases := map[string]decideCase{
		"an image name that is none fails at once (kubeflow/spark-operator#2667)": {
			snapshot: snapshotOf(inState(submitted), withDriver(corev1.PodPending, waitsWith("InvalidImageName", "couldn't parse"))),
			rule:     RuleDriverCannotStart, state: failing, running: ReasonDriverImageError,
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, "the driver pod pi-driver can't start: InvalidImageName: couldn't parse", plan.Status.AppState.ErrorMessage)
			},
		},
		"an image that is never pulled and not there fails at once": {
			snapshot: snapshotOf(inState(submitted), withDriver(corev1.PodPending, waitsWith("ErrImageNeverPull", "not present"))),
			rule:     RuleDriverCannotStart, state: failing, running: ReasonDriverImageError,
		},
		"an image that can't be pulled is given time": {
			snapshot: snapshotOf(inState(submitted), patience, withDriver(corev1.PodPending, waitsWith("ErrImagePull", "timeout"))),
			rule:     RuleDriverPending, state: submitted, running: ReasonDriverImageError, requeue: true,
			check: func(t *testing.T, plan Plan) { assert.Equal(t, time.Minute, plan.RequeueAfter) },
		},
		"an image that can't be pulled fails after its time": {
			snapshot: snapshotOf(inState(submitted), grace, withDriver(corev1.PodPending, waitsWith("ImagePullBackOff", "Back-off"))),
			rule:     RuleDriverCannotStart, state: failing, running: ReasonDriverImageError, check: counts(ours),
		},
		"the time counts from when there was a node": {
			snapshot: snapshotOf(inState(submitted), grace, withDriver(corev1.PodPending, waitsWith("ImagePullBackOff", "Back-off"), boundSince(decideTime.Add(-10*time.Second)))),
			rule:     RuleDriverPending, state: submitted, running: ReasonDriverImageError, requeue: true,
		},
		"without a grace it is waited for ever": {
			snapshot: snapshotOf(inState(submitted), settings(func(s *Settings) { s.ContainerErrorGrace = 0 }), withDriver(corev1.PodPending, waitsWith("ImagePullBackOff", "Back-off"))),
			rule:     RuleDriverPending, state: submitted, running: ReasonDriverImageError,
		},
		"a secret that is not there fails after its time, by name": {
			snapshot: snapshotOf(inState(submitted), grace, withDriver(corev1.PodPending, waitsWith("CreateContainerConfigError", `secret "s" not found`))),
			rule:     RuleDriverCannotStart, state: failing, running: ReasonDriverContainerError,
			check: func(t *testing.T, plan Plan) {
				assert.Contains(t, plan.Status.AppState.ErrorMessage, `secret "s" not found`)
			},
		},
		"an init container that ends again and again": {
			snapshot: snapshotOf(inState(submitted), grace, withDriver(corev1.PodPending, initWaitsWith("CrashLoopBackOff"))),
			rule:     RuleDriverCannotStart, state: failing, running: ReasonDriverContainerError,
		},
		"a volume that can't be mounted": {
			snapshot: snapshotOf(inState(submitted), grace, withDriver(corev1.PodPending), func(s *Snapshot) { s.VolumeTrouble = `FailedMount: configmap "c" not found` }),
			rule:     RuleDriverCannotStart, state: failing, running: ReasonDriverVolumeError,
		},
		"an unschedulable driver is told, and waited for": {
			snapshot: snapshotOf(inState(submitted), withDriver(corev1.PodPending, unschedulable("0/3 nodes are available"))),
			rule:     RuleDriverPending, state: submitted, running: ReasonDriverUnschedulable,
			check: func(t *testing.T, plan Plan) {
				assert.Contains(t, findCondition(&plan.Status, v1beta2.ConditionRunning).Message, "0/3 nodes are available")
			},
		},
		"an unschedulable driver has a deadline (kubeflow/spark-operator#1737)": {
			snapshot: snapshotOf(inState(submitted), settings(func(s *Settings) { s.DriverStartDeadline = time.Minute }), withDriver(corev1.PodPending, unschedulable("0/3 nodes are available"))),
			rule:     RuleDriverStartDeadline, state: failing, running: ReasonDriverStartDeadline,
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, "the driver pod pi-driver has not started within 1m0s: Unschedulable: 0/3 nodes are available", plan.Status.AppState.ErrorMessage)
			},
		},
		"before the deadline": {
			snapshot: snapshotOf(inState(submitted), settings(func(s *Settings) { s.DriverStartDeadline = 61 * time.Second }), withDriver(corev1.PodPending)),
			rule:     RuleDriverPending, state: submitted, running: ReasonDriverPending, requeue: true,
		},
		"a driver that ran out of memory": {
			snapshot: snapshotOf(inState(running), withDriver(corev1.PodFailed, killed("OOMKilled", 137))),
			rule:     RuleDriverFailed, state: failing, running: ReasonDriverOOMKilled,
			check: func(t *testing.T, plan Plan) {
				counts(ours)(t, plan)
				assert.Contains(t, plan.Status.AppState.ErrorMessage, "driver container failed with ExitCode: 137, Reason: OOMKilled")
				assert.Contains(t, plan.Status.AppState.ErrorMessage, "driver.memoryOverhead")
			},
		},
		"a driver that a node under pressure evicted": {
			snapshot: snapshotOf(inState(running), withDriver(corev1.PodFailed, podReason("Evicted", "The node was low on resource: memory"), killed("Error", 137))),
			rule:     RuleDriverFailed, state: failing, running: ReasonDriverEvicted, check: counts(theirs),
		},
		"a driver evicted for its own excess": {
			snapshot: snapshotOf(inState(running), withDriver(corev1.PodFailed, podReason("Evicted", "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi"))),
			rule:     RuleDriverFailed, state: failing, running: ReasonDriverEvicted, check: counts(ours),
		},
		"a driver on a node that was shut down": {
			snapshot: snapshotOf(inState(running), withDriver(corev1.PodFailed, podReason("Terminated", "Pod was terminated in response to imminent node shutdown."))),
			rule:     RuleDriverFailed, state: failing, running: ReasonDriverEvicted, check: counts(theirs),
		},
		"a driver that its node refused": {
			snapshot: snapshotOf(inState(submitted), withDriver(corev1.PodFailed, podReason("OutOfcpu", "Node didn't have enough resource"))),
			rule:     RuleDriverFailed, state: failing, running: ReasonDriverEvicted, check: counts(theirs),
		},
		"a driver whose node was removed (apache/spark-kubernetes-operator#863)": {
			snapshot: snapshotOf(inState(running), withDriver(corev1.PodFailed, disrupted("DeletionByPodGC", "node not found"))),
			rule:     RuleDriverFailed, state: failing, running: ReasonDriverNodeLost,
			check: func(t *testing.T, plan Plan) {
				counts(theirs)(t, plan)
				assert.Contains(t, plan.Status.AppState.ErrorMessage, "node not found")
			},
		},
		"a driver that was preempted and exits": {
			snapshot: snapshotOf(inState(running), withDriver(corev1.PodFailed, terminating, disrupted("PreemptionByScheduler", "preempted"), killed("Error", 143))),
			rule:     RuleDriverFailed, state: failing, running: ReasonDriverPreempted, check: counts(theirs),
		},
		"a disrupted driver that ends well has ended well": {
			snapshot: snapshotOf(inState(running), withDriver(corev1.PodFailed, disrupted("EvictionByEvictionAPI", ""), killed("Completed", 0))),
			rule:     RuleDriverSucceeded, state: v1beta2.ApplicationStateSucceeding,
		},
		"a driver that somebody deletes runs until it has ended": {
			snapshot: snapshotOf(inState(running), withDriver(corev1.PodRunning, deletedAgo(-10*time.Second))),
			rule:     RuleDriverTerminating, state: running, running: ReasonDriverTerminating, requeue: true,
		},
		"why a driver is being deleted is kept": {
			snapshot: snapshotOf(inState(running), withDriver(corev1.PodRunning, deletedAgo(-10*time.Second), disrupted("EvictionByEvictionAPI", "drained"))),
			rule:     RuleDriverTerminating, state: running, running: ReasonDriverEvicted, requeue: true,
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, metav1.ConditionTrue, findCondition(&plan.Status, v1beta2.ConditionRunning).Status)
			},
		},
		"a driver that is gone after an eviction": {
			snapshot: snapshotOf(inState(running), seenAndGone, runningReason(ReasonDriverEvicted, "the driver pod pi-driver is being deleted: drained")),
			rule:     RuleDriverGone, state: failing, running: ReasonDriverEvicted, check: counts(theirs),
		},
		"a driver that somebody has deleted": {
			snapshot: snapshotOf(inState(running), seenAndGone, runningReason(ReasonDriverTerminating, "")),
			rule:     RuleDriverGone, state: failing, running: ReasonDriverNotFound, check: counts(ours),
		},
		"a driver whose node does not answer (kubeflow/spark-operator#1847)": {
			snapshot: snapshotOf(inState(running, policy(v1beta2.RestartPolicyOnFailure, 3)), withDriver(corev1.PodRunning, deletedAgo(61*time.Second), disrupted("DeletionByTaintManager", "NoExecute"))),
			rule:     RuleDriverNodeLost, state: failing, running: ReasonDriverNodeLost,
			check: func(t *testing.T, plan Plan) {
				counts(theirs)(t, plan)
				assert.Contains(t, plan.Status.AppState.ErrorMessage, "may still run")
				assert.Contains(t, findCondition(&plan.Status, v1beta2.ConditionRunning).Message, "not counted against onFailureRetries")
			},
		},
		"without a grace a lost node is waited for": {
			snapshot: snapshotOf(inState(running), settings(func(s *Settings) { s.NodeLossGrace = 0 }), withDriver(corev1.PodRunning, deletedAgo(time.Hour))),
			rule:     RuleDriverTerminating, state: running, running: ReasonDriverTerminating,
		},
		"what the cluster does too often is counted": {
			snapshot: snapshotOf(inState(running, policy(v1beta2.RestartPolicyOnFailure, 3)), withDriver(corev1.PodFailed, podReason("Evicted", "low on memory")), func(s *Snapshot) {
				s.Application.Status.FailureCounts = &v1beta2.FailureCounts{Run: 1, Infrastructure: 5}
			}),
			rule: RuleDriverFailed, state: failing, running: ReasonDriverEvicted,
			check: func(t *testing.T, plan Plan) {
				counts(v1beta2.FailureCounts{Run: 2, Infrastructure: 6})(t, plan)
				assert.Contains(t, findCondition(&plan.Status, v1beta2.ConditionRunning).Message, "for the 6th time, and counted against onFailureRetries")
			},
		},
		"what a running driver needs is made again": {
			snapshot: snapshotOf(inState(running), withDriver(corev1.PodRunning), func(s *Snapshot) { s.ObjectsMissing = true }),
			rule:     RuleObjectsRestored, state: running, ensure: []Step{StepRestoreObjects},
		},
		"executors that can't start end the attempt": {
			snapshot: snapshotOf(inState(running), grace, withDriver(corev1.PodRunning), withExecutor(1, "", corev1.PodPending, "node", waitsWith("ImagePullBackOff", ""))),
			rule:     RuleExecutorCannotStart, state: failing, running: ReasonExecutorCannotStart,
			check: func(t *testing.T, plan Plan) {
				assert.Equal(t, "executor pi-exec-1 can't start: image an/image of container spark-kubernetes-driver can't be pulled", plan.Status.AppState.ErrorMessage)
			},
		},
		"executors that can't start yet are named": {
			snapshot: snapshotOf(inState(running), grace, withDriver(corev1.PodRunning), withExecutor(1, "", corev1.PodPending, "node", waitsWith("ImagePullBackOff", ""), boundSince(decideTime))),
			rule:     RuleDriverRunning, state: running, running: ReasonDriverRunning, requeue: true,
			check: func(t *testing.T, plan Plan) {
				assert.Contains(t, findCondition(&plan.Status, v1beta2.ConditionRunning).Message, "pi-exec-1 can't start")
			},
		},
		"while others run the job runs": {
			snapshot: snapshotOf(inState(running), grace, withDriver(corev1.PodRunning), withExecutor(1, "", corev1.PodPending, "node", waitsWith("ImagePullBackOff", "")), withExecutor(2, "", corev1.PodRunning, "node")),
			rule:     RuleDriverRunning, state: running, running: ReasonDriverRunning,
		},
	}
	return cases
}
