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
	if d.app.Spec.RestartPolicy.Type == v1beta2.RestartPolicyAlways {
		// A run that took longer is followed at once. One that ends as soon as it has begun must not turn into a loop that
		// keeps a whole cluster busy.
		if rest := d.untilRetry(d.status.LastSubmissionAttemptTime, d.app.Spec.RestartPolicy.OnFailureRetryInterval, 1); rest > 0 {
			d.rule(RuleRetryWait)
			d.plan.requeueAfter(rest)
			return
		}
		d.rule(RuleRerunAfterSuccess)
		d.rerun("the run ended well, and the restart policy is Always")
		return
	}
	d.rule(RuleCompleted)
	d.endSide()
	d.setCondition(v1beta2.ConditionComplete, metav1.ConditionTrue, ReasonDriverSucceeded, "the driver ended well")
	d.enter(v1beta2.ApplicationStateCompleted, eventApplicationCompleted(d.app))
}

// decideFailing says what follows an attempt that failed.
func (d *decision) decideFailing() {
	d.followExecutors()
	d.cleanUp()
	// A driver that still lives is on its way out. FAILED is not said before.
	if driverAlive(d.Driver) && !deleting(d.Driver) {
		d.rule(RuleStopping)
		d.plan.requeueAfter(safetyRequeue)
		return
	}
	if !d.mayRerun() {
		d.rule(RuleFailed)
		d.endFailed(conditionReason(d.status, v1beta2.ConditionRunning))
		return
	}
	if rest := d.rerunWait(); rest > 0 {
		d.rule(RuleRetryWait)
		d.plan.requeueAfter(rest)
		return
	}
	d.rule(RuleRerun)
	d.rerun("the run failed: " + d.status.AppState.ErrorMessage)
}

// decideSubmissionFailed says what follows a submission that failed: what it had made is removed.
func (d *decision) decideSubmissionFailed() {
	if !d.cleanUp() && driverAlive(d.Driver) {
		d.rule(RuleStopping)
		d.plan.requeueAfter(safetyRequeue)
		return
	}
	if d.mayResubmit() {
		if rest := d.resubmitWait(); rest > 0 {
			d.rule(RuleRetryWait)
			d.plan.requeueAfter(rest)
			return
		}
		d.rule(RuleResubmit)
		d.plan.Delete = nil
		if d.removeAttempt() {
			d.begin()
		}
		return
	}
	d.rule(RuleFailed)
	d.plan.ClearSubmission = d.status.SubmissionID
	d.terminate(nil)
	d.endFailed(conditionReason(d.status, v1beta2.ConditionRunning))
}

func (d *decision) endFailed(reason string) {
	d.endSide()
	message := d.status.AppState.ErrorMessage
	d.setCondition(v1beta2.ConditionFailed, metav1.ConditionTrue, cmp.Or(reason, ReasonDriverFailed), message)
	d.enter(v1beta2.ApplicationStateFailed, eventApplicationFailed(d.app, message))
}

// decideEnded keeps an ended application tidy until its time to live is over. The driver pod stays, for its log; what it
// was started with is of no use any more (kubeflow/spark-operator#1596).
func (d *decision) decideEnded() {
	d.followExecutors()
	if d.cleanUp() && d.ObjectsLeft {
		d.plan.DeleteObjects = d.status.SubmissionID
	}
	if d.LookAgain > 0 {
		d.plan.requeueAfter(d.LookAgain)
	}
	ttl, limited := d.timeToLive()
	if !limited || d.status.TerminationTime.IsZero() {
		d.rule(RuleEnded)
		return
	}
	rest := untilExpiry(d.status.TerminationTime.Time, ttl, d.now.Time)
	if rest <= 0 {
		d.rule(RuleTimeToLiveOver)
		d.plan.DeleteApplication = true
		return
	}
	d.rule(RuleEnded)
	d.plan.requeueAfter(rest)
}

// timeToLive is how long the application is kept, in seconds, and whether that is limited.
func (d *decision) timeToLive() (int64, bool) {
	if ttl := d.app.Spec.TimeToLiveSeconds; ttl != nil {
		return *ttl, true
	}
	kept := d.Settings.CompletedTimeToLive
	if d.status.AppState.State == v1beta2.ApplicationStateFailed {
		kept = d.Settings.FailedTimeToLive
	}
	return int64(kept / time.Second), kept > 0
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

// removeAttempt removes all of an attempt that another could collide with, its ended driver pod included, and says whether
// all is gone. The ConfigMap, the Service and the claims have names of their own, and are removed by ClearSubmission.
func (d *decision) removeAttempt() bool {
	drivers := living(append([]*corev1.Pod{d.Driver}, d.OtherDrivers...), exists)
	switch {
	case len(drivers) > 0:
		d.deletePods(drivers)
		d.forceLost(drivers)
	case d.status.SubmissionID != "" && !d.DriverAbsent:
		// A driver whose creation timed out may exist although no cache has it yet.
	case len(d.Executors) > 0:
		d.deletePods(d.Executors)
	case d.native && !d.PodGroupsKnown && d.status.WorkloadScheduling != nil && d.Capability.State != CapabilityNotServed:
		d.rule(RuleGroupsNotKnown)
		d.plan.requeueAfter(capabilityRequeue)
	case d.removePodGroups():
		return true
	}
	d.rule(RuleRemovingPods)
	d.plan.requeueAfter(safetyRequeue)
	return false
}

// forceLost removes drivers that a lost node keeps, where the administrator wants that.
func (d *decision) forceLost(drivers []*corev1.Pod) {
	for _, pod := range drivers {
		if !deleting(pod) || podEnded(pod) || d.Settings.NodeLossGrace == 0 || !d.Settings.ForceDeleteLostDrivers {
			continue
		}
		if rest := d.untilLost(pod); rest > 0 {
			d.plan.requeueAfter(rest)
			continue
		}
		deletion := podDeletion(pod)
		deletion.Force = true
		d.plan.Delete = append(d.plan.Delete, deletion)
	}
}

// removePodGroups removes the PodGroups of this application. They must have no member left: the scheduler ignores that
// a PodGroup is being deleted, and would go on to admit its gang.
func (d *decision) removePodGroups() bool {
	d.removeBatchPodGroup()
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
