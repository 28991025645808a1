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
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// cacheLag is how long an answer of the API server is preferred to a cache that does not show the object. After it the
// server is asked again.
const cacheLag = 10 * time.Second

// memory is what the controller knows of one application beyond its caches, which run behind its own writes. Nothing in
// it has to survive a restart. Only the worker that handles the application uses it.
type memory struct {
	uid types.UID
	// application is the application as last written by us.
	application *v1beta2.SparkApplication
	// driver is the driver pod as created by us, until a cache shows it.
	driver   *corev1.Pod
	driverAt time.Time
	// driverSeen is the submission ID of the attempt whose driver pod is known to have existed.
	driverSeen string
	// driverUntried is the submission ID of an attempt that this process has begun and for which no driver pod was asked yet.
	driverUntried string
	// podGroup is the PodGroup as last written by us.
	podGroup   *schedulingv1beta1.PodGroup
	podGroupAt time.Time
	// podGroupDeleted is the PodGroup that was last deleted by us. A cache may show it a little longer.
	podGroupDeleted types.UID
	// executorEnds are ends of executors that were seen and are not in the status yet. A driver removes the pod of an executor
	// that failed before the status is written, and nothing would be known of its end.
	executorEnds map[string]v1beta2.ExecutorState
	// volumeTrouble is what was last found in the events of the driver, at volumeAt.
	volumeTrouble string
	volumeAt      time.Time
	// side is what came of making side objects.
	side sideOutcome
	// objectsMissing is since when the ConfigMap or the Service of the driver has been missing.
	objectsMissing time.Time
	// statusAt is when the status was last written.
	statusAt time.Time
}

// memories holds the memory of every application.
type memories struct {
	mu    sync.Mutex
	byKey map[types.NamespacedName]*memory
}

func newMemories() *memories {
	return &memories{byKey: map[types.NamespacedName]*memory{}}
}

// of returns the memory of an application. A namesake that was deleted leaves nothing.
func (m *memories) of(key types.NamespacedName, uid types.UID) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	result, found := m.byKey[key]
	if !found || result.uid != uid {
		result = &memory{uid: uid}
		m.byKey[key] = result
	}
	return result
}

func (m *memories) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byKey, key)
}

// newer says whether a is a later version than b of the same object.
func newer(a, b metav1.Object) bool {
	if a.GetUID() != b.GetUID() {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(a.GetResourceVersion(), b.GetResourceVersion())
	return err == nil && order > 0
}
