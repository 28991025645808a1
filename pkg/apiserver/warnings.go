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

import "net/http"

// withoutWarnings keeps warnings from a client that nobody reads but the log. What a specification says in vain was told to
// whoever wrote it, and warnings quote values, which may be secret.
type withoutWarnings struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (w withoutWarnings) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := w.next.RoundTrip(request)
	if err == nil {
		response.Header.Del("Warning")
	}
	return response, err
}

// WrappedRoundTripper lets others see the transport below.
func (w withoutWarnings) WrappedRoundTripper() http.RoundTripper { return w.next }
