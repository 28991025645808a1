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
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// disruption is what Kubernetes says of a pod that it ended itself.
type disruption struct {
	// reason is the reason of a condition.
	reason string
	text   string
	kind   failureKind
}

// ownExcess are parts of the messages with which a kubelet evicts a pod that used more storage than it asked for
// (kubernetes/pkg/kubelet/eviction): that is not the node's doing, and would happen again.
var ownExcess = []string{"exceeds the total limit", "exceeded its local ephemeral storage limit", "usage of EmptyDir volume"}

// disruptionOf says whether the cluster ended, or is ending, a pod, by the reason that a kubelet gives it and by its
// condition DisruptionTarget.
func disruptionOf(pod *corev1.Pod) *disruption {
	if d := disruptionByReason(pod); d != nil {
		return d
	}
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type != corev1.DisruptionTarget || c.Status != corev1.ConditionTrue {
			continue
		}
		d := &disruption{reason: ReasonDriverEvicted, kind: byInfrastructure, text: fmt.Sprintf("%s: %s", c.Reason, c.Message)}
		switch c.Reason {
		case corev1.PodReasonPreemptionByScheduler:
			d.reason = ReasonDriverPreempted
		case "DeletionByPodGC":
			// The pod was bound to a node that is no more.
			d.reason = ReasonDriverNodeLost
		}
		return d
	}
	return nil
}

// disruptionByReason goes by the reason of a pod. The kubelet's are those of evictions, of a node that is shut down, and of
// pods that it refused after the scheduler had placed them.
func disruptionByReason(pod *corev1.Pod) *disruption {
	d := &disruption{reason: ReasonDriverEvicted, kind: byInfrastructure, text: fmt.Sprintf("%s: %s", pod.Status.Reason, pod.Status.Message)}
	switch reason := pod.Status.Reason; {
	case reason == "Evicted":
		for _, part := range ownExcess {
			if strings.Contains(strings.ToLower(pod.Status.Message), strings.ToLower(part)) {
				d.kind = byApplication
			}
		}
	case reason == "Preempting", reason == "Preempted":
		d.reason = ReasonDriverPreempted
	case reason == "NodeLost":
		d.reason = ReasonDriverNodeLost
	case reason == "Terminated", reason == "NodeShutdown", reason == "Shutdown", reason == "NodeAffinity",
		reason == "UnexpectedAdmissionError", strings.HasPrefix(reason, "OutOf"):
	default:
		return nil
	}
	return d
}
