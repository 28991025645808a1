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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

const (
	// defaultRetryInterval is the interval between attempts where the spec has none, in seconds. Defaulting sets it with a
	// restart policy, but a policy may be edited later.
	defaultRetryInterval = int64(5)
	// longestRetryWait is the longest that the intervals grow to, unless a single one is longer.
	longestRetryWait = time.Hour
)

// failureKind says whose doing a failure is.
type failureKind int

const (
	// byApplication is the application's own failure, or one whose cause is not known.
	byApplication failureKind = iota
	// byInfrastructure is the cluster's doing.
	byInfrastructure
)

func (d *decision) failures() v1beta2.FailureCounts {
	if d.status.FailureCounts == nil {
		return v1beta2.FailureCounts{}
	}
	return *d.status.FailureCounts
}

// countFailure counts a run that failed, and says what that means where it isn't plain.
func (d *decision) countFailure(kind failureKind) string {
	counts := d.failures()
	text := ""
	switch {
	case kind == byApplication:
		counts.Run++
	case counts.Infrastructure < d.Settings.InfrastructureRetries:
		counts.Infrastructure++
		if d.retries() {
			text = fmt.Sprintf(" (the cluster's doing, %d of %d that are not counted against onFailureRetries)",
				counts.Infrastructure, d.Settings.InfrastructureRetries)
		}
	default:
		counts.Infrastructure++
		counts.Run++
		if d.retries() {
			text = fmt.Sprintf(" (the cluster's doing, for the %s time, and counted against onFailureRetries)", ordinal(counts.Infrastructure))
		}
	}
	d.status.FailureCounts = &counts
	return text
}

// retries says whether the restart policy runs a failed application again at all.
func (d *decision) retries() bool {
	switch policy := &d.app.Spec.RestartPolicy; policy.Type {
	case v1beta2.RestartPolicyAlways:
		return true
	case v1beta2.RestartPolicyOnFailure:
		return policy.OnFailureRetries != nil && *policy.OnFailureRetries > 0
	default:
		return false
	}
}

// mayRerun says whether a failed run is followed by another.
func (d *decision) mayRerun() bool {
	// The same would happen again, and without the guarantee that was asked for.
	if conditionReason(d.status, v1beta2.ConditionRunning) == ReasonExecutorMembershipMissing {
		return false
	}
	if policy := &d.app.Spec.RestartPolicy; policy.Type == v1beta2.RestartPolicyOnFailure {
		return d.retries() && d.failures().Run <= *policy.OnFailureRetries
	}
	return d.retries()
}

// mayResubmit says whether a failed submission is followed by another.
func (d *decision) mayResubmit() bool {
	switch policy := &d.app.Spec.RestartPolicy; policy.Type {
	case v1beta2.RestartPolicyAlways:
		return true
	case v1beta2.RestartPolicyOnFailure:
		return policy.OnSubmissionFailureRetries != nil && d.failures().Submission <= *policy.OnSubmissionFailureRetries
	default:
		return false
	}
}

// rerunWait is how long it is until a failed run may be followed by another, counted from its end.
func (d *decision) rerunWait() time.Duration {
	return d.untilRetry(d.status.TerminationTime, d.app.Spec.RestartPolicy.OnFailureRetryInterval, d.failureNumber())
}

// failureNumber is by how many times its interval a rerun waits.
func (d *decision) failureNumber() int32 {
	counts := d.failures()
	return max(counts.Run, counts.Infrastructure)
}

func (d *decision) resubmitWait() time.Duration {
	return d.untilRetry(d.status.TerminationTime, d.app.Spec.RestartPolicy.OnSubmissionFailureRetryInterval, d.failures().Submission)
}

// untilRetry is what is left of a wait that begins at a time and grows with the number of failures.
func (d *decision) untilRetry(since metav1.Time, interval *int64, failures int32) time.Duration {
	rest := since.Add(retryWait(interval, failures)).Sub(d.now.Time)
	// A clock that was set back must not make an application wait for longer than it ever would.
	return min(rest, retryWait(interval, failures))
}

// retryWait is how long an application waits after the failure that is its n-th. interval is in seconds.
func retryWait(interval *int64, n int32) time.Duration {
	seconds := defaultRetryInterval
	if interval != nil {
		seconds = min(max(*interval, 1), longestLife)
	}
	one := time.Duration(seconds) * time.Second
	switch {
	case one >= longestRetryWait:
		return one
	case time.Duration(n) >= longestRetryWait/one:
		return longestRetryWait
	default:
		return one * time.Duration(max(n, 1))
	}
}

// rerun asks for another attempt, once nothing is left of this one.
func (d *decision) rerun(why string) {
	d.endSide()
	d.status.SparkApplicationID = ""
	d.status.AppState.ErrorMessage = ""
	d.status.TerminationTime = metav1.Time{}
	d.status.ExecutorState, d.status.ExecutorCounts = nil, nil
	d.setCondition(v1beta2.ConditionRunning, metav1.ConditionFalse, ReasonPendingRerun, why+"; another attempt is to begin")
	d.enter(v1beta2.ApplicationStatePendingRerun, eventPendingRerun(d.app, why))
}

// decidePendingRerun removes what is left of the last attempt, of which the driver pod has the name that the next one
// needs, and begins.
func (d *decision) decidePendingRerun() {
	d.rule(RulePendingRerun)
	if !d.removeAttempt() {
		return
	}
	d.begin()
}

// ordinal writes a number as in "the 2nd time".
func ordinal(n int32) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}
