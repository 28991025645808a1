//go:build faultpoints

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

package integration

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/informers/externalversions"
)

// witness watches everything that applications can make, in the whole cluster, and remembers what no later look could
// find: which driver pods there have ever been, and which states.
type witness struct {
	applications cache.Indexer
	// objects are the caches of what an application makes, by kind.
	objects map[string]cache.Indexer

	mu      sync.Mutex
	drivers map[string][]driverRecord
	states  map[string][]v1beta2.ApplicationStateType
}

// driverRecord is a driver pod that once was.
type driverRecord struct {
	uid        types.UID
	submission string
	owner      types.UID
}

func (e *environment) watchEverything(t *testing.T) *witness {
	t.Helper()
	// The context of the test ends before its clean-up, so nothing is watched that is being torn down.
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	w := &witness{
		objects: map[string]cache.Indexer{},
		drivers: map[string][]driverRecord{}, states: map[string][]v1beta2.ApplicationStateType{},
	}
	kube := informers.NewSharedInformerFactory(e.kube, 0)
	spark := externalversions.NewSharedInformerFactory(e.spark, 0)
	applications := spark.Sparkoperator().V1beta2().SparkApplications().Informer()
	w.applications = applications.GetIndexer()
	w.follow(t, applications, func(object any) {
		if app, ok := object.(*v1beta2.SparkApplication); ok {
			w.seeState(app)
		}
	})
	pods := kube.Core().V1().Pods().Informer()
	w.follow(t, pods, func(object any) {
		if pod, ok := object.(*corev1.Pod); ok {
			w.seePod(pod)
		}
	})
	for kind, informer := range map[string]cache.SharedIndexInformer{
		"Pod":                   pods,
		"ConfigMap":             kube.Core().V1().ConfigMaps().Informer(),
		"Service":               kube.Core().V1().Services().Informer(),
		"PersistentVolumeClaim": kube.Core().V1().PersistentVolumeClaims().Informer(),
		"Workload":              kube.Scheduling().V1beta1().Workloads().Informer(),
		"PodGroup":              kube.Scheduling().V1beta1().PodGroups().Informer(),
		"Ingress":               kube.Networking().V1().Ingresses().Informer(),
		"PodDisruptionBudget":   kube.Policy().V1().PodDisruptionBudgets().Informer(),
	} {
		w.objects[kind] = informer.GetIndexer()
	}
	client, err := dynamic.NewForConfig(e.AdminConfig())
	require.NoError(t, err)
	volcano := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	w.objects["PodGroup of Volcano"] = volcano.ForResource(volcanoGroups).Informer().GetIndexer()
	volcano.Start(ctx.Done())
	for informer, synced := range volcano.WaitForCacheSync(ctx.Done()) {
		require.True(t, synced, "%v", informer)
	}
	kube.Start(ctx.Done())
	spark.Start(ctx.Done())
	for informer, synced := range kube.WaitForCacheSync(ctx.Done()) {
		require.True(t, synced, "%v", informer)
	}
	for informer, synced := range spark.WaitForCacheSync(ctx.Done()) {
		require.True(t, synced, "%v", informer)
	}
	return w
}

func (w *witness) follow(t *testing.T, informer cache.SharedIndexInformer, see func(any)) {
	t.Helper()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: see, UpdateFunc: func(_, object any) { see(object) }})
	require.NoError(t, err)
}

func (w *witness) seePod(pod *corev1.Pod) {
	if pod.Labels[labelRole] != "driver" {
		return
	}
	record := driverRecord{uid: pod.UID, submission: pod.Labels[labelSubmission]}
	if owner := metav1.GetControllerOf(pod); owner != nil {
		record.owner = owner.UID
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	known := slices.ContainsFunc(w.drivers[pod.Namespace], func(r driverRecord) bool { return r.uid == pod.UID })
	if !known {
		w.drivers[pod.Namespace] = append(w.drivers[pod.Namespace], record)
	}
}

func (w *witness) seeState(app *v1beta2.SparkApplication) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if seen := w.states[app.Namespace]; len(seen) == 0 || seen[len(seen)-1] != app.Status.AppState.State {
		w.states[app.Namespace] = append(seen, app.Status.AppState.State)
	}
}

// driversOf returns every driver pod that there has been in a namespace, in order.
func (w *witness) driversOf(namespace string) []driverRecord {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.drivers[namespace])
}

// statesOf returns the states that the application of a namespace has had, in order.
func (w *witness) statesOf(namespace string) []v1beta2.ApplicationStateType {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.states[namespace])
}

// application returns the application of a namespace, or nil.
func (w *witness) application(namespace string) *v1beta2.SparkApplication {
	for _, object := range inNamespace(w.applications, namespace) {
		if app, ok := object.(*v1beta2.SparkApplication); ok {
			return app
		}
	}
	return nil
}

// pods returns the pods of a role in a namespace.
func (w *witness) pods(namespace, role string) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, object := range inNamespace(w.objects["Pod"], namespace) {
		if pod, ok := object.(*corev1.Pod); ok && pod.Labels[labelRole] == role {
			pods = append(pods, pod)
		}
	}
	return pods
}

// groups returns the PodGroups of a namespace.
func (w *witness) groups(namespace string) []*schedulingv1beta1.PodGroup {
	var groups []*schedulingv1beta1.PodGroup
	for _, object := range inNamespace(w.objects["PodGroup"], namespace) {
		if group, ok := object.(*schedulingv1beta1.PodGroup); ok {
			groups = append(groups, group)
		}
	}
	return groups
}

func inNamespace(indexer cache.Indexer, namespace string) []any {
	objects, err := indexer.ByIndex(cache.NamespaceIndex, namespace)
	if err != nil {
		panic(err) // shared informers have this index
	}
	return objects
}
