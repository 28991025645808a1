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
	"sync"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// The names are those of the Kubeflow Spark Operator. What happens is counted when its status is written, so a restart
// counts nothing again.
var (
	applicationCount = counter("spark_application_count", "Number of SparkApplications that were taken up.")
	submitCount      = counter("spark_application_submit_count", "Number of SparkApplications whose attempt was submitted.")
	failedSubmission = counter("spark_application_failed_submission_count", "Number of SparkApplications whose submission failed.")
	successCount     = counter("spark_application_success_count", "Number of SparkApplications that completed.")
	failureCount     = counter("spark_application_failure_count", "Number of SparkApplications that failed.")

	runningCount = metrics.NewGauge(&metrics.GaugeOpts{
		Name: "spark_application_running_count", Help: "Number of SparkApplications that run.", StabilityLevel: metrics.ALPHA,
	})

	successTime = summary("spark_application_success_execution_time_seconds", "Time in seconds from submission to end of SparkApplications that completed.")
	failureTime = summary("spark_application_failure_execution_time_seconds", "Time in seconds from submission to end of SparkApplications that failed.")

	attempts = metrics.NewCounterVec(&metrics.CounterOpts{
		Name: "spark_application_attempt_count", Help: "Number of attempts that ended, by the reason of the condition Running.", StabilityLevel: metrics.ALPHA,
	}, []string{"reason"})
	waitingGangs = metrics.NewGauge(&metrics.GaugeOpts{
		Name: "spark_application_waiting_gangs", Help: "Number of drivers whose gangs wait to be placed.", StabilityLevel: metrics.ALPHA,
	})
	queuedDrivers = metrics.NewGauge(&metrics.GaugeOpts{
		Name: "spark_application_queued_drivers", Help: "Number of SparkApplications that wait for their turn to have a driver.", StabilityLevel: metrics.ALPHA,
	})
	admissionWait = metrics.NewHistogram(&metrics.HistogramOpts{
		Name: "spark_application_gang_admission_wait_seconds", Help: "Time in seconds from the start of a driver to the placement of its gang.",
		Buckets: metrics.ExponentialBuckets(1, 2, 16), StabilityLevel: metrics.ALPHA,
	})
	submitLatency = metrics.NewHistogram(&metrics.HistogramOpts{
		Name: "spark_application_submit_latency_seconds_histogram", Help: "Time in seconds from creation of a SparkApplication to its first submission.",
		Buckets: metrics.ExponentialBuckets(0.5, 2, 10), StabilityLevel: metrics.ALPHA,
	})
	startLatency = metrics.NewHistogram(&metrics.HistogramOpts{
		Name: "spark_application_start_latency_seconds_histogram", Help: "Time in seconds from creation of a SparkApplication to the start of its first driver.",
		Buckets: metrics.LinearBuckets(30, 30, 10), StabilityLevel: metrics.ALPHA,
	})
)

var registerMetrics = sync.OnceFunc(func() {
	legacyregistry.MustRegister(applicationCount, submitCount, failedSubmission, successCount, failureCount, runningCount,
		successTime, failureTime, submitLatency, startLatency, attempts, waitingGangs, queuedDrivers, admissionWait)
})

func counter(name, help string) *metrics.Counter {
	return metrics.NewCounter(&metrics.CounterOpts{Name: name, Help: help, StabilityLevel: metrics.ALPHA})
}

//nolint:staticcheck // summaries are deprecated for Kubernetes' own metrics; these names are summaries where users have them.
func summary(name, help string) *metrics.Summary {
	return metrics.NewSummary(&metrics.SummaryOpts{Name: name, Help: help, StabilityLevel: metrics.ALPHA})
}

// countTransition counts a change of state that was written.
func countTransition(before, after *v1beta2.SparkApplication) {
	status := &after.Status
	if before.Status.AppState.State == v1beta2.ApplicationStateNew {
		applicationCount.Inc()
	}
	first := status.SubmissionAttempts == 1
	switch status.AppState.State {
	case v1beta2.ApplicationStateSubmitted:
		if before.Status.SubmissionID == status.SubmissionID {
			return
		}
		submitCount.Inc()
		if first {
			submitLatency.Observe(status.LastSubmissionAttemptTime.Sub(after.CreationTimestamp.Time).Seconds())
		}
	case v1beta2.ApplicationStateRunning:
		if before.Status.AppState.State == v1beta2.ApplicationStateSubmitted && status.ExecutionAttempts == 1 {
			if c := findCondition(status, v1beta2.ConditionRunning); c != nil {
				startLatency.Observe(c.LastTransitionTime.Sub(after.CreationTimestamp.Time).Seconds())
			}
		}
	case v1beta2.ApplicationStateSucceeding, v1beta2.ApplicationStateFailing:
		attempts.WithLabelValues(conditionReason(status, v1beta2.ConditionRunning)).Inc()
	case v1beta2.ApplicationStateFailedSubmission:
		failedSubmission.Inc()
		attempts.WithLabelValues(conditionReason(status, v1beta2.ConditionRunning)).Inc()
	case v1beta2.ApplicationStateCompleted:
		successCount.Inc()
		successTime.Observe(status.TerminationTime.Sub(status.LastSubmissionAttemptTime.Time).Seconds())
	case v1beta2.ApplicationStateFailed:
		failureCount.Inc()
		failureTime.Observe(status.TerminationTime.Sub(status.LastSubmissionAttemptTime.Time).Seconds())
	}
}

// countAdmission counts a gang whose placement was written.
func countAdmission(before, after *v1beta2.SparkApplicationStatus) {
	record := after.WorkloadScheduling
	if record == nil || record.AdmittedTime == nil || record.WaitStartTime == nil || record.Policy != v1beta2.WorkloadSchedulingPolicyGang {
		return
	}
	if old := before.WorkloadScheduling; old == nil || old.AdmittedTime == nil {
		admissionWait.Observe(max(record.AdmittedTime.Sub(record.WaitStartTime.Time).Seconds(), 0))
	}
}

// countState keeps the number of applications that run, by what the cache shows.
func countState(before, after any) {
	switch was, is := runs(before), runs(after); {
	case !was && is:
		runningCount.Inc()
	case was && !is:
		runningCount.Dec()
	}
}

func runs(object any) bool {
	app, ok := unwrapped(object).(*v1beta2.SparkApplication)
	return ok && app.Status.AppState.State == v1beta2.ApplicationStateRunning
}
