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
)

// trouble is what keeps a container of a pod from starting, as the kubelet says it.
type trouble struct {
	text string
	// image says that it is about an image.
	image bool
	// hopeless says that waiting changes nothing.
	hopeless bool
}

// troubleOf returns what keeps a container of a pending pod from starting, or nil where nothing is known to. The reasons
// are the kubelet's (kubernetes/pkg/kubelet/container and .../images).
func troubleOf(pod *corev1.Pod) *trouble {
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		waiting := status.State.Waiting
		if waiting == nil {
			continue
		}
		text := waiting.Reason + ": " + waiting.Message
		switch waiting.Reason {
		case "InvalidImageName", "ErrImageNeverPull":
			return &trouble{text: text, image: true, hopeless: true}
		case "ErrImagePull", "ImagePullBackOff", "RegistryUnavailable":
			// The kubelet goes to and fro between these, with texts that differ every time. The status keeps still.
			text = "its image can't be pulled"
			if status.Image != "" {
				text = "image " + status.Image + " of container " + status.Name + " can't be pulled"
			}
			return &trouble{text: text, image: true}
		case "ImageInspectError", "SignatureValidationFailed":
			return &trouble{text: text, image: true}
		case "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "PostStartHookError", "PreCreateHookError", "PreStartHookError":
			return &trouble{text: text}
		case "CrashLoopBackOff":
			// The text counts the time down.
			return &trouble{text: "container " + status.Name + " ends again and again: CrashLoopBackOff"}
		}
	}
	return nil
}

// troubleFor says how long trouble with a pod is still to be borne: nothing for trouble that stays, and otherwise the
// grace, counted from when the pod got its node. limited is false where it is borne for ever.
func (d *decision) troubleFor(pod *corev1.Pod, t *trouble) (rest time.Duration, limited bool) {
	if t.hopeless {
		return 0, true
	}
	if d.Settings.ContainerErrorGrace == 0 {
		return 0, false
	}
	since := boundAt(pod)
	if since.IsZero() {
		since = pod.CreationTimestamp.Time
	}
	return since.Add(d.Settings.ContainerErrorGrace).Sub(d.now.Time), true
}

// startTrouble ends an attempt whose driver surely doesn't start, or has not started for too long. It says whether it has.
func (d *decision) startTrouble(driver driverStatus) bool {
	name := d.Driver.Name
	if t := driver.trouble; t != nil {
		switch rest, limited := d.troubleFor(d.Driver, t); {
		case !limited:
		case rest <= 0:
			d.rule(RuleDriverCannotStart)
			message := "the driver pod " + name + " can't start" + driver.message
			d.fail(driver.reason, message, byApplication, nil, eventDriverFailed(name, message))
			return true
		default:
			d.plan.requeueAfter(rest)
		}
	}
	deadline := d.Settings.DriverStartDeadline
	if deadline == 0 {
		return false
	}
	if rest := d.Driver.CreationTimestamp.Add(deadline).Sub(d.now.Time); rest > 0 {
		d.plan.requeueAfter(rest)
		return false
	}
	d.rule(RuleDriverStartDeadline)
	message := "the driver pod " + name + " has not started within " + deadline.String() + driver.message
	d.fail(ReasonDriverStartDeadline, message, byApplication, nil, eventDriverFailed(name, message))
	return true
}

// executorTrouble looks at executors that can't start. While others run, the job runs with fewer. Where none does, and the
// trouble lasts, the attempt is ended: Spark would wait for ever. It returns what is to be told, and whether it has ended the
// attempt.
func (d *decision) executorTrouble() (string, bool) {
	var worst *trouble
	var first string
	running := false
	for _, pod := range d.Executors {
		if pod.Status.Phase == corev1.PodRunning {
			running = true
		}
		if pod.Status.Phase != corev1.PodPending || deleting(pod) {
			continue
		}
		t := troubleOf(pod)
		if t == nil || worst != nil && pod.Name >= first {
			continue
		}
		worst, first = t, pod.Name
	}
	if worst == nil {
		return "", false
	}
	message := "executor " + first + " can't start: " + worst.text
	if running {
		return message, false
	}
	for _, pod := range d.Executors {
		if pod.Name != first {
			continue
		}
		switch rest, limited := d.troubleFor(pod, worst); {
		case !limited:
		case rest <= 0:
			d.rule(RuleExecutorCannotStart)
			d.fail(ReasonExecutorCannotStart, message, byApplication, nil, warning(ReasonExecutorCannotStart, actionObserve, message))
			return message, true
		default:
			d.plan.requeueAfter(rest)
		}
	}
	return message, false
}
