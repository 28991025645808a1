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
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func send(t *testing.T, client *http.Client, method, url, body string, headers map[string]string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	for key, value := range headers {
		request.Header.Set(key, value)
	}
	response, err := client.Do(request)
	require.NoError(t, err)
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response, string(content)
}

func TestFieldValidation(t *testing.T) {
	s := newSuite(t)
	body := func(name string) string {
		return strings.Replace(string(apply(name, nil)), `"sparkVersion"`, `"spakVersion":"4","sparkVersion"`, 1)
	}
	json := map[string]string{"Content-Type": "application/json"}

	strict, answer := s.raw(t, http.MethodPost, s.path()+"?fieldValidation=Strict", body("strict"), json)
	assert.Equal(t, http.StatusBadRequest, strict.StatusCode)
	assert.Contains(t, answer, `unknown field \"spec.spakVersion\"`)

	byDefault, _ := s.raw(t, http.MethodPost, s.path(), body("default"), json)
	assert.Equal(t, http.StatusCreated, byDefault.StatusCode)
	assert.Contains(t, strings.Join(byDefault.Header.Values("Warning"), "\n"), `unknown field \"spec.spakVersion\"`)

	ignored, _ := s.raw(t, http.MethodPost, s.path()+"?fieldValidation=Ignore", body("ignored"), json)
	assert.Equal(t, http.StatusCreated, ignored.StatusCode)
	assert.Empty(t, ignored.Header.Values("Warning"))
}

// TestWrongTypes: a value of the wrong JSON type is named as the manifest names it, whichever way it comes in.
func TestWrongTypes(t *testing.T) {
	s := newSuite(t)
	_, err := s.typed.SparkoperatorV1beta2().SparkApplications(s.namespace).Create(t.Context(), application("stored"), metav1.CreateOptions{})
	require.NoError(t, err)
	wrong := strings.Replace(string(apply("wrong", nil)), `"sparkVersion"`, `"driver":{"labels":{"version":4},"cores":"1"},"arguments":[7],"sparkVersion"`, 1)
	stored := strings.Replace(wrong, `"wrong"`, `"stored"`, 1)
	const label, argument = `spec.driver.labels[version]: Invalid value: 4: must be a string: write \"4\", in quotes`, `spec.arguments[0]: Invalid value: 7: must be a string`
	for name, request := range map[string]struct {
		method, url, contentType, body string
		code                           int
	}{
		"create":                 {http.MethodPost, s.path(), "application/json", wrong, http.StatusBadRequest},
		"create, strict":         {http.MethodPost, s.path() + "?fieldValidation=Strict", "application/json", wrong, http.StatusBadRequest},
		"create, ignoring":       {http.MethodPost, s.path() + "?fieldValidation=Ignore", "application/json", wrong, http.StatusBadRequest},
		"create, YAML":           {http.MethodPost, s.path(), "application/yaml", wrong, http.StatusBadRequest},
		"create, YAML, strict":   {http.MethodPost, s.path() + "?fieldValidation=Strict", "application/yaml", wrong, http.StatusBadRequest},
		"update":                 {http.MethodPut, s.path() + "/stored", "application/json", stored, http.StatusBadRequest},
		"merge patch":            {http.MethodPatch, s.path() + "/stored", "application/merge-patch+json", `{"spec":{"driver":{"labels":{"version":4}},"arguments":[7]}}`, http.StatusUnprocessableEntity},
		"JSON patch":             {http.MethodPatch, s.path() + "/stored", "application/json-patch+json", `[{"op":"add","path":"/spec/driver/labels","value":{"version":4}},{"op":"add","path":"/spec/arguments","value":[7]}]`, http.StatusUnprocessableEntity},
		"the status, JSON patch": {http.MethodPatch, s.path() + "/stored/status", "application/json-patch+json", `[{"op":"add","path":"/spec/driver/labels","value":{"version":4}},{"op":"add","path":"/spec/arguments","value":[7]}]`, http.StatusUnprocessableEntity},
	} {
		t.Run(name, func(t *testing.T) {
			response, answer := s.raw(t, request.method, request.url, request.body, map[string]string{"Content-Type": request.contentType})
			assert.Equal(t, request.code, response.StatusCode, answer)
			unescaped := strings.ReplaceAll(answer, `\\\"`, `\"`)
			assert.Contains(t, unescaped, label)
			assert.Contains(t, unescaped, argument)
			assert.NotContains(t, answer, "Go struct")
		})
	}
}

func TestInvalidApplications(t *testing.T) {
	s := newSuite(t)
	applications := s.typed.SparkoperatorV1beta2().SparkApplications(s.namespace)
	app := application("pi")
	app.Spec.Type = "Cobol"
	app.Spec.Executor.Instances = new(int32(0))
	_, err := applications.Create(t.Context(), app, metav1.CreateOptions{})
	require.True(t, apierrors.IsInvalid(err), err)
	require.ErrorContains(t, err, `spec.type: Unsupported value: "Cobol"`)
	require.ErrorContains(t, err, "spec.executor.instances")

	// One mistake is told once, however many rules see it.
	app = application("pi")
	app.Spec.Driver.Cores, app.Spec.Executor.Instances = new(int32(0)), new(int32(0))
	app.Spec.MainApplicationFile = nil
	app.Spec.Driver.Env = []corev1.EnvVar{{Name: "a=b"}}
	_, err = applications.Create(t.Context(), app, metav1.CreateOptions{})
	status, ok := errors.AsType[*apierrors.StatusError](err)
	require.True(t, ok, err)
	places := map[string]int{}
	for _, cause := range status.ErrStatus.Details.Causes {
		places[cause.Field]++
	}
	assert.Equal(t, map[string]int{
		"spec.driver.cores": 1, "spec.executor.instances": 1, "spec.mainApplicationFile": 1, "spec.driver.env[0].name": 1,
	}, places)

	app = application("pi")
	app.Spec.SparkVersion = ""
	_, err = applications.Create(t.Context(), app, metav1.CreateOptions{})
	require.ErrorContains(t, err, "spec.sparkVersion: Required value")
}

func TestWarningsAreSent(t *testing.T) {
	s := newSuite(t)
	body := strings.Replace(string(apply("pi", nil)), `"sparkVersion"`, `"sparkConf":{"spark.executor.instances":"9"},"sparkVersion"`, 1)
	response, _ := s.raw(t, http.MethodPost, s.path(), body, map[string]string{"Content-Type": "application/json"})
	assert.Equal(t, http.StatusCreated, response.StatusCode)
	assert.Contains(t, strings.Join(response.Header.Values("Warning"), "\n"), "spark.executor.instances")
}
