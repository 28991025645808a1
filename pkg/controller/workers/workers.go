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

// Package workers takes keys from a queue and handles each of them, until it is told to stop. It is what controllers have in
// common around their decisions.
package workers

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

const (
	failureBackoffBase = 50 * time.Millisecond
	failureBackoffMax  = time.Minute

	// passLimit ends what has hung. An API server ends each request after a minute by itself, and a pass makes one after the
	// other, most of which are answered at once; so only what would keep a worker for good is cut off.
	passLimit = 5 * time.Minute
)

// Queue is a controller's queue of objects.
type Queue = workqueue.TypedRateLimitingInterface[types.NamespacedName]

// NewQueue returns a queue, whose metrics have the name. A key is in it once, however often it is added. Nothing limits the
// rate at which keys are added; only AddRateLimited waits, by how often that one key has failed. A key that is added for
// later sleeps in a heap, so that thousands of them cost nothing meanwhile. The storage says which key comes next; nil is
// first in, first out.
func NewQueue(name string, c clock.WithTicker, storage workqueue.Queue[types.NamespacedName]) Queue {
	queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[types.NamespacedName]{Name: name, Clock: c, Queue: storage})
	delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[types.NamespacedName]{Name: name, Clock: c, Queue: queue})
	return workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](failureBackoffBase, failureBackoffMax),
		workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{Name: name, Clock: c, DelayingQueue: delaying})
}

// Reconcile brings one object to where nothing changes any more. It returns when to look again; zero: when something
// happens. After an error it is called again, ever later.
type Reconcile func(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error)

// Name adds an object to what is logged about it.
type Name func(logger klog.Logger, key types.NamespacedName) klog.Logger

// Run handles so many keys at a time until ctx is done, and returns once every worker has stopped. The queue is shut down
// then.
func Run(ctx context.Context, queue Queue, number int, name Name, reconcile Reconcile) {
	logger := klog.FromContext(ctx)
	logger.Info("Started workers", "workers", number)
	var workers sync.WaitGroup
	for range number {
		workers.Go(func() {
			wait.UntilWithContext(ctx, func(ctx context.Context) {
				for next(ctx, queue, name, reconcile) {
				}
			}, time.Second)
		})
	}
	<-ctx.Done()
	logger.Info("Stopping workers")
	queue.ShutDown()
	workers.Wait()
}

// next handles the next key. It returns false if there is none any more.
func next(ctx context.Context, queue Queue, name Name, reconcile Reconcile) bool {
	key, shutdown := queue.Get()
	if shutdown {
		return false
	}
	defer queue.Done(key)
	logger := name(klog.FromContext(ctx), key)
	requeueAfter, err := pass(klog.NewContext(ctx, logger), key, reconcile)
	switch {
	case err == nil:
		queue.Forget(key)
		if requeueAfter > 0 {
			queue.AddAfter(key, requeueAfter)
		}
	case ctx.Err() != nil:
		return false
	case apierrors.IsConflict(err):
		// Somebody else wrote first. What is to be done is decided again from what they wrote.
		logger.V(3).Info("Trying again after a conflict", "reason", err.Error())
		queue.AddRateLimited(key)
	default:
		logger.Error(err, "Trying again after an error")
		queue.AddRateLimited(key)
	}
	return true
}

// pass reconciles once, within limits. A panic is an error of this one object: the others, and the API that this process
// serves, must not suffer for it, and a restart would only meet it again.
func pass(ctx context.Context, key types.NamespacedName, reconcile Reconcile) (requeueAfter time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, passLimit)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return reconcile(ctx, key)
}
