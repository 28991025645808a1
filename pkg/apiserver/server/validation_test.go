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
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
