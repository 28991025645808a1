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
	corev1 "k8s.io/api/core/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// follow is one look at an application with a running driver and these executors.
func follow(app *v1beta2.SparkApplication, driver func(s *Snapshot), executors ...func(s *Snapshot)) v1beta2.SparkApplicationStatus {
	return Decide(snapshotOf(app, append(executors, driver)...), startOfTime).Status
}

func TestExecutorsThatAreRemoved(t *testing.T) {
	for name, test := range map[string]struct {
		driver func(s *Snapshot)
		want   v1beta2.ExecutorState
	}{
		"while the driver runs":         {withDriver(corev1.PodRunning), v1beta2.ExecutorStateUnknown},
		"when the driver has succeeded": {withDriver(corev1.PodSucceeded), v1beta2.ExecutorStateCompleted},
		"when the driver has failed":    {withDriver(corev1.PodFailed, exit(1)), v1beta2.ExecutorStateFailed},
	} {
		t.Run(name, func(t *testing.T) {
			app := inState(v1beta2.ApplicationStateRunning)
			app.Status = follow(app, withDriver(corev1.PodRunning),
				withExecutor(1, "", corev1.PodRunning, "node"), withExecutor(2, "", corev1.PodRunning, "node"), withExecutor(3, "", corev1.PodFailed, "node"))
			assert.Equal(t, &v1beta2.ExecutorCounts{Running: 2, Failed: 1}, app.Status.ExecutorCounts)
			// The first is gone; the second was stopped by a signal because its pod is being deleted.
			status := follow(app, test.driver, withExecutor(2, "", corev1.PodFailed, "node", terminating))
			assert.Equal(t, map[string]v1beta2.ExecutorState{
				"pi-exec-1": test.want, "pi-exec-2": test.want, "pi-exec-3": v1beta2.ExecutorStateFailed,
			}, status.ExecutorState)
		})
	}
}

func TestExecutorThatReturnsToTheCacheRunsAgain(t *testing.T) {
	app := inState(v1beta2.ApplicationStateRunning)
	app.Status = follow(app, withDriver(corev1.PodRunning), withExecutor(1, "", corev1.PodRunning, "node"))
	app.Status = follow(app, withDriver(corev1.PodRunning))
	assert.Equal(t, v1beta2.ExecutorStateUnknown, app.Status.ExecutorState["pi-exec-1"])
	app.Status = follow(app, withDriver(corev1.PodRunning), withExecutor(1, "", corev1.PodRunning, "node"))
	assert.Equal(t, v1beta2.ExecutorStateRunning, app.Status.ExecutorState["pi-exec-1"])
}

// TestEndedExecutorsAreBounded runs a thousand executors, of which ten live and one in ten fails.
func TestEndedExecutorsAreBounded(t *testing.T) {
	const total, live = 1000, 10
	app := inState(v1beta2.ApplicationStateRunning)
	var kept []func(s *Snapshot)
	for id := 1; id <= total; id++ {
		app.Status = follow(app, withDriver(corev1.PodRunning), append(kept, withExecutor(id, "", corev1.PodRunning, "node"))...)
		if id <= total-live {
			phase := corev1.PodSucceeded
			if id%10 == 0 {
				phase = corev1.PodFailed
			}
			kept = append(kept, withExecutor(id, "", phase, "node"))
			// With deleteOnTermination off the pods of ended executors stay; some day somebody removes them.
			if len(kept) > 150 {
				kept = kept[1:]
			}
		} else {
			kept = append(kept, withExecutor(id, "", corev1.PodRunning, "node"))
		}
	}
	app.Status = follow(app, withDriver(corev1.PodRunning), kept...)
	want := &v1beta2.ExecutorCounts{Running: live, Completed: (total - live) * 9 / 10, Failed: (total - live) / 10}
	assert.Equal(t, want, app.Status.ExecutorCounts)
	assert.Len(t, app.Status.ExecutorState, maxEndedExecutors+live)
	assert.Contains(t, app.Status.ExecutorState, "pi-exec-990")
	assert.NotContains(t, app.Status.ExecutorState, "pi-exec-5")

	again := follow(app, withDriver(corev1.PodRunning), kept...)
	assert.Equal(t, app.Status, again, "looking twice changes nothing")
}

func TestExecutorEventsAreAggregated(t *testing.T) {
	before := map[string]v1beta2.ExecutorState{"pi-exec-1": v1beta2.ExecutorStatePending}
	after := map[string]v1beta2.ExecutorState{"pi-exec-1": v1beta2.ExecutorStateRunning, "pi-exec-2": v1beta2.ExecutorStateRunning, "pi-exec-3": v1beta2.ExecutorStateFailed}
	events := executorEvents(before, after)
	assert.Len(t, events, 2)
	assert.Equal(t, Event{Type: corev1.EventTypeNormal, Reason: "SparkExecutorRunning", Action: actionObserve, Message: "2 executors running: pi-exec-1, pi-exec-2"}, events[0])
	assert.Equal(t, corev1.EventTypeWarning, events[1].Type)
	assert.Empty(t, executorEvents(after, after))
}

// TestExecutorThatFailsAndIsRemovedAtOnce fails an executor in an interval in which the status isn't written. Its driver
// removes the pod before the interval is over.
func TestExecutorThatFailsAndIsRemovedAtOnce(t *testing.T) {
	w := newWorld(t, newApp())
	w.settle()
	w.runDriver()
	w.putExecutors(2, "", corev1.PodRunning, "node")
	w.settle()
	w.putExecutors(3, "", corev1.PodRunning, "node")
	w.sync()
	require.NoError(t, w.reconcile())
	require.Len(t, w.app().Status.ExecutorState, 3)

	w.putExecutors(2, "", corev1.PodFailed, "node")
	w.sync()
	require.NoError(t, w.reconcile())
	require.Equal(t, v1beta2.ExecutorStateRunning, w.app().Status.ExecutorState["pi-exec-1"], "the interval is not over")
	w.remove(podsResource, "pi-exec-1")
	w.sync()
	require.NoError(t, w.reconcile())
	w.settle()
	status := w.app().Status
	assert.Equal(t, v1beta2.ExecutorStateFailed, status.ExecutorState["pi-exec-1"])
	assert.Equal(t, &v1beta2.ExecutorCounts{Running: 1, Failed: 2}, status.ExecutorCounts)

	writes := len(w.writes)
	w.settle()
	assert.Len(t, w.writes, writes)
}
