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
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// memories are the schedules as last written by the controller, whose caches run behind its own writes: with an old status
// a slot would seem not to have been run. Nothing in it has to survive a restart.
type memories struct {
	mu    sync.Mutex
	byKey map[types.NamespacedName]*v1beta2.ScheduledSparkApplication
}

func newMemories() *memories {
	return &memories{byKey: map[types.NamespacedName]*v1beta2.ScheduledSparkApplication{}}
}

func (m *memories) remember(schedule *v1beta2.ScheduledSparkApplication) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.byKey[types.NamespacedName{Namespace: schedule.Namespace, Name: schedule.Name}] = schedule
}

// newest returns the later of what is cached and what was written, and forgets the latter once the cache has it.
func (m *memories) newest(cached *v1beta2.ScheduledSparkApplication) *v1beta2.ScheduledSparkApplication {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := types.NamespacedName{Namespace: cached.Namespace, Name: cached.Name}
	written := m.byKey[key]
	if written != nil && written.UID == cached.UID {
		order, err := resourceversion.CompareResourceVersion(written.ResourceVersion, cached.ResourceVersion)
		if err == nil && order > 0 {
			return written
		}
	}
	delete(m.byKey, key)
	return cached
}

func (m *memories) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byKey, key)
}
