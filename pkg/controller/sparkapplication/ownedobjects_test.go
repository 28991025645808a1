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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// TestRemovedObjectsOfARunningDriverAreMadeAgain removes the ConfigMap of a running driver by hand.
func TestRemovedObjectsOfARunningDriverAreMadeAgain(t *testing.T) {
	w := newWorld(t, newApp())
	objects, err := newOwnedObjects(fake.NewSimpleMetadataClient(runtime.NewScheme()), cache.ResourceEventHandlerFuncs{})
	require.NoError(t, err)
	w.settle()
	w.runDriver()
	w.settle()
	s, err := w.c.observer.snapshot(w.ctx, testKey)
	require.NoError(t, err)
	later := w.clock.Now().Add(cacheLag)
	submission, err := s.Compile(s.Application.Status.SubmissionID, s.Application.Status.LastSubmissionAttemptTime.Time, "")
	require.NoError(t, err)
	cached := func(informer cache.SharedIndexInformer, object metav1.Object) {
		require.NoError(t, informer.GetIndexer().Add(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: object.GetNamespace(), Name: object.GetName(), Labels: object.GetLabels(), OwnerReferences: object.GetOwnerReferences(),
		}}))
	}
	require.Equal(t, s.Application.Status.SubmissionID, submission.Objects.ConfigMap.Labels[spark.LabelSubmissionID], "by which it is watched")
	require.Equal(t, s.Application.Status.SubmissionID, submission.Objects.Service.Labels[spark.LabelSubmissionID], "by which it is watched")
	side, err := spark.BuildSide(submission.Application, spark.Attempt{SubmissionID: s.Application.Status.SubmissionID, Side: spark.SideSettings{UIService: true}})
	require.NoError(t, err)
	require.Len(t, side.Services, 1)
	cached(objects.configMaps, submission.Objects.ConfigMap)
	cached(objects.services, side.Services[0])
	assert.True(t, objects.absent(s), "the UI's Service is not the driver's")
	require.NoError(t, objects.configMaps.GetIndexer().Replace(nil, ""))
	cached(objects.services, submission.Objects.Service)
	m := &memory{}
	objects.observe(m, s, later)
	assert.Zero(t, s.LookAgain, "before the caches are filled nobody knows")
	assert.True(t, objects.absent(s))
	cached(objects.configMaps, &metav1.ObjectMeta{Namespace: testKey.Namespace, Name: "spark-exec-conf-map", Labels: submission.Objects.ConfigMap.Labels})
	assert.True(t, objects.absent(s), "what the driver has made with the same labels is another one")
	cached(objects.configMaps, submission.Objects.ConfigMap)
	assert.False(t, objects.absent(s))

	s.waitForObjects(m, later)
	assert.False(t, s.ObjectsMissing, "a driver that ends removes its Service itself")
	assert.Equal(t, objectsPatience, s.LookAgain)
	s.waitForObjects(m, later.Add(objectsPatience))
	require.True(t, s.ObjectsMissing)

	w.remove(configMapsResource, submission.Objects.ConfigMap.Name)
	plan := Decide(s, w.clock.Now())
	_, err = w.c.applier.apply(w.ctx, s, &plan)
	require.NoError(t, err)
	_, err = w.kube.Tracker().Get(configMapsResource, testKey.Namespace, submission.Objects.ConfigMap.Name)
	require.NoError(t, err)
	assert.Equal(t, 1, w.count("create pods"))
}

// What a completed driver was started with is removed, and what it was not started with is left alone.
func TestObjectsOfAnEndedAttemptAreRemoved(t *testing.T) {
	w := newWorld(t, newApp())
	w.settle()
	w.runDriver()
	w.settle()
	w.endDriver(0)
	w.settle()
	require.Equal(t, v1beta2.ApplicationStateCompleted, w.state())
	configMaps := func() int {
		list, err := w.kube.CoreV1().ConfigMaps(testKey.Namespace).List(w.ctx, metav1.ListOptions{})
		require.NoError(t, err)
		return len(list.Items)
	}
	require.Equal(t, 1, configMaps())
	_, err := w.kube.CoreV1().ConfigMaps(testKey.Namespace).Create(w.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: "of-somebody-else", Namespace: testKey.Namespace,
		Labels: map[string]string{spark.LabelAppName: testKey.Name, spark.LabelSubmissionID: w.app().Status.SubmissionID},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)

	w.sync()
	s, err := w.c.observer.snapshot(w.ctx, testKey)
	require.NoError(t, err)
	require.False(t, s.ObjectsLeft, "nothing is watched here")
	s.ObjectsLeft = true
	plan := Decide(s, w.clock.Now())
	_, err = w.c.applier.apply(w.ctx, s, &plan)
	require.NoError(t, err)
	assert.Equal(t, 1, configMaps())
	_, err = w.kube.CoreV1().ConfigMaps(testKey.Namespace).Get(w.ctx, "of-somebody-else", metav1.GetOptions{})
	require.NoError(t, err)
	services, err := w.kube.CoreV1().Services(testKey.Namespace).List(w.ctx, metav1.ListOptions{})
	require.NoError(t, err)
	assert.Empty(t, services.Items)
	assert.NotNil(t, w.driver())
}
