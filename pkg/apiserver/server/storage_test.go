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
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/apiserver"
)

func storeClient(t *testing.T, endpoint string) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, client.Close()) })
	return client
}

// TestKeyAndEncoding guards where and how applications are stored: a server of another release must find them. The bytes
// themselves are compared with a golden file beside the types.
func TestKeyAndEncoding(t *testing.T) {
	s := newSuite(t)
	created := s.create(t, application("pi"))
	server, err := shared()
	require.NoError(t, err)
	client := storeClient(t, server.StoreEndpoint())
	response, err := client.Get(t.Context(), "/spark-apiserver/sparkoperator.k8s.io/sparkapplications/"+s.namespace+"/pi")
	require.NoError(t, err)
	require.Len(t, response.Kvs, 1)
	value := response.Kvs[0].Value
	assert.Equal(t, "k8s\x00", string(value[:4]), "protobuf")

	unknown := &runtime.Unknown{}
	require.NoError(t, unknown.Unmarshal(value[4:]))
	assert.Equal(t, v1beta2.SchemeGroupVersion.String(), unknown.APIVersion)
	assert.Equal(t, "SparkApplication", unknown.Kind)
	stored := &v1beta2.SparkApplication{}
	require.NoError(t, stored.Unmarshal(unknown.Raw))
	assert.Equal(t, created.Spec, stored.Spec)
	assert.Equal(t, created.UID, stored.UID)
}

// TestKeyAndEncodingOfSchedules does the same for schedules.
func TestKeyAndEncodingOfSchedules(t *testing.T) {
	s := newSuite(t)
	created, err := s.typed.SparkoperatorV1beta2().ScheduledSparkApplications(s.namespace).Create(t.Context(), &v1beta2.ScheduledSparkApplication{
		ObjectMeta: metav1.ObjectMeta{Name: "nightly"},
		Spec:       v1beta2.ScheduledSparkApplicationSpec{Schedule: "0 2 * * *", Template: application("pi").Spec},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, v1beta2.ConcurrencyAllow, created.Spec.ConcurrencyPolicy, "defaults are seen")
	assert.Equal(t, new("1g"), created.Spec.Template.Driver.Memory, "those of the template as well")
	server, err := shared()
	require.NoError(t, err)
	response, err := storeClient(t, server.StoreEndpoint()).Get(t.Context(), "/spark-apiserver/sparkoperator.k8s.io/scheduledsparkapplications/"+s.namespace+"/nightly")
	require.NoError(t, err)
	require.Len(t, response.Kvs, 1)
	value := response.Kvs[0].Value
	assert.Equal(t, "k8s\x00", string(value[:4]), "protobuf")
	unknown := &runtime.Unknown{}
	require.NoError(t, unknown.Unmarshal(value[4:]))
	assert.Equal(t, "ScheduledSparkApplication", unknown.Kind)
	stored := &v1beta2.ScheduledSparkApplication{}
	require.NoError(t, stored.Unmarshal(unknown.Raw))
	assert.Equal(t, created.Spec, stored.Spec)
	assert.Equal(t, created.UID, stored.UID)
}

func TestStorageMediaType(t *testing.T) {
	server, err := launch(dataDir(t), "--storage-media-type=application/json")
	require.NoError(t, err)
	s := &suite{config: server.LoopbackClientConfig(), namespace: "default", typed: mustClient(t, server.LoopbackClientConfig())}
	s.create(t, application("pi"))
	response, err := storeClient(t, server.StoreEndpoint()).Get(t.Context(), "/spark-apiserver/sparkoperator.k8s.io/sparkapplications/default/pi")
	require.NoError(t, err)
	require.Len(t, response.Kvs, 1)
	decoded, _, err := apiserver.Codecs.UniversalDeserializer().Decode(response.Kvs[0].Value, nil, nil)
	require.NoError(t, err)
	assert.Equal(t, "pi", decoded.(*v1beta2.SparkApplication).Name)
	assert.Equal(t, byte('{'), response.Kvs[0].Value[0])
	require.NoError(t, server.stop())
}
