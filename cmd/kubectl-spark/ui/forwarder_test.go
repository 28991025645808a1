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

package ui

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestForwarder(t *testing.T) {
	var got *http.Request
	api := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { got = req }))
	t.Cleanup(api.Close)
	root, err := url.Parse(api.URL + "/apis/g/v/namespaces/ns/sparkapplications/pi/proxy")
	require.NoError(t, err)
	f := &forwarder{root: root, transport: http.DefaultTransport, host: "127.0.0.1:4040"}
	ask := func(method, target string, headers ...string) int {
		got = nil
		request := httptest.NewRequestWithContext(t.Context(), method, target, http.NoBody)
		for i := 0; i < len(headers); i += 2 {
			request.Header.Set(headers[i], headers[i+1])
		}
		recorder := httptest.NewRecorder()
		f.ServeHTTP(recorder, request)
		return recorder.Code
	}

	for target, want := range map[string]string{
		"http://127.0.0.1:4040/":              root.Path + "/",
		"http://localhost:4040/jobs/":         root.Path + "/jobs/",
		"http://127.0.0.1:4040/jobs/job?id=1": root.Path + "/jobs/job?id=1",
	} {
		assert.Equal(t, http.StatusOK, ask(http.MethodGet, target, "Authorization", "Bearer x", "Cookie", "a=b", "Accept", "text/html"), target)
		require.NotNil(t, got, target)
		assert.Equal(t, want, got.URL.RequestURI())
		assert.Empty(t, got.Header.Get("Authorization"), "only the kubeconfig's credentials are sent")
		assert.Empty(t, got.Header.Get("Cookie"))
		assert.Equal(t, "text/html", got.Header.Get("Accept"))
	}
	assert.Equal(t, http.StatusOK, ask(http.MethodPost, "http://127.0.0.1:4040/jobs/job/kill/", "Origin", "http://127.0.0.1:4040", "Sec-Fetch-Site", "same-origin"))

	// Another name for this port is another site's attempt to have its pages taken for ours.
	for _, target := range []string{"http://evil.example:4040/", "http://127.0.0.1:4041/", "http://127.0.0.1/"} {
		assert.Equal(t, http.StatusForbidden, ask(http.MethodGet, target), target)
		assert.Nil(t, got, target)
	}
	assert.Equal(t, http.StatusForbidden, ask(http.MethodGet, "http://127.0.0.1:4040/", "Origin", "https://evil.example"))
	assert.Equal(t, http.StatusForbidden, ask(http.MethodPost, "http://127.0.0.1:4040/", "Sec-Fetch-Site", "cross-site"))
	// Nothing but this application is reached.
	for _, target := range []string{"http://127.0.0.1:4040/../../other/proxy/", "http://127.0.0.1:4040/%2e%2e/log", "http://127.0.0.1:4040/jobs/..%2f..%2f..%2flog"} {
		assert.Equal(t, http.StatusBadRequest, ask(http.MethodGet, target), target)
		assert.Nil(t, got, target)
	}
}
