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
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/sparkdriver"
)

// Every example that we ship is accepted strictly and runs to its end.
func TestExamplesRun(t *testing.T) {
	n := &tenant{environment: shared, t: t, namespace: metav1.NamespaceDefault}
	examples := filepath.Join(n.Binaries.RepoRoot, "artifacts", "examples")
	files, err := filepath.Glob(filepath.Join(examples, "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	n.whatExamplesNeed()
	n.mustKubectl("", "apply", "--validate=strict", "-f", examples)
	t.Cleanup(func() {
		_, _, _ = n.Kubectl(context.Background(), "", "delete", "--ignore-not-found", "--cascade=foreground", "--timeout=120s", "-f", examples)
	})
	for _, file := range files {
		for _, object := range sparkApplications(t, file) {
			t.Run(filepath.Base(file), func(t *testing.T) {
				n := in(n, t)
				if suspend := n.get(object.GetName()).Spec.Suspend; suspend != nil && *suspend {
					_, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Patch(t.Context(), object.GetName(), types.MergePatchType,
						[]byte(`{"spec":{"suspend":false}}`), metav1.PatchOptions{})
					require.NoError(t, err)
				}
				n.untilState(object.GetName(), v1beta2.ApplicationStateCompleted)
			})
		}
	}
}

// whatExamplesNeed makes what the examples name and a cluster's administrator would have made: nodes with devices and
// labels, a storage class, the drivers' account.
func (n *tenant) whatExamplesNeed() {
	t := n.t
	n.mustKubectl("", "apply", "-k", filepath.Join(n.Binaries.RepoRoot, "artifacts", "spark-driver"))
	n.serveGroups(volcanoGroups)
	_, err := n.kube.StorageV1().StorageClasses().Create(t.Context(), &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: "standard"}, Provisioner: sparkdriver.Provisioner,
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	for pool, labels := range map[string]map[string]string{
		"general": {corev1.LabelInstanceTypeStable: "simulated"},
		"gpu":     {},
	} {
		labels["example.com/pool"] = pool
		require.NoError(t, n.AddNodeWith(t.Context(), "examples-"+pool, corev1.ResourceList{
			corev1.ResourceCPU:              resource.MustParse("64"),
			corev1.ResourceMemory:           resource.MustParse("256Gi"),
			corev1.ResourceEphemeralStorage: resource.MustParse("500Gi"),
			corev1.ResourcePods:             resource.MustParse("110"),
			"nvidia.com/gpu":                resource.MustParse("8"),
		}, labels))
		t.Cleanup(func() { _ = n.RemoveNode(context.Background(), "examples-"+pool) })
	}
}
