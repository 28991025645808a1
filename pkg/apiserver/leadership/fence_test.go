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
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFence(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f := &Fence{now: func() time.Time { return now }}
	assert.False(t, f.Allows(), "nobody leads before being elected")
	f.extend(now, 10*time.Second)
	assert.True(t, f.Allows())
	now = now.Add(10*time.Second - 1)
	assert.True(t, f.Allows())
	now = now.Add(1)
	assert.False(t, f.Allows(), "as when the process has stood still")
	f.extend(now, 10*time.Second)
	assert.True(t, f.Allows())
	f.close()
	assert.False(t, f.Allows())
}

type body struct {
	*strings.Reader
	closed bool
}

func (b *body) Close() error {
	b.closed = true
	return nil
}

func TestFenceRefusesWritesOnly(t *testing.T) {
	f := &Fence{now: time.Now}
	var sent []string
	transport := f.WrapTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		sent = append(sent, r.Method)
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}))
	do := func(method string) (*body, error) {
		b := &body{Reader: strings.NewReader("{}")}
		request, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1/", b)
		require.NoError(t, err)
		response, err := transport.RoundTrip(request)
		if err == nil {
			require.NoError(t, response.Body.Close())
		}
		return b, err
	}
	writes := []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	for _, method := range writes {
		b, err := do(method)
		require.ErrorIs(t, err, ErrNotLeading, method)
		assert.True(t, b.closed, "a RoundTripper closes what it was given")
	}
	_, err := do(http.MethodGet)
	require.NoError(t, err)
	assert.Equal(t, []string{http.MethodGet}, sent)

	f.extend(time.Now(), time.Hour)
	for _, method := range writes {
		_, err := do(method)
		require.NoError(t, err, method)
	}
	assert.Equal(t, append([]string{http.MethodGet}, writes...), sent)
}
