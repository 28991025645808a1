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

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	schedulinginformers "k8s.io/client-go/informers/scheduling/v1beta1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// podGroupSource knows the PodGroups of applications.
type podGroupSource interface {
	// of returns the PodGroups that carry the application's name, and whether they are known.
	of(key types.NamespacedName) ([]*schedulingv1beta1.PodGroup, bool, error)
}

// podGroupWatch watches PodGroups from the first application on that uses them. Where none does, scheduling.k8s.io is
// never asked for anything; and a watch of an API that isn't served would fail for ever.
type podGroupWatch struct {
	client  kubernetes.Interface
	handler cache.ResourceEventHandler
	// ctx ends the watch. It is set before the first call of of.
	ctx     context.Context
	running sync.WaitGroup

	mu           sync.Mutex
	informer     cache.SharedIndexInformer
	registration cache.ResourceEventHandlerRegistration
}

// of returns the PodGroups that carry the application's name, and whether they are known yet.
func (w *podGroupWatch) of(key types.NamespacedName) ([]*schedulingv1beta1.PodGroup, bool, error) {
	informer, synced, err := w.start()
	if err != nil || !synced {
		return nil, false, err
	}
	objects, err := informer.GetIndexer().ByIndex(indexByApplication, key.String())
	if err != nil {
		return nil, false, fmt.Errorf("look up the PodGroups of %s: %w", key, err)
	}
	groups := make([]*schedulingv1beta1.PodGroup, 0, len(objects))
	for _, object := range objects {
		if group, ok := object.(*schedulingv1beta1.PodGroup); ok {
			groups = append(groups, group)
		}
	}
	return groups, true, nil
}

func (w *podGroupWatch) start() (cache.SharedIndexInformer, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.informer == nil {
		informer := schedulinginformers.NewFilteredPodGroupInformer(w.client, metav1.NamespaceAll, 0,
			cache.Indexers{indexByApplication: applicationOfLabels},
			func(options *metav1.ListOptions) { options.LabelSelector = launchedBySelector })
		if err := informer.SetTransform(trimManagedFields); err != nil {
			return nil, false, fmt.Errorf("trim cached PodGroups: %w", err)
		}
		registration, err := informer.AddEventHandler(w.handler)
		if err != nil {
			return nil, false, fmt.Errorf("handle events of PodGroups: %w", err)
		}
		w.informer, w.registration = informer, registration
		w.running.Go(func() { informer.RunWithContext(w.ctx) })
	}
	return w.informer, w.registration.HasSynced(), nil
}
