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
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/dynamic"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
)

// batchSchedulerProfiles are the names of batch schedulers that the test's kube-scheduler answers to. So the schedulers are
// simulated: their pods are placed by kube-scheduler's ordinary plugins, and nothing looks at their PodGroups.
var batchSchedulerProfiles = []string{"volcano", "yunikorn", "kube-scheduler"}

var (
	volcanoGroups          = schema.GroupVersionResource{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "podgroups"}
	schedulerPluginsGroups = schema.GroupVersionResource{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Resource: "podgroups"}
)

func batchSchedulerFile(c *cluster.Cluster, name string) string {
	return filepath.Join(c.Binaries.RepoRoot, "test", "integration", "testdata", "batch-schedulers", name)
}

// withBatchSchedulers is the server's identity with the rights to the PodGroups of batch schedulers.
func withBatchSchedulers(c *cluster.Cluster) string {
	return batchSchedulerFile(c, "")
}

// serveGroups installs the PodGroups of a batch scheduler; a second time changes nothing.
func (n *tenant) serveGroups(resource schema.GroupVersionResource) {
	n.t.Helper()
	n.mustKubectl("", "apply", "--server-side", "-f", batchSchedulerFile(n.Cluster, resource.Group+".yaml"))
	n.mustKubectl("", "wait", "--for=condition=Established", "--timeout=120s", "crd/"+resource.Resource+"."+resource.Group)
}

func (n *tenant) groups(resource schema.GroupVersionResource) []unstructured.Unstructured {
	n.t.Helper()
	client, err := dynamic.NewForConfig(n.AdminConfig())
	require.NoError(n.t, err)
	list, err := client.Resource(resource).Namespace(n.namespace).List(n.t.Context(), metav1.ListOptions{})
	require.NoError(n.t, err)
	return list.Items
}

func batchScheduler(name, queue string) change {
	return func(app *v1beta2.SparkApplication) {
		app.Spec.Scheduling = &v1beta2.SparkSchedulingSpec{BatchScheduler: &v1beta2.BatchSchedulerSpec{Name: name}}
		if queue != "" {
			app.Spec.Scheduling.BatchScheduler.Queue = &queue
		}
	}
}

// Volcano's PodGroup is there before the driver, belongs to the application, marks all its pods, and goes at the end.
func TestVolcano(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.serveGroups(volcanoGroups)
	n.addNode("8")
	n.create(n.application("waits", batchScheduler("volcano", "default"), executors(2), outcome("hang")))
	n.until("all executors run", func(c *assert.CollectT) { assert.Equal(c, 2, bound(n.executorPods("waits"))) })

	groups := n.groups(volcanoGroups)
	require.Len(t, groups, 1)
	group, app := groups[0], n.get("waits")
	assert.Equal(t, "spark-waits-pg", group.GetName())
	assert.True(t, metav1.IsControlledBy(&group, app))
	spec, _, _ := unstructured.NestedMap(group.Object, "spec")
	assert.Equal(t, map[string]any{
		"minMember": int64(1), "queue": "default",
		"minResources": map[string]any{"cpu": "3", "memory": "4224Mi"},
	}, spec)
	assert.Equal(t, &v1beta2.BatchSchedulingStatus{Name: "volcano", PodGroupName: "spark-waits-pg"}, app.Status.BatchScheduling)
	pods := append(n.driverPods("waits"), n.executorPods("waits")...)
	require.Len(t, pods, 3)
	for i := range pods {
		assert.Equal(t, "volcano", pods[i].Spec.SchedulerName, pods[i].Name)
		assert.Equal(t, "spark-waits-pg", pods[i].Annotations["scheduling.k8s.io/group-name"], pods[i].Name)
		assert.Nil(t, pods[i].Spec.SchedulingGroup, pods[i].Name)
	}
	require.NoError(t, n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Delete(t.Context(), "waits", metav1.DeleteOptions{}))
	n.until("the PodGroup goes with its application", func(c *assert.CollectT) { assert.Empty(c, n.groups(volcanoGroups)) })

	// The old spelling, to the end.
	n.create(n.application("pi", executors(2), func(app *v1beta2.SparkApplication) { app.Spec.BatchScheduler = new("volcano") }))
	n.untilState("pi", v1beta2.ApplicationStateCompleted)
	n.until("the PodGroup is removed at the end", func(c *assert.CollectT) {
		assert.Empty(c, n.groups(volcanoGroups))
		assert.Equal(c, &v1beta2.BatchSchedulingStatus{Name: "volcano"}, n.get("pi").Status.BatchScheduling)
	})
	assert.Equal(t, []string{"spark-pi-pg", "pi-driver"}, n.createdOf("pi"), "the PodGroup comes first")
}

// createdOf lists the PodGroups and the driver of an application in the order of their creation.
func (n *tenant) createdOf(app string) []string {
	n.t.Helper()
	events, err := n.AuditEvents(func(e *auditv1.Event) bool {
		return e.Verb == "create" && e.ObjectRef != nil && e.ObjectRef.Namespace == n.namespace && e.ObjectRef.Subresource == "" &&
			e.ResponseStatus != nil && e.ResponseStatus.Code == 201 &&
			(e.ObjectRef.Resource == "podgroups" || e.ObjectRef.Resource == "pods") &&
			(strings.HasSuffix(e.ObjectRef.Name, app+"-pg") || e.ObjectRef.Name == app+"-driver")
	})
	require.NoError(n.t, err)
	names := make([]string, 0, len(events))
	for _, e := range events {
		names = append(names, e.ObjectRef.Name)
	}
	return names
}

// YuniKorn needs no object, and reads what is to come from the driver.
func TestYuniKorn(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("8")
	n.create(n.application("pi", batchScheduler("yunikorn", "root.spark"), executors(2)))
	n.untilState("pi", v1beta2.ApplicationStateCompleted)
	drivers := n.driverPods("pi")
	require.Len(t, drivers, 1)
	assert.Equal(t, "yunikorn", drivers[0].Spec.SchedulerName)
	assert.Equal(t, "root.spark", drivers[0].Labels["queue"])
	assert.Equal(t, "spark-driver", drivers[0].Annotations["yunikorn.apache.org/task-group-name"])
	assert.Contains(t, drivers[0].Annotations["yunikorn.apache.org/task-groups"], `"name":"spark-executor","minMember":2`)
	assert.Equal(t, &v1beta2.BatchSchedulingStatus{Name: "yunikorn"}, n.get("pi").Status.BatchScheduling)
}

// An application whose batch scheduler the cluster doesn't have waits without a driver and says why. It runs once there are
// PodGroups of that kind.
func TestMissingBatchSchedulerIsWaitedFor(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("8")
	n.create(n.application("pi", batchScheduler("kube-scheduler", ""), executors(2)))
	condition := n.untilCondition("pi", v1beta2.ConditionRunning, metav1.ConditionFalse, "BatchSchedulerNotServed")
	assert.Contains(t, condition.Message, "podgroups.scheduling.x-k8s.io")
	n.never("a driver was made without a PodGroup", func() bool { return len(n.driverPods("pi")) > 0 })

	n.serveGroups(schedulerPluginsGroups)
	n.untilState("pi", v1beta2.ApplicationStateCompleted)
	drivers := n.driverPods("pi")
	require.Len(t, drivers, 1)
	assert.Equal(t, "kube-scheduler", drivers[0].Spec.SchedulerName)
	assert.Equal(t, "pi-pg", drivers[0].Labels["scheduling.x-k8s.io/pod-group"])
	assert.Equal(t, []string{"pi-pg", "pi-driver"}, n.createdOf("pi"))
	n.until("the PodGroup is removed at the end", func(c *assert.CollectT) { assert.Empty(c, n.groups(schedulerPluginsGroups)) })
}

// Unknown names are refused with those that are known, and a namespace may forbid known ones.
func TestSchedulersThatMayNotBeNamed(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	create := func(app *v1beta2.SparkApplication) error {
		_, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Create(t.Context(), app, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	err := create(n.application("pi", batchScheduler("vulcano", "")))
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	require.ErrorContains(t, err, `spec.scheduling.batchScheduler.name: Unsupported value: "vulcano": supported values: "volcano", "yunikorn", "kube-scheduler"`)
	require.NoError(t, create(n.application("pi", batchScheduler("yunikorn", ""))))

	_, err = n.kube.CoreV1().Namespaces().Patch(t.Context(), n.namespace, types.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"sparkoperator.k8s.io/allowed-schedulers":"volcano"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	n.until("the namespace forbids YuniKorn", func(c *assert.CollectT) {
		err := create(n.application("pi", batchScheduler("yunikorn", "")))
		assert.True(c, apierrors.IsForbidden(err), "%v", err)
		assert.ErrorContains(c, err, `spec.scheduling.batchScheduler: the scheduler "yunikorn" is not allowed`)
	})
	require.NoError(t, create(n.application("pi", batchScheduler("volcano", ""))))
	require.NoError(t, create(n.application("pi")))
	err = create(n.application("pi", func(app *v1beta2.SparkApplication) { app.Spec.Driver.SchedulerName = new("mine") }))
	require.ErrorContains(t, err, `spec.driver.schedulerName: the scheduler "mine" is not allowed`)
}
