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
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// answered asks for a path and returns the Status that it is answered with.
func (s *suite) answered(t *testing.T, method, path string) *metav1.Status {
	t.Helper()
	_, body := s.raw(t, method, path, "", nil)
	status := &metav1.Status{}
	require.NoError(t, json.Unmarshal([]byte(body), status), body)
	return status
}

func TestDiscoveryOfLogAndProxy(t *testing.T) {
	s := newSuite(t)
	resources, err := s.typed.Discovery().ServerResourcesForGroupVersion(v1beta2.SchemeGroupVersion.String())
	require.NoError(t, err)
	found := map[string]metav1.APIResource{}
	for _, resource := range resources.APIResources {
		found[resource.Name] = resource
	}
	assert.Equal(t, "SparkApplication", found["sparkapplications/log"].Kind)
	assert.Equal(t, metav1.Verbs{"get"}, found["sparkapplications/log"].Verbs)
	assert.Equal(t, "SparkApplicationProxyOptions", found["sparkapplications/proxy"].Kind)
	assert.ElementsMatch(t, metav1.Verbs{"create", "get"}, found["sparkapplications/proxy"].Verbs)
}

func TestOpenAPIOfLogAndProxy(t *testing.T) {
	s := newSuite(t)
	const one = basePath + "/namespaces/{namespace}/sparkapplications/{name}"
	_, body := s.raw(t, http.MethodGet, "/openapi/v2", "", nil)
	var v2 spec.Swagger
	require.NoError(t, json.Unmarshal([]byte(body), &v2))
	require.Contains(t, v2.Paths.Paths, one+"/log")
	assert.Contains(t, v2.Paths.Paths[one+"/log"].Get.Produces, "text/plain")

	_, body = s.raw(t, http.MethodGet, "/openapi/v3/apis/sparkoperator.k8s.io/v1beta2", "", nil)
	var v3 spec3.OpenAPI
	require.NoError(t, json.Unmarshal([]byte(body), &v3))
	parameters := map[string]string{}
	for _, parameter := range v3.Paths.Paths[one+"/log"].Parameters {
		parameters[parameter.Name] = parameter.Description
	}
	// As with a pod's log, sinceTime is served and not listed: the API machinery leaves times out.
	for _, name := range []string{"executor", "container", "follow", "previous", "sinceSeconds", "timestamps", "tailLines", "limitBytes"} {
		assert.NotEmpty(t, parameters[name], name)
	}
	for _, path := range []string{one + "/proxy", one + "/proxy/{path}"} {
		require.Contains(t, v3.Paths.Paths, path)
		for method, operation := range map[string]*spec3.Operation{
			"GET": v3.Paths.Paths[path].Get, "HEAD": v3.Paths.Paths[path].Head, "POST": v3.Paths.Paths[path].Post,
		} {
			assert.NotNil(t, operation, "%s %s", method, path)
		}
		assert.Nil(t, v3.Paths.Paths[path].Put, path)
		assert.Nil(t, v3.Paths.Paths[path].Delete, path)
	}
}

func TestLogOfNothing(t *testing.T) {
	s := newSuite(t)
	status := s.answered(t, http.MethodGet, s.path("none", "log"))
	assert.Equal(t, int32(http.StatusNotFound), status.Code, status.Message)
	assert.Equal(t, "none", status.Details.Name)

	s.create(t, application("pi"))
	for query, want := range map[string]struct {
		code    int32
		message string
	}{
		"?tailLines=-1":    {http.StatusUnprocessableEntity, "tailLines: Invalid value: -1"},
		"?tailLines=few":   {http.StatusBadRequest, `tailLines: "few" is no whole number`},
		"?executor=0":      {http.StatusUnprocessableEntity, "executor: Invalid value: 0"},
		"?executor=driver": {http.StatusBadRequest, `executor: "driver" is no whole number`},
		"?sinceSeconds=1&sinceTime=2026-12-01T00:00:00Z": {http.StatusUnprocessableEntity, "sinceTime: Forbidden"},
		"": {http.StatusServiceUnavailable, "without a cluster"},
	} {
		status := s.answered(t, http.MethodGet, s.path("pi", "log")+query)
		assert.Equal(t, want.code, status.Code, "%s: %s", query, status.Message)
		assert.Contains(t, status.Message, want.message, query)
	}
}

func TestProxyOfNothing(t *testing.T) {
	s := newSuite(t)
	status := s.answered(t, http.MethodGet, s.path("none", "proxy", "jobs", ""))
	assert.Equal(t, int32(http.StatusNotFound), status.Code, status.Message)

	s.create(t, application("pi"))
	for _, path := range [][]string{{"pi", "proxy"}, {"pi", "proxy", ""}, {"pi", "proxy", "jobs", ""}} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			status := s.answered(t, method, s.path(path...))
			assert.Equal(t, int32(http.StatusServiceUnavailable), status.Code, "%s %s: %s", method, path, status.Message)
			assert.Contains(t, status.Message, "without a cluster")
		}
	}
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPatch} {
		response, _ := s.raw(t, method, s.path("pi", "proxy", ""), "", nil)
		assert.Contains(t, []int{http.StatusMethodNotAllowed, http.StatusNotFound}, response.StatusCode, method)
	}
}
