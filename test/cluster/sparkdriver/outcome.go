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

package sparkdriver

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Annotations of a driver pod that choose what its simulated application does. A SparkApplication sets them through
// spec.driver.annotations.
const (
	// OutcomeAnnotation is "succeed" (default), "fail" (exit code 1), "hang" (runs until it is deleted), "oom" (the container is
	// killed for its memory), "evicted" (the kubelet ends the pod for the node's sake) or an exit code.
	// Without it an application whose name ends in -simulated-OUTCOME (-simulated-fail, -simulated-exit-3) has that one.
	OutcomeAnnotation = "simulated.spark-apiserver.io/outcome"
	// RunSecondsAnnotation is how long the application computes once enough executors run, in seconds; fractions are
	// allowed.
	RunSecondsAnnotation = "simulated.spark-apiserver.io/run-seconds"
	// HoldAnnotation set to "true" lets the application compute until somebody takes the annotation from the driver pod itself,
	// which a test does when it has seen enough of the run.
	HoldAnnotation = "simulated.spark-apiserver.io/hold"
	// MisbehaviourAnnotation is a comma-separated list of things that a driver may do wrong:
	// "drop-scheduling-group" creates executors without the membership of the template, as a driver whose client knows
	// no better would.
	MisbehaviourAnnotation = "simulated.spark-apiserver.io/misbehaviour"
	// SidecarsAnnotation set to "keep-running" lets the driver pod's other containers outlive the driver, so that the
	// pod stays Running with an ended driver container. Default: they end with it.
	SidecarsAnnotation = "simulated.spark-apiserver.io/sidecars"
)

const (
	misbehaviourDropSchedulingGroup = "drop-scheduling-group"
	sidecarsKeepRunning             = "keep-running"
)

// Exit codes of Spark.
const (
	exitFailed              = 1   // an exception that nobody caught
	exitTooManyExecutorLost = 11  // ExecutorExitCode / SparkExitCode.EXCEED_MAX_EXECUTOR_FAILURES
	exitKilled              = 137 // 128 and SIGKILL
	exitClassNotFound       = 101 // SparkSubmit.CLASS_NOT_FOUND_EXIT_STATUS
)

// script is what a simulated application does.
type script struct {
	exitCode           int32
	hangs              bool
	reason             string
	evicted            bool
	runTime            time.Duration
	dropsGroup         bool
	sidecarsKeepOnRuns bool
}

var outcomeInName = regexp.MustCompile(`-simulated-(succeed|fail|hang|exit-[0-9]{1,3})$`)

func scriptOf(pod *corev1.Pod, appName string, runTime time.Duration) script {
	s := script{runTime: runTime}
	outcome := pod.Annotations[OutcomeAnnotation]
	if m := outcomeInName.FindStringSubmatch(appName); outcome == "" && m != nil {
		outcome = strings.TrimPrefix(m[1], "exit-")
	}
	switch outcome {
	case "", "succeed":
	case "fail":
		s.exitCode = exitFailed
	case "hang":
		s.hangs = true
	case "oom":
		s.exitCode, s.reason = exitKilled, "OOMKilled"
	case "evicted":
		s.exitCode, s.evicted = exitKilled, true
	default:
		code, err := strconv.ParseInt(outcome, 10, 32)
		if err != nil {
			code = exitFailed
		}
		s.exitCode = int32(code)
	}
	if seconds, err := strconv.ParseFloat(pod.Annotations[RunSecondsAnnotation], 64); err == nil && seconds >= 0 {
		s.runTime = time.Duration(seconds * float64(time.Second))
	}
	for m := range strings.SplitSeq(pod.Annotations[MisbehaviourAnnotation], ",") {
		s.dropsGroup = s.dropsGroup || strings.TrimSpace(m) == misbehaviourDropSchedulingGroup
	}
	s.sidecarsKeepOnRuns = pod.Annotations[SidecarsAnnotation] == sidecarsKeepRunning
	return s
}
