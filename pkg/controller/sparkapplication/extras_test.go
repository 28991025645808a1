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

package sparkapplication

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/features"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
)

func inOneRack(app *v1beta2.SparkApplication) {
	withGang(app)
	app.Spec.Scheduling.SchedulingConstraints = &sparkoperator.SchedulingConstraints{
		Topology: []sparkoperator.TopologyConstraint{{Key: "example.com/rack"}},
	}
}

// worldOfRacks is a server with the gate for topology, or without.
func worldOfRacks(t *testing.T, on bool) *world {
	t.Helper()
	w := newWorld(t, newApp(inOneRack))
	gate := features.NewFeatureGate()
	require.NoError(t, gate.SetFromMap(map[string]bool{
		string(features.SparkApplicationWorkloadAwareScheduling): true, string(features.SparkApplicationTopology): on,
	}))
	w.gate = gate
	w.restart()
	// The fake answers with the object that it was given; keep what was asked for apart from it.
	w.c.observer.compile = scheduling.CompileSubmission
	return w
}

func TestWhatNeedsAGateThatIsOff(t *testing.T) {
	w := worldOfRacks(t, false)
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateFailed, w.state())
	assert.Equal(t, ReasonFeatureGateDisabled, w.condition(v1beta2.ConditionWorkloadSchedulingReady).Reason)
	assert.Contains(t, w.app().Status.AppState.ErrorMessage, "SparkApplicationTopology")
	assert.Empty(t, w.podGroups())
	assert.Nil(t, w.driver())
}

// A cluster that drops a part of the PodGroup is found out before anything is created.
func TestWhatTheClusterDropsOfAPodGroup(t *testing.T) {
	w := worldOfRacks(t, true)
	w.drop = func(object runtime.Object) {
		if group, ok := object.(*schedulingv1beta1.PodGroup); ok {
			group.Spec.SchedulingConstraints = nil
		}
	}
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateFailed, w.state())
	assert.Equal(t, ReasonSchedulingFieldsDropped, w.condition(v1beta2.ConditionWorkloadSchedulingReady).Reason)
	assert.Contains(t, w.app().Status.AppState.ErrorMessage, "TopologyAwareWorkloadScheduling")
	assert.Zero(t, w.count("create workloads"))
	assert.Empty(t, w.podGroups())
	assert.Nil(t, w.driver())

	w = worldOfRacks(t, true)
	w.settle()
	require.NotNil(t, w.driver())
	require.Len(t, w.podGroups(), 1)
	assert.Equal(t, "example.com/rack", w.podGroups()[0].Spec.SchedulingConstraints.Topology[0].Key)
}
