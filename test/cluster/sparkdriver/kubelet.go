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
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

// kubeletComponent is the source of the simulated kubelet's events.
const kubeletComponent = "simulated-kubelet"

// simulatedPrefix begins every message that the simulation writes.
const simulatedPrefix = "simulated: "

// absentImage in an image's name makes it one that can't be pulled.
const absentImage = "non-existent"

// startPod starts the containers of a bound pod, or says what is missing for that.
func (s *simulator) startPod(ctx context.Context, pod *corev1.Pod) (again bool, err error) {
	missing, err := findObstacle(ctx, s.client, pod)
	if err != nil {
		return false, err
	}
	if missing == nil {
		missing = findAbsentImage(pod)
	}
	if missing != nil {
		return true, s.keepWaiting(ctx, pod, missing)
	}
	return false, s.patchStatus(ctx, pod, runningStatus(pod, metav1.Now()))
}

// imageID looks like the ID of an image, which a kubelet doesn't take for a name.
var imageID = regexp.MustCompile(`^[0-9a-f]{64}$`)

func findAbsentImage(pod *corev1.Pod) *obstacle {
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if repository, _, _ := strings.Cut(c.Image, ":"); repository != strings.ToLower(repository) {
			return &obstacle{"InvalidImageName", "InspectFailed", fmt.Sprintf("Failed to apply default image tag %q: couldn't parse image name: repository name must be lowercase", c.Image)}
		}
		if imageID.MatchString(c.Image) {
			return &obstacle{"InvalidImageName", "InspectFailed", fmt.Sprintf("Failed to apply default image tag %q: couldn't parse image name: cannot specify 64-byte hexadecimal strings", c.Image)}
		}
		if strings.Contains(c.Image, absentImage) {
			return &obstacle{"ImagePullBackOff", "Failed", fmt.Sprintf("Back-off pulling image %q", c.Image)}
		}
	}
	return nil
}

// keepWaiting reports an obstacle, once, by the state of the containers and an event.
func (s *simulator) keepWaiting(ctx context.Context, pod *corev1.Pod, o *obstacle) error {
	for i := range pod.Status.ContainerStatuses {
		if w := pod.Status.ContainerStatuses[i].State.Waiting; w != nil && w.Reason == o.reason && w.Message == simulatedPrefix+o.message {
			return nil
		}
	}
	status := &corev1.PodStatus{Phase: corev1.PodPending, StartTime: new(metav1.Now())}
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image,
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: o.reason, Message: simulatedPrefix + o.message}},
		})
	}
	status.Conditions = []corev1.PodCondition{
		condition(corev1.ContainersReady, false, "ContainersNotReady", metav1.Now()),
		condition(corev1.PodReady, false, "ContainersNotReady", metav1.Now()),
	}
	if err := s.patchStatus(ctx, pod, status); err != nil {
		return err
	}
	return s.event(ctx, pod, o.event, o.message)
}

// runningStatus is the status of a pod whose containers all run and are ready. Init containers have done their work;
// those that restart are sidecars and run.
func runningStatus(pod *corev1.Pod, now metav1.Time) *corev1.PodStatus {
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
	ip := podIP(pod)
	status := &corev1.PodStatus{
		Phase: corev1.PodRunning, StartTime: &now, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
		Conditions: []corev1.PodCondition{
			condition(corev1.PodInitialized, true, "", now),
			condition(corev1.ContainersReady, true, "", now),
			condition(corev1.PodReady, true, "", now),
		},
	}
	if pod.Status.StartTime != nil {
		status.StartTime = pod.Status.StartTime
	}
	for _, gate := range pod.Spec.ReadinessGates {
		status.Conditions = append(status.Conditions, condition(gate.ConditionType, true, "", now))
	}
	for _, c := range pod.Spec.InitContainers {
		cs := corev1.ContainerStatus{Name: c.Name, Image: c.Image, Ready: true}
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			cs.State, cs.Started = running, new(true)
		} else {
			cs.State.Terminated = &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}
		}
		status.InitContainerStatuses = append(status.InitContainerStatuses, cs)
	}
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Ready: true, Started: new(true), State: running,
		})
	}
	return status
}

// podIP is an address from 10.64.0.0/10 that depends on the pod alone. Nobody answers there.
func podIP(pod *corev1.Pod) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(pod.UID))
	n := h.Sum32()
	return netip.AddrFrom4([4]byte{10, 64 | byte(n>>16)&0x3f, byte(n >> 8), byte(n)}).String()
}

func condition(kind corev1.PodConditionType, ok bool, reason string, now metav1.Time) corev1.PodCondition {
	c := corev1.PodCondition{Type: kind, Status: corev1.ConditionFalse, Reason: reason, LastTransitionTime: now}
	if ok {
		c.Status = corev1.ConditionTrue
	}
	return c
}

// terminate ends the Spark container of a pod, and all others unless they are to go on.
func (s *simulator) terminate(ctx context.Context, pod *corev1.Pod, end ending, othersGoOn bool) error {
	current, err := s.client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && current.UID != pod.UID {
		return nil
	}
	if err != nil {
		return err
	}
	status := terminatedStatus(current, end, othersGoOn, metav1.Now())
	return s.patchStatus(ctx, current, status)
}

func terminatedStatus(pod *corev1.Pod, end ending, othersGoOn bool, now metav1.Time) *corev1.PodStatus {
	spark := sparkContainerName(pod)
	status := &corev1.PodStatus{
		Phase: corev1.PodSucceeded,
		Conditions: []corev1.PodCondition{
			condition(corev1.ContainersReady, false, "PodCompleted", now),
			condition(corev1.PodReady, false, "PodCompleted", now),
		},
	}
	if end.exitCode != 0 {
		status.Phase = corev1.PodFailed
	}
	for _, cs := range pod.Status.ContainerStatuses {
		if cs.Name != spark && othersGoOn {
			status.Phase = corev1.PodRunning
			status.ContainerStatuses = append(status.ContainerStatuses, cs)
			continue
		}
		t := &corev1.ContainerStateTerminated{Reason: "Completed", FinishedAt: now}
		if cs.State.Running != nil {
			t.StartedAt = cs.State.Running.StartedAt
		}
		if cs.Name == spark && end.exitCode != 0 {
			t.Reason, t.ExitCode, t.Message = cmp.Or(end.reason, "Error"), end.exitCode, simulatedPrefix+end.message
		}
		cs.State, cs.Ready, cs.Started = corev1.ContainerState{Terminated: t}, false, new(false)
		status.ContainerStatuses = append(status.ContainerStatuses, cs)
	}
	if end.evicted {
		status.Phase, status.Reason, status.Message = corev1.PodFailed, "Evicted", "The node was low on resource: memory. "+simulatedPrefix+"no memory was measured."
		status.Conditions = append(status.Conditions, corev1.PodCondition{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonTerminationByKubelet, Message: status.Message, LastTransitionTime: now,
		})
	}
	for _, cs := range pod.Status.InitContainerStatuses {
		if cs.State.Running != nil && status.Phase != corev1.PodRunning {
			// A sidecar is ended when every other container has.
			cs.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: cs.State.Running.StartedAt, FinishedAt: now}}
			cs.Ready, cs.Started = false, new(false)
		}
		status.InitContainerStatuses = append(status.InitContainerStatuses, cs)
	}
	return status
}

// sparkContainerName is the container whose end is the end of the driver or executor.
func sparkContainerName(pod *corev1.Pod) string {
	if pod.Labels[labelRole] == roleDriver {
		if c, err := driverContainer(pod); err == nil {
			return c.Name
		}
	}
	for _, c := range pod.Spec.Containers {
		if c.Name == executorContainerName {
			return c.Name
		}
	}
	return pod.Spec.Containers[len(pod.Spec.Containers)-1].Name
}

// driverEnded says whether the driver's container has ended, though others may still run.
func driverEnded(pod *corev1.Pod) bool {
	name := sparkContainerName(pod)
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
		return c.Name == name && c.State.Terminated != nil
	})
}

// patchStatus writes what it is given into the status of exactly this pod, not of a namesake that was created since.
// Conditions of others, like the scheduler's, stay.
func (s *simulator) patchStatus(ctx context.Context, pod *corev1.Pod, status *corev1.PodStatus) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status})
	if err != nil {
		return err
	}
	_, err = s.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		// Gone, or replaced: the event of that is on its way.
		return nil
	}
	return err
}

func (s *simulator) event(ctx context.Context, pod *corev1.Pod, reason, message string) error {
	now := metav1.Now()
	_, err := s.client.CoreV1().Events(pod.Namespace).Create(ctx, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: pod.Name + ".", Namespace: pod.Namespace},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
		},
		Reason: reason, Message: simulatedPrefix + message, Type: corev1.EventTypeWarning, Count: 1,
		FirstTimestamp: now, LastTimestamp: now, Source: corev1.EventSource{Component: kubeletComponent, Host: pod.Spec.NodeName},
	}, metav1.CreateOptions{})
	if apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	if err != nil {
		klog.FromContext(ctx).Error(err, "Simulated kubelet can't record an event", "pod", klog.KObj(pod))
	}
	return err
}

// retry repeats what must be done in the end, though the control plane may be restarting.
func retry(ctx context.Context, f func() error) error {
	var last error
	err := wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(context.Context) (bool, error) {
		last = f()
		return last == nil, nil
	})
	if err != nil && last != nil {
		return last
	}
	return err
}
