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
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestProbePodGroup(t *testing.T) {
	kept := ProbePodGroup("team-a")
	assert.Equal(t, "team-a", kept.Namespace)
	kept.Name, kept.UID = "spark-apiserver-probe-x", "u"
	kept.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{Single: &schedulingv1beta1.SingleDisruptionMode{}}
	assert.Empty(t, DroppedFromPodGroup(kept))

	dropped := ProbePodGroup("team-a")
	dropped.Spec.WorkloadRef = nil
	assert.Contains(t, DroppedFromPodGroup(dropped), "spec.workloadRef")
}

func TestProbePod(t *testing.T) {
	kept := ProbePod("team-a")
	assert.Equal(t, "team-a", kept.Namespace)
	kept.Spec.ServiceAccountName, kept.Spec.Tolerations = "default", []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	assert.Empty(t, DroppedFromPod(kept))

	dropped := ProbePod("team-a")
	dropped.Spec.SchedulingGroup = nil
	assert.Equal(t, `spec.schedulingGroup.podGroupName: wanted "spark-apiserver-probe", got nothing`, DroppedFromPod(dropped))
}

func TestMembershipDifference(t *testing.T) {
	member := func(name string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "spark-pi-exec-1"},
			Spec:       corev1.PodSpec{SchedulingGroup: &corev1.PodSchedulingGroup{PodGroupName: &name}},
		}
	}
	assert.Empty(t, MembershipDifference("group", member("group")))
	assert.Equal(t, `spec.schedulingGroup.podGroupName: wanted "group", got "other"`, MembershipDifference("group", member("other")))
	assert.Equal(t, `spec.schedulingGroup.podGroupName: wanted "group", got nothing`, MembershipDifference("group", &corev1.Pod{}))
	assert.Equal(t, `spec.schedulingGroup.podGroupName: wanted "group", got nothing`,
		MembershipDifference("group", &corev1.Pod{Spec: corev1.PodSpec{SchedulingGroup: &corev1.PodSchedulingGroup{}}}))
}
