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

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

type driverPhase int

const (
	driverPending driverPhase = iota
	driverRunning
	driverCompleted
	driverFailed
	driverUnknown
)

// driverStatus is what the driver pod says. The driver's own container decides, so that sidecars that run on, or that
// fail, change nothing.
type driverStatus struct {
	phase driverPhase
	// reason is the reason of a condition that a pending or a failed driver calls for.
	reason string
	// message says why a driver failed, in the words that the Kubeflow Spark Operator uses, or, with a colon before it, what
	// a pending one waits for.
	message string
	// kind says whose doing a failure is.
	kind failureKind
	// trouble is what keeps a container of a pending driver from starting.
	trouble *trouble
	// started and finished are the times of the driver's container, where they are known.
	started, finished *metav1.Time
}

func driverStatusOf(pod *corev1.Pod) driverStatus {
	container := containerStatus(pod, driverContainerName(pod))
	var result driverStatus
	var terminated *corev1.ContainerStateTerminated
	if container != nil {
		terminated = container.State.Terminated
		switch {
		case terminated != nil:
			result.started, result.finished = timeOf(terminated.StartedAt), timeOf(terminated.FinishedAt)
		case container.State.Running != nil:
			result.started = timeOf(container.State.Running.StartedAt)
		}
	}
	switch pod.Status.Phase {
	case corev1.PodPending, "":
		result.wait(pod)
	case corev1.PodRunning:
		if terminated == nil {
			result.phase = driverRunning
			return result
		}
		result.end(pod, terminated)
	case corev1.PodSucceeded:
		result.phase = driverCompleted
	case corev1.PodFailed:
		result.end(pod, terminated)
	default:
		result.phase = driverUnknown
	}
	return result
}

// wait says what keeps a pending driver from running, where its pod says so.
func (s *driverStatus) wait(pod *corev1.Pod) {
	s.phase, s.reason = driverPending, ReasonDriverPending
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Message != "" {
			s.reason, s.message = ReasonDriverUnschedulable, ": "+c.Reason+": "+c.Message
			return
		}
	}
	s.trouble = troubleOf(pod)
	if s.trouble == nil {
		return
	}
	s.reason, s.message = ReasonDriverContainerError, ": "+s.trouble.text
	if s.trouble.image {
		s.reason = ReasonDriverImageError
	}
}

// end says how a driver ended. terminated is nil where its container's end is not known.
func (s *driverStatus) end(pod *corev1.Pod, terminated *corev1.ContainerStateTerminated) {
	if terminated != nil && terminated.ExitCode == 0 {
		s.phase = driverCompleted
		return
	}
	s.phase, s.reason = driverFailed, ReasonDriverFailed
	if terminated == nil {
		s.message = "driver container status missing"
		if pod.Status.Reason != "" {
			s.message += fmt.Sprintf(": %s: %s", pod.Status.Reason, pod.Status.Message)
		}
	} else {
		s.message = fmt.Sprintf("driver container failed with ExitCode: %d, Reason: %s", terminated.ExitCode, terminated.Reason)
	}
	if d := disruptionOf(pod); d != nil {
		s.reason, s.kind = d.reason, d.kind
		if terminated != nil || pod.Status.Reason == "" {
			s.message += "; " + d.text
		}
		return
	}
	if terminated != nil && terminated.Reason == containerOOMKilled {
		s.reason = ReasonDriverOOMKilled
		s.message += "; the driver needed more memory than its container may have: raise driver.memory or driver.memoryOverhead"
	}
}

// containerOOMKilled is the kubelet's reason for a container that the kernel killed for its memory.
const containerOOMKilled = "OOMKilled"

// driverAlive says whether the driver may still do something, such as create executors.
func driverAlive(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	switch driverStatusOf(pod).phase {
	case driverCompleted, driverFailed:
		return false
	default:
		return true
	}
}

// podEnded says whether no container of the pod runs or will run.
func podEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// driverContainerName is the name of the driver's container: Spark's own, unless the pod template names it.
func driverContainerName(pod *corev1.Pod) string {
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == spark.DriverContainerName {
			return spark.DriverContainerName
		}
	}
	if name := pod.Annotations[spark.AnnotationDefaultContainer]; name != "" {
		return name
	}
	if len(pod.Spec.Containers) == 1 {
		return pod.Spec.Containers[0].Name
	}
	return spark.DriverContainerName
}

func containerStatus(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	for i := range pod.Status.ContainerStatuses {
		if pod.Status.ContainerStatuses[i].Name == name {
			return &pod.Status.ContainerStatuses[i]
		}
	}
	return nil
}

func timeOf(t metav1.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
