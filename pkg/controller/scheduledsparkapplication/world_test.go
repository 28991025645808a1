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

package scheduledsparkapplication

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/controller/faultpoint"
	sparkfake "github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/spark-apiserver/spark-apiserver/pkg/schedules"
)

var testKey = types.NamespacedName{Namespace: "jobs", Name: "pi"}

// world is an API server made of a fake, and a controller whose caches show what it holds whenever sync is called. Nothing
// runs by itself.
type world struct {
	t        *testing.T
	ctx      context.Context
	spark    *sparkfake.Clientset
	clock    *testingclock.FakeClock
	recorder *events.FakeRecorder
	c        *Controller
	// refuse, if set, is the answer to the creation of an application.
	refuse error
	// fault is handed to every controller of this world.
	fault faultpoint.Hook
}

func newWorld(t *testing.T, schedule *v1beta2.ScheduledSparkApplication) *world {
	t.Helper()
	w := &world{
		t: t, ctx: klog.NewContext(t.Context(), klog.Logger{}), spark: sparkfake.NewSimpleClientset(schedule),
		clock: testingclock.NewFakeClock(noon), recorder: events.NewFakeRecorder(1000),
	}
	w.spark.PrependReactor("create", "sparkapplications", func(action k8stesting.Action) (bool, runtime.Object, error) {
		if w.refuse != nil {
			return true, nil, w.refuse
		}
		run := action.(k8stesting.CreateAction).GetObject().(*v1beta2.SparkApplication)
		run.UID, run.CreationTimestamp = types.UID("uid-"+run.Name), metav1.NewTime(w.clock.Now())
		return false, nil, nil
	})
	w.restart()
	return w
}

// restart replaces the controller by one that knows nothing.
func (w *world) restart() {
	w.t.Helper()
	c, err := New(w.ctx, Options{SparkClient: w.spark, KubeClient: kubefake.NewSimpleClientset(), Clock: w.clock, Local: time.UTC})
	require.NoError(w.t, err)
	c.applier.recorder, c.applier.fault = w.recorder, w.fault
	w.c = c
	w.sync()
}

// sync makes the caches show what the API server holds.
func (w *world) sync() {
	w.t.Helper()
	schedule := w.schedule()
	require.NoError(w.t, w.c.observer.scheduleInformer.GetIndexer().Replace([]any{schedule}, ""))
	cached := []any{}
	for _, run := range w.runs() {
		trimmed, err := trimRun(run)
		require.NoError(w.t, err)
		cached = append(cached, trimmed)
	}
	require.NoError(w.t, w.c.observer.runs.GetIndexer().Replace(cached, ""))
}

func (w *world) at(t time.Time) *world {
	w.clock.SetTime(t)
	return w
}

func (w *world) reconcile() (time.Duration, error) { return w.c.reconcile(w.ctx, testKey) }

// settle works with caches that are up to date.
func (w *world) settle() time.Duration {
	w.t.Helper()
	w.sync()
	requeueAfter, err := w.reconcile()
	require.NoError(w.t, err)
	return requeueAfter
}

func (w *world) schedule() *v1beta2.ScheduledSparkApplication {
	w.t.Helper()
	schedule, err := w.spark.SparkoperatorV1beta2().ScheduledSparkApplications("jobs").Get(w.ctx, "pi", metav1.GetOptions{})
	require.NoError(w.t, err)
	return schedule
}

func (w *world) runs() []*v1beta2.SparkApplication {
	w.t.Helper()
	list, err := w.spark.SparkoperatorV1beta2().SparkApplications("jobs").List(w.ctx, metav1.ListOptions{})
	require.NoError(w.t, err)
	runs := make([]*v1beta2.SparkApplication, 0, len(list.Items))
	for i := range list.Items {
		runs = append(runs, &list.Items[i])
	}
	return runs
}

func (w *world) runNames() []string {
	var names []string
	for _, run := range w.runs() {
		names = append(names, run.Name)
	}
	return names
}

func (w *world) end(name string, state v1beta2.ApplicationStateType) {
	w.t.Helper()
	client := w.spark.SparkoperatorV1beta2().SparkApplications("jobs")
	run, err := client.Get(w.ctx, name, metav1.GetOptions{})
	require.NoError(w.t, err)
	run.Status.AppState.State = state
	_, err = client.UpdateStatus(w.ctx, run, metav1.UpdateOptions{})
	require.NoError(w.t, err)
}

func (w *world) edit(edit func(*v1beta2.ScheduledSparkApplication)) {
	w.t.Helper()
	schedule := w.schedule()
	edit(schedule)
	schedule.Generation++
	_, err := w.spark.SparkoperatorV1beta2().ScheduledSparkApplications("jobs").Update(w.ctx, schedule, metav1.UpdateOptions{})
	require.NoError(w.t, err)
}

// events are the reasons of all events since the last call.
func (w *world) events() []string {
	var reasons []string
	for {
		select {
		case event := <-w.recorder.Events:
			reasons = append(reasons, strings.Fields(event)[1])
		default:
			return reasons
		}
	}
}

// writes are the verbs and resources of what was written since the last call.
func (w *world) writes() []string {
	var writes []string
	for _, action := range w.spark.Actions() {
		switch verb := action.GetVerb(); verb {
		case "create", "update", "delete":
			writes = append(writes, verb+" "+action.GetResource().Resource)
		}
	}
	w.spark.ClearActions()
	return writes
}

const writeOfStatus = "update scheduledsparkapplications"

func TestTwoHours(t *testing.T) {
	w := newWorld(t, newSchedule())
	assert.Equal(t, safetyRequeue, w.settle())
	assert.Equal(t, []string{writeOfStatus}, w.writes())
	w.settle()
	assert.Empty(t, w.writes(), "with nothing to do, nothing is written")

	w.at(hour(13).Add(10 * time.Millisecond)).settle()
	assert.Equal(t, []string{"create sparkapplications", writeOfStatus}, w.writes(), "two writes a run")
	status := w.schedule().Status
	assert.Equal(t, "pi-1772370000", status.LastRunName)
	assert.True(t, status.NextRun.Time.Equal(hour(14)))
	w.end("pi-1772370000", completed)
	w.settle()
	assert.Equal(t, []string{"pi-1772370000"}, w.schedule().Status.PastSuccessfulRunNames)

	w.at(hour(14)).settle()
	w.end("pi-1772373600", completed)
	w.settle()
	assert.Equal(t, []string{"pi-1772373600"}, w.runNames(), "the history limit is 1")
	assert.Equal(t, []string{"pi-1772373600"}, w.schedule().Status.PastSuccessfulRunNames)
	assert.Equal(t, []string{"RunStarted", "RunStarted"}, w.events())
	w.writes()
	w.settle()
	assert.Empty(t, w.writes())
}

// TestASlotIsRunOnce stops the controller at every write around a slot. Whoever comes after finds one run, and makes none.
func TestASlotIsRunOnce(t *testing.T) {
	for _, write := range []string{writeRunCreate, writeStatus} {
		for _, point := range []faultpoint.Point{faultpoint.Before(write), faultpoint.After(write)} {
			t.Run(string(point), func(t *testing.T) {
				w := newWorld(t, newSchedule(waiting(hour(13)), policy(v1beta2.ConcurrencyReplace)))
				stop := errors.New("killed")
				w.fault = func(p faultpoint.Point) error {
					if p == point {
						return stop
					}
					return nil
				}
				w.restart()
				_, err := w.at(hour(13)).reconcile()
				require.ErrorIs(t, err, stop)

				w.fault = nil
				w.restart()
				w.at(hour(13).Add(20 * time.Second)).settle()
				runs := w.runs()
				require.Len(t, runs, 1)
				assert.Equal(t, "pi-1772370000", runs[0].Name)
				status := w.schedule().Status
				assert.Equal(t, runs[0].Name, status.LastRunName)
				assert.True(t, status.LastRun.Equal(&runs[0].CreationTimestamp))
				assert.True(t, status.NextRun.Time.Equal(hour(14)))
				assert.NotContains(t, w.events(), "RunReplaced")
			})
		}
	}
}

// TestLateCaches: what was just written is known, whatever the caches show.
func TestLateCaches(t *testing.T) {
	w := newWorld(t, newSchedule(waiting(hour(13)), policy(v1beta2.ConcurrencyForbid), func(s *v1beta2.ScheduledSparkApplication) { s.ResourceVersion = "5" }))
	version := 5
	w.spark.PrependReactor("update", "scheduledsparkapplications", func(action k8stesting.Action) (bool, runtime.Object, error) {
		version++
		action.(k8stesting.UpdateAction).GetObject().(*v1beta2.ScheduledSparkApplication).ResourceVersion = string(rune('0' + version))
		return false, nil, nil
	})
	w.at(hour(13))
	_, err := w.reconcile()
	require.NoError(t, err)
	require.Len(t, w.runs(), 1)
	require.NoError(t, w.spark.Tracker().Delete(v1beta2.SchemeGroupVersion.WithResource("sparkapplications"), "jobs", "pi-1772370000"))
	_, err = w.reconcile()
	require.NoError(t, err)
	assert.Empty(t, w.runs(), "the cached schedule still says that the slot is due; a run that somebody has deleted is not made again")

	w = newWorld(t, newSchedule(waiting(hour(13)), policy(v1beta2.ConcurrencyForbid)))
	w.at(hour(13)).settle()
	schedule := w.schedule()
	require.NoError(t, w.c.observer.scheduleInformer.GetIndexer().Replace([]any{schedule}, ""))
	_, err = w.at(hour(14)).reconcile()
	require.NoError(t, err)
	assert.Len(t, w.runs(), 1, "no cache shows the run, and it has not ended")
	assert.Contains(t, w.schedule().Status.Reason, "pi-1772370000 had not ended")
}

func TestReplaceDeletesFirst(t *testing.T) {
	w := newWorld(t, newSchedule(waiting(hour(13)), policy(v1beta2.ConcurrencyReplace)))
	w.at(hour(13)).settle()
	w.writes()
	w.at(hour(14)).settle()
	assert.Equal(t, []string{"delete sparkapplications", "create sparkapplications", writeOfStatus}, w.writes())
	assert.Equal(t, []string{"pi-1772373600"}, w.runNames())
	assert.Equal(t, []string{"RunStarted", "RunReplaced", "RunStarted"}, w.events())
}

func TestRefusedAndTriedAgain(t *testing.T) {
	w := newWorld(t, newSchedule(waiting(hour(13))))
	w.refuse = apierrors.NewForbidden(v1beta2.Resource("sparkapplications"), "pi-1772370000", errors.New("exceeded quota: apps"))
	w.at(hour(13)).settle()
	status := w.schedule().Status
	assert.Equal(t, v1beta2.ScheduleStateScheduled, status.ScheduleState)
	assert.Contains(t, status.Reason, "exceeded quota: apps")
	assert.True(t, status.LastRun.IsZero())
	w.settle()
	assert.Equal(t, []string{"RunRefused"}, w.events(), "once a slot")

	w.refuse = apierrors.NewInvalid(v1beta2.SchemeGroupVersion.WithKind("SparkApplication").GroupKind(), "pi-1772373600", nil)
	w.at(hour(14)).settle()
	assert.Equal(t, v1beta2.ScheduleStateFailedValidation, w.schedule().Status.ScheduleState)
	w.events()

	w.refuse = nil
	w.at(hour(15)).settle()
	status = w.schedule().Status
	assert.Equal(t, v1beta2.ScheduleStateScheduled, status.ScheduleState)
	assert.Empty(t, status.Reason)
	assert.Equal(t, "pi-1772377200", status.LastRunName)
	assert.Equal(t, []string{"RunStarted"}, w.events())
}

// TestTriedAgainInTheSameSlot: an error of the moment is no answer.
func TestTriedAgainInTheSameSlot(t *testing.T) {
	for _, err := range []error{
		apierrors.NewInternalError(errors.New("a webhook did not answer")), apierrors.NewTooManyRequests("later", 1), apierrors.NewServerTimeout(v1beta2.Resource("sparkapplications"), "create", 1),
		apierrors.NewConflict(v1beta2.Resource("resourcequotas"), "apps", errors.New("changed")), errors.New("connection refused"),
	} {
		w := newWorld(t, newSchedule(waiting(hour(13))))
		w.refuse = err
		_, got := w.at(hour(13)).reconcile()
		require.ErrorIs(t, got, err)
		assert.True(t, w.schedule().Status.NextRun.Time.Equal(hour(13)))
		w.refuse = nil
		w.settle()
		assert.Equal(t, "pi-1772370000", w.schedule().Status.LastRunName, err)
		assert.Equal(t, []string{"RunStarted"}, w.events(), err)
	}
}

func TestNamesThatAreTaken(t *testing.T) {
	w := newWorld(t, newSchedule(waiting(hour(13))))
	foreign := &v1beta2.SparkApplication{ObjectMeta: metav1.ObjectMeta{Namespace: "jobs", Name: "pi-1772370000"}}
	require.NoError(t, w.spark.Tracker().Add(foreign))
	w.at(hour(13)).settle()
	assert.Contains(t, w.schedule().Status.Reason, "exists and does not belong to this schedule")
	assert.Equal(t, []string{"RunRefused"}, w.events())
	w.at(hour(14)).settle()
	assert.Equal(t, "pi-1772373600", w.schedule().Status.LastRunName)

	w = newWorld(t, newSchedule(waiting(hour(13))))
	namesake := newSchedule()
	namesake.UID = "deleted"
	require.NoError(t, w.spark.Tracker().Add(schedules.Run(namesake, hour(13))))
	w.at(hour(13)).sync()
	_, err := w.reconcile()
	require.ErrorContains(t, err, "of a deleted schedule of the same name has not been removed yet")
	require.NoError(t, w.spark.Tracker().Delete(v1beta2.SchemeGroupVersion.WithResource("sparkapplications"), "jobs", "pi-1772370000"))
	w.settle()
	assert.Equal(t, "pi-1772370000", w.schedule().Status.LastRunName)
}

func TestSuspendAndResume(t *testing.T) {
	w := newWorld(t, newSchedule())
	w.settle()
	w.edit(suspend)
	assert.Zero(t, w.at(hour(15)).settle(), "an edit wakes it")
	assert.Empty(t, w.runs())
	w.edit(func(s *v1beta2.ScheduledSparkApplication) { s.Spec.Suspend = nil })
	w.at(hour(15).Add(time.Minute)).settle()
	assert.Equal(t, []string{"pi-1772377200"}, w.runNames(), "of what was missed the last one is made up for")

	w.edit(suspend)
	w.at(hour(18)).settle()
	w.edit(func(s *v1beta2.ScheduledSparkApplication) {
		s.Spec.Suspend, s.Spec.StartingDeadlineSeconds = nil, new(int64(30))
	})
	w.at(hour(18).Add(time.Minute)).settle()
	assert.Equal(t, []string{"pi-1772377200"}, w.runNames(), "or none, with a deadline")
}

func TestEditsReachTheNextRun(t *testing.T) {
	w := newWorld(t, newSchedule(waiting(hour(13)), func(s *v1beta2.ScheduledSparkApplication) { s.Spec.SuccessfulRunHistoryLimit = new(int32(9)) }))
	w.at(hour(13)).settle()
	w.edit(func(s *v1beta2.ScheduledSparkApplication) {
		s.Spec.Template.Scheduling, s.Labels = &v1beta2.SparkSchedulingSpec{PriorityClassName: new("high")}, map[string]string{"team": "b"}
	})
	w.at(hour(14)).settle()
	runs := w.runs()
	require.Len(t, runs, 2)
	assert.Nil(t, runs[0].Spec.Scheduling)
	assert.Equal(t, new("high"), runs[1].Spec.Scheduling.PriorityClassName)
	assert.Equal(t, "a", runs[0].Labels["team"])
	assert.Equal(t, "b", runs[1].Labels["team"])
}

func TestGone(t *testing.T) {
	w := newWorld(t, newSchedule())
	w.sync()
	require.NoError(t, w.spark.Tracker().Delete(v1beta2.SchemeGroupVersion.WithResource("scheduledsparkapplications"), "jobs", "pi"))
	requeueAfter, err := w.reconcile()
	require.NoError(t, err, "it is cached and has been deleted")
	assert.Zero(t, requeueAfter)
	require.NoError(t, w.c.observer.scheduleInformer.GetIndexer().Replace(nil, ""))
	_, err = w.reconcile()
	require.NoError(t, err)
}

func TestOptions(t *testing.T) {
	_, err := New(t.Context(), Options{})
	require.Error(t, err)
	o := Options{SparkClient: sparkfake.NewSimpleClientset(), KubeClient: kubefake.NewSimpleClientset()}
	require.NoError(t, o.complete())
	assert.Equal(t, DefaultWorkers, o.Workers)
	assert.Same(t, time.Local, o.Local)
	assert.NotNil(t, o.Clock)
}

// TestOwnersAreWoken shows by which schedules an application is found, and that a tombstone is one.
func TestOwnersAreWoken(t *testing.T) {
	w := newWorld(t, newSchedule())
	run := runOf(hour(13), running)
	keys, err := ownersOf(run)
	require.NoError(t, err)
	assert.Equal(t, []string{"schedule-uid"}, keys)
	w.c.observer.enqueueOwners(run)
	require.Equal(t, 1, w.c.queue.Len())
	key, _ := w.c.queue.Get()
	assert.Equal(t, testKey, key)

	run.OwnerReferences[0].Kind = "Workflow"
	keys, err = ownersOf(run)
	require.NoError(t, err)
	assert.Empty(t, keys)
}
