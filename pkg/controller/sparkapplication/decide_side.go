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
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// sideRetry is how soon side objects are tried again that could not be made. Nothing waits for them.
const sideRetry = 30 * time.Second

// Reasons of the condition SideObjectsReady and of the event that tells of trouble.
const (
	ReasonSideObjectsMade     = "SideObjectsMade"
	ReasonSideObjectsNotMade  = "SideObjectsNotMade"
	actionSide                = "MakeSideObjects"
	messageSideObjectsMade    = "the side objects of the application are as they should be"
	messageSideObjectsTrouble = "the application runs on without some of its side objects: "
)

// sideKey tells what side objects are made for: an attempt, and a version of the spec.
type sideKey struct {
	submissionID string
	generation   int64
}

// sideOutcome is what came of making side objects: the UI's Service and Ingress, those of driverIngressOptions, and the
// driver's PodDisruptionBudget.
type sideOutcome struct {
	key sideKey
	// ui is how the UI is reached, as the status tells it.
	ui v1beta2.DriverInfo
	// trouble is a sentence about what could not be made. Empty: everything is there.
	trouble string
	// retryAt is when to try again after trouble.
	retryAt time.Time
}

func sideKeyOf(app *v1beta2.SparkApplication) sideKey {
	return sideKey{submissionID: app.Status.SubmissionID, generation: app.Generation}
}

// followSide makes sure of the side objects while the driver lives. Whatever is the matter with them is told, and changes
// nothing else.
func (d *decision) followSide() {
	if d.Driver == nil || deleting(d.Driver) || podEnded(d.Driver) {
		return
	}
	outcome := &d.Side
	known := outcome.key == sideKeyOf(d.app)
	due := known && outcome.trouble != "" && !d.now.Time.Before(outcome.retryAt)
	if !known || due {
		d.plan.Ensure = append(d.plan.Ensure, StepSideObjects)
	}
	if !known {
		return
	}
	info := &d.status.DriverInfo
	info.WebUIServiceName, info.WebUIPort, info.WebUIAddress = outcome.ui.WebUIServiceName, outcome.ui.WebUIPort, outcome.ui.WebUIAddress
	info.WebUIIngressName, info.WebUIIngressAddress = outcome.ui.WebUIIngressName, outcome.ui.WebUIIngressAddress
	before := findCondition(d.status, v1beta2.ConditionSideObjectsReady)
	switch {
	case outcome.trouble != "":
		message := messageSideObjectsTrouble + outcome.trouble
		if before == nil || before.Status != metav1.ConditionFalse || before.Message != message {
			d.event(warning(ReasonSideObjectsNotMade, actionSide, message))
		}
		d.setCondition(v1beta2.ConditionSideObjectsReady, metav1.ConditionFalse, ReasonSideObjectsNotMade, message)
		d.plan.requeueAfter(max(outcome.retryAt.Sub(d.now.Time), time.Second))
	case before != nil:
		// An application that never had trouble has no condition: nothing is written for its sake.
		d.setCondition(v1beta2.ConditionSideObjectsReady, metav1.ConditionTrue, ReasonSideObjectsMade, messageSideObjectsMade)
	}
}

// endSide removes the side objects of an attempt that has ended: a Service without a pod only takes an address, and a
// budget for a pod that has ended stands in the way of a drain.
func (d *decision) endSide() {
	d.plan.ClearSide = true
	info := &d.status.DriverInfo
	*info = v1beta2.DriverInfo{PodName: info.PodName}
	d.removeCondition(v1beta2.ConditionSideObjectsReady)
}

// sideUI is how the UI is reached, in the words of the status. clusterIP is the address of the Service.
func sideUI(ui spark.SideUI, address string) v1beta2.DriverInfo {
	return v1beta2.DriverInfo{
		WebUIServiceName: ui.ServiceName, WebUIPort: ui.ServicePort, WebUIAddress: address,
		WebUIIngressName: ui.IngressName, WebUIIngressAddress: ui.IngressURL,
	}
}

// sideToTell says whether what came of making side objects has to be told at once. How the UI is reached can wait for the
// next change of state, so that it needs no write of its own, unless the driver runs already.
func sideToTell(before, after *Snapshot) bool {
	if before.Side == after.Side {
		return false
	}
	info := after.Application.Status.DriverInfo
	info.PodName = ""
	return before.Side.trouble != after.Side.trouble ||
		after.Application.Status.AppState.State == v1beta2.ApplicationStateRunning && info != after.Side.ui
}
