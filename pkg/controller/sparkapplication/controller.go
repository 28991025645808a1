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
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"github.com/spark-apiserver/spark-apiserver/pkg/controller/tell"
	"github.com/spark-apiserver/spark-apiserver/pkg/controller/workers"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned/scheme"
)

// ControllerName is the name of this controller in events and logs.
const ControllerName = "sparkapplication-controller"

// maxPasses is how many changes of state are carried out in a row before the application goes to the end of its line.
const maxPasses = 8

// Controller runs SparkApplications.
type Controller struct {
	options     Options
	queue       workers.Queue
	memories    *memories
	observer    *observer
	applier     *applier
	broadcaster events.EventBroadcaster
}

// New returns a controller with informers of its own. It does no I/O before Run.
func New(ctx context.Context, o Options) (*Controller, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	registerMetrics()
	c := &Controller{
		options:     o,
		memories:    newMemories(),
		broadcaster: tell.NewBroadcaster(o.KubeClient),
	}
	c.queue = newQueue(o.Clock, func(key types.NamespacedName) bool { return c.observer.begun(key) })
	observer, err := newObserver(o, c.memories, c.queue)
	if err != nil {
		return nil, err
	}
	c.observer = observer
	c.applier = &applier{
		spark:    o.SparkClient,
		kube:     o.KubeClient,
		batch:    newBatchGroups(o.DynamicClient, o.KubeClient.Discovery(), o.Clock),
		clock:    o.Clock,
		memories: c.memories,
		access:   &accessChecker{client: o.KubeClient, clock: o.Clock},
		side:     o.Side,
		recorder: c.broadcaster.NewRecorder(scheme.Scheme, ControllerName),

		enforcement: observer.enforcement,
	}
	klog.FromContext(ctx).V(4).Info("Created the controller", "controller", ControllerName, "workers", o.Workers)
	return c, nil
}

// Run works until ctx is done, and returns once every worker has stopped. It fails if the informers can't be filled.
func (c *Controller) Run(ctx context.Context) error {
	logger := klog.LoggerWithName(klog.FromContext(ctx), ControllerName)
	ctx = klog.NewContext(ctx, logger)
	if err := c.broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		return fmt.Errorf("start to record events: %w", err)
	}
	defer c.broadcaster.Shutdown()
	// Whoever runs the applications next counts those that run.
	defer runningCount.Set(0)
	defer c.observer.wait()
	c.observer.start(ctx)
	defer c.queue.ShutDown()

	logger.Info("Waiting for caches")
	if !cache.WaitForNamedCacheSyncWithContext(ctx, c.observer.synced...) {
		if ctx.Err() != nil {
			return nil
		}
		return errors.New("the caches of the controller of SparkApplications were not filled")
	}
	workers.Run(ctx, c.queue, c.options.Workers, named, c.reconcile)
	return nil
}

func named(logger klog.Logger, key types.NamespacedName) klog.Logger {
	return klog.LoggerWithValues(logger, "sparkApplication", klog.KRef(key.Namespace, key.Name))
}

// reconcile brings one application to where nothing changes any more. It returns when to look again.
func (c *Controller) reconcile(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	snapshot, err := c.observer.snapshot(ctx, key)
	if err != nil {
		return 0, err
	}
	if snapshot == nil {
		c.memories.forget(key)
		return 0, nil
	}
	for range maxPasses {
		plan := Decide(snapshot, c.options.Clock.Now())
		outcome, err := c.applier.apply(ctx, snapshot, &plan)
		if err != nil {
			return 0, err
		}
		if outcome.snapshot != nil {
			c.observer.gangs.settle(outcome.snapshot.Application)
		}
		if !outcome.again {
			return outcome.requeueAfter, nil
		}
		snapshot = outcome.snapshot
	}
	// Other applications come first; this one is not done.
	return time.Millisecond, nil
}
