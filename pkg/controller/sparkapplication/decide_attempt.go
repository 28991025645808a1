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
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// capabilityRequeue is when to ask again what the cluster can do, where the question found no answer.
const capabilityRequeue = 2 * time.Second

// cleanupRequeue is when to look again at something that must be gone first and that isn't watched.
const cleanupRequeue = 2 * time.Second

// decideNew begins the first attempt. An application that lost its status and has a driver takes that attempt up again,
// because starting another would run the job twice.
func (d *decision) decideNew() {
	if driver := newest(d.OtherDrivers); driver != nil && d.status.SubmissionID == "" {
		d.adopt(driver)
		return
	}
	d.begin()
}

// begin starts an attempt, once nothing is left of earlier ones.
func (d *decision) begin() {
	if !d.removeOtherPods() {
		d.rule(RuleRemovingPods)
		return
	}
	if !d.preflight() {
		return
	}
	switch d.status.AppState.State {
	case v1beta2.ApplicationStatePendingRerun, v1beta2.ApplicationStateFailedSubmission:
		d.plan.ClearSubmission = d.status.SubmissionID
	default:
	}
	d.forgetCountsAfterEdit()
	d.intend(d.FreshSubmissionID, d.now)
	if d.status.AppState.State == v1beta2.ApplicationStateSubmitted {
		d.rule(RuleSubmit)
		d.status.SubmissionAttempts++
		// Counted with the intent, and taken back should the submission fail: so it needs no write of its own.
		d.status.ExecutionAttempts++
		d.removeStalePodGroups()
		d.submitInTurn()
	}
}

// submitInTurn creates what the attempt needs, if it is its turn to have a driver.
func (d *decision) submitInTurn() {
	if d.Queue != nil {
		d.rule(RuleDriverQueued)
		d.queue()
		return
	}
	if conditionReason(d.status, v1beta2.ConditionRunning) == ReasonDriverQueued {
		// That it has its turn is written before there is a driver: others are let in by it.
		d.submitting()
	}
	d.plan.Ensure = append(d.plan.Ensure, StepSubmit)
}

// queue says that the attempt waits for its turn to have a driver, at which place. Places far behind are written more seldom:
// each turn that is given away moves all of them.
func (d *decision) queue() {
	message := fmt.Sprintf("waits for its turn to have a driver, at place %d: %d drivers of this namespace wait for their gangs already",
		d.Queue.Position, d.Queue.Waiting)
	d.setCondition(v1beta2.ConditionRunning, metav1.ConditionFalse, ReasonDriverQueued, message)
	d.notReady(ReasonDriverQueued, message)
	if conditionReason(&d.app.Status, v1beta2.ConditionRunning) != ReasonDriverQueued {
		d.event(normal(ReasonDriverQueued, actionSchedule, message))
	}
	d.plan.requeueAfter(max(safetyRequeue, time.Duration(d.Queue.Position)*time.Second))
}

func (d *decision) submitting() {
	message := "the objects of the attempt are being created"
	d.setCondition(v1beta2.ConditionRunning, metav1.ConditionFalse, ReasonSubmitting, message)
	if d.status.WorkloadScheduling != nil {
		d.setCondition(v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionUnknown, ReasonPreparingAttempt, message)
	}
}

// forgetCountsAfterEdit begins to count anew after an edit, whatever state it was seen in.
func (d *decision) forgetCountsAfterEdit() {
	if !hashDiffers(d.app) {
		return
	}
	d.status.SubmissionAttempts, d.status.ExecutionAttempts = 0, 0
	d.status.FailureCounts = nil
}

// renew gives the attempt, which has no driver yet, a new identity. What was made under the old one is removed.
func (d *decision) renew() {
	if !d.removeOtherPods() {
		d.rule(RuleRemovingPods)
		return
	}
	if !d.preflight() {
		return
	}
	d.removeStalePodGroups()
	d.plan.ClearSubmission = d.status.SubmissionID
	if hashDiffers(d.app) {
		d.forgetCountsAfterEdit()
		d.status.SubmissionAttempts, d.status.ExecutionAttempts = 1, 1
	}
	d.intend(d.FreshSubmissionID, d.now)
	if d.status.AppState.State == v1beta2.ApplicationStateSubmitted {
		d.submitInTurn()
	}
}

// adopt takes up the attempt of a driver that the status knows nothing of.
func (d *decision) adopt(driver *corev1.Pod) {
	d.rule(RuleAdoptDriver)
	d.intend(driver.Labels[spark.LabelSubmissionID], driver.CreationTimestamp)
	if d.status.AppState.State == v1beta2.ApplicationStateSubmitted {
		d.status.SubmissionAttempts++
		d.status.ExecutionAttempts++
		d.status.DriverInfo.PodName = driver.Name
		d.setCondition(v1beta2.ConditionRunning, metav1.ConditionFalse, ReasonDriverPending, "the driver of an earlier attempt was taken up again")
	}
}

// intend writes down the identity of an attempt. The number of executors, the record and the settings of the driver all
// come from the one compilation of the spec as it is now.
func (d *decision) intend(submissionID string, submitTime metav1.Time) {
	submission, err := d.Compile(submissionID, submitTime.Time, "")
	if err != nil {
		d.cannotSubmit(ReasonCompilationFailed, err.Error())
		return
	}
	hash, err := restartHash(&d.app.Spec)
	if err != nil {
		d.cannotSubmit(ReasonCompilationFailed, err.Error())
		return
	}
	d.resetAttempt()
	d.status.SubmissionID = submissionID
	d.status.LastSubmissionAttemptTime = submitTime
	d.status.TerminationTime = metav1.Time{}
	d.status.ObservedGeneration = d.app.Generation
	d.status.RestartHash = hash
	d.status.SparkApplicationID = submission.Objects.Properties["spark.app.id"]
	d.status.DriverInfo.PodName = submission.Objects.Driver.Name
	d.removeCondition(v1beta2.ConditionComplete)
	d.removeCondition(v1beta2.ConditionFailed)
	d.removeCondition(v1beta2.ConditionWorkloadSchedulingReady)
	d.status.BatchScheduling = batchRecord(submission.Batch)
	if submission.Native != nil {
		d.status.WorkloadScheduling = attemptRecord(submission.Native, submissionID)
	}
	d.submitting()
	d.enter(v1beta2.ApplicationStateSubmitted, d.addedEvent()...)
}

// addedEvent tells once that the application was taken up.
func (d *decision) addedEvent() []Event {
	if d.app.Status.AppState.State != v1beta2.ApplicationStateNew {
		return nil
	}
	return []Event{eventApplicationAdded(d.app)}
}

// resetAttempt forgets the attempt, apart from its counts, its identity and its times.
func (d *decision) resetAttempt() {
	d.status.SparkApplicationID = ""
	d.status.AppState.ErrorMessage = ""
	d.status.DriverInfo = v1beta2.DriverInfo{}
	d.status.ExecutorState = nil
	d.status.ExecutorCounts = nil
	d.status.WorkloadScheduling = nil
	d.status.BatchScheduling = nil
}

func attemptRecord(native *scheduling.Native, submissionID string) *v1beta2.WorkloadSchedulingStatus {
	group := v1beta2.PodGroupRecord{
		TemplateName:      scheduling.ExecutorsTemplate,
		PodGroupName:      native.PodGroup.Name,
		PriorityClassName: native.PodGroup.Spec.PriorityClassName,
	}
	policy := v1beta2.WorkloadSchedulingPolicyBasic
	if native.Gang {
		policy = v1beta2.WorkloadSchedulingPolicyGang
		group.MinCount = new(native.MinCount)
	}
	return &v1beta2.WorkloadSchedulingStatus{
		Policy:       policy,
		SubmissionID: submissionID,
		WorkloadName: native.Workload.Name,
		PodGroups:    []v1beta2.PodGroupRecord{group},
	}
}

// preflight says whether an attempt may be submitted. Only workload-aware scheduling depends on the cluster, and it
// fails closed.
func (d *decision) preflight() bool {
	if !d.native {
		return true
	}
	if !d.FeatureEnabled {
		d.cannotSubmit(ReasonFeatureGateDisabled,
			"spec.scheduling asks for workload-aware scheduling, and the feature gate SparkApplicationWorkloadAwareScheduling of this server is off")
		return false
	}
	if d.MissingGate != "" {
		d.cannotSubmit(ReasonFeatureGateDisabled,
			fmt.Sprintf("spec.scheduling asks for something that needs the feature gate %s of this server, which is off", d.MissingGate))
		return false
	}
	switch d.Capability.State {
	case CapabilityReady:
		return true
	case CapabilityNotServed:
		d.cannotSubmit(ReasonWorkloadAPINotServed, d.Capability.Message)
	case CapabilityFieldsDropped:
		d.cannotSubmit(ReasonSchedulingFieldsDropped, d.Capability.Message)
	case CapabilityUnknown:
		d.rule(RuleCapabilityUnknown)
		d.plan.requeueAfter(capabilityRequeue)
	}
	return false
}

func (d *decision) cannotSubmit(reason, message string) {
	d.rule(RuleCannotSubmit)
	d.failSubmission(reason, message)
}

// removeOtherPods removes what is left of earlier attempts, and says whether nothing is. Executors of attempts that
// nothing is known of go with their drivers, which own them.
func (d *decision) removeOtherPods() bool {
	drivers := living(append([]*corev1.Pod{d.Driver}, d.OtherDrivers...), exists)
	// The driver goes first: while it lives it makes new executors.
	pods := drivers
	if len(drivers) == 0 {
		pods = d.Executors
	}
	d.deletePods(pods)
	if len(pods) > 0 {
		d.plan.requeueAfter(safetyRequeue)
	}
	return len(pods) == 0
}

func exists(*corev1.Pod) bool { return true }

func (d *decision) deletePods(pods []*corev1.Pod) {
	for _, pod := range pods {
		if !deleting(pod) {
			d.plan.Delete = append(d.plan.Delete, podDeletion(pod))
		}
	}
}

// failSubmission ends the submission. The message is the API server's own wherever it refused something.
func (d *decision) failSubmission(reason, message string) {
	if d.status.AppState.State == v1beta2.ApplicationStateSubmitted {
		d.status.ExecutionAttempts = max(d.status.ExecutionAttempts-1, 0)
	} else {
		d.forgetCountsAfterEdit()
		d.status.SubmissionAttempts++
		d.status.LastSubmissionAttemptTime = d.now
		d.status.ObservedGeneration = d.app.Generation
		d.renewRestartHash()
	}
	counts := d.failures()
	counts.Submission++
	d.status.FailureCounts = &counts
	d.status.TerminationTime = d.now
	added := d.addedEvent()
	d.status.AppState.ErrorMessage = message
	told := message
	if d.mayResubmit() {
		told = fmt.Sprintf("%s; it is submitted again after %s", message, d.resubmitWait())
	}
	d.setCondition(v1beta2.ConditionRunning, metav1.ConditionFalse, reason, told)
	if d.native {
		d.notReady(reason, message)
	}
	d.enter(v1beta2.ApplicationStateFailedSubmission, append(added, eventSubmissionFailed(d.app, message))...)
	if d.app.Status.AppState.State == v1beta2.ApplicationStateFailedSubmission {
		// Only a change of the state asks for another look by itself.
		d.plan.requeueAfter(d.resubmitWait())
	}
}

// newest returns the pod that was created last.
func newest(pods []*corev1.Pod) *corev1.Pod {
	if len(pods) == 0 {
		return nil
	}
	return slices.MaxFunc(pods, func(a, b *corev1.Pod) int {
		if c := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
}

func executorsText(n int32) string {
	if n == 1 {
		return "1 executor"
	}
	return fmt.Sprintf("%d executors", n)
}
