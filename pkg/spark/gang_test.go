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

package spark

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func gangOf(n int32) Attempt {
	at := testAttempt
	at.Group = &Group{PodGroupName: "spark-pi-executors-1", Gang: true, MinCount: n}
	return at
}

func executors(n int32) func(*v1beta2.SparkApplication) {
	return func(app *v1beta2.SparkApplication) { app.Spec.Executor.Instances = new(n) }
}

func TestGangProperties(t *testing.T) {
	for _, c := range []struct {
		n     int32
		batch string
	}{{1, "20"}, {20, "20"}, {21, "21"}, {200, "200"}, {201, "200"}, {5000, "200"}} {
		_, o := builtWith(t, gangOf(c.n), executors(c.n))
		assert.Equal(t, c.batch, o.Properties[keyAllocationBatchSize])
		assert.Equal(t, "false", o.Properties[keyDynamicEnabled])
		assert.Equal(t, "direct", o.Properties[keyAllocationPodsAllocator])
		assert.Equal(t, "7d", o.Properties[keyMaxRegisteredWaiting])
		assert.NotContains(t, o.Properties, "spark.scheduler.minRegisteredResourcesRatio")
	}
}

func TestGangRespectsProperties(t *testing.T) {
	_, o := builtWith(t, gangOf(300), executors(300), withConf(
		keyAllocationBatchSize, "33", keyMaxRegisteredWaiting, "5m", keyAllocationPodsAllocator, "direct", keyDynamicEnabled, "false"))
	assert.Equal(t, "33", o.Properties[keyAllocationBatchSize])
	assert.Equal(t, "5m", o.Properties[keyMaxRegisteredWaiting])
}

func TestGangWaitsLongerThanItsDeadline(t *testing.T) {
	deadline := func(s int64) func(*v1beta2.SparkApplication) {
		return func(app *v1beta2.SparkApplication) {
			app.Spec.Scheduling = &v1beta2.SparkSchedulingSpec{
				SchedulingPolicy:         &sparkoperator.SchedulingPolicy{Gang: &sparkoperator.GangSchedulingPolicy{}},
				AdmissionDeadlineSeconds: new(s),
			}
		}
	}
	_, o := builtWith(t, gangOf(1), deadline(900))
	assert.Equal(t, "1500s", o.Properties[keyMaxRegisteredWaiting])
	_, o = builtWith(t, gangOf(1), deadline(1<<63-1))
	assert.Equal(t, "4294967896s", o.Properties[keyMaxRegisteredWaiting])
}

// Without dynamic allocation it is pinned that there is none, and with it how many executors there are at first: files of
// defaults in an image must not say otherwise.
func TestGroupPinsTheNumber(t *testing.T) {
	_, o := builtWith(t, gangOf(3), executors(3))
	assert.Equal(t, "false", o.Properties[keyDynamicEnabled])
	assert.Equal(t, "3", o.Properties[keyExecutorInstances])
	_, o = builtWith(t, gangOf(3), func(app *v1beta2.SparkApplication) {
		app.Spec.Executor.Instances = nil
		app.Spec.DynamicAllocation = &v1beta2.DynamicAllocation{Enabled: true, MinExecutors: new(int32(3))}
	})
	assert.Equal(t, "true", o.Properties[keyDynamicEnabled])
	assert.Equal(t, "3", o.Properties[keyDynamicInitial])
	assert.NotContains(t, o.Properties, keyExecutorInstances)
}

func TestGroupMembership(t *testing.T) {
	class := func(app *v1beta2.SparkApplication) { app.Spec.Executor.PriorityClassName = new("mine") }
	at := gangOf(2)
	_, o := builtWith(t, at, executors(2), class)
	pod := executorPod(t, o)
	require.NotNil(t, pod.Spec.SchedulingGroup)
	assert.Equal(t, "spark-pi-executors-1", *pod.Spec.SchedulingGroup.PodGroupName)
	assert.Equal(t, "mine", pod.Spec.PriorityClassName)
	assert.Nil(t, o.Driver.Spec.SchedulingGroup, "the driver makes the members and can't be one")
	assert.Empty(t, o.Driver.Spec.PriorityClassName)

	at.Group.PriorityClassName = "of-the-group"
	_, o = builtWith(t, at, executors(2), executorTemplateOf(`{"spec":{"priority":7,"preemptionPolicy":"Never"}}`))
	pod = executorPod(t, o)
	assert.Equal(t, "of-the-group", pod.Spec.PriorityClassName)
	assert.Nil(t, pod.Spec.Priority)
	assert.Nil(t, pod.Spec.PreemptionPolicy)
}

func TestBasicGroupWaitsForNoOne(t *testing.T) {
	at := testAttempt
	at.Group = &Group{PodGroupName: "g"}
	_, o := builtWith(t, at)
	assert.NotContains(t, o.Properties, keyMaxRegisteredWaiting)
	assert.NotContains(t, o.Properties, keyAllocationBatchSize)
	assert.Equal(t, "false", o.Properties[keyDynamicEnabled])
	assert.Equal(t, "g", *executorPod(t, o).Spec.SchedulingGroup.PodGroupName)
}

// Without a group nothing of an attempt may differ from one of a release that knows no groups.
func TestNoGroupNoTrace(t *testing.T) {
	_, o := built(t)
	for _, key := range []string{keyDynamicEnabled, keyAllocationBatchSize, keyAllocationPodsAllocator, keyMaxRegisteredWaiting} {
		assert.NotContains(t, o.Properties, key)
	}
	assert.Nil(t, executorPod(t, o).Spec.SchedulingGroup)
}

func TestBuildRefusesAnotherNumber(t *testing.T) {
	a, _ := built(t, executors(3))
	_, err := Build(a, gangOf(4))
	require.ErrorContains(t, err, "contradicts the number of executors, 3")
}

func TestBuildRefusesASubmissionIDThatIsNoLabel(t *testing.T) {
	a, _ := built(t)
	_, err := Build(a, Attempt{SubmissionID: "not a label"})
	require.Error(t, err)
}

// executorPod decodes the template as the driver's client would read it.
func executorPod(t *testing.T, o *Objects) *corev1.Pod {
	t.Helper()
	var pod corev1.Pod
	require.NoError(t, json.Unmarshal([]byte(o.ConfigMap.Data[podTemplateKey]), &pod))
	return &pod
}
