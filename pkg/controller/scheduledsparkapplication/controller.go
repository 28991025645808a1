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
const ControllerName = "scheduledsparkapplication-controller"

// maxPasses is how many times in a row is decided before the schedule goes to the end of the line.
const maxPasses = 8

// Controller starts the runs of ScheduledSparkApplications.
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
		options: o,
		// Every schedule sleeps in it until its next slot.
		queue:       workers.NewQueue("scheduledsparkapplication", o.Clock, nil),
		memories:    newMemories(),
		broadcaster: tell.NewBroadcaster(o.KubeClient),
	}
	observer, err := newObserver(o, c.memories, c.queue)
	if err != nil {
		return nil, err
	}
	c.observer = observer
	c.applier = &applier{spark: o.SparkClient, memories: c.memories, recorder: c.broadcaster.NewRecorder(scheme.Scheme, ControllerName)}
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
	defer c.observer.running.Wait()
	c.observer.start(ctx)
	defer c.queue.ShutDown()

	logger.Info("Waiting for caches")
	if !cache.WaitForNamedCacheSyncWithContext(ctx, c.observer.synced...) {
		if ctx.Err() != nil {
			return nil
		}
		return errors.New("the caches of the controller of ScheduledSparkApplications were not filled")
	}
	workers.Run(ctx, c.queue, c.options.Workers, named, c.reconcile)
	return nil
}

func named(logger klog.Logger, key types.NamespacedName) klog.Logger {
	return klog.LoggerWithValues(logger, "scheduledSparkApplication", klog.KRef(key.Namespace, key.Name))
}

// reconcile brings one schedule to where nothing changes any more. It returns when to look again.
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
		next, err := c.applier.apply(ctx, snapshot, &plan)
		if errors.Is(err, errGone) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		if next == nil {
			return plan.RequeueAfter, nil
		}
		snapshot = next
	}
	// Other schedules come first; this one is not done.
	return time.Millisecond, nil
}
