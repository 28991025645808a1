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

// newQueue returns the controller's queue, which is fair to namespaces and prefers what has begun. begun says whether an
// attempt of an application is under way; it is called with the queue locked.
func newQueue(c clock.WithTicker, begun func(types.NamespacedName) bool) workers.Queue {
	return workers.NewQueue("sparkapplication", c, &fairQueue{begun: begun})
}

// begunForOne is how many keys of applications that have begun go before one of an application that has not. What happens to
// a running application takes one short pass, and somebody waits to see it; a submission takes a dozen requests. Behind a
// burst of submissions the end of a job would be seen when the last of them is through.
const begunForOne = 8

// fairQueue hands out keys in turn from every namespace that has some. So one namespace's thousands don't delay another's
// first. Within a namespace it prefers applications that have begun, and is otherwise in order. It is the storage under a
// workqueue, which does the rest: it keeps keys unique, hands a key to one worker at a time, and calls from one goroutine at
// a time.
type fairQueue struct {
	begun func(types.NamespacedName) bool
	lines map[string]*line
	// turn are the namespaces that have keys, the next one first.
	turn []*line
	len  int
}

// line is the queue of one namespace.
type line struct {
	namespace      string
	begun, waiting []types.NamespacedName
	// preferred counts keys in begun that went before one in waiting.
	preferred int
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
	if q.begun != nil && q.begun(key) {
		l.begun = append(l.begun, key)
	} else {
		l.waiting = append(l.waiting, key)
	}
	q.len++
}

// Len implements workqueue.Queue.
func (q *fairQueue) Len() int { return q.len }

// Pop implements workqueue.Queue.
func (q *fairQueue) Pop() types.NamespacedName {
	l := q.turn[0]
	q.turn[0] = nil
	q.turn = q.turn[1:]
	key := l.pop()
	q.len--
	if len(l.begun)+len(l.waiting) > 0 {
		q.turn = append(q.turn, l)
	} else {
		delete(q.lines, l.namespace)
	}
	return key
}

func (l *line) pop() types.NamespacedName {
	from := &l.waiting
	if len(l.begun) > 0 && (len(l.waiting) == 0 || l.preferred < begunForOne) {
		from = &l.begun
		l.preferred++
	} else {
		l.preferred = 0
	}
	key := (*from)[0]
	*from = (*from)[1:]
	return key
}
