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

package ui

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
)

// forwarder passes requests for a local port on to the UI of one application, and refuses those that other sites let a
// browser make: it acts with the user's credentials.
type forwarder struct {
	root      *url.URL // of the subresource proxy
	transport http.RoundTripper
	host      string // address and port that it listens at
}

// passedOn are the headers of a browser that concern the UI. Its cookies and credentials belong to other servers of this
// machine.
var passedOn = []string{
	"Accept", "Accept-Language", "Content-Type", "If-Modified-Since", "If-None-Match", "X-Requested-With",
}

// ServeHTTP implements http.Handler.
func (f *forwarder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if !f.own(req.Host) {
		http.Error(w, "this port serves http://"+f.host+"/ and no other name", http.StatusForbidden)
		return
	}
	if origin := req.Header.Get("Origin"); origin != "" && !f.own(strings.TrimPrefix(origin, "http://")) {
		http.Error(w, "another site must not use this port", http.StatusForbidden)
		return
	}
	if site := req.Header.Get("Sec-Fetch-Site"); req.Method == http.MethodPost && site != "" && site != "same-origin" {
		http.Error(w, "another site must not use this port", http.StatusForbidden)
		return
	}
	for segment := range strings.SplitSeq(req.URL.Path, "/") {
		if segment == "." || segment == ".." {
			http.Error(w, "the path must not have . or .. in it", http.StatusBadRequest)
			return
		}
	}
	(&httputil.ReverseProxy{Rewrite: f.rewrite, Transport: f.transport, FlushInterval: -1}).ServeHTTP(w, req)
}

// own tells whether a host is this port: by any other name, the page would be another site's.
func (f *forwarder) own(host string) bool {
	name, port, err := net.SplitHostPort(host)
	_, ownPort, _ := net.SplitHostPort(f.host)
	return err == nil && port == ownPort && (name == "127.0.0.1" || name == "localhost")
}

func (f *forwarder) rewrite(r *httputil.ProxyRequest) {
	target := *f.root
	target.Path = strings.TrimSuffix(f.root.Path, "/") + "/" + strings.TrimPrefix(r.In.URL.Path, "/")
	target.RawPath = ""
	target.RawQuery = r.In.URL.RawQuery
	r.Out.URL, r.Out.Host = &target, ""
	r.Out.Header = http.Header{}
	for _, name := range passedOn {
		if values, ok := r.In.Header[name]; ok {
			r.Out.Header[name] = values
		}
	}
}
