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
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// queueApp is a gang that was created some seconds after the start of time.
func queueApp(name string, second int, state func(app *v1beta2.SparkApplication)) *v1beta2.SparkApplication {
	app := inState(v1beta2.ApplicationStateNew, withGang)
	app.Name, app.UID = name, types.UID(name)
	app.ResourceVersion = strconv.Itoa(second + 1)
	app.CreationTimestamp = metav1.NewTime(startOfTime.Add(time.Duration(second) * time.Second))
	app.Status.WorkloadScheduling = nil
	if state != nil {
		state(app)
	}
	return app
}

func asHolder(app *v1beta2.SparkApplication) {
	app.Status.AppState.State = v1beta2.ApplicationStateSubmitted
	app.Status.WorkloadScheduling = &v1beta2.WorkloadSchedulingStatus{Policy: v1beta2.WorkloadSchedulingPolicyGang}
	app.Status.Conditions = []metav1.Condition{{Type: v1beta2.ConditionRunning, Reason: ReasonSubmitting}}
}

func asWaiting(app *v1beta2.SparkApplication) {
	asHolder(app)
	app.Status.Conditions[0].Reason = ReasonDriverQueued
}

func asAdmitted(app *v1beta2.SparkApplication) {
	asHolder(app)
	app.Status.WorkloadScheduling.AdmittedTime = new(metav1.NewTime(startOfTime))
}

func withClass(class string, state func(app *v1beta2.SparkApplication)) func(app *v1beta2.SparkApplication) {
	return func(app *v1beta2.SparkApplication) {
		app.Spec.Executor.PriorityClassName = new(class)
		state(app)
	}
}

func later(app *v1beta2.SparkApplication, version int, state func(app *v1beta2.SparkApplication)) *v1beta2.SparkApplication {
	next := app.DeepCopy()
	next.ResourceVersion = strconv.Itoa(version)
	state(next)
	return next
}

func testQueue(limit int) (*gangQueue, func() []string) {
	var mu sync.Mutex
	var woken []string
	q := newGangQueue(limit, func(class string) int32 { return map[string]int32{"high": 1000, "low": -5}[class] }, func(key types.NamespacedName) {
		mu.Lock()
		defer mu.Unlock()
		woken = append(woken, key.Name)
	})
	return q, func() []string {
		mu.Lock()
		defer mu.Unlock()
		w := woken
		woken = nil
		return w
	}
}

func TestGangQueue(t *testing.T) {
	q, woken := testQueue(2)
	a, b, c, d := queueApp("a", 1, nil), queueApp("b", 2, nil), queueApp("c", 3, nil), queueApp("d", 4, nil)
	assert.Nil(t, q.ask(a))
	assert.Nil(t, q.ask(b))
	assert.Equal(t, &Place{Position: 1, Waiting: 2}, q.ask(d))
	q.settle(later(d, 10, asWaiting))
	assert.Equal(t, &Place{Position: 1, Waiting: 2}, q.ask(c), "older ones come first")
	q.settle(later(c, 11, asWaiting))
	assert.Equal(t, &Place{Position: 2, Waiting: 2}, q.ask(later(d, 10, asWaiting)))
	assert.Nil(t, q.ask(a), "who has a turn keeps it")

	q.settle(later(a, 12, asHolder))
	assert.Empty(t, woken())
	q.settle(later(a, 13, asAdmitted))
	assert.Equal(t, []string{"c"}, woken(), "the first of the line, and no more than there are turns")
	assert.Equal(t, &Place{Position: 2, Waiting: 1}, q.ask(later(d, 10, asWaiting)), "the turn is kept for the first")
	assert.Nil(t, q.ask(later(c, 11, asWaiting)))

	q.forget(types.NamespacedName{Namespace: b.Namespace, Name: "b"}, b.UID)
	assert.Equal(t, []string{"d"}, woken(), "a turn that goes with its application is given on")
}

func TestGangQueueGoesByPriority(t *testing.T) {
	q, woken := testQueue(1)
	holder := queueApp("holder", 0, asHolder)
	q.settle(holder)
	for i, app := range []*v1beta2.SparkApplication{
		queueApp("low", 1, withClass("low", asWaiting)), queueApp("none", 2, asWaiting), queueApp("high", 3, withClass("high", asWaiting)), queueApp("high-later", 4, withClass("high", asWaiting)),
	} {
		q.settle(app)
		place := q.ask(app)
		require.NotNil(t, place)
		assert.Equal(t, []int{1, 1, 1, 2}[i], place.Position, app.Name)
	}
	q.settle(later(holder, 9, asAdmitted))
	assert.Equal(t, []string{"high"}, woken())
}

func TestGangQueueIsPerNamespaceAndCanBeOff(t *testing.T) {
	q, _ := testQueue(1)
	assert.Nil(t, q.ask(queueApp("a", 1, nil)))
	other := queueApp("b", 2, nil)
	other.Namespace = "other"
	assert.Nil(t, q.ask(other))
	off, _ := testQueue(0)
	for i := range 100 {
		assert.Nil(t, off.ask(queueApp(fmt.Sprintf("app-%d", i), i, nil)))
	}
}

// A turn that was asked for and not used is given back, and a cache that is late takes none away.
func TestGangQueueSettles(t *testing.T) {
	q, woken := testQueue(1)
	a := queueApp("a", 1, nil)
	assert.Nil(t, q.ask(a))
	q.settle(queueApp("b", 2, asWaiting))
	q.settle(a)
	assert.Equal(t, []string{"b"}, woken(), "the application that asked was not submitted")

	assert.Nil(t, q.ask(later(a, 20, asHolder)))
	q.settle(a)
	assert.NotNil(t, q.ask(queueApp("b", 2, asWaiting)), "an older version says nothing")
	drivers, queued := q.waiting()
	assert.Equal(t, []int{1, 1}, []int{drivers, queued})
}

func TestGangQueueNeverGivesMoreTurnsThanThereAre(t *testing.T) {
	q, _ := testQueue(5)
	var granted sync.Map
	var workers sync.WaitGroup
	for i := range 100 {
		workers.Go(func() {
			if q.ask(queueApp(fmt.Sprintf("app-%d", i), i, nil)) == nil {
				granted.Store(i, true)
			}
		})
	}
	workers.Wait()
	count := 0
	granted.Range(func(any, any) bool { count++; return true })
	assert.LessOrEqual(t, count, 5)
	assert.NotZero(t, count)
}

// TestQueuedGangHasNothing goes with the whole controller: an application that waits has no driver and no group, and gets
// both when it is its turn.
func TestQueuedGangHasNothing(t *testing.T) {
	w := newWorld(t, newApp(withGang))
	w.c.observer.gangs.limit = 1
	other := queueApp("other", 0, asHolder)
	other.Namespace = testKey.Namespace
	w.c.observer.gangs.settle(other)
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateSubmitted, w.state())
	assert.Equal(t, ReasonDriverQueued, w.condition(v1beta2.ConditionRunning).Reason)
	assert.Empty(t, w.pods())
	assert.Empty(t, w.podGroups())
	assert.Equal(t, 1, w.count("update sparkapplications/status"), "waiting writes nothing")

	w.c.observer.gangs.settle(later(other, 1000, asAdmitted))
	w.settle()
	assert.Equal(t, ReasonDriverPending, w.condition(v1beta2.ConditionRunning).Reason)
	assert.Len(t, w.podGroups(), 1)
	w.runDriver()
	w.putExecutors(2, w.podGroups()[0].Name, corev1.PodPending, "")
	w.settle()
	assert.Equal(t, ReasonDriverRunning, w.condition(v1beta2.ConditionRunning).Reason)
}
