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
		d.plan.requeueAfter(capabilityRequeue)
	}
}

// followDriver takes over what the driver pod says, and then what the executors say.
func (d *decision) followDriver() {
	d.acceptGeneration()
	d.removeStalePodGroups()
	driver := driverStatusOf(d.Driver)
	name := d.Driver.Name
	d.status.DriverInfo.PodName = name

	ended := driver.phase == driverCompleted || driver.phase == driverFailed
	if stray := d.strayExecutor(); stray != "" && !ended {
		d.failMembership(stray)
		return
	}
	switch driver.phase {
	case driverPending:
		if conditionReason(d.status, v1beta2.ConditionRunning) != ReasonDriverPending {
			d.event(eventDriverPending(name))
		}
		d.setCondition(v1beta2.ConditionRunning, metav1.ConditionFalse, ReasonDriverPending, "the driver pod "+name+" does not run yet"+driver.message)
		d.status.AppState.State = v1beta2.ApplicationStateSubmitted
	case driverRunning:
		d.setCondition(v1beta2.ConditionRunning, metav1.ConditionTrue, ReasonDriverRunning, "the driver pod "+name+" runs")
		if d.status.AppState.State != v1beta2.ApplicationStateRunning {
			d.enter(v1beta2.ApplicationStateRunning, eventDriverRunning(name))
		}
	case driverUnknown:
		message := "nothing is known of the driver pod " + name + ": " + d.Driver.Status.Message
		d.setCondition(v1beta2.ConditionRunning, metav1.ConditionUnknown, ReasonDriverUnknown, message)
		if d.status.AppState.State != v1beta2.ApplicationStateUnknown {
			d.enter(v1beta2.ApplicationStateUnknown, eventDriverUnknown(name))
		}
		d.plan.requeueAfter(safetyRequeue)
	case driverCompleted:
		d.terminate(driver.finished)
		d.setCondition(v1beta2.ConditionRunning, metav1.ConditionFalse, ReasonDriverSucceeded, "the driver ended well")
		d.enter(v1beta2.ApplicationStateSucceeding, eventDriverCompleted(name))
	case driverFailed:
		d.fail(ReasonDriverFailed, driver.message, driver.finished, eventDriverFailed(name, driver.message))
	}
	d.followExecutors()
	if !ended {
		d.followScheduling(driver)
	}
}

// loseDriver ends an attempt whose driver pod is gone, as a live read has shown.
func (d *decision) loseDriver() {
	d.fail(ReasonDriverNotFound, messageDriverNotFound, nil, eventDriverNotFound(d.status.DriverInfo.PodName))
	d.followExecutors()
}

// failMembership ends an attempt with an executor outside of its PodGroup. Membership can't be added to a pod, so the
// executors would be placed without the guarantee that was asked for. It would happen again, so nothing is tried again.
func (d *decision) failMembership(executor string) {
	message := fmt.Sprintf("executor %s is not a member of PodGroup %s: the Spark of this image, or an admission plugin, lost the schedulingGroup of the executor pod template",
		executor, d.podGroupRecord().PodGroupName)
	d.setCondition(v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionFalse, ReasonExecutorMembershipMissing, message)
	d.fail(ReasonExecutorMembershipMissing, message, nil, warning(ReasonExecutorMembershipMissing, actionSchedule, message))
	d.followExecutors()
}

// fail ends the attempt.
func (d *decision) fail(reason, message string, finished *metav1.Time, event Event) {
	d.terminate(finished)
	d.status.AppState.ErrorMessage = message
	d.setCondition(v1beta2.ConditionRunning, metav1.ConditionFalse, reason, message)
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
