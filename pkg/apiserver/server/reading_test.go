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

package server

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/informers/externalversions"
)

func mustClient(t *testing.T, config *rest.Config) *versioned.Clientset {
	t.Helper()
	client, err := versioned.NewForConfig(config)
	require.NoError(t, err)
	return client
}

// raw sends a request with headers of its own and returns what came back.
func (s *suite) raw(t *testing.T, method, path, body string, headers map[string]string) (*http.Response, string) {
	t.Helper()
	client, err := rest.HTTPClientFor(s.config)
	require.NoError(t, err)
	return send(t, client, method, s.config.Host+path, body, headers)
}

func TestProtobufOnTheWire(t *testing.T) {
	s := newSuite(t)
	s.create(t, application("one"))
	s.create(t, application("two"))

	response, body := s.raw(t, http.MethodGet, s.path(), "", map[string]string{"Accept": runtime.ContentTypeProtobuf})
	assert.Equal(t, runtime.ContentTypeProtobuf, response.Header.Get("Content-Type"))
	assert.Equal(t, "k8s\x00", body[:4])

	list, err := s.typed.SparkoperatorV1beta2().SparkApplications(s.namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 2)
	assert.Equal(t, "4.0.1", list.Items[0].Spec.SparkVersion)

	// Page by page.
	page, err := s.typed.SparkoperatorV1beta2().SparkApplications(s.namespace).List(t.Context(), metav1.ListOptions{Limit: 1})
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	assert.NotEmpty(t, page.Continue)
	assert.Equal(t, new(int64(1)), page.RemainingItemCount)
}

func TestWatch(t *testing.T) {
	s := newSuite(t)
	applications := s.typed.SparkoperatorV1beta2().SparkApplications(s.namespace)
	watcher, err := applications.Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer watcher.Stop()
	next := func(want watch.EventType) *v1beta2.SparkApplication {
		t.Helper()
		select {
		case event, ok := <-watcher.ResultChan():
			require.True(t, ok, "the watch ended")
			require.Equal(t, want, event.Type)
			return event.Object.(*v1beta2.SparkApplication)
		case <-t.Context().Done():
			t.Fatal("no event")
			return nil
		}
	}
	s.create(t, application("pi"))
	assert.Equal(t, "pi", next(watch.Added).Name)
	_, err = applications.Patch(t.Context(), "pi", types.MergePatchType, []byte(`{"spec":{"arguments":["1"]}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"1"}, next(watch.Modified).Spec.Arguments)
	require.NoError(t, applications.Delete(t.Context(), "pi", metav1.DeleteOptions{}))
	assert.Equal(t, "pi", next(watch.Deleted).Name)
}

func TestInformer(t *testing.T) {
	s := newSuite(t)
	s.create(t, application("before"))
	factory := externalversions.NewSharedInformerFactoryWithOptions(s.typed, 0, externalversions.WithNamespace(s.namespace))
	informer := factory.Sparkoperator().V1beta2().SparkApplications()
	seen := make(chan string, 10)
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { seen <- obj.(*v1beta2.SparkApplication).Name },
	})
	require.NoError(t, err)
	factory.Start(t.Context().Done())
	require.True(t, cache.WaitForCacheSync(t.Context().Done(), informer.Informer().HasSynced))
	assert.Equal(t, "before", <-seen)
	s.create(t, application("after"))
	assert.Equal(t, "after", <-seen)
}

func TestFieldSelectors(t *testing.T) {
	s := newSuite(t)
	s.create(t, application("one"))
	s.create(t, application("two"))
	everywhere := s.typed.SparkoperatorV1beta2().SparkApplications("")
	for selector, want := range map[string]int{
		"metadata.name=one,metadata.namespace=" + s.namespace:  1,
		"metadata.name!=one,metadata.namespace=" + s.namespace: 1,
		"metadata.namespace=" + s.namespace:                    2,
		"metadata.namespace=nowhere":                           0,
	} {
		list, err := everywhere.List(t.Context(), metav1.ListOptions{FieldSelector: selector})
		require.NoError(t, err, selector)
		assert.Len(t, list.Items, want, selector)
	}
	_, err := everywhere.List(t.Context(), metav1.ListOptions{FieldSelector: "spec.type=Scala"})
	assert.True(t, apierrors.IsBadRequest(err), err)
}

func TestTable(t *testing.T) {
	s := newSuite(t)
	s.create(t, application("pi"))
	_, body := s.raw(t, http.MethodGet, s.path(), "", map[string]string{"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})
	assert.Contains(t, body, `"kind":"Table"`)
	assert.Contains(t, body, `"name":"Gang"`)
	assert.Contains(t, body, `["pi",false,"\u003cnone\u003e",0,`)
}

func TestAnonymousIsRefused(t *testing.T) {
	s := newSuite(t)
	anonymous := mustClient(t, rest.AnonymousClientConfig(s.config))
	_, err := anonymous.SparkoperatorV1beta2().SparkApplications(s.namespace).List(t.Context(), metav1.ListOptions{})
	assert.True(t, apierrors.IsForbidden(err), err)
	_, err = anonymous.Discovery().RESTClient().Get().AbsPath("/livez").DoRaw(t.Context())
	require.NoError(t, err)
}
