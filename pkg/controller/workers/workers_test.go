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

package workers

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

var (
	good = types.NamespacedName{Namespace: "team", Name: "good"}
	bad  = types.NamespacedName{Namespace: "team", Name: "bad"}
)

// runUntil runs one worker until done is called, and returns how often each key was handled.
func runUntil(t *testing.T, reconcile func(ctx context.Context, key types.NamespacedName, times int, done func()) (time.Duration, error)) map[types.NamespacedName]int {
	t.Helper()
	ctx, done := context.WithCancel(t.Context())
	defer done()
	queue := NewQueue("", clock.RealClock{}, nil)
	queue.Add(bad)
	queue.Add(good)
	var lock sync.Mutex
	handled := map[types.NamespacedName]int{}
	name := func(logger klog.Logger, key types.NamespacedName) klog.Logger {
		return klog.LoggerWithValues(logger, "key", key)
	}
	Run(ctx, queue, 1, name, func(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
		lock.Lock()
		handled[key]++
		times := handled[key]
		lock.Unlock()
		return reconcile(ctx, key, times, done)
	})
	return handled
}

func TestPanicIsAnErrorOfOneObject(t *testing.T) {
	handled := runUntil(t, func(_ context.Context, key types.NamespacedName, times int, done func()) (time.Duration, error) {
		if key == bad {
			if times == 3 {
				done()
				return 0, nil
			}
			panic("a spec that nobody thought of")
		}
		return 0, nil
	})
	assert.Equal(t, map[types.NamespacedName]int{good: 1, bad: 3}, handled)
}

// An API server that never answers keeps a worker for a while only (kubeflow/spark-operator#1572).
func TestNothingHangsForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handled := runUntil(t, func(ctx context.Context, key types.NamespacedName, times int, done func()) (time.Duration, error) {
			switch {
			case key == good:
				return 0, nil
			case times == 2:
				done()
				return 0, nil
			}
			select {
			case <-ctx.Done():
				return 0, ctx.Err()
			case <-time.After(time.Hour):
				return 0, errors.New("it hung")
			}
		})
		assert.Equal(t, map[types.NamespacedName]int{good: 1, bad: 2}, handled)
	})
}

func TestObjectsAreLookedAtAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		handled := runUntil(t, func(_ context.Context, key types.NamespacedName, times int, done func()) (time.Duration, error) {
			if key == good && times == 2 {
				require.Equal(t, time.Minute, time.Since(begun))
				done()
			}
			if key == good {
				return time.Minute, nil
			}
			return 0, nil
		})
		assert.Equal(t, map[types.NamespacedName]int{good: 2, bad: 1}, handled)
	})
}
