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

package scheduling

import (
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An API server whose feature gate GenericWorkload is off drops fields without an error or a warning, and executors
// would be scheduled one by one although the application asked for a gang. A dry-run create returns the object as it
// would have been stored, so it shows what a cluster keeps.

// ProbeName begins the names of objects that are only created in dry runs.
const ProbeName = "spark-apiserver-probe-"

const probeGroup = "spark-apiserver-probe"

// ProbePodGroup returns a PodGroup for a dry-run create that holds every field which we give to PodGroups.
func ProbePodGroup(namespace string) *schedulingv1beta1.PodGroup {
	return &schedulingv1beta1.PodGroup{
		TypeMeta:   metav1.TypeMeta{APIVersion: schedulingv1beta1.SchemeGroupVersion.String(), Kind: "PodGroup"},
		ObjectMeta: metav1.ObjectMeta{GenerateName: ProbeName, Namespace: namespace},
		Spec: schedulingv1beta1.PodGroupSpec{
			WorkloadRef: &schedulingv1beta1.WorkloadReference{WorkloadName: probeGroup, TemplateName: ExecutorsTemplate},
			SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{
				Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 1},
			},
		},
	}
}

// ProbePod returns a pod for a dry-run create that is a member of a group. It asks for little and keeps to the
// restricted Pod Security Standard, so that a quota or a policy is seldom the reason why it is refused.
func ProbePod(namespace string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{GenerateName: ProbeName, Namespace: namespace},
		Spec: corev1.PodSpec{
			SchedulingGroup:              &corev1.PodSchedulingGroup{PodGroupName: new(probeGroup)},
			AutomountServiceAccountToken: new(false),
			RestartPolicy:                corev1.RestartPolicyNever,
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   new(true),
				RunAsUser:      new(int64(65532)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name:  "probe",
				Image: "registry.k8s.io/pause:3.10",
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{
						corev1.ResourceCPU:    resource.MustParse("1m"),
						corev1.ResourceMemory: resource.MustParse("1Mi"),
					},
					Limits: corev1.ResourceList{
						corev1.ResourceCPU:    resource.MustParse("1m"),
						corev1.ResourceMemory: resource.MustParse("1Mi"),
					},
				},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false),
					Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}

// DroppedFromPodGroup names the field that the cluster dropped from ProbePodGroup, with what was sent and what came
// back; "" where it kept everything.
func DroppedFromPodGroup(got *schedulingv1beta1.PodGroup) string {
	return PodGroupDifference(ProbePodGroup(got.Namespace), got)
}

// DroppedFromPod names the field that the cluster dropped from ProbePod; "" where it kept the pod's membership.
func DroppedFromPod(got *corev1.Pod) string {
	return MembershipDifference(probeGroup, got)
}

// MembershipDifference says how a pod's membership differs from being a member of the named PodGroup; "" where it
// doesn't.
func MembershipDifference(podGroupName string, pod *corev1.Pod) string {
	var got string
	if group := pod.Spec.SchedulingGroup; group != nil {
		got = deref(group.PodGroupName)
	}
	if got == podGroupName {
		return ""
	}
	return difference("spec.schedulingGroup.podGroupName", podGroupName, got)
}
