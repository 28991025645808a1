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
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/clustertest"
)

// What depends on settings of the cluster or of the server that the other tests don't share: a scheduler that places members
// one by one, a deadline for drivers, and the server's own gate, which is turned off under stored and running gangs.
func TestOtherSettings(t *testing.T) {
	c := clustertest.New(t, cluster.Options{
		ProgramFeatureGates: map[cluster.Program]map[string]bool{cluster.KubeScheduler: {"GenericWorkload": false}},
	})
	store := filepath.Join(c.Dir, "store")
	server, err := c.StartSparkAPIServer(t.Context(), cluster.ServerOptions{
		DataDir: store, FeatureGates: everyGate, ExtraFlags: []string{"--driver-start-deadline=3s"},
	})
	require.NoError(t, err)
	e, err := newEnvironment(c, server)
	require.NoError(t, err)

	t.Run("a driver that finds no room in time", func(t *testing.T) {
		n := e.tenant(t)
		n.create(n.application("pi"))
		app := n.untilState("pi", v1beta2.ApplicationStateFailed)
		failed := n.untilCondition("pi", v1beta2.ConditionFailed, metav1.ConditionTrue, "DriverStartDeadlineExceeded")
		assert.Contains(t, failed.Message, "3s")
		assert.Contains(t, app.Status.AppState.ErrorMessage, "Unschedulable", "the scheduler's own words")
		n.until("the driver holds no place in the scheduler's queue", func(c *assert.CollectT) { assert.Empty(c, n.driverPods("pi")) })
	})

	t.Run("a cluster without topology", func(t *testing.T) {
		n := e.tenant(t)
		n.create(n.application("pi", scheduling(func(s *v1beta2.SparkSchedulingSpec) {
			s.SchedulingConstraints = &sparkoperator.SchedulingConstraints{Topology: []sparkoperator.TopologyConstraint{{Key: rackLabel}}}
		})))
		app := n.untilState("pi", v1beta2.ApplicationStateFailed)
		n.untilCondition("pi", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionFalse, "SchedulingFieldsDropped")
		assert.Contains(t, app.Status.AppState.ErrorMessage, "TopologyAwareWorkloadScheduling")
		assert.Empty(t, n.driverPods("pi"))
	})

	n := e.tenant(t)
	n.addNode("8")
	t.Run("a scheduler that doesn't place groups", func(t *testing.T) {
		n := in(n, t)
		n.create(n.application("first", gang, executors(2), outcome("hang")))
		n.untilCondition("first", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionFalse, "SchedulerNotEnforcing")
		assert.Equal(t, v1beta2.ApplicationStateRunning, n.get("first").Status.AppState.State, "the attempt is left alone")
		n.create(n.application("second", gang, executors(2)))
		condition := n.untilCondition("second", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionFalse, "SchedulerNotEnforcing")
		assert.Contains(t, condition.Message, "first")
		assert.Empty(t, n.driverPods("second"))
		n.create(n.application("plain", executors(2)))
		n.untilState("plain", v1beta2.ApplicationStateCompleted)
	})
	n.create(n.application("later", gang, executors(2), func(app *v1beta2.SparkApplication) { app.Spec.Suspend = new(true) }))
	n.untilState("later", v1beta2.ApplicationStateSuspended)
	before := n.get("first")
	server.Stop()
	e.server, err = c.StartSparkAPIServer(t.Context(), cluster.ServerOptions{Name: "gate-off", DataDir: store})
	require.NoError(t, err)
	t.Run("the gate is off", func(t *testing.T) {
		n := in(n, t)
		apps := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace)
		// What is stored can be edited, and says why it doesn't run.
		_, err := apps.Patch(t.Context(), "later", types.MergePatchType, []byte(`{"spec":{"suspend":false},"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		n.untilCondition("later", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionFalse, "FeatureGateDisabled")
		n.untilState("later", v1beta2.ApplicationStateFailed)
		assert.Empty(t, n.driverPods("later"))
		// What runs, runs on.
		after := n.get("first")
		assert.Equal(t, v1beta2.ApplicationStateRunning, after.Status.AppState.State)
		assert.Equal(t, before.Status.SubmissionID, after.Status.SubmissionID)
		_, err = apps.Create(t.Context(), n.application("new", gang), metav1.CreateOptions{})
		require.ErrorContains(t, err, "SparkApplicationWorkloadAwareScheduling")
		// What waited for a scheduler that places groups has nobody to be handed to any more.
		n.untilState("second", v1beta2.ApplicationStateFailed)
	})
}
