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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

const messageDriverNotFound = "driver pod not found"

// decideRunning follows an attempt whose driver has run.
func (d *decision) decideRunning() {
	switch {
	case d.Driver != nil:
		d.followDriver()
	case d.DriverAbsent:
		d.loseDriver()
	default:
		d.rule(RuleDriverNotKnown)
		d.plan.requeueAfter(capabilityRequeue)
	}
}

// followDriver takes over what the driver pod says, and then what the executors say.
func (d *decision) followDriver() {
	d.removeStalePodGroups()
	driver := d.driverStatus()
	name := d.Driver.Name
	d.status.DriverInfo.PodName = name

	switch driver.phase {
	case driverCompleted:
		d.rule(RuleDriverSucceeded)
		d.terminate(driver.finished)
		d.setCondition(v1beta2.ConditionRunning, metav1.ConditionFalse, ReasonDriverSucceeded, "the driver ended well")
		d.enter(v1beta2.ApplicationStateSucceeding, eventDriverCompleted(name))
	case driverFailed:
		d.rule(RuleDriverFailed)
		d.fail(driver.reason, driver.message, driver.kind, driver.finished, eventDriverFailed(name, driver.message))
	default:
		if !d.followLivingDriver(driver) {
			return
		}
		d.followExecutors()
		d.followScheduling(driver)
		d.followSide()
		return
	}
	d.followExecutors()
}

// driverStatus is what the driver pod says, together with what the kubelet has told about its volumes.
func (d *decision) driverStatus() driverStatus {
	driver := driverStatusOf(d.Driver)
	if driver.phase == driverPending && driver.reason == ReasonDriverPending && d.VolumeTrouble != "" {
		driver.reason, driver.message = ReasonDriverVolumeError, ": "+d.VolumeTrouble
		driver.trouble = &trouble{text: d.VolumeTrouble}
	}
	return driver
}

// followLivingDriver says what a driver does that has not ended, and whether the attempt goes on.
func (d *decision) followLivingDriver(driver driverStatus) bool {
	if stray := d.strayExecutor(); stray != "" {
		d.failMembership(stray)
		return false
	}
	if deleting(d.Driver) {
		return d.followTerminatingDriver()
	}
	d.restoreObjects()
	if d.LookAgain > 0 {
		d.plan.requeueAfter(d.LookAgain)
	}
	name := d.Driver.Name
	switch driver.phase {
	case driverPending:
		if d.startTrouble(driver) {
			d.followExecutors()
			return false
		}
		d.rule(RuleDriverPending)
		if !saysDriver(conditionReason(d.status, v1beta2.ConditionRunning)) {
			d.event(eventDriverPending(name))
		}
		d.setCondition(v1beta2.ConditionRunning, metav1.ConditionFalse, driver.reason, "the driver pod "+name+" does not run yet"+driver.message)
		d.status.AppState.State = v1beta2.ApplicationStateSubmitted
	case driverRunning:
		trouble, ended := d.executorTrouble()
		if ended {
			d.followExecutors()
			return false
		}
		d.rule(RuleDriverRunning)
		message := "the driver pod " + name + " runs"
		if trouble != "" {
			message += "; " + trouble
		}
		d.setCondition(v1beta2.ConditionRunning, metav1.ConditionTrue, ReasonDriverRunning, message)
		if d.status.AppState.State != v1beta2.ApplicationStateRunning {
			d.enter(v1beta2.ApplicationStateRunning, eventDriverRunning(name))
		}
	default:
		d.rule(RuleDriverUnknown)
		message := "nothing is known of the driver pod " + name + ": " + d.Driver.Status.Message
		d.setCondition(v1beta2.ConditionRunning, metav1.ConditionUnknown, ReasonDriverUnknown, message)
		if d.status.AppState.State != v1beta2.ApplicationStateUnknown {
			d.enter(v1beta2.ApplicationStateUnknown, eventDriverUnknown(name))
		}
		d.plan.requeueAfter(safetyRequeue)
	}
	return true
}

// followTerminatingDriver follows a driver that somebody else has deleted and that has not ended. Why is written down:
// when the pod is gone, nobody can tell any more. A pod that stays beyond its time is on a node that does not answer.
func (d *decision) followTerminatingDriver() bool {
	name := d.Driver.Name
	reason, text := ReasonDriverTerminating, ""
	if disruption := disruptionOf(d.Driver); disruption != nil && disruption.kind == byInfrastructure {
		reason, text = disruption.reason, ": "+disruption.text
	}
	if d.Settings.NodeLossGrace > 0 {
		rest := d.untilLost(d.Driver)
		if rest <= 0 {
			d.rule(RuleDriverNodeLost)
			message := "the driver pod " + name + " was deleted and its node " + d.Driver.Spec.NodeName + " has not confirmed it in time: the node is lost" + text
			if !d.Settings.ForceDeleteLostDrivers && d.retries() {
				message += "; another attempt waits until the pod is gone, because the old driver may still run"
			}
			d.fail(ReasonDriverNodeLost, message, byInfrastructure, nil, eventDriverFailed(name, message))
			d.followExecutors()
			return false
		}
		d.plan.requeueAfter(rest)
	}
	d.rule(RuleDriverTerminating)
	status := metav1.ConditionFalse
	if d.status.AppState.State == v1beta2.ApplicationStateRunning {
		status = metav1.ConditionTrue
	}
	d.setCondition(v1beta2.ConditionRunning, status, reason, "the driver pod "+name+" is being deleted"+text)
	return true
}

// untilLost is how long a pod that is being deleted may still stay. Its deletionTimestamp includes its grace period.
func (d *decision) untilLost(pod *corev1.Pod) time.Duration {
	return pod.DeletionTimestamp.Add(d.Settings.NodeLossGrace).Sub(d.now.Time)
}

// restoreObjects asks for the ConfigMap and the Service of a living driver again, if somebody has removed them: executors
// that start later need the one, and find the driver by the other.
func (d *decision) restoreObjects() {
	if d.ObjectsMissing {
		d.rule(RuleObjectsRestored)
		d.plan.Ensure = append(d.plan.Ensure, StepRestoreObjects)
	}
}

// loseDriver ends an attempt whose driver pod is gone, as a live read has shown. What was last known of it says why.
func (d *decision) loseDriver() {
	d.rule(RuleDriverGone)
	reason, message, kind := ReasonDriverNotFound, messageDriverNotFound, byApplication
	if c := findCondition(d.status, v1beta2.ConditionRunning); c != nil {
		switch c.Reason {
		case ReasonDriverEvicted, ReasonDriverPreempted, ReasonDriverNodeLost:
			reason, kind = c.Reason, byInfrastructure
			message += ": " + c.Message
		}
	}
	d.fail(reason, message, kind, nil, eventDriverNotFound(d.status.DriverInfo.PodName))
	d.followExecutors()
}

// failMembership ends an attempt with an executor outside of its PodGroup. Membership can't be added to a pod, so the
// executors would be placed without the guarantee that was asked for. It would happen again, so nothing is tried again.
func (d *decision) failMembership(executor string) {
	d.rule(RuleMembershipMissing)
	message := fmt.Sprintf("executor %s is not a member of PodGroup %s: the Spark of this image, or an admission plugin, lost the schedulingGroup of the executor pod template",
		executor, d.podGroupRecord().PodGroupName)
	d.notReady(ReasonExecutorMembershipMissing, message)
	d.fail(ReasonExecutorMembershipMissing, message, byApplication, nil, warning(ReasonExecutorMembershipMissing, actionSchedule, message))
	d.followExecutors()
}

// fail ends the attempt, and counts its failure.
func (d *decision) fail(reason, message string, kind failureKind, finished *metav1.Time, event Event) {
	d.terminate(finished)
	counted := d.countFailure(kind)
	d.status.AppState.ErrorMessage = message
	// Whether another run may follow depends on the reason.
	d.setCondition(v1beta2.ConditionRunning, metav1.ConditionFalse, reason, message)
	told := message + counted
	if d.mayRerun() {
		told += fmt.Sprintf("; it is run again %s after its end", retryWait(d.app.Spec.RestartPolicy.OnFailureRetryInterval, d.failureNumber()))
	}
	d.setCondition(v1beta2.ConditionRunning, metav1.ConditionFalse, reason, told)
	d.enter(v1beta2.ApplicationStateFailing, event)
}

// terminate notes when the attempt ended: when the driver's container did, where that is known.
func (d *decision) terminate(finished *metav1.Time) {
	d.freezeScheduling()
	if !d.status.TerminationTime.IsZero() {
		return
	}
	d.status.TerminationTime = d.now
	if finished != nil {
		d.status.TerminationTime = *finished
	}
}
