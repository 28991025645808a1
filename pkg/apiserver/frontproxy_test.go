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

package apiserver

import (
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

type bundle struct {
	dynamiccertificates.CAContentProvider
	content []byte
}

func (b *bundle) CurrentCABundleContent() []byte { return b.content }

func (b *bundle) VerifyOptions() (x509.VerifyOptions, bool) {
	return x509.VerifyOptions{}, b.content != nil
}

// A request in somebody's name is neither believed nor taken for an anonymous one before the proxy can be recognized.
func TestFrontProxyIsWaitedFor(t *testing.T) {
	authority := &bundle{}
	guard := frontProxy{config: &authenticatorfactory.RequestHeaderConfig{
		CAContentProvider: authority,
		UsernameHeaders:   headerrequest.StaticStringSlice{"X-Remote-User"},
	}}
	handler := guard.filter(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	answer := func(user string) *httptest.ResponseRecorder {
		req := httptest.NewRequest(http.MethodGet, "/apis/sparkoperator.k8s.io/v1beta2", http.NoBody)
		if user != "" {
			req.Header.Set("X-Remote-User", user)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		return w
	}

	require.Error(t, guard.Check(nil), "not ready")
	refused := answer("jane")
	assert.Equal(t, http.StatusServiceUnavailable, refused.Code)
	assert.Equal(t, "1", refused.Header().Get("Retry-After"))
	assert.Equal(t, http.StatusNoContent, answer("").Code, "a client of our own port is not concerned")

	authority.content = []byte("PEM")
	require.NoError(t, guard.Check(nil))
	assert.Equal(t, http.StatusNoContent, answer("jane").Code)
}
