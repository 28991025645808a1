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

package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// client speaks HTTP without decoding anything, so that what is measured is the servers.
type client struct {
	through, direct       *http.Client
	throughURL, directURL string
	// unknown numbers the users of whom no server has heard.
	unknown atomic.Int64
}

// newClient returns a client for a user that may do everything, in kube-apiserver's eyes and in ours.
func newClient(through, direct *rest.Config) (*client, error) {
	c := &client{throughURL: through.Host, directURL: direct.Host}
	var err error
	if c.through, err = rest.HTTPClientFor(through); err != nil {
		return nil, err
	}
	c.direct, err = rest.HTTPClientFor(direct)
	return c, err
}

// impersonated users are members of this group.
const benchGroup = "bench"

func (c *client) request(ctx context.Context, p *peer, method, path, contentType string, body []byte) (*http.Response, error) {
	base, transport := c.throughURL, c.through
	if p.direct {
		base, transport = c.directURL, c.direct
	}
	request, err := http.NewRequestWithContext(ctx, method, base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", p.contentType())
	if p.uncompressed {
		request.Header.Set("Accept-Encoding", "identity")
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	if p.cold {
		request.Header.Set("Impersonate-User", fmt.Sprintf("unknown-%d", c.unknown.Add(1)))
		request.Header.Set("Impersonate-Group", benchGroup)
	}
	return transport.Do(request)
}

// do sends a request and returns the body of its answer, which must be a good one.
func (c *client) do(ctx context.Context, p *peer, method, path, contentType string, body []byte) ([]byte, error) {
	response, err := c.request(ctx, p, method, path, contentType, body)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, response.Status, strings.ToValidUTF8(string(answer[:min(len(answer), 300)]), "?"))
	}
	return answer, nil
}

func (c *client) create(ctx context.Context, p *peer, namespace string, body []byte) ([]byte, error) {
	return c.do(ctx, p, http.MethodPost, p.path(namespace), p.contentType(), body)
}

func (c *client) get(ctx context.Context, p *peer, namespace, name string) ([]byte, error) {
	return c.do(ctx, p, http.MethodGet, p.path(namespace)+"/"+name, "", nil)
}

// update sends back what was read, with another revision.
func (c *client) update(ctx context.Context, p *peer, namespace, name string, read []byte) ([]byte, error) {
	edited := bytes.Replace(read, []byte(revisionBefore), []byte(revisionAfter), 1)
	if bytes.Equal(edited, read) {
		return nil, fmt.Errorf("%s has no %s", name, revisionBefore)
	}
	return c.do(ctx, p, http.MethodPut, p.path(namespace)+"/"+name, p.contentType(), edited)
}

func (c *client) patch(ctx context.Context, p *peer, namespace, name string) ([]byte, error) {
	return c.do(ctx, p, http.MethodPatch, p.path(namespace)+"/"+name, string(types.MergePatchType),
		[]byte(`{"metadata":{"labels":{"patched":"true"}}}`))
}

func (c *client) delete(ctx context.Context, p *peer, namespace, name string) ([]byte, error) {
	return c.do(ctx, p, http.MethodDelete, p.path(namespace)+"/"+name, "", nil)
}

// list reads a whole collection as it is now, in one answer.
func (c *client) list(ctx context.Context, p *peer, namespace string) ([]byte, error) {
	return c.do(ctx, p, http.MethodGet, p.path(namespace), "", nil)
}

// clear deletes a collection.
func (c *client) clear(ctx context.Context, p *peer, namespace string) error {
	_, err := c.do(ctx, p, http.MethodDelete, p.path(namespace), "", nil)
	return err
}

// measured are the durations of calls that were made by some writers at once.
type measured struct {
	latencies []time.Duration
	elapsed   time.Duration
	bytes     int64
}

func (m *measured) rate() float64 { return float64(len(m.latencies)) / m.elapsed.Seconds() }

// together calls call for 0 to count-1 by so many writers, and stops at the first error.
func together(ctx context.Context, writers, count int, call func(ctx context.Context, i int) ([]byte, error)) (*measured, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	m := &measured{latencies: make([]time.Duration, count)}
	var next, size atomic.Int64
	var running sync.WaitGroup
	started := time.Now()
	for range min(writers, count) {
		running.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= count || ctx.Err() != nil {
					return
				}
				before := time.Now()
				answer, err := call(ctx, i)
				if err != nil {
					cancel(err)
					return
				}
				m.latencies[i] = time.Since(before)
				size.Add(int64(len(answer)))
			}
		})
	}
	running.Wait()
	m.elapsed, m.bytes = time.Since(started), size.Load()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return m, nil
}
