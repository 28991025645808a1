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
	// message says why a driver failed, in the words that the Kubeflow Spark Operator uses, or, with a colon before it, what
	// a pending one waits for.
	message string
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
		result.phase = driverPending
		result.message = waitsFor(pod, container)
	case corev1.PodRunning:
		if terminated == nil {
			result.phase = driverRunning
			return result
		}
		result.end(terminated)
	case corev1.PodSucceeded:
		result.phase = driverCompleted
	case corev1.PodFailed:
		if terminated == nil {
			result.phase = driverFailed
			result.message = "driver container status missing"
			if pod.Status.Reason != "" {
				result.message += fmt.Sprintf(": %s: %s", pod.Status.Reason, pod.Status.Message)
			}
			return result
		}
		result.end(terminated)
	default:
		result.phase = driverUnknown
	}
	return result
}

// waitsFor says what keeps a pending driver from running, where its pod says so.
func waitsFor(pod *corev1.Pod, container *corev1.ContainerStatus) string {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Message != "" {
			return ": " + c.Reason + ": " + c.Message
		}
	}
	if container == nil || container.State.Waiting == nil {
		return ""
	}
	switch waiting := container.State.Waiting; waiting.Reason {
	case "", "ContainerCreating", "PodInitializing":
		return ""
	case "ErrImagePull", "ImagePullBackOff":
		// The kubelet goes to and fro between these, with texts that differ every time. The status keeps still.
		return ": its image can't be pulled"
	default:
		return ": " + waiting.Reason + ": " + waiting.Message
	}
}

func (s *driverStatus) end(terminated *corev1.ContainerStateTerminated) {
	if terminated.ExitCode == 0 {
		s.phase = driverCompleted
		return
	}
	s.phase = driverFailed
	s.message = fmt.Sprintf("driver container failed with ExitCode: %d, Reason: %s", terminated.ExitCode, terminated.Reason)
}

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
