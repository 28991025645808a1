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
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// trimManagedFields drops the managed fields, which nothing here reads. An update without them leaves them alone. The
// annotations of a SparkApplication stay, because an update of its status sends the whole object.
func trimManagedFields(object any) (any, error) {
	if accessor, ok := object.(metav1.Object); ok {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

// trimPod keeps what is decided by: at tens of thousands of executors, whole pods would fill the memory.
func trimPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	trimmed := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:              pod.Name,
			Namespace:         pod.Namespace,
			UID:               pod.UID,
			ResourceVersion:   pod.ResourceVersion,
			CreationTimestamp: pod.CreationTimestamp,
			DeletionTimestamp: pod.DeletionTimestamp,
			OwnerReferences:   pod.OwnerReferences,
			Labels:            keep(pod.Labels, spark.LabelAppName, spark.LabelSubmissionID, spark.LabelSparkRole, spark.LabelLaunchedBy),
			Annotations:       keep(pod.Annotations, spark.AnnotationDefaultContainer),
		},
		Spec: corev1.PodSpec{
			NodeName:        pod.Spec.NodeName,
			SchedulingGroup: pod.Spec.SchedulingGroup,
		},
		Status: corev1.PodStatus{
			Phase:   pod.Status.Phase,
			Reason:  pod.Status.Reason,
			Message: pod.Status.Message,
		},
	}
	isDriver := pod.Labels[spark.LabelSparkRole] == spark.SparkRoleDriver
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		kept := corev1.PodCondition{Type: c.Type, Status: c.Status, LastTransitionTime: c.LastTransitionTime}
		switch {
		case isDriver && (c.Type == corev1.PodScheduled || c.Type == corev1.DisruptionTarget):
			kept.Reason, kept.Message = c.Reason, c.Message
		case c.Type == corev1.PodScheduled:
		default:
			continue
		}
		trimmed.Status.Conditions = append(trimmed.Status.Conditions, kept)
	}
	trimmed.Status.InitContainerStatuses = keepWaiting(pod.Status.InitContainerStatuses)
	if !isDriver {
		trimmed.Status.ContainerStatuses = keepWaiting(pod.Status.ContainerStatuses)
		return trimmed, nil
	}
	for i := range pod.Spec.Containers {
		trimmed.Spec.Containers = append(trimmed.Spec.Containers, corev1.Container{Name: pod.Spec.Containers[i].Name})
	}
	for i := range pod.Status.ContainerStatuses {
		s := &pod.Status.ContainerStatuses[i]
		trimmed.Status.ContainerStatuses = append(trimmed.Status.ContainerStatuses, corev1.ContainerStatus{Name: s.Name, Image: s.Image, State: s.State})
	}
	return trimmed, nil
}

// keepWaiting keeps the statuses of containers that can't start.
func keepWaiting(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	var kept []corev1.ContainerStatus
	for i := range statuses {
		s := &statuses[i]
		if waiting := s.State.Waiting; waiting != nil && waiting.Reason != "ContainerCreating" && waiting.Reason != "PodInitializing" {
			kept = append(kept, corev1.ContainerStatus{Name: s.Name, Image: s.Image, State: corev1.ContainerState{Waiting: waiting}})
		}
	}
	return kept
}

func keep(from map[string]string, keys ...string) map[string]string {
	kept := map[string]string{}
	for _, key := range keys {
		if value, found := from[key]; found {
			kept[key] = value
		}
	}
	return kept
}
