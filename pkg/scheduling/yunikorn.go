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

package scheduling

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// Names of YuniKorn, and those of its groups of tasks as they have always been.
const (
	yunikornName                = "yunikorn"
	yunikornQueueLabel          = "queue"
	yunikornGroupsAnnotation    = "yunikorn.apache.org/task-groups"
	yunikornGroupNameAnnotation = "yunikorn.apache.org/task-group-name"
	yunikornDriverGroup         = "spark-driver"
	yunikornExecutorGroup       = "spark-executor"
)

// yunikorn is https://yunikorn.apache.org. It needs no object: the driver's pod tells what groups of tasks are to come, and
// YuniKorn holds their room with pods of its own.
type yunikorn struct{}

// taskGroup is a group of tasks, as the annotation has it.
type taskGroup struct {
	Name         string              `json:"name"`
	MinMember    int32               `json:"minMember"`
	MinResource  map[string]string   `json:"minResource,omitempty"`
	NodeSelector map[string]string   `json:"nodeSelector,omitempty"`
	Tolerations  []corev1.Toleration `json:"tolerations,omitempty"`
	Affinity     *corev1.Affinity    `json:"affinity,omitempty"`
	Labels       map[string]string   `json:"labels,omitempty"`
}

func (yunikorn) validate(o batchOptions) field.ErrorList {
	if problems := validation.IsValidLabelValue(o.queue); len(problems) > 0 {
		return field.ErrorList{field.Invalid(o.path.Child("queue"), o.queue, strings.Join(problems, "; "))}
	}
	return nil
}

func (yunikorn) ignored() []string { return []string{"priorityClassName", "resources"} }

func (yunikorn) place(app *spark.Application, o batchOptions) (*Batch, error) {
	groups := []taskGroup{newTaskGroup(app, spark.Driver, yunikornDriverGroup, 1, app.App.Spec.Driver.Labels)}
	if n := app.Executors.Initial; n > 0 {
		groups = append(groups, newTaskGroup(app, spark.Executor, yunikornExecutorGroup, n, app.App.Spec.Executor.Labels))
	}
	encoded, err := json.Marshal(groups)
	if err != nil {
		return nil, fmt.Errorf("writing the task groups of YuniKorn: %w", err)
	}
	p := &spark.Placement{
		SchedulerName: yunikornName,
		Driver: spark.Marks{Annotations: map[string]string{
			yunikornGroupsAnnotation: string(encoded), yunikornGroupNameAnnotation: yunikornDriverGroup,
		}},
		Executor: spark.Marks{Annotations: map[string]string{yunikornGroupNameAnnotation: yunikornExecutorGroup}},
	}
	if o.queue != "" {
		p.Driver.Labels = map[string]string{yunikornQueueLabel: o.queue}
		p.Executor.Labels = map[string]string{yunikornQueueLabel: o.queue}
	}
	return &Batch{Name: yunikornName, Placement: p}, nil
}

// newTaskGroup describes the pods of a role. YuniKorn puts a pod in the place of one that holds room for it only if it is
// no larger and could be in the same places.
func newTaskGroup(app *spark.Application, role spark.Role, name string, count int32, labels map[string]string) taskGroup {
	spec := app.PodSpec(role)
	g := taskGroup{
		Name: name, MinMember: count, MinResource: map[string]string{},
		NodeSelector: spec.NodeSelector, Tolerations: spec.Tolerations, Affinity: spec.Affinity, Labels: labels,
	}
	for resource, quantity := range app.PodRequests(role) {
		g.MinResource[string(resource)] = quantity.String()
		if resource == corev1.ResourceMemory {
			g.MinResource[string(resource)] = wholeMebibytes(quantity.Value())
		}
	}
	return g
}

// wholeMebibytes rounds up, so that there is room for the pod.
func wholeMebibytes(bytes int64) string {
	const mebibyte = 1 << 20
	return fmt.Sprintf("%dMi", (bytes+mebibyte-1)/mebibyte)
}
