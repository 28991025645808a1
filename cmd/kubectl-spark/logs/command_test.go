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

package logs

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// kubeconfig writes one for a server, with the namespace "team".
func kubeconfig(t *testing.T, server string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, `{apiVersion: v1, kind: Config, current-context: c,
clusters: [{name: c, cluster: {server: %q}}], contexts: [{name: c, context: {cluster: c, namespace: team}}]}`, server), 0o600))
	return path
}

func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := NewCommand(genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &out})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestLogs(t *testing.T) {
	var asked *url.URL
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		asked = req.URL
		fmt.Fprint(w, "a line\n")
	}))
	t.Cleanup(api.Close)
	config := kubeconfig(t, api.URL)
	for _, c := range []struct {
		args  []string
		path  string
		query url.Values
	}{
		{[]string{"pi"}, "namespaces/team/sparkapplications/pi/log", url.Values{}},
		{[]string{"pi", "-n", "other", "-f"}, "namespaces/other/sparkapplications/pi/log", url.Values{"follow": {"true"}}},
		{
			[]string{"pi", "--executor=2", "--tail=0", "--since=1500ms", "--timestamps", "--previous", "--limit-bytes=9", "-c", "sidecar"},
			"namespaces/team/sparkapplications/pi/log",
			url.Values{
				"executor": {"2"}, "tailLines": {"0"}, "sinceSeconds": {"2"}, "timestamps": {"true"}, "previous": {"true"}, "limitBytes": {"9"},
				"container": {"sidecar"},
			},
		},
		{[]string{"pi", "--since-time=2026-12-01T00:00:00Z"}, "namespaces/team/sparkapplications/pi/log", url.Values{"sinceTime": {"2026-12-01T00:00:00Z"}}},
	} {
		out, err := run(t, append(c.args, "--kubeconfig", config)...)
		require.NoError(t, err, c.args)
		assert.Equal(t, "a line\n", out)
		assert.Equal(t, "/apis/sparkoperator.k8s.io/v1beta2/"+c.path, asked.Path)
		assert.Equal(t, c.query, asked.Query(), c.args)
	}
}

func TestLogsWithWrongFlags(t *testing.T) {
	for flag, want := range map[string]string{
		"--executor=0": "--executor must be 1 or more", "--tail=-2": "--tail must be 0 or more", "--since=0s": "--since must be more than 0",
		"--limit-bytes=-1": "--limit-bytes must be 0 or more", "--since-time=noon": "--since-time",
	} {
		_, err := run(t, "pi", flag, "--kubeconfig", "/nonexistent")
		require.ErrorContains(t, err, want)
	}
	_, err := run(t, "pi", "--since=1s", "--since-time=2026-12-01T00:00:00Z", "--kubeconfig", "/nonexistent")
	require.ErrorContains(t, err, "since-time")
}
