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
	"errors"
	"net/http"

	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
)

// frontProxy guards the moment in which the server runs already and does not know yet whom to believe. kube-apiserver says
// in headers on whose behalf it asks, and proves itself by a certificate. The authority of that certificate is read from a
// ConfigMap once the server serves; until then such a request would count as one of system:anonymous, and a user with
// every right would be answered 403.
type frontProxy struct {
	config *authenticatorfactory.RequestHeaderConfig
}

// Name is how the check is called in /readyz.
func (frontProxy) Name() string { return "front-proxy-authority" }

// Check is true to kube-apiserver's certificate being recognized.
func (f frontProxy) Check(*http.Request) error {
	if len(f.config.CAContentProvider.CurrentCABundleContent()) == 0 {
		return errors.New("the authority of kube-apiserver's front-proxy certificate is not known yet: it is read from ConfigMap kube-system/extension-apiserver-authentication, which holds it if kube-apiserver runs with --requestheader-client-ca-file")
	}
	return nil
}

// filter answers requests that come through the front proxy with 503 while it can't be recognized; whoever asks again is
// served. Requests of others don't depend on it.
func (f frontProxy) filter(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if f.concerns(req) {
			if err := f.Check(req); err != nil {
				w.Header().Set("Retry-After", "1")
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
		}
		handler.ServeHTTP(w, req)
	})
}

func (f frontProxy) concerns(req *http.Request) bool {
	for _, header := range f.config.UsernameHeaders.Value() {
		if req.Header.Get(header) != "" {
			return true
		}
	}
	return false
}
