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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	k8stesting "k8s.io/client-go/testing"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

var volcanoResource = schema.GroupVersionResource{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "podgroups"}

func withVolcano(app *v1beta2.SparkApplication) {
	app.Spec.Scheduling = &v1beta2.SparkSchedulingSpec{BatchScheduler: &v1beta2.BatchSchedulerSpec{Name: "volcano"}}
}

// batchWorld is a world with PodGroups of Volcano, if it serves them.
type batchWorld struct {
	*world
	client *dynamicfake.FakeDynamicClient
}

func newBatchWorld(t *testing.T, served bool, app *v1beta2.SparkApplication, groups ...runtime.Object) *batchWorld {
	t.Helper()
	w := &batchWorld{world: newWorld(t, app)}
	w.client = dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{volcanoResource: "PodGroupList"}, groups...)
	w.c.applier.batch = newBatchGroups(w.client, w.kube.Discovery(), w.clock)
	if served {
		w.serveVolcano()
	}
	return w
}

func (w *batchWorld) serveVolcano() {
	w.kube.Resources = append(w.kube.Resources, &metav1.APIResourceList{
		GroupVersion: volcanoResource.GroupVersion().String(), APIResources: []metav1.APIResource{{Name: "podgroups"}},
	})
}

func (w *batchWorld) group() *unstructured.Unstructured {
	w.t.Helper()
	group, err := w.client.Resource(volcanoResource).Namespace(testKey.Namespace).Get(w.ctx, "spark-pi-pg", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(w.t, err)
	return group
}

// A missing kind is waited for, without a driver; the PodGroup is there before the driver and goes with the attempt, once.
func TestBatchPodGroupLife(t *testing.T) {
	w := newBatchWorld(t, false, newApp(withVolcano))
	w.settle()
	assert.Nil(t, w.driver(), "an application is never placed in another way")
	assert.Equal(t, v1beta2.ApplicationStateSubmitted, w.state())
	condition := w.condition(v1beta2.ConditionRunning)
	assert.Equal(t, metav1.ConditionFalse, condition.Status)
	assert.Equal(t, ReasonBatchSchedulerNotServed, condition.Reason)
	assert.Contains(t, condition.Message, "podgroups.scheduling.volcano.sh")
	assert.Equal(t, &v1beta2.BatchSchedulingStatus{Name: "volcano", PodGroupName: "spark-pi-pg"}, w.app().Status.BatchScheduling)

	w.serveVolcano()
	w.clock.Step(batchDiscoveryTTL)
	w.settle()
	require.NotNil(t, w.driver())
	assert.Equal(t, "volcano", w.driver().Spec.SchedulerName)
	require.NotNil(t, w.group())
	assert.True(t, metav1.IsControlledBy(w.group(), w.app()))
	assert.Equal(t, w.app().Status.SubmissionID, w.group().GetLabels()[spark.LabelSubmissionID])

	w.runDriver()
	w.settle()
	w.endDriver(0)
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateCompleted, w.state())
	assert.Nil(t, w.group(), "removed at the end")
	assert.Equal(t, &v1beta2.BatchSchedulingStatus{Name: "volcano"}, w.app().Status.BatchScheduling)
	before := len(w.client.Actions())
	w.settle()
	assert.Len(t, w.client.Actions(), before, "an ended application causes no requests")
}

// The kind may go between two questions.
func TestBatchKindThatHasGone(t *testing.T) {
	w := newBatchWorld(t, true, newApp(withVolcano))
	served, err := w.c.applier.batch.served(volcanoResource)
	require.NoError(t, err)
	require.True(t, served)
	w.kube.Resources = nil
	w.client.PrependReactor("create", "podgroups", func(k8stesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewNotFound(volcanoResource.GroupResource(), "")
	})
	w.settle()
	assert.Nil(t, w.driver())
	assert.Equal(t, ReasonBatchSchedulerNotServed, w.condition(v1beta2.ConditionRunning).Reason)
}

// A PodGroup of somebody else's is neither taken over nor removed.
func TestForeignBatchPodGroup(t *testing.T) {
	foreign := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"minMember": int64(7)}}}
	foreign.SetGroupVersionKind(volcanoResource.GroupVersion().WithKind("PodGroup"))
	foreign.SetNamespace(testKey.Namespace)
	foreign.SetName("spark-pi-pg")
	w := newBatchWorld(t, true, newApp(withVolcano), foreign)
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateFailed, w.state())
	assert.Contains(t, w.app().Status.AppState.ErrorMessage, "does not belong to this application")
	assert.Nil(t, w.driver())
	require.NotNil(t, w.group())
	members, _, _ := unstructured.NestedInt64(w.group().Object, "spec", "minMember")
	assert.EqualValues(t, 7, members)
}

// What an earlier attempt has left is renewed, with what the scheduler keeps in it.
func TestBatchPodGroupOfAnEarlierAttempt(t *testing.T) {
	app := newApp(withVolcano)
	app.Spec.Scheduling.BatchScheduler.Queue = new("now")
	earlier, err := scheduling.CompileSubmission(app, testSubmission, startOfTime, "")
	require.NoError(t, err)
	left := earlier.Batch.PodGroup.DeepCopy()
	require.NoError(t, unstructured.SetNestedField(left.Object, "before", "spec", "queue"))
	require.NoError(t, unstructured.SetNestedField(left.Object, "gone", "spec", "priorityClassName"))
	require.NoError(t, unstructured.SetNestedField(left.Object, "kept", "spec", "ofVolcano"))
	w := newBatchWorld(t, true, app, left)
	w.settle()
	require.NotNil(t, w.driver())
	spec, _, _ := unstructured.NestedMap(w.group().Object, "spec")
	assert.Equal(t, "now", spec["queue"])
	assert.NotContains(t, spec, "priorityClassName")
	assert.Equal(t, "kept", spec["ofVolcano"])
	assert.Equal(t, w.app().Status.SubmissionID, w.group().GetLabels()[spark.LabelSubmissionID])
}

// A suspended application holds no PodGroup.
func TestSuspendRemovesBatchPodGroup(t *testing.T) {
	w := newBatchWorld(t, true, newApp(withVolcano))
	w.settle()
	w.runDriver()
	w.settle()
	require.NotNil(t, w.group())
	w.editApp(withSuspend)
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateSuspended, w.state())
	assert.Nil(t, w.group())
	assert.Nil(t, w.app().Status.BatchScheduling)
}

// A record that names another batch scheduler than the spec is not carried out: the attempt gets a new identity.
func TestBatchRecordMustAgree(t *testing.T) {
	volcano := &scheduling.Batch{Name: "volcano"}
	for _, tc := range []struct {
		record *v1beta2.BatchSchedulingStatus
		batch  *scheduling.Batch
		agree  bool
	}{
		{nil, nil, true},
		{&v1beta2.BatchSchedulingStatus{Name: "volcano"}, volcano, true},
		{&v1beta2.BatchSchedulingStatus{Name: "volcano", PodGroupName: "a"}, volcano, false},
		{&v1beta2.BatchSchedulingStatus{Name: "yunikorn"}, volcano, false},
		{nil, volcano, false},
		{&v1beta2.BatchSchedulingStatus{Name: "volcano"}, nil, false},
	} {
		err := agreeBatch(&v1beta2.SparkApplicationStatus{BatchScheduling: tc.record}, tc.batch)
		assert.Equal(t, tc.agree, err == nil, "%v %v", tc.record, tc.batch)
	}
}
