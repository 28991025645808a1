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
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// enforcementGrace is how long a member may be bound while the scheduler says nothing of its PodGroup. A kube-scheduler
// without the gate GenericWorkload, or without its plugin, binds members one by one and never says anything.
const enforcementGrace = 30 * time.Second

// minCountOne is the minCount of an admitted gang.
const minCountOne = int32(1)

// podGroupRecord is the record of the attempt's PodGroup. There is one PodGroup today.
func (d *decision) podGroupRecord() *v1beta2.PodGroupRecord {
	if d.status.WorkloadScheduling == nil || len(d.status.WorkloadScheduling.PodGroups) == 0 {
		return nil
	}
	return &d.status.WorkloadScheduling.PodGroups[0]
}

// strayExecutor names an executor of this attempt that is not a member of the attempt's PodGroup.
func (d *decision) strayExecutor() string {
	record := d.podGroupRecord()
	if record == nil {
		return ""
	}
	for _, pod := range d.Executors {
		if podGroupOf(pod) != record.PodGroupName {
			return pod.Name
		}
	}
	return ""
}

// followScheduling says how far the placement of the executors has come, and keeps the PodGroup as it should be.
func (d *decision) followScheduling(driver driverStatus) {
	record := d.podGroupRecord()
	if record == nil {
		return
	}
	if driver.phase == driverRunning && d.status.WorkloadScheduling.WaitStartTime == nil {
		d.startWaiting(driver.started)
	}
	if d.Obstacle != nil {
		d.rule(RuleGroupObstacle)
		// Only the PodGroup of a running attempt can have met one here.
		d.notReady(d.Obstacle.Reason, d.Obstacle.Message)
		d.plan.requeueAfter(safetyRequeue)
		d.admissionOverdue()
		return
	}
	if !d.PodGroupsKnown {
		d.rule(RuleGroupsNotKnown)
		d.plan.requeueAfter(capabilityRequeue)
		return
	}
	if d.PodGroup == nil {
		if !d.admissionOverdue() {
			d.rule(RuleGroupRestored)
			d.plan.Ensure = append(d.plan.Ensure, StepRestorePodGroup)
		}
		return
	}
	if class := d.PodGroup.Spec.PriorityClassName; class != "" {
		record.PriorityClassName = class
	}

	progress := d.countMembers(record)
	record.BoundMembers = progress.bound
	if d.status.WorkloadScheduling.AdmittedTime == nil && d.admitted() {
		d.rule(RuleGangAdmitted)
		d.status.WorkloadScheduling.AdmittedTime = new(d.now)
		if d.gang() {
			d.event(normal(eventReasonGangAdmitted, actionSchedule, "the scheduler has placed the gang of "+executorsText(*record.MinCount)))
		}
	}
	d.reportScheduling(driver, record, progress)
	if !d.admissionOverdue() {
		d.lowerMinCount()
	}
}

// startWaiting starts the clock of a gang: with the driver's container, so that it is the same after a restart. What the
// server's flag says is written down, so that another value of it doesn't move a clock that runs.
func (d *decision) startWaiting(started *metav1.Time) {
	record := d.status.WorkloadScheduling
	record.WaitStartTime = started
	deadline := d.admissionDeadline()
	if started == nil || deadline == 0 || record.AdmittedTime != nil {
		return
	}
	record.DeadlineTime = new(metav1.NewTime(started.Add(deadline)))
}

// admissionDeadline is how long the gang may wait. Zero is for ever, and for whatever is not a gang.
func (d *decision) admissionDeadline() time.Duration {
	if !d.gang() {
		return 0
	}
	if seconds := d.app.Spec.Scheduling.AdmissionDeadlineSeconds; seconds != nil {
		return time.Duration(min(*seconds, longestLife)) * time.Second
	}
	return d.Settings.GangAdmissionDeadline
}

// admissionOverdue ends an attempt whose gang was not placed in time, and says whether it has.
func (d *decision) admissionOverdue() bool {
	record := d.status.WorkloadScheduling
	if record.AdmittedTime != nil || record.DeadlineTime == nil {
		return false
	}
	if rest := record.DeadlineTime.Sub(d.now.Time); rest > 0 {
		d.plan.requeueAfter(rest)
		return false
	}
	d.rule(RuleAdmissionDeadline)
	message := fmt.Sprintf("executor gang not admitted within %s", record.DeadlineTime.Sub(record.WaitStartTime.Time))
	if c := findCondition(d.status, v1beta2.ConditionWorkloadSchedulingReady); c != nil && c.Message != "" {
		message += ": " + c.Message
	}
	d.notReady(ReasonAdmissionDeadlineExceeded, message)
	d.fail(ReasonAdmissionDeadlineExceeded, message, byApplication, nil, warning(ReasonAdmissionDeadlineExceeded, actionSchedule, message))
	return true
}

func (d *decision) reportScheduling(driver driverStatus, record *v1beta2.PodGroupRecord, progress members) {
	condition := groupCondition(d.PodGroup)
	switch {
	case d.status.WorkloadScheduling.AdmittedTime != nil:
		reason := ReasonBasicScheduled
		if d.gang() {
			reason = ReasonGangAdmitted
		}
		d.setCondition(v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionTrue, reason, boundText(record, progress.bound, progress.known))
	case driver.phase != driverRunning:
		d.notReady(ReasonWaitingForDriver, "the driver does not run yet"+driver.message)
	case condition == nil && progress.bound > 0 && d.notEnforcing(progress):
		message := "executors were bound although the scheduler says nothing of their PodGroup: kube-scheduler runs without the feature gate GenericWorkload"
		if conditionReason(d.status, v1beta2.ConditionWorkloadSchedulingReady) != ReasonSchedulerNotEnforcing {
			d.event(warning(ReasonSchedulerNotEnforcing, actionSchedule, message))
		}
		d.notReady(ReasonSchedulerNotEnforcing, message)
	case condition != nil && condition.Reason == schedulingv1beta1.PodGroupReasonSchedulerError:
		if conditionReason(d.status, v1beta2.ConditionWorkloadSchedulingReady) != ReasonSchedulerError {
			d.event(warning(ReasonSchedulerError, actionSchedule, condition.Message))
		}
		d.notReady(ReasonSchedulerError, condition.Message)
	case progress.known < progress.wanted(record):
		d.notReady(ReasonWaitingForExecutors, fmt.Sprintf("%d of %d executors were created", progress.known, progress.wanted(record)))
	case condition != nil:
		// Reasons that a later scheduler adds belong here as well.
		d.notReady(ReasonGangUnschedulable, condition.Message)
	default:
		d.notReady(ReasonWaitingForExecutors, fmt.Sprintf("%d executors were created; the scheduler has not tried to place them yet", progress.known))
	}
}

// freezeScheduling leaves the record of an attempt that has ended at what was admitted. A driver removes its executors
// before it ends, so the last count says how far that had come, which looks like a gang that was placed in part.
func (d *decision) freezeScheduling() {
	record := d.podGroupRecord()
	if record == nil || record.MinCount == nil || d.status.WorkloadScheduling.AdmittedTime == nil || record.BoundMembers >= *record.MinCount {
		return
	}
	record.BoundMembers = *record.MinCount
	if conditionReason(d.status, v1beta2.ConditionWorkloadSchedulingReady) == ReasonGangAdmitted {
		d.setCondition(v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionTrue, ReasonGangAdmitted, boundText(record, record.BoundMembers, 0))
	}
}

func (d *decision) notReady(reason, message string) {
	d.setCondition(v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionFalse, reason, message)
}

func (d *decision) gang() bool {
	return d.status.WorkloadScheduling.Policy == v1beta2.WorkloadSchedulingPolicyGang
}

// admitted says whether the scheduler has placed the group. The condition never reverts, and once is enough.
func (d *decision) admitted() bool {
	condition := groupCondition(d.PodGroup)
	return condition != nil && condition.Status == metav1.ConditionTrue
}

// lowerMinCount asks for minCount 1 once the gang was admitted, and asks again whenever something has raised it.
func (d *decision) lowerMinCount() {
	if d.status.WorkloadScheduling.AdmittedTime == nil || deleting(d.PodGroup) {
		return
	}
	if gang := d.PodGroup.Spec.SchedulingPolicy.Gang; gang != nil && gang.MinCount > minCountOne {
		d.rule(RuleLowerMinCount)
		d.plan.Ensure = append(d.plan.Ensure, StepLowerMinCount)
	}
}

// notEnforcing says whether members have been bound for longer than the scheduler may take to say so.
func (d *decision) notEnforcing(progress members) bool {
	if progress.firstBound.IsZero() {
		return false
	}
	rest := enforcementGrace - d.now.Sub(progress.firstBound)
	if rest > 0 {
		d.plan.requeueAfter(rest)
		return false
	}
	return true
}

// members is how far our executors in the group have come. Pods of strangers are not counted.
type members struct {
	known, bound int32
	// firstBound is when the first of them was bound.
	firstBound time.Time
}

func (d *decision) countMembers(record *v1beta2.PodGroupRecord) members {
	var m members
	for _, pod := range d.Executors {
		if podGroupOf(pod) != record.PodGroupName || podEnded(pod) {
			continue
		}
		m.known++
		if pod.Spec.NodeName == "" {
			continue
		}
		m.bound++
		if at := boundAt(pod); !at.IsZero() && (m.firstBound.IsZero() || at.Before(m.firstBound)) {
			m.firstBound = at
		}
	}
	return m
}

// wanted is how many members the group waits for: one, if it is not a gang.
func (m members) wanted(record *v1beta2.PodGroupRecord) int32 {
	if record.MinCount == nil {
		return 1
	}
	return *record.MinCount
}

// boundText says how many members have a node, of the gang or, where there is none, of those that are known. With dynamic
// allocation there can be more than the gang.
func boundText(record *v1beta2.PodGroupRecord, bound, known int32) string {
	if record.MinCount != nil {
		known = max(*record.MinCount, bound)
	}
	return fmt.Sprintf("bound %d of %d executors", bound, known)
}

// gangBound says whether every member of an admitted gang has a node.
func gangBound(status *v1beta2.SparkApplicationStatus) bool {
	scheduling := status.WorkloadScheduling
	if scheduling == nil || scheduling.AdmittedTime == nil {
		return false
	}
	for i := range scheduling.PodGroups {
		if record := &scheduling.PodGroups[i]; record.MinCount == nil || record.BoundMembers < *record.MinCount {
			return false
		}
	}
	return len(scheduling.PodGroups) > 0
}

func boundAt(pod *corev1.Pod) time.Time {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

func groupCondition(group *schedulingv1beta1.PodGroup) *metav1.Condition {
	if group == nil {
		return nil
	}
	return meta.FindStatusCondition(group.Status.Conditions, schedulingv1beta1.PodGroupInitiallyScheduled)
}

// podGroupOf is the name of the PodGroup that a pod is a member of, or "".
func podGroupOf(pod *corev1.Pod) string {
	if pod.Spec.SchedulingGroup == nil || pod.Spec.SchedulingGroup.PodGroupName == nil {
		return ""
	}
	return *pod.Spec.SchedulingGroup.PodGroupName
}
