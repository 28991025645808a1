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
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
)

// The budget of writes for one application with two executors: see docs/performance.md. Events, reviews and dry runs are not
// counted.
const (
	writesToRunning = 10
	// writesBesideStatus are those of a whole life that are not of the status: six objects are created, the PodGroup's minCount
	// is lowered, and PodGroup, Service and ConfigMap are removed.
	writesBesideStatus = 10
	// statusChanges are what the status has to tell of a whole life, if it is told at once.
	statusChanges = 6
)

func TestWritesOfALife(t *testing.T) {
	t.Parallel()
	a := newAudited(t)
	n := a.tenant(t)
	n.addNode("8")
	began := time.Now()
	n.create(n.application("pi", gang, executors(2)))
	n.untilState("pi", v1beta2.ApplicationStateCompleted)
	n.until("what the driver needed is gone", func(c *assert.CollectT) {
		configMaps, err := n.kube.CoreV1().ConfigMaps(n.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: spark.LabelAppName})
		require.NoError(t, err)
		services, err := n.kube.CoreV1().Services(n.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: spark.LabelAppName})
		require.NoError(t, err)
		groups, err := n.kube.SchedulingV1beta1().PodGroups(n.namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.Zero(c, len(configMaps.Items)+len(services.Items)+len(groups.Items))
	})
	seconds := int(time.Since(began).Seconds())
	writes := slices.DeleteFunc(a.requests(t, n.namespace), func(e auditv1.Event) bool { return !cluster.IsWrite(&e) })
	isStatus := func(e *auditv1.Event) bool { return e.ObjectRef.Subresource == "status" }
	status := count(writes, isStatus)
	t.Logf("writes of a life of %d s:\n%s", seconds, summary(writes))
	assert.LessOrEqual(t, len(writes)-status, writesBesideStatus, summary(writes))
	// What executors do is told once a second at most.
	assert.LessOrEqual(t, status, statusChanges+seconds, summary(writes))

	driver := slices.IndexFunc(writes, func(e auditv1.Event) bool { return e.Verb == "create" && e.ObjectRef.Resource == "pods" })
	require.GreaterOrEqual(t, driver, 0, summary(writes))
	made := writes[driver].StageTimestamp
	before := count(writes, func(e *auditv1.Event) bool { return !e.StageTimestamp.After(made.Time) })
	// After the driver pod come the Service of its UI and the status that says that it runs.
	assert.LessOrEqual(t, before+2, writesToRunning, summary(writes))
}

// What is watched at kube-apiserver is selected by labels wherever a cluster may have many that are not ours.
func TestWhatIsWatched(t *testing.T) {
	t.Parallel()
	a := newAudited(t)
	n := a.tenant(t)
	n.addNode("8")
	n.create(n.application("pi", gang, executors(1)))
	n.untilState("pi", v1beta2.ApplicationStateCompleted)

	events, err := a.AuditEvents(func(e *auditv1.Event) bool {
		return e.User.Username == cluster.ServerIdentity && e.Verb == "watch" && e.ObjectRef != nil
	})
	require.NoError(t, err)
	const ofOurs = "sparkoperator.k8s.io/"
	selective := []string{"pods", "configmaps", "services", "podgroups", "persistentvolumeclaims", "ingresses", "events", "secrets"}
	watched := map[string]string{}
	for i := range events {
		requested, err := url.Parse(events[i].RequestURI)
		require.NoError(t, err)
		selector := requested.Query().Get("labelSelector") + requested.Query().Get("fieldSelector")
		resource := events[i].ObjectRef.Resource
		watched[resource] = selector
		if slices.Contains(selective, resource) && events[i].ObjectRef.Namespace != metav1.NamespaceSystem && events[i].ObjectRef.Namespace != "spark-system" {
			assert.NotEmpty(t, selector, "a watch of all %s: %s", resource, events[i].RequestURI)
		}
	}
	t.Logf("watched: %v", watched)
	for _, resource := range []string{"pods", "configmaps", "services"} {
		assert.Contains(t, watched[resource], ofOurs, resource)
	}
	assert.NotContains(t, watched, "nodes", "nodes change all the time")
	assert.NotContains(t, watched, "events")
	assert.NotContains(t, watched, "secrets")
}
