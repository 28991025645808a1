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
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
)

// nodeForEverybody adds a node for pods that know nothing of our nodes.
func (n *tenant) nodeForEverybody() {
	n.t.Helper()
	require.NoError(n.t, n.AddNodeWith(n.t.Context(), n.namespace, corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("32Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}, nil))
	n.t.Cleanup(func() { _ = n.RemoveNode(context.Background(), n.namespace) })
}

// run runs a program of a user, whose kubeconfig is the administrator's, and returns what it printed.
func (n *tenant) run(env []string, program string, args ...string) string {
	n.t.Helper()
	command := exec.CommandContext(n.t.Context(), program, args...)
	command.Dir = n.Binaries.RepoRoot
	command.Env = append(os.Environ(), append(env, "KUBECONFIG="+n.Kubeconfig())...)
	out, err := command.CombinedOutput()
	require.NoError(n.t, err, string(out))
	return string(out)
}

// requireRunAndDeleted requires that an example told of an application's life, and left nothing of it.
func (n *tenant) requireRunAndDeleted(out, name string) {
	n.t.Helper()
	assert.Contains(n.t, out, "COMPLETED")
	assert.Contains(n.t, out, "deleted")
	_, err := n.apps().Get(n.t.Context(), name, metav1.GetOptions{})
	assert.True(n.t, apierrors.IsNotFound(err), "%v", err)
}

// The Go example does what it says, as a user would run it.
func TestGoClientExample(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.nodeForEverybody()
	out := n.run(nil, "go", "run", "./examples/go-client", "-namespace", n.namespace, "-name", "by-go")
	n.requireRunAndDeleted(out, "by-go")
}

// pythonPackages returns a folder with packages of PyPI that exists for these tests alone.
var pythonPackages = sync.OnceValues(func() (string, error) {
	root := shared.Binaries.RepoRoot
	folder := filepath.Join(root, ".cache", "python-client")
	if _, err := os.Stat(filepath.Join(folder, "complete")); err == nil {
		return folder, nil
	}
	pip := exec.Command("python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", folder, "--upgrade",
		"--requirement", filepath.Join(root, "examples", "python-client", "requirements.txt"), "jsonschema")
	pip.Stdout, pip.Stderr = os.Stderr, os.Stderr
	if err := pip.Run(); err != nil {
		return "", err
	}
	return folder, os.WriteFile(filepath.Join(folder, "complete"), nil, 0o600)
})

func (n *tenant) python(script string, args ...string) string {
	n.t.Helper()
	packages, err := pythonPackages()
	if err != nil {
		n.t.Skipf("the Python client needs python3 with pip and access to PyPI: %v", err)
	}
	return n.run([]string{"PYTHONPATH=" + packages}, "python3", append([]string{script}, args...)...)
}

// The Python example does what it says, with the client that PyPI has.
func TestPythonClientExample(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.nodeForEverybody()
	out := n.python("examples/python-client/spark_pi.py", "--namespace", n.namespace, "--name", "by-python")
	n.requireRunAndDeleted(out, "by-python")
}

// What the server publishes of itself, through kube-apiserver, is understood by tools that nobody wrote for it.
func TestPublishedAPI(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.create(n.application("pi", suspended))
	args := []string{n.namespace, "artifacts/examples"}
	for _, path := range []string{"/openapi/v2", "/openapi/v3/apis/sparkoperator.k8s.io/v1beta2"} {
		file := filepath.Join(t.TempDir(), "openapi.json")
		n.until("kube-apiserver has fetched our schemas", func(c *assert.CollectT) {
			out, errOut, err := n.kubectl("", "get", "--raw", path)
			if assert.NoError(c, err, errOut) && assert.Contains(c, out, "ScheduledSparkApplication") {
				require.NoError(t, os.WriteFile(file, []byte(out), 0o600))
			}
		})
		args = append(args, file)
	}
	out := n.python("test/integration/testdata/published.py", args...)
	assert.Contains(t, out, "found pi\n")
	assert.Regexp(t, `OpenAPI 3: \d+ manifests`, out)
	assert.Regexp(t, `OpenAPI 2: \d+ manifests`, out)
	for _, kind := range []string{"sparkapplications", "scheduledsparkapplications"} {
		explained := n.mustKubectl("", "explain", kind+".spec", "--recursive")
		assert.Contains(t, explained, "sparkVersion")
	}
}

// contentTypes keeps what was asked and answered in which encoding.
type contentTypes struct {
	next http.RoundTripper
	seen []string
}

// RoundTrip implements http.RoundTripper.
func (c *contentTypes) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(request)
	if err == nil {
		c.seen = append(c.seen, request.Header.Get("Content-Type"), response.Header.Get("Content-Type"))
	}
	return response, err
}

// The typed client speaks protobuf through kube-apiserver with nothing set, and JSON when it is told to.
func TestTypedClientPrefersProtobuf(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	for name, want := range map[string]string{"default": runtime.ContentTypeProtobuf, "chosen": runtime.ContentTypeJSON} {
		t.Run(name, func(t *testing.T) {
			config := n.AdminConfig()
			if name == "chosen" {
				config.ContentType = runtime.ContentTypeJSON
			}
			types := &contentTypes{}
			config.Wrap(func(next http.RoundTripper) http.RoundTripper {
				types.next = next
				return types
			})
			client, err := versioned.NewForConfig(config)
			require.NoError(t, err)
			apps := client.SparkoperatorV1beta2().SparkApplications(n.namespace)
			_, err = apps.Create(t.Context(), n.application(name, suspended), metav1.CreateOptions{})
			require.NoError(t, err)
			_, err = apps.List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			watch, err := apps.Watch(t.Context(), metav1.ListOptions{TimeoutSeconds: new(int64(1))})
			require.NoError(t, err)
			watch.Stop()
			require.Len(t, types.seen, 6)
			for _, seen := range types.seen {
				if seen != "" { // nothing is sent with a GET
					assert.True(t, strings.HasPrefix(seen, want), seen)
				}
			}
		})
	}
}
