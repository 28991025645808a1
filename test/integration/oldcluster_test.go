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
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/clustertest"
)

// A cluster of Kubernetes 1.35 serves no MutatingAdmissionPolicy in v1: our server starts, is ready, and everything else that
// admission is made of works.
func TestClusterWithoutMutatingAdmissionPolicies(t *testing.T) {
	t.Parallel()
	older := []string{"--emulated-version=1.35"}
	c := clustertest.New(t, cluster.Options{
		WithoutGenericWorkload: true,
		StartTimeout:           30 * time.Second,
		ExtraArgs: map[cluster.Program][]string{
			cluster.KubeAPIServer: older, cluster.KubeControllerManager: older, cluster.KubeScheduler: older,
		},
	})
	server, err := c.StartSparkAPIServer(t.Context(), cluster.ServerOptions{ExtraFlags: []string{"-v=10"}})
	require.NoError(t, err)
	e, err := newEnvironment(c, server)
	require.NoError(t, err)
	_, err = e.kube.AdmissionregistrationV1().MutatingAdmissionPolicies().List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsNotFound(err), "the cluster serves what it should lack: %v", err)
	assert.Regexp(t, `The cluster doesn't serve what an admission plugin watches.*plugin="MutatingAdmissionPolicy"`, server.LogTail(100000))

	n := e.tenant(t)
	n.addNode("8")
	_, err = n.kube.CoreV1().ConfigMaps(n.namespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "limits"}, Data: map[string]string{"executors": "3"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	n.validate("instances", "limits", admissionregistrationv1.Validation{
		Expression: `object.spec.executor.instances <= int(params.data.executors)`, Message: "not so many",
	}, "sparkapplications")
	n.until("the policy is in force", func(c *assert.CollectT) {
		_, err := n.apps().Create(t.Context(), n.application("many", executors(4)), dryRun)
		assert.ErrorContains(c, err, "not so many")
	})
	n.create(n.application("pi", executors(2)))
	n.untilState("pi", v1beta2.ApplicationStateCompleted)

	t.Run("secrets stay in specs", func(t *testing.T) {
		n := e.tenant(t)
		n.addNode("16")
		n.secretsStayInSpecs()
	})
}
