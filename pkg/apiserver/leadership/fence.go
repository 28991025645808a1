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

package leadership

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

// ErrNotLeading is what a write is refused with that a replica makes which doesn't lead, or may lead no more.
var ErrNotLeading = errors.New("this replica does not hold the lease of the controllers, so it writes nothing for them")

// Fence refuses the writes of a replica from the moment on in which another may begin to write. That a context is
// cancelled is not enough: a process that was stopped for a minute, with its machine or by a debugger, goes on in the
// middle of its work before anybody in it has looked at the clock.
type Fence struct {
	now func() time.Time

	lock  sync.Mutex
	since time.Time     // when the lease was last known to be ours
	valid time.Duration // for how long from then on; 0: it isn't ours
}

// extend says that the lease is ours for a while, counted from when it was asked for.
func (f *Fence) extend(since time.Time, valid time.Duration) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.since, f.valid = since, valid
}

// close refuses every write from now on.
func (f *Fence) close() {
	f.extend(time.Time{}, 0)
}

// Allows says whether a write may be made.
func (f *Fence) Allows() bool {
	f.lock.Lock()
	defer f.lock.Unlock()
	now := f.now()
	// The monotonic clock is right when somebody sets the time; only the other one goes on while a machine sleeps.
	elapsed := max(now.Sub(f.since), now.Round(0).Sub(f.since.Round(0)))
	return f.valid > 0 && elapsed < f.valid
}

// WrapTransport refuses requests that change something while the fence doesn't allow it. It is for the clients of the
// controllers.
func (f *Fence) WrapTransport(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		switch request.Method {
		case http.MethodGet, http.MethodHead, http.MethodOptions:
		default:
			if !f.Allows() {
				if request.Body != nil {
					_ = request.Body.Close() // as a RoundTripper must
				}
				return nil, ErrNotLeading
			}
		}
		return next.RoundTrip(request)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
