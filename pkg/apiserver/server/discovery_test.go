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
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func TestDiscovery(t *testing.T) {
	s := newSuite(t)
	resources, err := s.typed.Discovery().ServerResourcesForGroupVersion(v1beta2.SchemeGroupVersion.String())
	require.NoError(t, err)
	var names []string
	for _, resource := range resources.APIResources {
		names = append(names, resource.Name)
		if short, ok := map[string]string{"sparkapplications": "sparkapp", "scheduledsparkapplications": "scheduledsparkapp"}[resource.Name]; ok {
			assert.Equal(t, []string{short, short + "s"}, resource.ShortNames)
			assert.Equal(t, []string{"all"}, resource.Categories)
			assert.Equal(t, strings.TrimSuffix(resource.Name, "s"), resource.SingularName)
			assert.True(t, resource.Namespaced)
			assert.ElementsMatch(t, []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}, resource.Verbs)
		}
	}
	assert.ElementsMatch(t, []string{
		"sparkapplications", "sparkapplications/log", "sparkapplications/proxy", "sparkapplications/scale", "sparkapplications/status",
		"scheduledsparkapplications", "scheduledsparkapplications/status",
	}, names)

	// As kubectl finds what a user types.
	cached := memory.NewMemCacheClient(s.typed.Discovery())
	mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(cached), cached, nil)
	for _, typed := range []string{"sparkapp", "sparkapps", "sparkapplication", "sparkapplications"} {
		got, err := mapper.ResourceFor(v1beta2.SchemeGroupVersion.WithResource(typed).GroupResource().WithVersion(""))
		require.NoError(t, err, typed)
		assert.Equal(t, applicationsResource, got, typed)
	}
	for _, typed := range []string{"scheduledsparkapp", "scheduledsparkapps", "scheduledsparkapplication", "scheduledsparkapplications"} {
		got, err := mapper.ResourceFor(v1beta2.SchemeGroupVersion.WithResource(typed).GroupResource().WithVersion(""))
		require.NoError(t, err, typed)
		assert.Equal(t, v1beta2.SchemeGroupVersion.WithResource("scheduledsparkapplications"), got, typed)
	}
}

func TestAggregatedDiscovery(t *testing.T) {
	s := newSuite(t)
	_, body := s.raw(t, http.MethodGet, "/apis", "", map[string]string{"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"})
	var list apidiscoveryv2.APIGroupDiscoveryList
	require.NoError(t, json.Unmarshal([]byte(body), &list))
	require.Len(t, list.Items, 1)
	assert.Equal(t, "sparkoperator.k8s.io", list.Items[0].Name)
	require.Len(t, list.Items[0].Versions, 1)
	found := map[string][]string{}
	for _, resource := range list.Items[0].Versions[0].Resources {
		for _, subresource := range resource.Subresources {
			found[resource.Resource] = append(found[resource.Resource], subresource.Subresource)
		}
	}
	assert.Equal(t, map[string][]string{"sparkapplications": {"log", "proxy", "scale", "status"}, "scheduledsparkapplications": {"status"}}, found)
}

func TestOpenAPI(t *testing.T) {
	s := newSuite(t)
	_, body := s.raw(t, http.MethodGet, "/openapi/v2", "", nil)
	var v2 spec.Swagger
	require.NoError(t, json.Unmarshal([]byte(body), &v2))
	assert.Contains(t, v2.Paths.Paths, basePath+"/namespaces/{namespace}/sparkapplications/{name}")
	model := ""
	for name, schema := range v2.Definitions {
		assert.NotContains(t, name, "/", "kubectl and the aggregator take a slash for a part of a path")
		if kinds, ok := schema.Extensions["x-kubernetes-group-version-kind"].([]any); ok {
			if kind := kinds[0].(map[string]any); kind["kind"] == "SparkApplication" {
				model = name
			}
		}
	}
	require.NotEmpty(t, model)

	_, body = s.raw(t, http.MethodGet, "/openapi/v3/apis/sparkoperator.k8s.io/v1beta2", "", nil)
	var v3 spec3.OpenAPI
	require.NoError(t, json.Unmarshal([]byte(body), &v3))
	require.Contains(t, v3.Components.Schemas, model)
	// What kubectl explain sparkapp.spec.scheduling shows.
	application := v3.Components.Schemas[model]
	for _, field := range []string{"spec", "scheduling", "schedulingPolicy"} {
		property, ok := application.Properties[field]
		require.True(t, ok, field)
		assert.NotEmpty(t, property.Description, field)
		reference := property.Ref.String()
		if reference == "" && len(property.AllOf) > 0 {
			reference = property.AllOf[0].Ref.String()
		}
		name := reference[len("#/components/schemas/"):]
		require.Contains(t, v3.Components.Schemas, name)
		application = v3.Components.Schemas[name]
	}
	assert.Contains(t, application.Properties, "gang")
}

func TestVersion(t *testing.T) {
	s := newSuite(t)
	_, body := s.raw(t, http.MethodGet, "/version", "", nil)
	assert.Contains(t, body, `"gitVersion": "v0.1.`)
}

func TestMetrics(t *testing.T) {
	s := newSuite(t)
	_, body := s.raw(t, http.MethodGet, "/metrics", "", nil)
	assert.Contains(t, body, "apiserver_request_total")
	// One watch cache for the resource, whatever number of versions and subresources there is.
	assert.Contains(t, body, `apiserver_watch_cache_initializations_total{group="sparkoperator.k8s.io",resource="sparkapplications"} `)
	_, body = s.raw(t, http.MethodGet, "/metrics/etcd", "", nil)
	assert.Contains(t, body, "etcd_mvcc_db_total_size_in_bytes")
}
