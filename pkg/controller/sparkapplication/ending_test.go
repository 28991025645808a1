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
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func TestUntilExpiry(t *testing.T) {
	for name, test := range map[string]struct {
		ttl  int64
		want time.Duration
	}{
		"none left":      {60, -40 * time.Second},
		"some left":      {160, time.Minute},
		"zero":           {0, -100 * time.Second},
		"negative":       {-60, -100 * time.Second},
		"most negative":  {math.MinInt64, -100 * time.Second},
		"for ever":       {math.MaxInt64, time.Duration(longestLife)*time.Second - 100*time.Second},
		"beyond 292 yrs": {10_000_000_000, time.Duration(longestLife)*time.Second - 100*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, untilExpiry(startOfTime, test.ttl, startOfTime.Add(100*time.Second)))
		})
	}
}

// TestGangIsNeverShownInPart follows the record of a gang whose pods are bound one by one after the scheduler has
// reported the admission, and are removed one by one before the driver ends.
func TestGangIsNeverShownInPart(t *testing.T) {
	w := newWorld(t, newApp(withGang))
	w.settle()
	w.runDriver()
	w.putExecutors(2, w.podGroups()[0].Name, corev1.PodPending, "")
	w.settle()
	w.reportGroup(metav1.ConditionTrue, "Scheduled", "")
	w.sync()
	require.NoError(t, w.reconcile())
	require.Equal(t, ReasonGangAdmitted, w.condition(v1beta2.ConditionWorkloadSchedulingReady).Reason)
	require.Zero(t, w.app().Status.WorkloadScheduling.PodGroups[0].BoundMembers)

	// The clock stands still: nothing that waits for the interval is written.
	w.putExecutors(2, w.podGroups()[0].Name, corev1.PodPending, "node")
	w.sync()
	require.NoError(t, w.reconcile())
	assert.Equal(t, int32(2), w.app().Status.WorkloadScheduling.PodGroups[0].BoundMembers)
	assert.Equal(t, "bound 2 of 2 executors", w.condition(v1beta2.ConditionWorkloadSchedulingReady).Message)

	w.remove(podsResource, "pi-exec-1")
	w.settle()
	assert.Equal(t, int32(1), w.app().Status.WorkloadScheduling.PodGroups[0].BoundMembers, "while the driver runs, what is there is counted")
	w.remove(podsResource, "pi-exec-2")
	w.endDriver(0)
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateCompleted, w.state())
	assert.Equal(t, int32(2), w.app().Status.WorkloadScheduling.PodGroups[0].BoundMembers)
	assert.Equal(t, "bound 2 of 2 executors", w.condition(v1beta2.ConditionWorkloadSchedulingReady).Message)
	assert.Equal(t, 1, w.count("delete podgroups"))
}

// TestGangThatWasNeverAdmittedStaysSo ends an application whose gang never had room.
func TestGangThatWasNeverAdmittedStaysSo(t *testing.T) {
	w := newWorld(t, newApp(withGang))
	w.settle()
	w.runDriver()
	w.putExecutors(2, w.podGroups()[0].Name, corev1.PodPending, "")
	w.settle()
	w.endDriver(1)
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateFailed, w.state())
	assert.Zero(t, w.app().Status.WorkloadScheduling.PodGroups[0].BoundMembers)
	assert.Equal(t, metav1.ConditionFalse, w.condition(v1beta2.ConditionWorkloadSchedulingReady).Status)
}

// TestEndingHoldsAfterEditsInPlace edits applications at times from which on no attempt follows. kubectl wait passes over
// conditions of an older generation.
func TestEndingHoldsAfterEditsInPlace(t *testing.T) {
	for name, late := range map[string]bool{"while it ran": false, "after it ended": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newApp())
			w.settle()
			w.runDriver()
			w.settle()
			keep := func(app *v1beta2.SparkApplication) { app.Spec.TimeToLiveSeconds = new(int64(3600)) }
			if !late {
				w.editApp(keep)
				w.settle()
			}
			w.endDriver(0)
			w.settle()
			if late {
				w.editApp(keep)
				w.settle()
			}
			require.Equal(t, v1beta2.ApplicationStateCompleted, w.state())
			assert.Equal(t, int64(2), w.condition(v1beta2.ConditionComplete).ObservedGeneration)
			assert.Equal(t, int64(2), w.app().Status.ObservedGeneration)
		})
	}
}

// TestEditOfAnEndedApplicationRunsItAgain (kubeflow/spark-operator#2618).
func TestEditOfAnEndedApplicationRunsItAgain(t *testing.T) {
	for name, exitCode := range map[string]int32{"COMPLETED": 0, "FAILED": 1} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newApp())
			w.settle()
			w.runDriver()
			w.settle()
			w.endDriver(exitCode)
			w.settle()
			require.Equal(t, v1beta2.ApplicationStateType(name), w.state())
			w.editApp(func(app *v1beta2.SparkApplication) { app.Spec.Executor.Instances = new(int32(7)) })
			w.settle()
			require.Equal(t, v1beta2.ApplicationStateSubmitted, w.state())
			status := w.app().Status
			assert.Nil(t, findCondition(&status, v1beta2.ConditionComplete))
			assert.Nil(t, findCondition(&status, v1beta2.ConditionFailed))
			assert.Nil(t, w.app().Status.FailureCounts)
			assert.Equal(t, 2, w.count("create pods"))
		})
	}
}

func TestSuspendedApplicationObservesEdits(t *testing.T) {
	w := newWorld(t, newApp(withSuspend))
	w.settle()
	require.Equal(t, v1beta2.ApplicationStateSuspended, w.state())
	w.editApp(func(app *v1beta2.SparkApplication) { app.Spec.Executor.Instances = new(int32(7)) })
	w.settle()
	assert.Equal(t, int64(2), w.app().Status.ObservedGeneration)
	assert.Equal(t, int64(2), w.condition(v1beta2.ConditionSuspended).ObservedGeneration)
	assert.Equal(t, v1beta2.ApplicationStateSuspended, w.state())
}
