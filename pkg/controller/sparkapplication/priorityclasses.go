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
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulinginformers "k8s.io/client-go/informers/scheduling/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// priorityClasses knows the values of priority classes, by which applications wait in line. While it knows nothing, all
// are equal and age decides.
type priorityClasses struct {
	informer cache.SharedIndexInformer
}

func newPriorityClasses(client kubernetes.Interface) *priorityClasses {
	return &priorityClasses{informer: schedulinginformers.NewPriorityClassInformer(client, 0, cache.Indexers{})}
}

// value returns the value of a class, or of the cluster's default where none is named.
func (p *priorityClasses) value(name string) int32 {
	if name != "" {
		object, exists, err := p.informer.GetIndexer().GetByKey(name)
		if class, ok := object.(*schedulingv1.PriorityClass); ok && exists && err == nil {
			return class.Value
		}
		return 0
	}
	for _, object := range p.informer.GetIndexer().List() {
		if class, ok := object.(*schedulingv1.PriorityClass); ok && class.GlobalDefault {
			return class.Value
		}
	}
	return 0
}
