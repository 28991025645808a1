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
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// gangQueue bounds how many drivers of a namespace wait for their gangs. A driver holds resources while its gang waits,
// so without a bound drivers fill the room that the gangs need, and none is ever placed. Who holds a turn and who waits for
// one is in the statuses; what is kept here is counted from them, and runs ahead of the caches by what is being decided.
type gangQueue struct {
	limit int
	// priority returns the value of a priority class.
	priority func(class string) int32
	// wake is called, without locks held, with whoever may have its turn.
	wake func(key types.NamespacedName)

	mu    sync.Mutex
	lines map[string]map[types.UID]*gangEntry
	// holding and queued count the entries of all lines.
	holding, queued int
}

// gangEntry is one application that has a turn or waits for one.
type gangEntry struct {
	key     types.NamespacedName
	version *v1beta2.SparkApplication
	created time.Time
	value   int32
	holds   bool
}

func newGangQueue(limit int, priority func(string) int32, wake func(types.NamespacedName)) *gangQueue {
	return &gangQueue{limit: limit, priority: priority, wake: wake, lines: map[string]map[types.UID]*gangEntry{}}
}

// holdsTurn says whether an application has a driver, or is about to get one, whose gang has not been placed.
func holdsTurn(app *v1beta2.SparkApplication) bool {
	record := app.Status.WorkloadScheduling
	if record == nil || record.Policy != v1beta2.WorkloadSchedulingPolicyGang || record.AdmittedTime != nil || deleting(app) {
		return false
	}
	switch app.Status.AppState.State {
	case v1beta2.ApplicationStateSubmitted, v1beta2.ApplicationStateRunning, v1beta2.ApplicationStateUnknown:
		return !waitsForTurn(app)
	default:
		return false
	}
}

func waitsForTurn(app *v1beta2.SparkApplication) bool {
	return app.Status.AppState.State == v1beta2.ApplicationStateSubmitted && !deleting(app) &&
		conditionReason(&app.Status, v1beta2.ConditionRunning) == ReasonDriverQueued
}

// ask returns the place of an application that wants a driver, or nil if it has its turn, which it then holds until
// settle says otherwise.
func (q *gangQueue) ask(app *v1beta2.SparkApplication) *Place {
	if q.limit <= 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	line := q.line(app.Namespace)
	own := line[app.UID]
	if own == nil {
		own = q.enter(line, app.UID, holdsTurn(app))
	}
	q.describe(own, app)
	defer q.measure()
	if own.holds {
		return nil
	}
	holders, ahead := 0, 0
	for _, other := range line {
		switch {
		case other == own:
		case other.holds:
			holders++
		case compareEntries(other, own) < 0:
			ahead++
		}
	}
	if holders+ahead < q.limit {
		q.turn(own, true)
		return nil
	}
	return &Place{Position: ahead + 1, Waiting: holders}
}

// settle takes over what the status of an application says.
func (q *gangQueue) settle(app *v1beta2.SparkApplication) {
	q.mu.Lock()
	line := q.line(app.Namespace)
	own := line[app.UID]
	if own != nil && own.version != nil && newer(own.version, app) {
		q.mu.Unlock()
		return
	}
	held := own != nil && own.holds
	holds, waits := holdsTurn(app), waitsForTurn(app)
	switch {
	case holds || waits:
		if own == nil {
			own = q.enter(line, app.UID, holds)
		}
		q.describe(own, app)
		q.turn(own, holds)
	default:
		q.leave(line, app.UID)
	}
	q.wakeNext(app.Namespace, held && !holds)
}

// forget drops an application that is gone.
func (q *gangQueue) forget(key types.NamespacedName, uid types.UID) {
	q.mu.Lock()
	line := q.line(key.Namespace)
	own := line[uid]
	q.leave(line, uid)
	q.wakeNext(key.Namespace, own != nil && own.holds)
}

// wakeNext unlocks, and wakes those who may have a turn that was given back.
func (q *gangQueue) wakeNext(namespace string, givenBack bool) {
	line := q.lines[namespace]
	var next []*gangEntry
	holders := 0
	if givenBack {
		for _, entry := range line {
			if entry.holds {
				holders++
			} else {
				next = append(next, entry)
			}
		}
		slices.SortFunc(next, compareEntries)
		next = next[:min(len(next), max(q.limit-holders, 0))]
	}
	if len(line) == 0 {
		delete(q.lines, namespace)
	}
	q.measure()
	keys := make([]types.NamespacedName, 0, len(next))
	for _, entry := range next {
		keys = append(keys, entry.key)
	}
	q.mu.Unlock()
	for _, key := range keys {
		q.wake(key)
	}
}

// waiting returns how many drivers wait for their gangs, and how many applications for their turn.
func (q *gangQueue) waiting() (drivers, queued int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.holding, q.queued
}

// measure tells the metrics how many drivers wait for their gangs, and how many applications for their turn.
func (q *gangQueue) measure() {
	waitingGangs.Set(float64(q.holding))
	queuedDrivers.Set(float64(q.queued))
}

// enter, turn and leave keep the counts.
func (q *gangQueue) enter(line map[types.UID]*gangEntry, uid types.UID, holds bool) *gangEntry {
	entry := &gangEntry{holds: holds}
	line[uid] = entry
	*q.counter(holds)++
	return entry
}

func (q *gangQueue) turn(entry *gangEntry, holds bool) {
	*q.counter(entry.holds)--
	entry.holds = holds
	*q.counter(holds)++
}

func (q *gangQueue) leave(line map[types.UID]*gangEntry, uid types.UID) {
	if entry := line[uid]; entry != nil {
		*q.counter(entry.holds)--
		delete(line, uid)
	}
}

func (q *gangQueue) counter(holds bool) *int {
	if holds {
		return &q.holding
	}
	return &q.queued
}

func (q *gangQueue) line(namespace string) map[types.UID]*gangEntry {
	line, found := q.lines[namespace]
	if !found {
		line = map[types.UID]*gangEntry{}
		q.lines[namespace] = line
	}
	return line
}

func (q *gangQueue) describe(entry *gangEntry, app *v1beta2.SparkApplication) {
	entry.key = types.NamespacedName{Namespace: app.Namespace, Name: app.Name}
	entry.version = app
	entry.created = app.CreationTimestamp.Time
	class := attemptPriorityClass(&app.Status)
	if class == "" && app.Spec.Scheduling != nil && app.Spec.Scheduling.PriorityClassName != nil {
		class = *app.Spec.Scheduling.PriorityClassName
	}
	if class == "" && app.Spec.Executor.PriorityClassName != nil {
		class = *app.Spec.Executor.PriorityClassName
	}
	entry.value = q.priority(class)
}

// compareEntries puts what comes first in the line first: by priority, then by age.
func compareEntries(a, b *gangEntry) int {
	return cmp.Or(cmp.Compare(b.value, a.value), a.created.Compare(b.created), strings.Compare(a.key.Name, b.key.Name))
}
