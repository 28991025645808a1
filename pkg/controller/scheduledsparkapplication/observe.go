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
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/controller/workers"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
	sparkinformers "github.com/spark-apiserver/spark-apiserver/pkg/generated/informers/externalversions/sparkoperator/v1beta2"
	sparklisters "github.com/spark-apiserver/spark-apiserver/pkg/generated/listers/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/schedules"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// indexByOwner finds runs by the UID of the schedule that owns them.
const indexByOwner = "byOwner"

// observer keeps caches and makes Snapshots of them.
type observer struct {
	spark    versioned.Interface
	options  Options
	memories *memories
	queue    workers.Queue

	scheduleInformer cache.SharedIndexInformer
	schedules        sparklisters.ScheduledSparkApplicationLister
	runs             cache.SharedIndexInformer
	synced           []cache.InformerSynced
	running          sync.WaitGroup
}

func newObserver(o Options, m *memories, queue workers.Queue) (*observer, error) {
	informer := sparkinformers.NewScheduledSparkApplicationInformer(o.SparkClient, metav1.NamespaceAll, 0, cache.Indexers{})
	// Of all applications only those that have a schedule.
	runs := sparkinformers.NewFilteredSparkApplicationInformer(o.SparkClient, metav1.NamespaceAll, 0,
		cache.Indexers{indexByOwner: ownersOf},
		func(options *metav1.ListOptions) { options.LabelSelector = spark.LabelScheduledAppName })
	ob := &observer{
		spark: o.SparkClient, options: o, memories: m, queue: queue,
		scheduleInformer: informer,
		schedules:        sparklisters.NewScheduledSparkApplicationLister(informer.GetIndexer()),
		runs:             runs,
	}
	if err := informer.SetTransform(trimSchedule); err != nil {
		return nil, fmt.Errorf("trim cached ScheduledSparkApplications: %w", err)
	}
	if err := runs.SetTransform(trimRun); err != nil {
		return nil, fmt.Errorf("trim cached SparkApplications: %w", err)
	}
	for _, watch := range []struct {
		informer cache.SharedIndexInformer
		enqueue  func(object any)
	}{{informer, ob.enqueueSchedule}, {runs, ob.enqueueOwners}} {
		handler, err := watch.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    watch.enqueue,
			UpdateFunc: func(_, object any) { watch.enqueue(object) },
			DeleteFunc: watch.enqueue,
		})
		if err != nil {
			return nil, fmt.Errorf("handle events: %w", err)
		}
		ob.synced = append(ob.synced, handler.HasSynced)
	}
	return ob, nil
}

// start runs the informers until ctx is done.
func (o *observer) start(ctx context.Context) {
	o.running.Go(func() { o.scheduleInformer.RunWithContext(ctx) })
	o.running.Go(func() { o.runs.RunWithContext(ctx) })
}

func (o *observer) enqueueSchedule(object any) {
	if schedule, ok := unwrap(object).(*v1beta2.ScheduledSparkApplication); ok {
		o.queue.Add(types.NamespacedName{Namespace: schedule.Namespace, Name: schedule.Name})
	}
}

func (o *observer) enqueueOwners(object any) {
	run, ok := unwrap(object).(*v1beta2.SparkApplication)
	if !ok {
		return
	}
	for _, owner := range run.OwnerReferences {
		if owner.Kind == kind {
			o.queue.Add(types.NamespacedName{Namespace: run.Namespace, Name: owner.Name})
		}
	}
}

func unwrap(object any) any {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		return tombstone.Obj
	}
	return object
}

func ownersOf(object any) ([]string, error) {
	run, ok := object.(*v1beta2.SparkApplication)
	if !ok {
		return nil, nil
	}
	var uids []string
	for _, owner := range run.OwnerReferences {
		if owner.Kind == kind {
			uids = append(uids, string(owner.UID))
		}
	}
	return uids, nil
}

// trimSchedule drops the managed fields, which nothing here reads. An update without them leaves them alone.
func trimSchedule(object any) (any, error) {
	if schedule, ok := object.(*v1beta2.ScheduledSparkApplication); ok {
		schedule.ManagedFields = nil
	}
	return object, nil
}

// trimRun keeps what is decided by. The controller of applications has the whole ones.
func trimRun(object any) (any, error) {
	run, ok := object.(*v1beta2.SparkApplication)
	if !ok {
		return object, nil
	}
	return trimmedRun(run), nil
}

func trimmedRun(run *v1beta2.SparkApplication) *v1beta2.SparkApplication {
	trimmed := &v1beta2.SparkApplication{
		ObjectMeta: metav1.ObjectMeta{
			Name: run.Name, Namespace: run.Namespace, UID: run.UID, ResourceVersion: run.ResourceVersion,
			CreationTimestamp: run.CreationTimestamp, DeletionTimestamp: run.DeletionTimestamp, OwnerReferences: run.OwnerReferences,
		},
	}
	if scheduled, ok := run.Annotations[schedules.AnnotationScheduledTime]; ok {
		trimmed.Annotations = map[string]string{schedules.AnnotationScheduledTime: scheduled}
	}
	trimmed.Status.AppState.State = run.Status.AppState.State
	return trimmed
}

// snapshot returns what there is of a schedule, or nil if there is no such schedule.
func (o *observer) snapshot(ctx context.Context, key types.NamespacedName) (*Snapshot, error) {
	cached, err := o.schedules.ScheduledSparkApplications(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &Snapshot{Schedule: o.memories.newest(cached), Local: o.options.Local}
	objects, err := o.runs.GetIndexer().ByIndex(indexByOwner, string(s.Schedule.UID))
	if err != nil {
		return nil, fmt.Errorf("look up the runs of %s: %w", key, err)
	}
	for _, object := range objects {
		if run, ok := object.(*v1beta2.SparkApplication); ok && run.Namespace == key.Namespace {
			s.Runs = append(s.Runs, run)
		}
	}
	return s, o.confirmLastRun(ctx, s)
}

// confirmLastRun asks for the last run, if a slot is due and no cache shows it: a cache may be late, and the run must not be
// taken for one that has ended.
func (o *observer) confirmLastRun(ctx context.Context, s *Snapshot) error {
	schedule := s.Schedule
	name := schedule.Status.LastRunName
	if name == "" || schedule.Status.NextRun.IsZero() || schedule.Status.NextRun.After(o.options.Clock.Now()) {
		return nil
	}
	for _, run := range s.Runs {
		if run.Name == name {
			return nil
		}
	}
	run, err := o.spark.SparkoperatorV1beta2().SparkApplications(schedule.Namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("look for the last run: %w", err)
	case schedules.Owns(schedule, run):
		s.Runs = append(s.Runs, trimmedRun(run))
	}
	return nil
}
