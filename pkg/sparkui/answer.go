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
	"mime"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// sparkApplicationProxy is what errors are about.
var sparkApplicationProxy = schema.GroupResource{Group: "sparkoperator.k8s.io", Resource: "sparkapplications/proxy"}

// requestHeaders are passed to the driver. What isn't here isn't passed: least of all who the user is, and by what they
// prove it.
var requestHeaders = []string{
	"Accept", "Accept-Language", "Content-Type", "If-Modified-Since", "If-None-Match", "X-Requested-With",
}

// responseHeaders are passed to the user. A cookie, a redirect or a permission for other sites would be the API server's.
var responseHeaders = []string{
	"Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length", "Content-Security-Policy",
	"Content-Type", "Etag", "Expires", "Last-Modified", "Retry-After", "Vary", "X-Content-Type-Options", "X-Frame-Options",
	"X-Xss-Protection",
}

// answer passes on what the driver answered, with links that work.
func (r *round) answer(w http.ResponseWriter, response *http.Response) error {
	for _, name := range responseHeaders {
		if values, ok := response.Header[name]; ok {
			w.Header()[name] = values
		}
	}
	rewrite := rewriterOf(response)
	body := io.Reader(response.Body)
	if rewrite != nil {
		w.Header().Del("Content-Length")
		w.Header().Del("Etag")
		if encoding := response.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
			w.Header().Del("Content-Encoding")
			unzipped, err := gzip.NewReader(body)
			if encoding != "gzip" || err != nil {
				w.Header().Del("Content-Type")
				http.Error(w, fmt.Sprintf("the Spark UI answers in the encoding %q, in which its links can't be rewritten", encoding), http.StatusBadGateway)
				return nil
			}
			body = unzipped
		}
	}
	w.WriteHeader(response.StatusCode)
	out := &flushing{w: w, to: http.NewResponseController(w)}
	if rewrite == nil {
		_, err := io.Copy(out, body)
		return err
	}
	return rewrite(r, out, body)
}

// rewriterOf returns what rewrites a response, nil for one that has no links.
func rewriterOf(response *http.Response) func(*round, io.Writer, io.Reader) error {
	if response.Request.Method == http.MethodHead || response.StatusCode == http.StatusNotModified || response.StatusCode == http.StatusNoContent {
		return nil
	}
	mediaType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch mediaType {
	case "text/html", "application/xhtml+xml":
		return (*round).html
	case "text/javascript", "application/javascript", "application/x-javascript":
		return (*round).script
	}
	return nil
}

// scriptWords are the places in which Spark's scripts take their page for one of YARN's proxy or of the history server, or
// forget that the UI may not be at the root of its server. uiRoot is what the page has set it to: our base.
var scriptWords = strings.NewReplacer(
	// A segment of a path has no slash, so that it is never found. utils.js, stagepage.js, log-view.js; since 4.2
	// environmentpage.js and sql-table-utils.js.
	`indexOf("proxy")`, `indexOf("/proxy")`,
	`indexOf("history")`, `indexOf("/history")`,
	// spark-sql-viz.js since 4.1.
	`fetch("/static/`, `fetch(uiRoot + "/static/`,
	// log-view.js until 4.2.
	`return "/log"`, `return uiRoot + "/log"`,
)

// maxScript bounds how much of a script is looked at. The largest of Spark, a library, has half a megabyte.
const maxScript = 4 << 20

// script rewrites a script.
func (r *round) script(w io.Writer, body io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(body, maxScript))
	if err != nil {
		return err
	}
	if _, err := scriptWords.WriteString(w, string(text)); err != nil {
		return err
	}
	_, err = io.Copy(w, body)
	return err
}

// flushing passes on at once what is written to it: pages that take long show what they have.
type flushing struct {
	w  io.Writer
	to *http.ResponseController
}

func (f *flushing) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if err == nil {
		if flushErr := f.to.Flush(); !errors.Is(flushErr, http.ErrNotSupported) {
			err = flushErr
		}
	}
	return n, err
}

// badGateway is the answer if the driver says what can't be passed on.
func badGateway(format string, args ...any) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusBadGateway, Reason: metav1.StatusReason("BadGateway"), Message: fmt.Sprintf(format, args...),
	}}
}
