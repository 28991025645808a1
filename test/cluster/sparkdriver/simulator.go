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

package sparkdriver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// Options of the simulation.
type Options struct {
	// Config is an administrator's: it reads what pods mount, writes pods' status and requests tokens of service
	// accounts. What Spark itself would do is done with those tokens.
	Config *rest.Config
	// RunTime is how long an application computes unless it says otherwise. Zero means not at all.
	RunTime time.Duration
	// MaxBatchDelay shortens spark.kubernetes.allocation.batch.delay. Zero means one second, Spark's default.
	MaxBatchDelay time.Duration
}

const (
	podWorkers       = 8
	applicationIndex = "application"

	fakeNodeAnnotation      = "kwok.x-k8s.io/node"
	fakeNodeAnnotationValue = "fake"
)

// simulator is the simulated kubelet of all nodes, and starts the simulated drivers.
type simulator struct {
	options Options
	client  kubernetes.Interface
	pods    cache.Indexer
	nodes   cache.Indexer
	queue   workqueue.TypedRateLimitingInterface[string]

	mu      sync.Mutex
	running map[types.UID]context.CancelFunc // drivers
	wg      sync.WaitGroup
}

// Run plays kubelets and drivers until the context ends.
func Run(ctx context.Context, o Options) error {
	if o.MaxBatchDelay == 0 {
		o.MaxBatchDelay = time.Second
	}
	config := patient(o.Config)
	config.QPS = -1
	config.UserAgent = "simulated-kubelet"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	s := &simulator{
		options: o, client: client, running: map[types.UID]context.CancelFunc{},
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](50*time.Millisecond, 2*time.Second)),
	}
	if err := s.watch(ctx); err != nil {
		return err
	}
	klog.FromContext(ctx).Info("Simulating kubelets and Spark drivers")
	for range podWorkers {
		s.wg.Go(func() { s.work(ctx) })
	}
	<-ctx.Done()
	s.queue.ShutDown()
	s.wg.Wait()
	return nil
}

func (s *simulator) watch(ctx context.Context) error {
	sparkPods := informers.NewSharedInformerFactoryWithOptions(s.client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.LabelSelector = labelRole + " in (" + roleDriver + "," + roleExecutor + ")"
	}))
	everything := informers.NewSharedInformerFactory(s.client, 0)
	pods := sparkPods.Core().V1().Pods().Informer()
	nodes := everything.Core().V1().Nodes().Informer()
	claims := everything.Core().V1().PersistentVolumeClaims().Informer()
	volumes := everything.Core().V1().PersistentVolumes().Informer()

	if err := pods.AddIndexers(cache.Indexers{applicationIndex: func(object any) ([]string, error) {
		pod, ok := object.(*corev1.Pod)
		if !ok || pod.Labels[labelRole] != roleExecutor {
			return nil, nil
		}
		return []string{applicationKey(pod)}, nil
	}}); err != nil {
		return err
	}
	s.pods, s.nodes = pods.GetIndexer(), nodes.GetIndexer()
	handlers := []struct {
		informer cache.SharedIndexInformer
		handler  cache.ResourceEventHandler
	}{
		{pods, cache.ResourceEventHandlerFuncs{
			AddFunc:    s.enqueue,
			UpdateFunc: func(_, updated any) { s.enqueue(updated) },
			DeleteFunc: s.enqueue,
		}},
		{claims, cache.ResourceEventHandlerFuncs{
			AddFunc:    func(claim any) { s.provision(ctx, claim) },
			UpdateFunc: func(_, claim any) { s.provision(ctx, claim) },
		}},
		{volumes, cache.ResourceEventHandlerFuncs{
			AddFunc:    func(volume any) { s.reclaim(ctx, volume) },
			UpdateFunc: func(_, volume any) { s.reclaim(ctx, volume) },
		}},
	}
	for _, h := range handlers {
		if _, err := h.informer.AddEventHandler(h.handler); err != nil {
			return err
		}
	}
	sparkPods.Start(ctx.Done())
	everything.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), pods.HasSynced, nodes.HasSynced, claims.HasSynced, volumes.HasSynced) {
		return errors.New("stopped before the first pods and nodes were seen")
	}
	return nil
}

func applicationKey(pod *corev1.Pod) string {
	return pod.Namespace + "/" + pod.Labels[labelAppSelector]
}

func (s *simulator) enqueue(object any) {
	if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
		s.queue.Add(key)
	}
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	pod, ok := object.(*corev1.Pod)
	if !ok || pod.Labels[labelRole] != roleDriver {
		return
	}
	if current, exists, err := s.pods.Get(pod); err != nil || !exists || current.(*corev1.Pod).UID != pod.UID {
		s.stopDriver(pod.UID)
	}
}

func (s *simulator) work(ctx context.Context) {
	for {
		key, shutdown := s.queue.Get()
		if shutdown {
			return
		}
		again, err := s.sync(ctx, key)
		switch {
		case err != nil && ctx.Err() == nil:
			klog.FromContext(ctx).Error(err, "Simulated kubelet failed", "pod", key)
			s.queue.AddRateLimited(key)
		case again:
			s.queue.AddRateLimited(key)
		default:
			s.queue.Forget(key)
		}
		s.queue.Done(key)
	}
}

// sync plays the kubelet for one pod. again asks to look once more soon, since something that the pod waits for isn't
// watched.
func (s *simulator) sync(ctx context.Context, key string) (again bool, err error) {
	object, exists, err := s.pods.GetByKey(key)
	if err != nil || !exists {
		return false, err
	}
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return false, fmt.Errorf("%s is not a pod", key)
	}
	if pod.DeletionTimestamp != nil {
		// The signal to end: kwok takes the pod away.
		s.stopDriver(pod.UID)
		return false, nil
	}
	if pod.Spec.NodeName == "" || !s.onSimulatedNode(pod) {
		return false, nil
	}
	switch pod.Status.Phase {
	case corev1.PodPending, "":
		return s.startPod(ctx, pod)
	case corev1.PodRunning:
		if pod.Labels[labelRole] == roleDriver {
			s.startDriver(ctx, pod)
		}
	}
	return false, nil
}

func (s *simulator) onSimulatedNode(pod *corev1.Pod) bool {
	object, exists, err := s.nodes.GetByKey(pod.Spec.NodeName)
	if err != nil || !exists {
		return false
	}
	node, ok := object.(*corev1.Node)
	return ok && node.Annotations[fakeNodeAnnotation] == fakeNodeAnnotationValue
}

// startDriver begins to play a driver, unless it is played already or has ended.
func (s *simulator) startDriver(ctx context.Context, pod *corev1.Pod) {
	if driverEnded(pod) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.running[pod.UID]; ok || ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithCancel(klog.NewContext(ctx, klog.FromContext(ctx).WithValues("driver", klog.KObj(pod))))
	s.running[pod.UID] = cancel
	s.wg.Go(func() {
		d := &driver{
			admin: s.client, config: s.options.Config, pod: pod, maxBatchDelay: s.options.MaxBatchDelay, runTime: s.options.RunTime,
			executors: func() []*corev1.Pod {
				found, err := s.pods.ByIndex(applicationIndex, applicationKey(pod))
				if err != nil {
					return nil
				}
				return executorsOf(pod, found)
			},
			held: func() bool {
				object, exists, err := s.pods.Get(pod)
				if err != nil || !exists {
					return true
				}
				current, ok := object.(*corev1.Pod)
				return ok && current.Annotations[HoldAnnotation] == "true"
			},
		}
		end := d.run(ctx)
		if ctx.Err() != nil {
			return
		}
		s.endDriver(ctx, d, end)
	})
}

func (s *simulator) stopDriver(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel, ok := s.running[uid]; ok {
		cancel()
		delete(s.running, uid)
	}
}

// endDriver ends the container of a driver, and what executors it left behind: they exit when they lose their driver.
func (s *simulator) endDriver(ctx context.Context, d *driver, end ending) {
	logger := klog.FromContext(ctx)
	logger.Info("Simulated driver ends", "exitCode", end.exitCode, "message", end.message)
	if err := retry(ctx, func() error { return s.terminate(ctx, d.pod, end, d.script.sidecarsKeepOnRuns) }); err != nil {
		logger.Error(err, "Simulated kubelet can't end a driver")
	}
	for _, executor := range d.executors() {
		if executor.DeletionTimestamp != nil || executor.Status.Phase != corev1.PodRunning {
			continue
		}
		if err := retry(ctx, func() error { return s.terminate(ctx, executor, ending{}, false) }); err != nil {
			logger.Error(err, "Simulated kubelet can't end an executor", "pod", klog.KObj(executor))
		}
	}
}
