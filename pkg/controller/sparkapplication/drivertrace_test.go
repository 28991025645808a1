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
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/controller/faultpoint"
)

// The controller stops right after it has created the driver. Before another one looks, the driver has ended and was removed:
// nothing but its traces tell that it ran.
func TestDriverThatEndedUnseenIsNotMadeAgain(t *testing.T) {
	podEvent := func(w *world, reason, pod string, after time.Duration) {
		event := &corev1.Event{Reason: reason, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: pod}}
		event.Namespace, event.Name, event.UID = testKey.Namespace, "e", "e"
		event.CreationTimestamp.Time = w.clock.Now().Add(after)
		w.put(corev1.SchemeGroupVersion.WithResource("events"), event)
	}
	for name, tc := range map[string]struct {
		leave func(w *world, driver string)
		made  int
	}{
		"the scheduler told":   {leave: func(w *world, driver string) { podEvent(w, "Scheduled", driver, time.Second) }, made: 1},
		"the kubelet told":     {leave: func(w *world, driver string) { podEvent(w, "Started", driver, 0) }, made: 1},
		"executors are left":   {leave: func(w *world, _ string) { w.putExecutors(1, "", corev1.PodRunning, "node") }, made: 1},
		"it never had a place": {leave: func(w *world, driver string) { podEvent(w, "FailedScheduling", driver, time.Second) }, made: 2},
		"another pod ran":      {leave: func(w *world, _ string) { podEvent(w, "Started", "other-driver", time.Second) }, made: 2},
		"an earlier one ran":   {leave: func(w *world, driver string) { podEvent(w, "Started", driver, -time.Second) }, made: 2},
		"nothing is left":      {leave: func(*world, string) {}, made: 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newApp())
			w.fault = func(point faultpoint.Point) error {
				if point == faultpoint.After(writeDriver) {
					return errInjected
				}
				return nil
			}
			w.restart()
			require.ErrorIs(t, w.reconcile(), errInjected)
			driver := w.driver()
			require.NotNil(t, driver)
			tc.leave(w, driver.Name)
			w.remove(podsResource, driver.Name)

			w.fault = nil
			w.restart()
			w.settle()
			assert.Equal(t, tc.made, w.count("create pods"), "%v", w.writes)
			if tc.made > 1 {
				assert.Equal(t, v1beta2.ApplicationStateSubmitted, w.state())
				return
			}
			assert.Equal(t, v1beta2.ApplicationStateFailed, w.state())
			assert.Equal(t, messageDriverNotFound, w.app().Status.AppState.ErrorMessage)
			assert.Equal(t, ReasonDriverNotFound, w.condition(v1beta2.ConditionRunning).Reason)
		})
	}
}

// A process that has begun an attempt and not yet asked for its driver knows that there was none.
func TestDriverTracesAreNotLookedForInVain(t *testing.T) {
	w := newWorld(t, newApp())
	w.fault = func(point faultpoint.Point) error {
		if point == faultpoint.Before(writeConfigMap) {
			return errInjected
		}
		return nil
	}
	w.restart()
	for range 3 {
		w.sync()
		require.ErrorIs(t, w.reconcile(), errInjected)
	}
	w.c.applier.fault = nil
	w.settle()
	assert.Equal(t, 1, w.count("create pods"))
	for _, action := range w.kube.Actions() {
		assert.False(t, action.Matches("list", "events") || action.Matches("list", "configmaps"), "%v", action)
	}
}

// Somebody deletes the driver before any watch has shown it. No event of the pod is left to come, so the controller asks by
// itself.
func TestDriverThatNoCacheHasShownIsLookedForAgain(t *testing.T) {
	w := newWorld(t, newApp())
	requeueAfter, err := w.c.reconcile(w.ctx, testKey)
	require.NoError(t, err)
	driver := w.driver()
	require.NotNil(t, driver)
	w.remove(podsResource, driver.Name)
	for range 2 {
		assert.Positive(t, requeueAfter)
		assert.LessOrEqual(t, requeueAfter, cacheLag)
		w.clock.Step(min(max(requeueAfter, time.Second), 2*time.Second))
		w.sync()
		requeueAfter, err = w.c.reconcile(w.ctx, testKey)
		require.NoError(t, err)
		assert.Equal(t, v1beta2.ApplicationStateSubmitted, w.state(), "our own write is believed for a while")
	}
	w.clock.Step(requeueAfter)
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateFailed, w.state())
	assert.Equal(t, ReasonDriverNotFound, w.condition(v1beta2.ConditionRunning).Reason)
	assert.Equal(t, 1, w.count("create pods"))
}
