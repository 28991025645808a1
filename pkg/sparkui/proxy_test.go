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

package sparkui

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// prefix is where the UI of the tests is served.
const prefix = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/team/sparkapplications/pi/proxy"

// served is a proxy before a driver.
type served struct {
	t       *testing.T
	target  netip.AddrPort
	address string
}

// serve puts a proxy before a driver that answers as a function does.
func serve(t *testing.T, driver http.HandlerFunc) *served {
	t.Helper()
	backend := httptest.NewServer(driver)
	t.Cleanup(backend.Close)
	s := &served{t: t, target: netip.MustParseAddrPort(backend.Listener.Addr().String())}
	proxy := New(nil)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		proxy.Handler(s.target, strings.TrimPrefix(req.URL.Path, prefix), func(err error) {
			var status apierrors.APIStatus
			if !errors.As(err, &status) {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			http.Error(w, status.Status().Message, int(status.Status().Code))
		}).ServeHTTP(w, req)
	}))
	t.Cleanup(front.Close)
	s.address = front.URL
	return s
}

// ask sends a request for a path of the UI.
func (s *served) ask(method, path string, headers ...string) (*http.Response, string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.address+prefix+path, http.NoBody)
	require.NoError(s.t, err)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return response, string(body)
}

// page answers with HTML.
func page(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html;charset=utf-8")
		fmt.Fprint(w, text)
	}
}

func TestNothingOfTheUserGoesToTheDriver(t *testing.T) {
	var got *http.Request
	s := serve(t, func(w http.ResponseWriter, req *http.Request) {
		got = req
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("X-Frame-Options", "SAMEORIGIN")
		w.Header().Set("Strict-Transport-Security", "max-age=1")
	})
	response, _ := s.ask(http.MethodGet, "/jobs/?id=1", "Authorization", "Bearer secret", "Cookie", "session=1", "X-Remote-User", "jane",
		"X-Remote-Group", "system:masters", "Impersonate-User", "admin", "X-Forwarded-For", "10.0.0.1", "X-Forwarded-Context", "/other",
		"User-Agent", "browser", "Referer", "https://api/", "Proxy-Authorization", "Basic x", "Accept", "text/html")
	require.Equal(t, http.StatusOK, response.StatusCode)
	assert.Equal(t, "/jobs/?id=1", got.URL.RequestURI())
	assert.Equal(t, http.Header{"Accept": {"text/html"}, "X-Forwarded-Context": {"./.."}, "Connection": {"close"}}, got.Header)
	assert.Equal(t, s.target.String(), got.Host)
	assert.Equal(t, "SAMEORIGIN", response.Header.Get("X-Frame-Options"))
	for _, name := range []string{"Set-Cookie", "Access-Control-Allow-Origin", "Strict-Transport-Security"} {
		assert.Empty(t, response.Header.Get(name), name)
	}
}

func TestTheBaseIsTheWayFromThePageToTheRoot(t *testing.T) {
	var got string
	s := serve(t, func(_ http.ResponseWriter, req *http.Request) { got = req.Header.Get("X-Forwarded-Context") })
	for path, want := range map[string]string{
		"": "./proxy", "/": "./.", "/jobs": "./.", "/jobs/": "./..", "/jobs/job/": "./../..", "/api/v1/applications": "./../..",
	} {
		s.ask(http.MethodGet, path)
		assert.Equal(t, want, got, path)
	}
}

func TestRedirectsAreFollowedInside(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, req *http.Request) {
		base := req.Header.Get("X-Forwarded-Context")
		switch req.URL.Path {
		case "/":
			w.Header().Set("Location", "http://"+req.Host+"/jobs")
			w.WriteHeader(http.StatusFound)
		case "/jobs":
			w.Header().Set("Location", "/jobs/")
			w.WriteHeader(http.StatusMovedPermanently)
		case "/away":
			w.Header().Set("Location", "http://169.254.169.254/latest/")
			w.WriteHeader(http.StatusFound)
		case "/otherport":
			w.Header().Set("Location", "https://"+strings.Split(req.Host, ":")[0]+":4440/")
			w.WriteHeader(http.StatusFound)
		case "/circle":
			w.Header().Set("Location", "/circle")
			w.WriteHeader(http.StatusFound)
		case "/redirecturi":
			w.Header().Set("Location", "https://gateway.example/ui"+strings.TrimPrefix(base, "")+"/jobs/")
			w.WriteHeader(http.StatusFound)
		default:
			page("<html><head><title>x</title></head><body><a href=\""+base+"/stages/\">"+req.URL.Path+"</a></body></html>")(w, req)
		}
	})
	for path, base := range map[string]string{"/": "././jobs/", "": "./proxy/jobs/", "/jobs": "././jobs/"} {
		response, body := s.ask(http.MethodGet, path)
		assert.Equal(t, http.StatusOK, response.StatusCode, path)
		assert.Contains(t, body, `<head><base href="`+base+`">`, path)
		assert.Contains(t, body, `<a href="./../stages/">/jobs/</a>`, path)
	}
	response, body := s.ask(http.MethodGet, "/redirecturi")
	assert.Equal(t, http.StatusOK, response.StatusCode, body)
	for path, message := range map[string]string{"/away": "another server or port", "/otherport": "spark.ssl.ui.enabled", "/circle": "in circles"} {
		response, body := s.ask(http.MethodGet, path)
		assert.Equal(t, http.StatusBadGateway, response.StatusCode, path)
		assert.Contains(t, body, message)
	}
}

func TestKillingNeedsAPost(t *testing.T) {
	asked := 0
	s := serve(t, func(_ http.ResponseWriter, req *http.Request) {
		asked++
		assert.Equal(t, http.MethodPost, req.Method)
	})
	for _, path := range []string{"/jobs/job/kill/?id=1", "/stages/stage/kill/?id=1", "/jobs/job/kill", "/jobs/job/KILL/", "/jobs//job//kill//", "/jobs/job/%6bill/"} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			response, _ := s.ask(method, path)
			assert.Equal(t, http.StatusMethodNotAllowed, response.StatusCode, "%s %s", method, path)
		}
	}
	assert.Zero(t, asked)
	response, _ := s.ask(http.MethodPost, "/jobs/job/kill/?id=1")
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.Equal(t, 1, asked)
}

func TestWhatNoPageAsksForIsRefused(t *testing.T) {
	s := serve(t, func(_ http.ResponseWriter, req *http.Request) { t.Errorf("the driver was asked for %s", req.URL) })
	for _, path := range []string{"/jobs/..%2f..%2f", "/%2e%2e/x", "/jobs/job/kill;a=b/", "/jobs/job/kill%3b/", "/a%5cb", "/a%0ab", "/a%00"} {
		response, body := s.ask(http.MethodGet, path)
		assert.Equal(t, http.StatusBadRequest, response.StatusCode, "%s: %s", path, body)
	}
	response, _ := s.ask(http.MethodGet, "/jobs/", "Connection", "Upgrade", "Upgrade", "websocket")
	assert.Equal(t, http.StatusBadRequest, response.StatusCode)
}

func TestADriverThatDoesNotAnswer(t *testing.T) {
	s := serve(t, nil)
	closed := httptest.NewServer(nil)
	s.target = netip.MustParseAddrPort(closed.Listener.Addr().String())
	closed.Close()
	response, body := s.ask(http.MethodGet, "/jobs/")
	assert.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	assert.Contains(t, body, "spark.ui.enabled")
}

func TestABodyThatIsTooLarge(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, req *http.Request) {
		if _, err := io.Copy(io.Discard, req.Body); err == nil {
			w.WriteHeader(http.StatusTeapot) // all of it came
		}
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.address+prefix+"/jobs/", strings.NewReader(strings.Repeat("x", maxRequestBody+1)))
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
}

func TestCompressedPagesAreRewritten(t *testing.T) {
	encoding := "gzip"
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", encoding)
		zipped := gzip.NewWriter(w)
		fmt.Fprint(zipped, `<a href="/jobs/">`)
		assert.NoError(t, zipped.Close())
	})
	response, body := s.ask(http.MethodGet, "/", "Accept-Encoding", "identity")
	assert.Empty(t, response.Header.Get("Content-Encoding"))
	assert.Equal(t, `<a href="././jobs/">`, body)
	encoding = "br"
	response, body = s.ask(http.MethodGet, "/", "Accept-Encoding", "identity")
	assert.Equal(t, http.StatusBadGateway, response.StatusCode)
	assert.Contains(t, body, `"br"`)
}

func TestAPageIsPassedOnAsItComes(t *testing.T) {
	more := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, "first")
		assert.NoError(t, http.NewResponseController(w).Flush())
		<-more
		fmt.Fprint(w, "second")
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.address+prefix+"/threads", http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	first := make([]byte, len("first"))
	_, err = io.ReadFull(response.Body, first)
	require.NoError(t, err, "it comes although the page isn't finished")
	close(more)
	rest, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Equal(t, "firstsecond", string(first)+string(rest))
}

func TestAnAnswerThatBreaksOffIsNotWhole(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>")
		assert.NoError(t, http.NewResponseController(w).Flush())
		panic(http.ErrAbortHandler)
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.address+prefix+"/jobs/", http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	if err == nil {
		_, err = io.ReadAll(response.Body)
		response.Body.Close()
	}
	require.Error(t, err)
}
