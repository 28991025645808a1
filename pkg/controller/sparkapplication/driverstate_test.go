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
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// TestPendingDriverSaysWhy looks at pending drivers as the cache has them.
func TestPendingDriverSaysWhy(t *testing.T) {
	waits := func(reason, message string) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Name: spark.DriverContainerName, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		}}}
	}
	for name, test := range map[string]struct {
		status corev1.PodStatus
		want   string
	}{
		"nothing known":     {corev1.PodStatus{}, ""},
		"container created": {waits("ContainerCreating", "x"), ""},
		"pull failed":       {waits("ErrImagePull", "rpc error: 17"), ": its image can't be pulled"},
		"pull backs off":    {waits("ImagePullBackOff", "Back-off pulling"), ": its image can't be pulled"},
		"missing key":       {waits("CreateContainerConfigError", `secret "s" not found`), `: CreateContainerConfigError: secret "s" not found`},
		"no node": {corev1.PodStatus{Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available",
		}}}, ": Unschedulable: 0/3 nodes are available"},
	} {
		t.Run(name, func(t *testing.T) {
			test.status.Phase = corev1.PodPending
			snapshot := snapshotOf(inState(v1beta2.ApplicationStateSubmitted), withDriver(corev1.PodPending, func(pod *corev1.Pod) {
				pod.Spec.Containers = []corev1.Container{{Name: spark.DriverContainerName}}
				pod.Labels = map[string]string{spark.LabelSparkRole: spark.SparkRoleDriver}
				pod.Status = test.status
			}))
			trimmed, err := trimPod(snapshot.Driver)
			require.NoError(t, err)
			snapshot.Driver = trimmed.(*corev1.Pod)
			plan := Decide(snapshot, startOfTime)
			assert.Equal(t, "the driver pod pi-driver does not run yet"+test.want, findCondition(&plan.Status, v1beta2.ConditionRunning).Message)
		})
	}
}
