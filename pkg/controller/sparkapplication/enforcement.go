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
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// enforcementRetry is when to look again whether the scheduler enforces gangs.
const enforcementRetry = 30 * time.Second

// enforcement knows the applications whose executors were bound although the scheduler says nothing of their PodGroup. While
// there is one, no other attempt of its namespace that wants to be scheduled as a group is submitted: it would be placed
// in another way. It goes by namespace since whoever may create pods there can make it look so, and must not hold up others.
type enforcement struct {
	mu      sync.Mutex
	ignored map[string]map[types.UID]string
}

// settle takes over what the status of an application says.
func (e *enforcement) settle(app *v1beta2.SparkApplication) {
	if mayHaveExecutors(app) && conditionReason(&app.Status, v1beta2.ConditionWorkloadSchedulingReady) == ReasonSchedulerNotEnforcing {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.ignored == nil {
			e.ignored = map[string]map[types.UID]string{}
		}
		if e.ignored[app.Namespace] == nil {
			e.ignored[app.Namespace] = map[types.UID]string{}
		}
		e.ignored[app.Namespace][app.UID] = app.Name
		return
	}
	e.forget(app.Namespace, app.UID)
}

// forget drops an application that is gone.
func (e *enforcement) forget(namespace string, uid types.UID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.ignored[namespace], uid)
	if len(e.ignored[namespace]) == 0 {
		delete(e.ignored, namespace)
	}
}

// obstacle returns what keeps an application from being scheduled as a group, or nil.
func (e *enforcement) obstacle(app *v1beta2.SparkApplication) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	first := ""
	for uid, name := range e.ignored[app.Namespace] {
		if uid != app.UID && (first == "" || name < first) {
			first = name
		}
	}
	if first == "" {
		return nil
	}
	return &Obstacle{
		Kind: ObstacleWaiting, Reason: ReasonSchedulerNotEnforcing, RetryAfter: enforcementRetry,
		Message: fmt.Sprintf("kube-scheduler has bound executors of SparkApplication %s and says nothing of their PodGroup, so it does not place groups: it runs without the feature gate GenericWorkload", first),
	}
}

// mayHaveExecutors says whether an application has an attempt whose driver may have made executors. One that is submitted has
// none, and may be one that waits here itself.
func mayHaveExecutors(app *v1beta2.SparkApplication) bool {
	state := app.Status.AppState.State
	return !deleting(app) && (state == v1beta2.ApplicationStateRunning || state == v1beta2.ApplicationStateUnknown)
}
