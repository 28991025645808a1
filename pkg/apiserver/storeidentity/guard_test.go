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

package storeidentity

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	runtimeserializer "k8s.io/apimachinery/pkg/runtime/serializer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/storage/etcd3/testserver"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2/ktesting"
)

const (
	namespace = "spark-system"
	name      = "store"
)

type fakeMarker struct {
	identity string
	err      error
	closed   bool
}

func (m *fakeMarker) Get(context.Context) (string, error) { return m.identity, m.err }
func (m *fakeMarker) Create(_ context.Context, identity string) (string, error) {
	if m.identity == "" {
		m.identity = identity
	}
	return m.identity, m.err
}
func (m *fakeMarker) Close() error { m.closed = true; return nil }

func copyOf(identity string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"kept": "true"}},
		Data:       map[string]string{IdentityKey: identity, "other": "kept"},
	}
}

func TestConfirm(t *testing.T) {
	for title, test := range map[string]struct {
		identity, replaces string
		copied             *corev1.ConfigMap
		want               string // the identity in both places; "new" for one that is made
		wantErr            string
	}{
		"first start":                          {want: "new"},
		"every later start":                    {identity: "a", copied: copyOf("a"), want: "a"},
		"the copy was removed":                 {identity: "a", want: "a"},
		"the copy was emptied":                 {identity: "a", copied: copyOf(""), want: "a"},
		"the store was lost":                   {copied: copyOf("a"), wantErr: "this store is empty"},
		"another store":                        {identity: "b", copied: copyOf("a"), wantErr: "--replaces-store=a"},
		"the loss is acknowledged":             {copied: copyOf("a"), replaces: "a", want: "new"},
		"another store is acknowledged":        {identity: "b", copied: copyOf("a"), replaces: "a", want: "b"},
		"an old acknowledgement counts once":   {copied: copyOf("b"), replaces: "a", wantErr: "--replaces-store=b"},
		"an acknowledgement that isn't needed": {identity: "b", copied: copyOf("b"), replaces: "a", want: "b"},
	} {
		t.Run(title, func(t *testing.T) {
			client := fake.NewClientset()
			if test.copied != nil {
				_, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), test.copied, metav1.CreateOptions{})
				require.NoError(t, err)
			}
			client.ClearActions()
			marker := &fakeMarker{identity: test.identity}
			guard := NewGuard(Options{Marker: marker, Client: client, Namespace: namespace, ConfigMap: name, Replaces: test.replaces})

			got, err := guard.confirm(t.Context())
			if test.wantErr != "" {
				require.ErrorContains(t, err, test.wantErr)
				assert.Equal(t, test.identity, marker.identity, "the store is left alone")
				assert.Len(t, client.Actions(), 1, "the copy is only read")
				return
			}
			require.NoError(t, err)
			if test.want == "new" {
				assert.NotEmpty(t, got)
			} else {
				assert.Equal(t, test.want, got)
			}
			assert.Equal(t, got, marker.identity)
			copied, err := client.CoreV1().ConfigMaps(namespace).Get(t.Context(), name, metav1.GetOptions{})
			require.NoError(t, err)
			assert.Equal(t, got, copied.Data[IdentityKey])
			if test.copied != nil {
				assert.Equal(t, "kept", copied.Data["other"])
				assert.Equal(t, "true", copied.Labels["kept"])
			}
		})
	}
}

func TestRunRetriesUntilTheCopyCanBeRead(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	client := fake.NewClientset(copyOf("a"))
	refused := 0
	client.PrependReactor("get", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		if refused++; refused == 1 {
			return true, nil, errors.New("no rights yet")
		}
		return false, nil, nil
	})
	marker := &fakeMarker{identity: "a"}
	guard := NewGuard(Options{Marker: marker, Client: client, Namespace: namespace, ConfigMap: name})
	require.ErrorIs(t, guard.Check(nil), errUnconfirmed)

	guard.Run(ctx)
	<-guard.Confirmed()
	require.NoError(t, guard.Check(nil))
	assert.Equal(t, 2, refused)
	assert.True(t, marker.closed)
}

func TestFilter(t *testing.T) {
	guard := NewGuard(Options{Marker: &fakeMarker{identity: "a"}, Client: fake.NewClientset(copyOf("a")), Namespace: namespace, ConfigMap: name})
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	codecs := runtimeserializer.NewCodecFactory(scheme)
	handler := guard.Filter(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }), codecs)
	serve := func(resource bool) *httptest.ResponseRecorder {
		info := &genericapirequest.RequestInfo{IsResourceRequest: resource, APIGroup: "sparkoperator.k8s.io", APIVersion: "v1beta2"}
		req := httptest.NewRequestWithContext(genericapirequest.WithRequestInfo(t.Context(), info), http.MethodGet, "/apis", nil)
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, req)
		return recorder
	}

	refused := serve(true)
	assert.Equal(t, http.StatusServiceUnavailable, refused.Code)
	assert.Equal(t, "1", refused.Header().Get("Retry-After"))
	assert.Contains(t, refused.Body.String(), "identity of the store")
	assert.Equal(t, http.StatusTeapot, serve(false).Code, "discovery is served")

	_, ctx := ktesting.NewTestContext(t)
	guard.Run(ctx)
	assert.Equal(t, http.StatusTeapot, serve(true).Code)
}

func TestEtcdMarker(t *testing.T) {
	client := testserver.RunEtcd(t, nil)
	marker, err := NewMarker(storagebackend.Config{
		Prefix:    "/prefix",
		Transport: storagebackend.TransportConfig{ServerList: client.Endpoints()},
	})
	require.NoError(t, err)

	identity, err := marker.Get(t.Context())
	require.NoError(t, err)
	assert.Empty(t, identity)
	identity, err = marker.Create(t.Context(), "a")
	require.NoError(t, err)
	assert.Equal(t, "a", identity)
	identity, err = marker.Create(t.Context(), "b")
	require.NoError(t, err)
	assert.Equal(t, "a", identity, "an identity is never replaced inside of the store")
	identity, err = marker.Get(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "a", identity)
	require.NoError(t, marker.Close())

	response, err := client.KV.Get(t.Context(), "/prefix/store-identity")
	require.NoError(t, err)
	assert.Len(t, response.Kvs, 1)
}
