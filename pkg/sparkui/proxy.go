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

// Package sparkui serves the Spark UI of a driver under a path of somebody else's.
//
// A page of Spark links to others by absolute paths. Under the path of an API they would lead nowhere: kube-apiserver's
// aggregator rewrites absolute links without knowing the path, and turns redirects into errors. So every link is made
// relative to the page on which it is, which is right whatever comes before it: the aggregator, kubectl proxy with or
// without --api-prefix, a local port. Three things do it:
//
//   - Spark puts the header X-Forwarded-Context before each of its links, those of its scripts included (UIUtils.uiRoot, the
//     same in 3.5 to 4.3). It gets the way from the page up to the UI's root.
//   - Redirects are followed here, and the page says that its links start from where it was found.
//   - What is absolute all the same, as the pages of a plugin may have it, is rewritten in the HTML.
//
// Spark's scripts look for the words "proxy" and "history" in the address of their page, by which they recognize YARN's
// proxy and the history server. Ours has the first in it, and may have both as names. Those places are rewritten too.
//
// Nothing of the user goes to the driver but what the page asked for: the headers that are passed on are listed, and no
// credentials, cookies or names are among them. What runs in a driver is the code of an application's author, who may not
// act for whoever looks at the UI.
package sparkui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
)

const (
	// maxRedirects is more than Spark ever needs: from / to /jobs to /jobs/.
	maxRedirects = 5
	// maxRequestBody bounds what is sent to a UI, all of whose forms are small.
	maxRequestBody = 1 << 20

	dialTimeout = 10 * time.Second
	// headerTimeout bounds the wait for an answer to begin. Thread dumps and heap histograms of executors take their time.
	headerTimeout = 2 * time.Minute
)

// DialFunc opens a connection.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Proxy serves the UIs of drivers.
type Proxy struct {
	transport http.RoundTripper
}

// New returns a proxy that reaches drivers by dial, or directly if it is nil. No environment variable diverts it.
func New(dial DialFunc) *Proxy {
	if dial == nil {
		dial = (&net.Dialer{Timeout: dialTimeout}).DialContext
	}
	return &Proxy{transport: &http.Transport{
		DialContext: dial,
		// Pages are rewritten, so that they had better not be compressed before.
		DisableCompression:    true,
		ResponseHeaderTimeout: headerTimeout,
		// Pods come and go, and their addresses pass on to others: a connection serves one request.
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: 64 << 10,
	}}
}

// Handler serves the UI at an address. path is what follows the root of the UI in the path of the request: empty at the
// root without a slash, and else with a slash before it. What can't be served is told to failed.
func (p *Proxy) Handler(target netip.AddrPort, path string, failed func(error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		base := baseOf(path, req.URL.Path)
		r := &round{proxy: p, target: target.String(), path: path, base: base, origin: base}
		if err := r.check(req); err != nil {
			failed(err)
			return
		}
		response, err := r.send(req)
		if err != nil {
			failed(err)
			return
		}
		defer response.Body.Close()
		if err := r.answer(w, response); err != nil {
			klog.FromContext(req.Context()).V(4).Info("A page of a Spark UI ended early", "path", path, "err", err)
			// The answer has begun: only a broken connection tells that it isn't whole.
			panic(http.ErrAbortHandler)
		}
	})
}

// round is one request.
type round struct {
	proxy  *Proxy
	target string // address and port of the UI
	path   string
	base   string // from the page to the root of the UI
	origin string // the same for the address of the request
	// moved leads from the address of the request to the page that is answered, if redirects were followed. It becomes the
	// base of the page's links.
	moved string
}

// baseOf returns the way from a page to the root of the UI, without a slash at the end. It starts with a dot and a slash,
// which nothing does by chance, so that it is recognized in what Spark puts it into.
func baseOf(path, requestPath string) string {
	if path == "" { // the page is beside the folder that it is the root of
		return "./" + requestPath[strings.LastIndexByte(requestPath, '/')+1:]
	}
	if depth := strings.Count(path, "/") - 1; depth > 0 {
		return "." + strings.Repeat("/..", depth)
	}
	return "./."
}

// check refuses what no page of Spark asks for.
func (r *round) check(req *http.Request) error {
	if req.Header.Get("Upgrade") != "" {
		return apierrors.NewBadRequest("the Spark UI speaks plain HTTP: the connection can't be upgraded")
	}
	// What is judged here must be what Jetty sees: it drops whatever follows a semicolon, and resolves dots.
	if strings.ContainsAny(r.path, ";\\") || strings.ContainsFunc(r.path, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return apierrors.NewBadRequest("the path of a page of the Spark UI has neither semicolons nor backslashes nor control characters")
	}
	for segment := range strings.SplitSeq(r.path, "/") {
		if segment == "." || segment == ".." {
			return apierrors.NewBadRequest("the path of a page of the Spark UI must not have . or .. in it")
		}
	}
	if kills(r.path) && req.Method != http.MethodPost {
		err := apierrors.NewMethodNotSupported(sparkApplicationProxy, strings.ToLower(req.Method))
		err.ErrStatus.Message = "killing a job or a stage is asked for by POST, which needs the verb create"
		return err
	}
	return nil
}

// kills tells whether asking for a path ends a job, a stage or something else that runs.
func kills(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if strings.EqualFold(segment, "kill") {
			return true
		}
	}
	return false
}

// send asks the driver, and follows its redirects.
func (r *round) send(req *http.Request) (*http.Response, error) {
	next := &url.URL{Scheme: "http", Host: r.target, Path: "/" + strings.TrimPrefix(r.path, "/"), RawQuery: req.URL.RawQuery}
	method, body := req.Method, io.Reader(http.NoBody)
	if method == http.MethodPost {
		body = http.MaxBytesReader(nil, req.Body, maxRequestBody)
	}
	for range maxRedirects {
		response, err := r.ask(req, method, next, body)
		if err != nil {
			return nil, err
		}
		location := response.Header.Get("Location")
		if response.StatusCode < 300 || response.StatusCode > 399 || location == "" {
			return response, nil
		}
		response.Body.Close()
		if next, err = r.follow(next, location); err != nil {
			return nil, err
		}
		r.base, r.moved = baseOf(next.Path, ""), r.origin+next.EscapedPath()
		if method != http.MethodHead {
			if method == http.MethodPost && (response.StatusCode == http.StatusTemporaryRedirect || response.StatusCode == http.StatusPermanentRedirect) {
				return nil, badGateway("the Spark UI wants a POST to be repeated at %s", location)
			}
			method, body = http.MethodGet, http.NoBody
		}
	}
	return nil, badGateway("the Spark UI redirects in circles")
}

func (r *round) ask(req *http.Request, method string, to *url.URL, body io.Reader) (*http.Response, error) {
	out, err := http.NewRequestWithContext(req.Context(), method, to.String(), body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	for _, name := range requestHeaders {
		if values, ok := req.Header[name]; ok {
			out.Header[name] = values
		}
	}
	if method == http.MethodPost {
		out.ContentLength = req.ContentLength
	}
	// Without this the client would add its own name.
	out.Header["User-Agent"] = nil
	out.Header.Set("X-Forwarded-Context", r.base)
	response, err := r.proxy.transport.RoundTrip(out)
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		return response, nil
	case errors.As(err, &tooLarge):
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("the limit is %d bytes", maxRequestBody))
	case req.Context().Err() != nil:
		return nil, req.Context().Err()
	}
	return nil, apierrors.NewServiceUnavailable(fmt.Sprintf("the driver doesn't answer at the port of its UI, %s: it is starting or ending, "+
		"a network policy keeps the server off, or spark.ui.enabled is false: %v", r.target, err))
}

// follow returns where a redirect leads to, which is never another server.
func (r *round) follow(from *url.URL, location string) (*url.URL, error) {
	to, err := from.Parse(location)
	if err == nil && to.Scheme == "http" && to.Host == r.target {
		return &url.URL{Scheme: "http", Host: r.target, Path: "/" + strings.TrimLeft(to.Path, "/"), RawPath: to.RawPath, RawQuery: to.RawQuery}, nil
	}
	// With spark.ui.proxyRedirectUri, Spark puts that address and our base before the path.
	if _, path, found := strings.Cut(location, r.base+"/"); found {
		if to, err := url.Parse("/" + path); err == nil && to.Host == "" {
			return &url.URL{Scheme: "http", Host: r.target, Path: to.Path, RawQuery: to.RawQuery}, nil
		}
	}
	return nil, badGateway("the Spark UI redirects to %s, which is another server or port than its own: a UI with TLS (spark.ssl.ui.enabled) "+
		"can't be reached through the API", location)
}
