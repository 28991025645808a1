//go:build faultpoints

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

package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// errCut is what the requests of a controller meet that has crashed.
var errCut = errors.New("the connection was cut by the test")

// wire carries every request of one controller to both servers. It shows the controller one namespace only (all of them
// if that is ""), so that many controllers, each with one application, run beside each other. It can be cut, as by a crash; it can answer a write in
// another way than the server; and it can drop or hold up the watches.
type wire struct {
	namespace string

	mu      sync.Mutex
	cut     bool
	watches map[*watchBody]struct{}
	// write is the fault point in front of the write that comes next. Empty: none is expected.
	write string
	// answer takes the place of the next write. Nil: the server answers.
	answer fault
	// unannounced are writes that no fault point announced.
	unannounced []string
	// writes are those that were let through.
	writes []string
	// heldUntil is when watches are heard again.
	heldUntil time.Time
}

// fault answers a write. send passes it on to the server.
type fault func(request *http.Request, send func() (*http.Response, error)) (*http.Response, error)

func newWire(namespace string) *wire {
	return &wire{namespace: namespace, watches: map[*watchBody]struct{}{}}
}

// through returns a configuration whose requests go through the wire.
func (w *wire) through(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &wireEnd{wire: w, next: next} })
	return config
}

// announce names the write that comes next, and what answers it.
func (w *wire) announce(write string, answer fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.write, w.answer = write, answer
}

// done says that the announced write was made.
func (w *wire) done() { w.announce("", nil) }

// sever cuts the wire for good: nothing is sent from now on, and nothing is heard.
func (w *wire) sever() {
	w.mu.Lock()
	w.cut = true
	w.mu.Unlock()
	w.dropWatches()
}

// dropWatches ends every watch, as a load balancer does.
func (w *wire) dropWatches() {
	w.mu.Lock()
	open := w.watches
	w.watches = map[*watchBody]struct{}{}
	w.mu.Unlock()
	for body := range open {
		_ = body.Close()
	}
}

// holdWatches keeps everything from the informers for a while.
func (w *wire) holdWatches(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heldUntil = time.Now().Add(d)
}

func (w *wire) heldFor() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Until(w.heldUntil)
}

// log returns the writes that were made, and those of them that no fault point announced.
func (w *wire) log() (writes, unannounced []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.writes), slices.Clone(w.unannounced)
}

// wireEnd is the wire's end at one server.
type wireEnd struct {
	wire *wire
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (e *wireEnd) RoundTrip(request *http.Request) (*http.Response, error) {
	w := e.wire
	answer, err := w.admit(request)
	if err != nil {
		return nil, err
	}
	send := func() (*http.Response, error) { return e.next.RoundTrip(w.scoped(request)) }
	if answer != nil {
		return answer(request, send)
	}
	response, err := send()
	if err == nil && request.URL.Query().Get("watch") != "" {
		response.Body = w.watch(request.Context(), response.Body)
	}
	return response, err
}

// admit lets a request pass, and says what answers it.
func (w *wire) admit(request *http.Request) (fault, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut {
		return nil, errCut
	}
	if !changes(request) {
		return nil, nil
	}
	w.writes = append(w.writes, request.Method+" "+request.URL.Path)
	if w.write == "" {
		w.unannounced = append(w.unannounced, request.Method+" "+request.URL.Path)
		return nil, nil
	}
	answer := w.answer
	w.answer = nil
	return answer, nil
}

// changes says whether a request may change what is stored. Dry runs don't, reviews don't, and events only tell.
func changes(request *http.Request) bool {
	switch request.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		return false
	}
	path := request.URL.Path
	return request.URL.Query().Get("dryRun") == "" && !strings.HasPrefix(path, "/apis/events.k8s.io/") &&
		!strings.HasPrefix(path, "/apis/authorization.k8s.io/") && !strings.HasPrefix(path, "/apis/authentication.k8s.io/")
}

// everywhere matches the path of a list or watch over all namespaces.
var everywhere = regexp.MustCompile(`^(/api/v1|/apis/[^/]+/[^/]+)/([a-z]+)$`)

// withoutNamespace are the resources that the controller may list and that belong to no namespace.
var withoutNamespace = []string{"namespaces", "nodes", "priorityclasses", "storageclasses"}

func (w *wire) scoped(request *http.Request) *http.Request {
	match := everywhere.FindStringSubmatch(request.URL.Path)
	if w.namespace == "" || request.Method != http.MethodGet || match == nil || slices.Contains(withoutNamespace, match[2]) {
		return request
	}
	request = request.Clone(request.Context())
	request.URL.Path = match[1] + "/namespaces/" + w.namespace + "/" + match[2]
	return request
}

// watchBody is the body of a watch. Nothing is read from it while the wire holds watches.
type watchBody struct {
	io.ReadCloser
	wire *wire
	ctx  context.Context
}

func (w *wire) watch(ctx context.Context, body io.ReadCloser) io.ReadCloser {
	b := &watchBody{ReadCloser: body, wire: w, ctx: ctx}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watches[b] = struct{}{}
	return b
}

// Read implements io.Reader.
func (b *watchBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for held := b.wire.heldFor(); held > 0; held = b.wire.heldFor() {
		select {
		case <-b.ctx.Done():
			return n, b.ctx.Err()
		case <-time.After(held):
		}
	}
	return n, err
}

// Close implements io.Closer.
func (b *watchBody) Close() error {
	b.wire.mu.Lock()
	delete(b.wire.watches, b)
	b.wire.mu.Unlock()
	return b.ReadCloser.Close()
}

// refuse answers with an error, and the server sees nothing.
func refuse(code int, reason metav1.StatusReason) fault {
	return func(request *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		body, err := json.Marshal(&metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason,
			Message: fmt.Sprintf("%s, says the test", reason),
		})
		if err != nil {
			return nil, err
		}
		return &http.Response{
			StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: request,
			Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
		}, nil
	}
}

// loseAnswer lets the server carry out the write, and the controller never hears of it.
func loseAnswer(_ *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
	response, err := send()
	if err != nil {
		return nil, err
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return nil, errAnswerLost
}

// errAnswerLost looks like the timeout that a client meets.
var errAnswerLost = &lostAnswerError{}

type lostAnswerError struct{}

func (*lostAnswerError) Error() string   { return "timeout: the answer was lost by the test" }
func (*lostAnswerError) Timeout() bool   { return true }
func (*lostAnswerError) Temporary() bool { return true }
