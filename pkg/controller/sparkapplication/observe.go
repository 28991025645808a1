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
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/featuregate"
	"k8s.io/utils/clock"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/controller/workers"
	"github.com/spark-apiserver/spark-apiserver/pkg/features"
	sparkinformers "github.com/spark-apiserver/spark-apiserver/pkg/generated/informers/externalversions/sparkoperator/v1beta2"
	sparklisters "github.com/spark-apiserver/spark-apiserver/pkg/generated/listers/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// indexByApplication finds pods and PodGroups by "<namespace>/<name>" of the application that their labels name.
const indexByApplication = "byApplication"

// launchedBySelector selects the pods and PodGroups of SparkApplications.
const launchedBySelector = spark.LabelLaunchedBy + "=" + spark.LabelTrue

// observer keeps caches and makes Snapshots of them.
type observer struct {
	kube     kubernetes.Interface
	gate     featuregate.FeatureGate
	clock    clock.PassiveClock
	settings Settings
	memories *memories
	queue    workers.Queue

	applicationInformer cache.SharedIndexInformer
	applications        sparklisters.SparkApplicationLister
	pods                cache.SharedIndexInformer
	podGroups           podGroupSource
	podGroupWatch       *podGroupWatch
	synced              []cache.InformerSynced

	// objects watches what driver pods need. Nil without a client for metadata.
	objects    *ownedObjects
	gangs      *gangQueue
	priorities *priorityClasses
	// enforcement is shared with the applier.
	enforcement *enforcement

	// compile compiles an application for an attempt.
	compile func(app *v1beta2.SparkApplication, submissionID string, submitTime time.Time, priorityClassName string) (*scheduling.Submission, error)
	// capability says what the cluster can do in a namespace.
	capability func(ctx context.Context, namespace string) Capability

	running sync.WaitGroup
}

func newObserver(o Options, m *memories, queue workers.Queue) (*observer, error) {
	applications := sparkinformers.NewSparkApplicationInformer(o.SparkClient, metav1.NamespaceAll, 0, cache.Indexers{})
	pods := coreinformers.NewFilteredPodInformer(o.KubeClient, metav1.NamespaceAll, 0,
		cache.Indexers{indexByApplication: applicationOfLabels},
		func(options *metav1.ListOptions) { options.LabelSelector = launchedBySelector })
	ob := &observer{
		kube:                o.KubeClient,
		gate:                o.FeatureGate,
		clock:               o.Clock,
		settings:            *o.Settings,
		memories:            m,
		queue:               queue,
		applicationInformer: applications,
		applications:        sparklisters.NewSparkApplicationLister(applications.GetIndexer()),
		pods:                pods,
		compile: func(app *v1beta2.SparkApplication, submissionID string, submitTime time.Time, priorityClassName string) (*scheduling.Submission, error) {
			return o.Schedulers.CompileSubmission(app, submissionID, submitTime, priorityClassName, o.Side)
		},
	}
	ob.enforcement = &enforcement{}
	ob.priorities = newPriorityClasses(o.KubeClient)
	ob.gangs = newGangQueue(o.Settings.MaxWaitingGangs, ob.priorities.value, func(key types.NamespacedName) { queue.Add(key) })
	watch := &podGroupWatch{client: o.KubeClient, handler: cache.ResourceEventHandlerFuncs{
		AddFunc:    ob.enqueueOwner,
		UpdateFunc: func(_, object any) { ob.enqueueOwner(object) },
		DeleteFunc: ob.enqueueOwner,
	}}
	ob.podGroups, ob.podGroupWatch = watch, watch
	prober := &prober{client: o.KubeClient, clock: o.Clock}
	ob.capability = prober.capability

	if err := applications.SetTransform(trimManagedFields); err != nil {
		return nil, fmt.Errorf("trim cached SparkApplications: %w", err)
	}
	if err := pods.SetTransform(trimPod); err != nil {
		return nil, fmt.Errorf("trim cached pods: %w", err)
	}
	applicationHandler, err := applications.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			countState(nil, object)
			ob.settle(object)
			ob.enqueueApplication(object)
		},
		UpdateFunc: func(old, object any) {
			countState(old, object)
			ob.settle(object)
			ob.enqueueApplication(object)
		},
		DeleteFunc: func(object any) {
			countState(object, nil)
			ob.forget(object)
			ob.enqueueApplication(object)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("handle events of SparkApplications: %w", err)
	}
	podHandler, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    ob.enqueueOwner,
		UpdateFunc: func(_, object any) { ob.enqueueOwner(object) },
		DeleteFunc: ob.enqueueOwner,
	})
	if err != nil {
		return nil, fmt.Errorf("handle events of pods: %w", err)
	}
	if o.MetadataClient != nil {
		if ob.objects, err = newOwnedObjects(o.MetadataClient, onlyDeletions(ob.enqueueOwner)); err != nil {
			return nil, err
		}
	}
	ob.synced = []cache.InformerSynced{applicationHandler.HasSynced, podHandler.HasSynced}
	return ob, nil
}

// start runs the informers until ctx is done.
func (o *observer) start(ctx context.Context) {
	o.podGroupWatch.ctx = ctx
	o.running.Go(func() { o.applicationInformer.RunWithContext(ctx) })
	o.running.Go(func() { o.pods.RunWithContext(ctx) })
	if o.objects != nil {
		o.running.Go(func() { o.objects.run(ctx) })
	}
	if o.gate.Enabled(features.SparkApplicationWorkloadAwareScheduling) && o.settings.MaxWaitingGangs > 0 {
		o.running.Go(func() { o.priorities.informer.RunWithContext(ctx) })
	}
}

// wait returns once every informer has stopped.
func (o *observer) wait() {
	o.running.Wait()
	o.podGroupWatch.running.Wait()
}

func (o *observer) enqueueApplication(object any) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
	if err != nil {
		return
	}
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return
	}
	o.queue.Add(types.NamespacedName{Namespace: namespace, Name: name})
}

// begun says whether an attempt of an application is under way, by the cache.
func (o *observer) begun(key types.NamespacedName) bool {
	app, err := o.applications.SparkApplications(key.Namespace).Get(key.Name)
	if err != nil {
		return false
	}
	switch app.Status.AppState.State {
	case v1beta2.ApplicationStateSubmitted, v1beta2.ApplicationStateRunning, v1beta2.ApplicationStateUnknown,
		v1beta2.ApplicationStateSucceeding, v1beta2.ApplicationStateFailing, v1beta2.ApplicationStateSuspending,
		v1beta2.ApplicationStateInvalidating:
		return true
	default:
		return false
	}
}

// enqueueOwner adds the application that an object's label names.
func (o *observer) enqueueOwner(object any) {
	if accessor, ok := unwrapped(object).(metav1.Object); ok {
		if name := accessor.GetLabels()[spark.LabelAppName]; name != "" {
			o.queue.Add(types.NamespacedName{Namespace: accessor.GetNamespace(), Name: name})
		}
	}
}

// unwrapped returns the object of which a handler is told, also if its end was only noticed later.
func unwrapped(object any) any {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		return tombstone.Obj
	}
	return object
}

func applicationOfLabels(object any) ([]string, error) {
	accessor, ok := object.(metav1.Object)
	if !ok {
		return nil, nil
	}
	name := accessor.GetLabels()[spark.LabelAppName]
	if name == "" {
		return nil, nil
	}
	return []string{accessor.GetNamespace() + "/" + name}, nil
}

func (o *observer) settle(object any) {
	if app, ok := object.(*v1beta2.SparkApplication); ok {
		o.gangs.settle(app)
		o.enforcement.settle(app)
	}
}

func (o *observer) forget(object any) {
	if app, ok := unwrapped(object).(*v1beta2.SparkApplication); ok {
		o.gangs.forget(types.NamespacedName{Namespace: app.Namespace, Name: app.Name}, app.UID)
		o.enforcement.forget(app.Namespace, app.UID)
	}
}
