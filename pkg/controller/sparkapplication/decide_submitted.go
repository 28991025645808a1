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
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// decideSubmitted carries out the submission that the status intends, and follows the driver once there is one.
func (d *decision) decideSubmitted() {
	switch {
	case d.Driver != nil:
		d.followDriver()
	case d.Obstacle != nil:
		d.meetObstacle()
	case !d.DriverAbsent:
		d.rule(RuleDriverNotKnown)
		d.plan.requeueAfter(capabilityRequeue)
	case d.driverSeen():
		d.loseDriver()
	case specEdited(d.app):
		// The spec was edited before the driver was made. What exists under this identity, and the record, speak of
		// another number of executors, so it is not mixed with the new spec.
		d.rule(RuleRenewAfterEdit)
		d.renew()
	case d.preflight():
		d.rule(RuleCarryOutSubmission)
		d.removeStalePodGroups()
		d.submitInTurn()
	}
}

// driverSeen says whether the attempt had a driver. Its driver is never made a second time.
func (d *decision) driverSeen() bool {
	return d.DriverSeen || saysDriver(conditionReason(d.status, v1beta2.ConditionRunning))
}

// meetObstacle answers what kept the submission from being carried out.
func (d *decision) meetObstacle() {
	switch d.Obstacle.Kind {
	case ObstacleRefused:
		d.rule(RuleRefused)
		d.failSubmission(d.Obstacle.Reason, d.Obstacle.Message)
	case ObstacleStaleIdentity:
		d.rule(RuleStaleIdentity)
		d.renew()
	case ObstacleWaiting:
		d.rule(RuleObstacle)
		d.setCondition(v1beta2.ConditionRunning, metav1.ConditionFalse, d.Obstacle.Reason, d.Obstacle.Message)
		if d.Obstacle.Reason == ReasonSchedulerNotEnforcing {
			d.notReady(d.Obstacle.Reason, d.Obstacle.Message)
		}
		d.plan.requeueAfter(cmp.Or(d.Obstacle.RetryAfter, cleanupRequeue))
	}
}
