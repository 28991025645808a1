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
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

const (
	volcanoName = "volcano"
	// volcanoGroupAnnotation names the PodGroup of a pod (KubeGroupNameAnnotationKey of volcano.sh/apis).
	volcanoGroupAnnotation = "scheduling.k8s.io/group-name"
)

var volcanoPodGroups = schema.GroupVersionResource{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "podgroups"}

// volcano is https://volcano.sh. Its PodGroup is admitted to a queue as a whole, by minResources, before the driver is
// placed; it is no gang, since minMember is 1.
type volcano struct{}

func (volcano) validate(o batchOptions) field.ErrorList {
	errs := o.objectName("queue", o.queue)
	errs = append(errs, o.objectName("priorityClassName", o.priorityClassName)...)
	return append(errs, o.quantities()...)
}

func (volcano) ignored() []string { return nil }

// place makes a PodGroup, unless the driver names one of its author's: then everything is left to its author.
func (volcano) place(app *spark.Application, o batchOptions) (*Batch, error) {
	b := &Batch{Name: volcanoName, Resource: volcanoPodGroups, Placement: &spark.Placement{SchedulerName: volcanoName}}
	if _, _, own := app.AnnotationOf(spark.Driver, volcanoGroupAnnotation); own {
		return b, nil
	}
	resources := o.resources
	if len(resources) == 0 {
		resources = app.Requests()
	}
	spec := map[string]any{"minMember": minMember, "minResources": quantities(resources)}
	if o.queue != "" {
		spec["queue"] = o.queue
	}
	if o.priorityClassName != "" {
		spec["priorityClassName"] = o.priorityClassName
	}
	name := fitted("spark-", app.App.Name, "-pg", validation.DNS1123SubdomainMaxLength)
	b.PodGroup = newPodGroup(app.App, volcanoPodGroups.GroupVersion().WithKind("PodGroup"), name, spec)
	b.PodGroup.Object["status"] = map[string]any{"phase": string(corev1.PodPending)}
	marks := spark.Marks{Annotations: map[string]string{volcanoGroupAnnotation: name}}
	b.Placement.Driver, b.Placement.Executor = marks, marks
	return b, nil
}
