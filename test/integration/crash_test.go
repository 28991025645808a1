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
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/rest"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/clustertest"
)

// faultyServer builds our server with its fault points, which exist under a build tag only.
func faultyServer(t *testing.T, c *cluster.Cluster) string {
	t.Helper()
	path := filepath.Join(c.Binaries.RepoRoot, ".cache", "faultpoints", "spark-apiserver")
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "faultpoints", "-o", path, "./cmd/spark-apiserver")
	build.Dir = c.Binaries.RepoRoot
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

// A cluster of its own, since its server dies at will.
func TestServerKilledInTheMiddleOfASubmission(t *testing.T) {
	c := clustertest.New(t, cluster.Options{})
	binary := faultyServer(t, c)
	// One store for all: another one would not be accepted by the guard of the store's identity.
	store := filepath.Join(c.Dir, "store")
	for _, point := range []string{"after-status", "after-podgroup", "before-driver", "after-driver", "before-status#2", "after-status#3"} {
		t.Run(point, func(t *testing.T) {
			o := cluster.ServerOptions{Binary: binary, Name: point, DataDir: store, FeatureGates: nativeScheduling, Env: []string{"SPARK_APISERVER_FAULT=" + point + "=kill"}}
			server, err := c.StartSparkAPIServer(t.Context(), o)
			require.NoError(t, err)
			e, err := newEnvironment(c, server)
			require.NoError(t, err)
			n := e.tenant(t)
			n.addNode("4")
			n.create(n.application("pi", gang, executors(2)))
			n.until("the server has killed itself", func(c *assert.CollectT) { assert.False(c, server.Running()) })

			// The same store, without the fault.
			o.Env, o.Name = nil, point+"-again"
			e.server, err = c.StartSparkAPIServer(t.Context(), o)
			require.NoError(t, err)
			defer e.server.Stop()
			app := n.untilState("pi", v1beta2.ApplicationStateCompleted)
			assert.EqualValues(t, 1, app.Status.SubmissionAttempts)
			assert.EqualValues(t, 1, app.Status.ExecutionAttempts)
			for _, resource := range []string{"pods", "workloads", "podgroups"} {
				created := n.creations(resource, func(e *auditv1.Event) bool {
					return resource != "pods" || strings.Contains(e.ObjectRef.Name, "driver")
				})
				assert.Len(t, created, 1, "%s created: %v", resource, created)
			}
		})
	}
}

// The server dies right after it has created the driver. Before it comes back the driver has run to its end, and somebody has
// removed it: the cluster's events alone tell that it ran. It does not run again.
func TestDriverThatRanWhileTheServerWasDeadIsNotMadeAgain(t *testing.T) {
	c := clustertest.New(t, cluster.Options{})
	o := cluster.ServerOptions{
		Binary: faultyServer(t, c), Name: "dies", DataDir: filepath.Join(c.Dir, "store"), Env: []string{"SPARK_APISERVER_FAULT=after-driver=kill"},
	}
	server, err := c.StartSparkAPIServer(t.Context(), o)
	require.NoError(t, err)
	e, err := newEnvironment(c, server)
	require.NoError(t, err)
	n := e.tenant(t)
	n.addNode("4")
	n.create(n.application("pi", executors(1)))
	n.until("the server has killed itself", func(c *assert.CollectT) { assert.False(c, server.Running()) })
	n.until("the driver has ended", func(c *assert.CollectT) {
		drivers := n.driverPods("pi")
		if assert.Len(c, drivers, 1) {
			assert.Equal(c, corev1.PodSucceeded, drivers[0].Status.Phase)
		}
	})
	require.NoError(t, n.kube.CoreV1().Pods(n.namespace).Delete(t.Context(), "pi-driver", metav1.DeleteOptions{}))
	n.until("the driver is gone", func(c *assert.CollectT) { assert.Empty(c, n.driverPods("pi")) })

	o.Env, o.Name = nil, "again"
	e.server, err = c.StartSparkAPIServer(t.Context(), o)
	require.NoError(t, err)
	app := n.untilState("pi", v1beta2.ApplicationStateFailed)
	assert.Equal(t, "driver pod not found", app.Status.AppState.ErrorMessage)
	drivers := n.creations("pods", func(e *auditv1.Event) bool { return e.ObjectRef.Name == "pi-driver" })
	assert.Len(t, drivers, 1, "drivers that were created")
}

// creations names the objects of a resource that were created in the tenant's namespace, dry runs left out.
func (n *tenant) creations(resource string, keep func(*auditv1.Event) bool) []string {
	n.t.Helper()
	events, err := n.AuditEvents(func(e *auditv1.Event) bool {
		return n.isCreation(e, resource) && e.ResponseStatus != nil && e.ResponseStatus.Code == http.StatusCreated && keep(e)
	})
	require.NoError(n.t, err)
	names := make([]string, 0, len(events))
	for _, e := range events {
		names = append(names, e.ObjectRef.Name)
	}
	return names
}

// isCreation says whether a request, whatever its answer, was to create an object of a resource in the tenant's namespace.
func (n *tenant) isCreation(e *auditv1.Event, resource string) bool {
	return e.Verb == "create" && e.ObjectRef != nil && e.ObjectRef.Namespace == n.namespace && e.ObjectRef.Resource == resource &&
		e.ObjectRef.Subresource == "" && !strings.Contains(e.RequestURI, "dryRun")
}

// The negative control of lowering minCount: without it two lost executors of four are never replaced.
func TestReplacementWaitsWithoutTheLowering(t *testing.T) {
	c := clustertest.New(t, cluster.Options{})
	server, err := c.StartSparkAPIServer(t.Context(), cluster.ServerOptions{
		Binary: faultyServer(t, c), FeatureGates: nativeScheduling, Env: []string{"SPARK_APISERVER_KEEP_MIN_COUNT=true"},
	})
	require.NoError(t, err)
	e, err := newEnvironment(c, server)
	require.NoError(t, err)
	n := e.tenant(t)
	n.addNode("5")
	n.create(n.application("pi", gang, executors(4), outcome("hang")))
	n.untilCondition("pi", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionTrue, "GangAdmitted")
	groups, err := n.kube.SchedulingV1beta1().PodGroups(n.namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, groups.Items, 1)
	require.EqualValues(t, 4, groups.Items[0].Spec.SchedulingPolicy.Gang.MinCount)
	// With one executor back of two that were lost, three of four: below minCount. The simulated driver is stopped from
	// making the fourth.
	n.refuseExecutorsAfter("5")
	n.killExecutors("pi", 2)
	n.until("one replacement exists", func(c *assert.CollectT) { assert.Len(c, n.executorPods("pi"), 3) })
	n.never("a member is placed below minCount: the lowering would not be needed", func() bool { return bound(n.executorPods("pi")) > 2 })
}

// refuseExecutorsAfter lets nobody create executors of a higher ID in the tenant's namespace. A quota would let one more
// pass now and then, since what is used of it is counted late.
func (n *tenant) refuseExecutorsAfter(id string) {
	n.t.Helper()
	n.mustKubectl(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: `+n.namespace+`
spec:
  failurePolicy: Fail
  matchConstraints:
    namespaceSelector:
      matchLabels: {kubernetes.io/metadata.name: `+n.namespace+`}
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  validations:
  - expression: object.metadata.name.matches("-exec-[1-`+id+`]$")
    message: no executor beyond `+id+`
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: `+n.namespace+`
spec:
  policyName: `+n.namespace+`
  validationActions: [Deny]
`, "apply", "-f", "-")
	n.until("the policy is in force", func(c *assert.CollectT) {
		_, errOut, _ := n.kubectl("", "run", "probe-exec-9", "--image=none", "--dry-run=server")
		assert.Contains(c, errOut, "no executor beyond")
	})
}

// Where a user's cluster lacks the gate, nothing is placed plainly behind the user's back.
func TestClusterWithoutGenericWorkload(t *testing.T) {
	c := clustertest.New(t, cluster.Options{WithoutGenericWorkload: true})
	server, err := c.StartSparkAPIServer(t.Context(), cluster.ServerOptions{FeatureGates: nativeScheduling})
	require.NoError(t, err)
	e, err := newEnvironment(c, server)
	require.NoError(t, err)
	n := e.tenant(t)
	n.addNode("4")
	n.create(n.application("pi", gang, executors(2)))
	n.untilCondition("pi", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionFalse, "WorkloadAPINotServed")
	app := n.untilState("pi", v1beta2.ApplicationStateFailed)
	assert.Contains(t, app.Status.AppState.ErrorMessage, "scheduling.k8s.io")
	assert.Empty(t, n.driverPods("pi"))

	// Everything else works as ever.
	n.create(n.application("plain", executors(2)))
	n.untilState("plain", v1beta2.ApplicationStateCompleted)
}

// A restart of the server is no event for running applications, and SIGTERM ends it in good order.
func TestServerRestartLeavesRunningApplicationsAlone(t *testing.T) {
	c := clustertest.New(t, cluster.Options{})
	server, err := c.StartSparkAPIServer(t.Context(), cluster.ServerOptions{FeatureGates: nativeScheduling})
	require.NoError(t, err)
	e, err := newEnvironment(c, server)
	require.NoError(t, err)
	n := e.tenant(t)
	n.addNode("6")
	n.create(n.application("pi", gang, executors(2), outcome("hang")))
	n.untilCondition("pi", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionTrue, "GangAdmitted")
	driver := n.driverPods("pi")[0].UID
	before := n.get("pi")
	for range 2 {
		require.NoError(t, syscall.Kill(server.PID(), syscall.SIGTERM))
		n.until("the server has stopped", func(c *assert.CollectT) { assert.False(c, server.Running()) })
		require.NoError(t, server.Start(t.Context()))
		require.NoError(t, c.WaitAPIServiceAvailable(t.Context(), "v1beta2.sparkoperator.k8s.io"))
	}
	after := n.get("pi")
	assert.Equal(t, before.Status.SubmissionID, after.Status.SubmissionID)
	assert.Equal(t, v1beta2.ApplicationStateRunning, after.Status.AppState.State)
	require.Len(t, n.driverPods("pi"), 1)
	assert.Equal(t, driver, n.driverPods("pi")[0].UID)
	log, err := os.ReadFile(server.LogPath)
	require.NoError(t, err)
	assert.NotContains(t, string(log), "panic:")

	// A process counts what it has written itself.
	assert.Zero(t, e.metric(t, "spark_application_count"))
	assert.Zero(t, e.metric(t, "spark_application_submit_count"))
	assert.Equal(t, 1, e.metric(t, "spark_application_running_count"))
	n.create(n.application("another", executors(1)))
	n.untilState("another", v1beta2.ApplicationStateCompleted)
	assert.Equal(t, 1, e.metric(t, "spark_application_count"))
	assert.Equal(t, 1, e.metric(t, "spark_application_submit_count"))
}

// metric reads a metric of our server that has no labels.
func (e *environment) metric(t *testing.T, name string) int {
	t.Helper()
	config := rest.CopyConfig(e.AdminConfig())
	config.Host, config.CAData, config.CAFile = e.server.URL(), e.server.CA(), ""
	client, err := versioned.NewForConfig(config)
	require.NoError(t, err)
	body, err := client.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	require.NoError(t, err)
	for line := range strings.SplitSeq(string(body), "\n") {
		if value, found := strings.CutPrefix(line, name+" "); found {
			number, err := strconv.ParseFloat(value, 64)
			require.NoError(t, err)
			return int(number)
		}
	}
	require.Fail(t, "no such metric", name)
	return 0
}
