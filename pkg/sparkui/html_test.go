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
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLinksOfAPage(t *testing.T) {
	for text, want := range map[string]string{
		// What Spark makes of our base stays as it is, byte for byte.
		`<a href="./../stages/" class='x'>Stages</a><BR/>`:       `<a href="./../stages/" class='x'>Stages</a><BR/>`,
		`<a href="?id=1&amp;x=2"><a href="#top"><a name=x>`:      `<a href="?id=1&amp;x=2"><a href="#top"><a name=x>`,
		`<a href="https://spark.apache.org/docs/">docs</a>`:      `<a href="https://spark.apache.org/docs/">docs</a>`,
		`<a href="mailto:a@b/c"><a href="javascript:f('/x')">`:   `<a href="mailto:a@b/c"><a href="javascript:f('/x')">`,
		`<img src="data:image/png;base64,a/b">`:                  `<img src="data:image/png;base64,a/b">`,
		`<script>var a = "<a href='/jobs/'>" + 1 < 2;</script>x`: `<script>var a = "<a href='/jobs/'>" + 1 < 2;</script>x`,
		`<!-- <a href="/jobs/"> --><!DOCTYPE html>&lt;&nbsp;`:    `<!-- <a href="/jobs/"> --><!DOCTYPE html>&lt;&nbsp;`,
		// What is absolute becomes relative.
		`<a href="/jobs/">Jobs</a>`:                           `<a href="./../jobs/">Jobs</a>`,
		`<a href='/jobs/job/?id=1&amp;attempt=0#a' id=b>`:     `<a href="./../jobs/job/?id=1&amp;attempt=0#a" id="b">`,
		`<a href=" /jobs/ ">`:                                 `<a href="./../jobs/">`,
		`<a href="http://TARGET/sql/?a=b">`:                   `<a href="./../sql/?a=b">`,
		`<a href="//TARGET/sql/">`:                            `<a href="./../sql/">`,
		`<script src="/static/utils.js"></script>`:            `<script src="./../static/utils.js"></script>`,
		`<form action="/jobs/" method="get"><link href="/s">`: `<form action="./../jobs/" method="get"><link href="./../s">`,
		// A tag in which the page ends.
		`<b>end</b><a href="/jo`: `<b>end</b><a href="/jo`,
	} {
		s := serve(t, func(w http.ResponseWriter, req *http.Request) {
			page(strings.ReplaceAll(text, "TARGET", req.Host))(w, req)
		})
		_, got := s.ask(http.MethodGet, "/jobs/")
		assert.Equal(t, want, got, text)
	}
}

func TestKillLinksBecomeForms(t *testing.T) {
	// As Spark 3.5 has them (AllJobsPage, StageTable).
	link := `<a href="./../jobs/job/kill/?id=7" onclick="if (window.confirm('Are you sure you want to kill job 7 ?')) { return true; }" class="kill-link">(kill)</a> <a href="./../jobs/job/?id=7">job</a>`
	s := serve(t, page(link))
	_, got := s.ask(http.MethodGet, "/jobs/")
	assert.Equal(t, `<form method="POST" action="./../jobs/job/kill/?id=7" style="display:inline" class="kill-link">`+
		`<button type="submit" class="btn btn-link p-0" onclick="return window.confirm(&#39;Are you sure you want to kill job 7 ?&#39;)">(kill)</button></form>`+
		` <a href="./../jobs/job/?id=7">job</a>`, got)
}

func TestWordsOfScripts(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		w.Header().Set("Etag", "x")
		w.Header().Set("Content-Length", "36")
		fmt.Fprint(w, `words.indexOf("proxy") + indexOf('a')`[:36])
	})
	response, body := s.ask(http.MethodGet, "/static/utils.js")
	assert.Equal(t, `words.indexOf("/proxy") + indexOf('a')`[:37], body)
	assert.Empty(t, response.Header.Get("Etag"), "it is not the driver's script any more")

	answer := `{"a": "indexOf(\"proxy\")", "b": "/jobs/"}`
	s = serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, answer)
	})
	_, body = s.ask(http.MethodGet, "/api/v1/applications")
	assert.Equal(t, answer, body, "byte for byte")
}
