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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// ignoredGang is an application whose executors were bound one by one.
func ignoredGang(namespace string) *v1beta2.SparkApplication {
	app := inState(v1beta2.ApplicationStateRunning, withGang)
	app.Namespace, app.Name, app.UID = namespace, "etl", "etl-uid"
	app.Status.Conditions = append(app.Status.Conditions, metav1.Condition{
		Type: v1beta2.ConditionWorkloadSchedulingReady, Status: metav1.ConditionFalse, Reason: ReasonSchedulerNotEnforcing,
	})
	return app
}

// As long as the scheduler is known to place members one by one, no other gang is handed to it.
func TestNothingIsSubmittedToASchedulerThatDoesNotEnforce(t *testing.T) {
	w := newWorld(t, newApp(withGang))
	w.c.observer.settle(ignoredGang(testKey.Namespace))
	w.settle()
	assert.Nil(t, w.driver())
	assert.Empty(t, w.podGroups())
	assert.Equal(t, v1beta2.ApplicationStateSubmitted, w.state())
	for _, kind := range []string{v1beta2.ConditionRunning, v1beta2.ConditionWorkloadSchedulingReady} {
		require.NotNil(t, w.condition(kind), kind)
		assert.Equal(t, ReasonSchedulerNotEnforcing, w.condition(kind).Reason)
		assert.Contains(t, w.condition(kind).Message, "SparkApplication etl")
	}
	// Those that wait don't hold up each other.
	w.c.observer.settle(w.app())
	w.c.observer.settle(inState(v1beta2.ApplicationStateFailed, func(app *v1beta2.SparkApplication) {
		*app = *ignoredGang(testKey.Namespace)
		app.Status.AppState.State = v1beta2.ApplicationStateFailed
	}))
	w.clock.Step(enforcementRetry)
	w.settle()
	require.NotNil(t, w.driver())
	assert.Equal(t, ReasonWaitingForDriver, w.condition(v1beta2.ConditionWorkloadSchedulingReady).Reason)
}

func TestEnforcementIsAskedOfGroupsOfTheNamespace(t *testing.T) {
	other := ignoredGang("another")
	w := newWorld(t, newApp(withGang))
	w.c.observer.settle(other)
	w.settle()
	require.NotNil(t, w.driver())

	w = newWorld(t, newApp())
	w.c.observer.settle(ignoredGang(testKey.Namespace))
	w.settle()
	require.NotNil(t, w.driver())

	w.c.observer.settle(other)
	w.c.observer.forget(other)
	assert.NoError(t, w.c.applier.enforcement.obstacle(inState(v1beta2.ApplicationStateSubmitted, func(app *v1beta2.SparkApplication) { app.Namespace = "another" })))
}
