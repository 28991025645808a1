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

package sparkdriver

import (
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// What Spark's Kubernetes client does where the API server is away or overloaded: it tries again this often, with pauses
// that double. Pauses are bounded here, since a test restarts a server within seconds.
const (
	maxRetries      = 10
	firstRetryPause = 100 * time.Millisecond
	maxRetryPause   = 2 * time.Second
)

// patient lets the clients of a configuration outlast a restart of the API server, as kubelets and drivers do.
func patient(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &patientTransport{next: next} })
	return config
}

type patientTransport struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (p *patientTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	pause := firstRetryPause
	for try := 0; ; try++ {
		response, err := p.next.RoundTrip(request)
		if try == maxRetries || !worthRetrying(response, err) || request.Body != nil && request.GetBody == nil {
			return response, err
		}
		if response != nil {
			_ = response.Body.Close()
		}
		select {
		case <-request.Context().Done():
			return nil, request.Context().Err()
		case <-time.After(pause):
		}
		pause = min(2*pause, maxRetryPause)
		request = request.Clone(request.Context())
		if request.GetBody != nil {
			if request.Body, err = request.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

func worthRetrying(response *http.Response, err error) bool {
	return err != nil || response.StatusCode == http.StatusTooManyRequests || response.StatusCode >= http.StatusInternalServerError
}
