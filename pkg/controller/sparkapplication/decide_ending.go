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
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// decideSucceeding says what follows an attempt that ended well. What is left of it is removed meanwhile and later.
func (d *decision) decideSucceeding() {
	d.followExecutors()
	d.cleanUp()
	d.setCondition(v1beta2.ConditionComplete, metav1.ConditionTrue, ReasonDriverSucceeded, "the driver ended well")
	d.observeEnding()
	d.enter(v1beta2.ApplicationStateCompleted, eventApplicationCompleted(d.app))
}

// decideFailing says what follows an attempt that failed.
func (d *decision) decideFailing() {
	d.followExecutors()
	d.cleanUp()
	// A driver that still lives is on its way out. FAILED is not said before.
	if driverAlive(d.Driver) && !deleting(d.Driver) {
		d.plan.requeueAfter(safetyRequeue)
		return
	}
	d.endFailed(conditionReason(d.status, v1beta2.ConditionRunning))
}

// decideSubmissionFailed says what follows a submission that failed: what it had made is removed.
func (d *decision) decideSubmissionFailed() {
	if !d.cleanUp() && driverAlive(d.Driver) {
		d.plan.requeueAfter(safetyRequeue)
		return
	}
	d.plan.ClearSubmission = d.status.SubmissionID
	d.terminate(nil)
	d.endFailed(ReasonSubmissionFailed)
}

func (d *decision) endFailed(reason string) {
	message := d.status.AppState.ErrorMessage
	d.setCondition(v1beta2.ConditionFailed, metav1.ConditionTrue, reason, message)
	d.observeEnding()
	d.enter(v1beta2.ApplicationStateFailed, eventApplicationFailed(d.app, message))
}

// decideEnded keeps an ended application tidy until its time to live is over. The driver pod and its ConfigMap and
// Service stay, for the driver's log.
func (d *decision) decideEnded() {
	d.acceptGeneration()
	d.observeEnding()
	d.followExecutors()
	d.cleanUp()
	ttl := d.app.Spec.TimeToLiveSeconds
	if ttl == nil || d.status.TerminationTime.IsZero() {
		return
	}
	rest := untilExpiry(d.status.TerminationTime.Time, *ttl, d.now.Time)
	if rest <= 0 {
		d.plan.DeleteApplication = true
		return
	}
	d.plan.requeueAfter(rest)
}

// observeEnding says that the conditions Complete and Failed hold whatever was edited: no attempt follows. kubectl wait
// passes over a condition of an older generation, and would wait for ever. observedGeneration of the status still tells
// from which spec the attempt was made.
func (d *decision) observeEnding() {
	for i := range d.status.Conditions {
		switch c := &d.status.Conditions[i]; c.Type {
		case v1beta2.ConditionComplete, v1beta2.ConditionFailed:
			c.ObservedGeneration = d.app.Generation
		}
	}
}

// longestLife is the longest that a time to live is counted, in seconds. A duration holds no more than 292 years, and one
// that has overflowed is in the past: an application that is to be kept for ever would be deleted at once.
const longestLife = int64(100 * 365 * 24 * 60 * 60)

// untilExpiry is how long an application that has ended is still to be kept. ttl is in seconds, and any number.
func untilExpiry(end time.Time, ttl int64, now time.Time) time.Duration {
	return end.Add(time.Duration(min(max(ttl, 0), longestLife)) * time.Second).Sub(now)
}

// cleanUp removes what must not outlive an attempt: a driver that still lives, then the executors, which would
// otherwise be made again, then the PodGroups, which must have no member left. It says whether all is gone.
func (d *decision) cleanUp() bool {
	drivers := living(append([]*corev1.Pod{d.Driver}, d.OtherDrivers...), driverAlive)
	if len(drivers) > 0 {
		d.deletePods(drivers)
		d.plan.requeueAfter(safetyRequeue)
		return false
	}
	executors := living(d.Executors, executorAlive)
	if len(executors) > 0 {
		d.deletePods(executors)
		d.plan.requeueAfter(safetyRequeue)
		return false
	}
	return d.removePodGroups()
}

// removePodGroups removes the PodGroups of this application. They must have no member left: the scheduler ignores that
// a PodGroup is being deleted, and would go on to admit its gang.
func (d *decision) removePodGroups() bool {
	if d.PodGroup != nil && !deleting(d.PodGroup) {
		d.plan.Delete = append(d.plan.Delete, podGroupDeletion(d.PodGroup, false))
	}
	d.removeStalePodGroups()
	return d.PodGroup == nil && len(d.StalePodGroups) == 0
}

// removeStalePodGroups removes the PodGroups of earlier attempts that have no member left.
func (d *decision) removeStalePodGroups() {
	for _, group := range d.StalePodGroups {
		if deleting(group) || d.hasMember(group.Name) {
			continue
		}
		d.plan.Delete = append(d.plan.Delete, podGroupDeletion(group, true))
	}
}

func (d *decision) hasMember(podGroup string) bool {
	for _, pod := range slices.Concat(d.Executors, d.OtherExecutors) {
		if executorAlive(pod) && podGroupOf(pod) == podGroup {
			return true
		}
	}
	return false
}

func executorAlive(pod *corev1.Pod) bool { return !podEnded(pod) }

func living(pods []*corev1.Pod, alive func(*corev1.Pod) bool) []*corev1.Pod {
	var result []*corev1.Pod
	for _, pod := range pods {
		if pod != nil && alive(pod) {
			result = append(result, pod)
		}
	}
	return result
}
