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

package cluster_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/spark-apiserver/spark-apiserver/test/cluster"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/clustertest"
)

// patience is how long something may take that happens at once on an idle machine.
const patience = 2 * time.Minute

// shared is the cluster of all tests that need nothing special. Each works in a namespace of its own.
var shared *cluster.Cluster

func TestMain(m *testing.M) {
	if os.Getenv(stubEnv) != "" {
		fmt.Fprintln(os.Stderr, serveStub())
		os.Exit(1)
	}
	os.Exit(clustertest.Main(m, cluster.Options{}, func(ctx context.Context, c *cluster.Cluster) error {
		shared = c
		return c.AddNode(ctx, "roomy", "64", "256Gi")
	}, nil))
}

// newNamespace creates a namespace, and waits for its service account, without which no pod is accepted.
func newNamespace(t *testing.T, c *cluster.Cluster) (kubernetes.Interface, string) {
	t.Helper()
	clustertest.SkipIfShort(t)
	client, err := kubernetes.NewForConfig(c.AdminConfig())
	require.NoError(t, err)
	namespace, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, "service account", func() bool {
		_, err := client.CoreV1().ServiceAccounts(namespace.Name).Get(t.Context(), "default", metav1.GetOptions{})
		return err == nil
	})
	return client, namespace.Name
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, patience, 50*time.Millisecond, what)
}

func getPod(t *testing.T, client kubernetes.Interface, namespace, name string) *corev1.Pod {
	t.Helper()
	pod, err := client.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return pod
}
