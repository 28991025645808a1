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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// schedulerPluginsGroupLabel names the PodGroup of a pod (PodGroupLabel of sigs.k8s.io/scheduler-plugins).
const schedulerPluginsGroupLabel = "scheduling.x-k8s.io/pod-group"

var schedulerPluginsPodGroups = schema.GroupVersionResource{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Resource: "podgroups"}

// schedulerPlugins is a kube-scheduler with the co-scheduling plugin of https://sigs.k8s.io/scheduler-plugins. Its PodGroup
// keeps an application from being started that the cluster has no room for; it is no gang, since minMember is 1.
type schedulerPlugins struct {
	// name is the name of the scheduler.
	name string
}

func (schedulerPlugins) validate(batchOptions) field.ErrorList { return nil }

func (schedulerPlugins) ignored() []string {
	return []string{"queue", "priorityClassName", "resources"}
}

func (s schedulerPlugins) place(app *spark.Application, _ batchOptions) (*Batch, error) {
	// The name is the value of a label, too.
	name := fitted("", app.App.Name, "-pg", validation.LabelValueMaxLength)
	marks := spark.Marks{Labels: map[string]string{schedulerPluginsGroupLabel: name}}
	return &Batch{
		Name: s.name,
		PodGroup: newPodGroup(app.App, schedulerPluginsPodGroups.GroupVersion().WithKind("PodGroup"), name,
			map[string]any{"minMember": minMember, "minResources": quantities(app.Requests())}),
		Resource:  schedulerPluginsPodGroups,
		Placement: &spark.Placement{SchedulerName: s.name, Driver: marks, Executor: marks},
	}, nil
}
