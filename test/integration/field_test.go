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
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/test/corpus"
)

// sparkApplications returns the names of the applications in a manifest.
func sparkApplications(t *testing.T, path string) []*unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	var found []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(string(content)), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return found
		}
		require.NoError(t, err)
		if object.GetKind() == "SparkApplication" {
			found = append(found, object)
		}
	}
}

// Every manifest from the field applies unchanged with kubectl and runs; names repeat, so one after another.
func TestManifestsFromTheField(t *testing.T) {
	files := corpus.Files(t)
	n := fieldTenant(t)
	for _, path := range files {
		if corpus.Name(path) == "spark-pi-scheduled" {
			t.Run(corpus.Name(path), func(t *testing.T) { in(n, t).fieldScheduleRuns(path) })
			continue
		}
		for _, object := range sparkApplications(t, path) {
			t.Run(corpus.Name(path), func(t *testing.T) {
				in := &tenant{environment: shared, t: t, namespace: n.namespace}
				t.Cleanup(func() { in.remove(object.GetName()) })
				if corpus.Bad(path) {
					in.fieldManifestFails(path, object.GetName())
					return
				}
				in.fieldManifestRuns(path, object)
			})
		}
	}
}

// fieldTenant is namespace default with the accounts and config maps that the manifests name.
func fieldTenant(t *testing.T) *tenant {
	t.Helper()
	n := &tenant{environment: shared, t: t, namespace: metav1.NamespaceDefault}
	n.driverAccount(t, n.namespace, "spark-operator-spark")
	_, err := n.kube.CoreV1().ConfigMaps(n.namespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "test-configmap"}, Data: map[string]string{"KEY1": "VALUE1"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	n.serveGroups(volcanoGroups)
	n.serveGroups(schedulerPluginsGroups)
	t.Cleanup(func() {
		// Another test begins without it.
		_, _, err := n.Kubectl(context.Background(), "", "delete", "crd", schedulerPluginsGroups.Resource+"."+schedulerPluginsGroups.Group, "--timeout=90s")
		assert.NoError(t, err)
	})
	// Not reserved: these manifests know nothing of our nodes.
	require.NoError(t, n.AddNodeWith(t.Context(), "field", corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourceMemory: resource.MustParse("64Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}, nil))
	return n
}

func (n *tenant) fieldManifestRuns(path string, object *unstructured.Unstructured) {
	t := n.t
	batchScheduler, _, _ := unstructured.NestedString(object.Object, "spec", "batchScheduler")
	out, errOut, err := n.Kubectl(t.Context(), "", "apply", "-f", path)
	require.NoError(t, err, out)
	if batchScheduler != "" {
		assert.Contains(t, errOut, "spec.batchScheduler is deprecated")
	}
	n.untilState(object.GetName(), v1beta2.ApplicationStateCompleted)
	// Applied again it is no change: neither to the stored object nor to the run.
	before := n.get(object.GetName())
	out, _, err = n.Kubectl(t.Context(), "", "apply", "-f", path)
	require.NoError(t, err, out)
	assert.Equal(t, before.Generation, n.get(object.GetName()).Generation)
}

func (n *tenant) fieldManifestFails(path, name string) {
	t := n.t
	out, _, err := n.Kubectl(t.Context(), "", "apply", "-f", path)
	require.NoError(t, err, out)
	app := n.untilState(name, v1beta2.ApplicationStateFailed)
	const attempts = 4 // three retries, as the manifests say
	assert.EqualValues(t, attempts, app.Status.SubmissionAttempts)
	assert.NotEmpty(t, app.Status.AppState.ErrorMessage)
	if strings.HasPrefix(filepath.Base(path), "fail-submission") {
		assert.EqualValues(t, 0, app.Status.ExecutionAttempts)
		assert.Contains(t, app.Status.AppState.ErrorMessage, "non-existent", "the missing service account is named")
		return
	}
	assert.EqualValues(t, attempts, app.Status.ExecutionAttempts)
	assert.Contains(t, app.Status.AppState.ErrorMessage, "ExitCode")
}

// remove deletes an application and waits until its pods are gone, so that the next of the same name starts afresh.
func (n *tenant) remove(name string) {
	// The test's own context has ended when its cleanup runs.
	_, _, err := n.Kubectl(context.Background(), "", "-n", n.namespace, "delete", "sparkapp", name, "--ignore-not-found", "--cascade=foreground", "--timeout=90s")
	assert.NoError(n.t, err)
}
