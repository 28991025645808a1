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

package uiwalk

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A walk finds what wouldn't work under the path of somebody else's.
func TestWalkFindsWhatIsWrong(t *testing.T) {
	pages := map[string]string{
		"/ui/": `<a href="jobs/">fine</a> <a href="/absolute/">x</a> <a href="gone/">x</a> <a href="moved/">x</a> <a href="../above/">x</a>
<a href="jobs/kill/?id=1">x</a> <form action="stages/kill/" method="POST"><input name="id" value="7"></form> <a href="https://spark.apache.org/">x</a>
<script src="a.js"></script><link href="a.css">`,
		"/ui/jobs/": `<base href="deeper/"><a href="page">relative to the base</a><script>setUIRoot('/elsewhere')</script>`,
		"/ui/a.js":  `words.indexOf("proxy")`,
		"/ui/a.css": `body { background: url(/static/x.png) }`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch text, ok := pages[req.URL.Path]; {
		case req.URL.Path == "/ui/moved/":
			http.Redirect(w, req, "/ui/jobs/", http.StatusFound)
		case req.URL.Path == "/ui/jobs/deeper/page":
			w.Header().Set("Set-Cookie", "a=b")
		case !ok:
			http.NotFound(w, req)
		case strings.HasSuffix(req.URL.Path, ".js"):
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, text)
		case strings.HasSuffix(req.URL.Path, ".css"):
			w.Header().Set("Content-Type", "text/css")
			fmt.Fprint(w, text)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, text)
		}
	}))
	t.Cleanup(server.Close)
	root, err := url.Parse(server.URL + "/ui/")
	require.NoError(t, err)
	walk := New(server.Client(), root)
	require.NoError(t, walk.Run(t.Context()))
	for _, want := range []string{
		`has an absolute link: <a href="/absolute/">`, "/ui/gone/, from /ui/: 404", "/ui/moved/, from /ui/: 302", "leads out of the UI, to " + server.URL + "/above/",
		"ends something by a link: jobs/kill/?id=1", "says that the UI starts at " + server.URL + "/elsewhere/", `a.js has indexOf("proxy")`,
		"a.css has an absolute link", "sends Set-Cookie",
	} {
		assert.Contains(t, strings.Join(walk.Problems, "\n"), want)
	}
	assert.Len(t, walk.Problems, 9)
	assert.Equal(t, []string{server.URL + "/ui/stages/kill/#id=7"}, walk.Kills)
	assert.Equal(t, []string{"https://spark.apache.org/"}, walk.External)
	assert.True(t, walk.Has("/", "/jobs/", "/jobs/deeper/page"))
	assert.False(t, walk.Has("/gone/"))
}
