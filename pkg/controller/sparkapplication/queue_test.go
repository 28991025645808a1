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
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
)

func TestQueueIsFairBetweenNamespaces(t *testing.T) {
	queue := newQueue(testingclock.NewFakeClock(startOfTime), nil)
	defer queue.ShutDown()
	for i := range 6000 {
		queue.Add(types.NamespacedName{Namespace: "crowd", Name: fmt.Sprint(i)})
	}
	queue.Add(types.NamespacedName{Namespace: "other", Name: "first"})
	queue.Add(types.NamespacedName{Namespace: "other", Name: "second"})

	var got []string
	for range 5 {
		key, shutdown := queue.Get()
		require.False(t, shutdown)
		got = append(got, key.String())
		queue.Done(key)
	}
	assert.Equal(t, []string{"crowd/0", "other/first", "crowd/1", "other/second", "crowd/2"}, got)
	assert.Equal(t, 6002-5, queue.Len())
}

// What happens to running applications is not seen only when the last of a burst of submissions is through, nor does it hold
// submissions up for ever.
func TestQueuePrefersWhatHasBegun(t *testing.T) {
	running := func(key types.NamespacedName) bool { return key.Name[0] == 'r' }
	queue := newQueue(testingclock.NewFakeClock(startOfTime), running)
	defer queue.ShutDown()
	for i := range 100 {
		queue.Add(types.NamespacedName{Namespace: "crowd", Name: fmt.Sprintf("new-%d", i)})
	}
	for i := range 2*begunForOne + 1 {
		queue.Add(types.NamespacedName{Namespace: "crowd", Name: fmt.Sprintf("running-%d", i)})
	}
	queue.Add(types.NamespacedName{Namespace: "other", Name: "new"})
	var got []string
	for range 2*begunForOne + 5 {
		key, _ := queue.Get()
		got = append(got, key.String())
		queue.Done(key)
	}
	want := []string{"crowd/running-0", "other/new"}
	for i := 1; i < begunForOne; i++ {
		want = append(want, fmt.Sprintf("crowd/running-%d", i))
	}
	want = append(want, "crowd/new-0")
	for i := begunForOne; i < 2*begunForOne; i++ {
		want = append(want, fmt.Sprintf("crowd/running-%d", i))
	}
	assert.Equal(t, append(want, "crowd/new-1", "crowd/running-16", "crowd/new-2"), got)
}

func TestQueueCoalesces(t *testing.T) {
	queue := newQueue(testingclock.NewFakeClock(startOfTime), nil)
	defer queue.ShutDown()
	for range 100 {
		queue.Add(testKey)
	}
	assert.Equal(t, 1, queue.Len())
	key, _ := queue.Get()
	// What comes while a key is being handled is handled afterwards, once, and never at the same time.
	queue.Add(testKey)
	queue.Add(testKey)
	assert.Zero(t, queue.Len())
	queue.Done(key)
	assert.Equal(t, 1, queue.Len())
}

func TestQueueForgetsNamespaces(t *testing.T) {
	q := &fairQueue{}
	for i := range 10 {
		q.Push(types.NamespacedName{Namespace: fmt.Sprint(i), Name: "x"})
	}
	for range 10 {
		q.Pop()
	}
	assert.Zero(t, q.Len())
	assert.Empty(t, q.lines)
	assert.Empty(t, q.turn)
}
