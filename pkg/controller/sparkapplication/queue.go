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
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/spark-apiserver/spark-apiserver/pkg/controller/workers"
)

// newQueue returns the controller's queue, which is fair to namespaces.
func newQueue(c clock.WithTicker) workers.Queue {
	return workers.NewQueue("sparkapplication", c, &fairQueue{})
}

// fairQueue hands out keys in turn from every namespace that has some, and in order within a namespace. So one
// namespace's thousands don't delay another's first. It is the storage under a workqueue, which does the rest: it keeps
// keys unique, hands a key to one worker at a time, and calls from one goroutine at a time.
type fairQueue struct {
	lines map[string]*line
	// turn are the namespaces that have keys, the next one first.
	turn []*line
	len  int
}

// line is the queue of one namespace.
type line struct {
	namespace string
	keys      []types.NamespacedName
}

// Touch implements workqueue.Queue. Adding a key again does not move it.
func (q *fairQueue) Touch(types.NamespacedName) {}

// Push implements workqueue.Queue.
func (q *fairQueue) Push(key types.NamespacedName) {
	if q.lines == nil {
		q.lines = map[string]*line{}
	}
	l, found := q.lines[key.Namespace]
	if !found {
		l = &line{namespace: key.Namespace}
		q.lines[key.Namespace] = l
		q.turn = append(q.turn, l)
	}
	l.keys = append(l.keys, key)
	q.len++
}

// Len implements workqueue.Queue.
func (q *fairQueue) Len() int { return q.len }

// Pop implements workqueue.Queue.
func (q *fairQueue) Pop() types.NamespacedName {
	l := q.turn[0]
	q.turn[0] = nil
	q.turn = q.turn[1:]
	key := l.keys[0]
	l.keys = l.keys[1:]
	q.len--
	if len(l.keys) > 0 {
		q.turn = append(q.turn, l)
	} else {
		delete(q.lines, l.namespace)
	}
	return key
}
