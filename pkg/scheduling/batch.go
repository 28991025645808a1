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
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apivalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// minMember is how many pods of an application a batch scheduler places together. It has always been one, the driver: the
// driver creates the executors, so that a group which waited for them would wait for ever.
const minMember = int64(1)

// Batch is what a batch scheduler needs for one attempt of an application.
type Batch struct {
	// Name is the name of the batch scheduler, and the schedulerName of the pods.
	Name string
	// PodGroup is the batch scheduler's own object, nil where it needs none. It has the same name in every attempt.
	PodGroup *unstructured.Unstructured
	// Resource is the kind of PodGroup.
	Resource schema.GroupVersionResource
	// Placement marks the pods.
	Placement *spark.Placement
}

// PodGroupName is the name of the PodGroup, empty where there is none.
func (b *Batch) PodGroupName() string {
	if b == nil || b.PodGroup == nil {
		return ""
	}
	return b.PodGroup.GetName()
}

// OwnedFields are the fields of the spec of a PodGroup that are set for every attempt, in all kinds of PodGroups.
func OwnedFields() []string {
	return []string{"minMember", "minResources", "queue", "priorityClassName"}
}

// batchScheduler is what has to be known of a batch scheduler.
type batchScheduler interface {
	// validate refuses options that the scheduler surely refuses later.
	validate(options batchOptions) field.ErrorList
	// ignored names the options that the scheduler has no use for.
	ignored() []string
	// place makes what the scheduler needs for an attempt.
	place(app *spark.Application, options batchOptions) (*Batch, error)
}

// batchScheduler returns the batch scheduler of a name.
func (s Schedulers) batchScheduler(name string) (batchScheduler, bool) {
	switch name {
	case volcanoName:
		return volcano{}, true
	case yunikornName:
		return yunikorn{}, true
	}
	return schedulerPlugins{name: name}, slices.Contains(s.KubeSchedulers, name)
}

// PodGroupResource is the kind of the PodGroups of a batch scheduler; false for one that needs none. Names that aren't
// known are those of kube-schedulers.
func PodGroupResource(batchSchedulerName string) (schema.GroupVersionResource, bool) {
	switch batchSchedulerName {
	case volcanoName:
		return volcanoPodGroups, true
	case yunikornName:
		return schema.GroupVersionResource{}, false
	default:
		return schedulerPluginsPodGroups, true
	}
}

// batchOptions are the options of a batch scheduler, in whichever of the two places they were given.
type batchOptions struct {
	queue, priorityClassName string
	resources                corev1.ResourceList
	path                     *field.Path
}

// optionsOf returns the options that hold for the batch scheduler of a spec, also for one that is the server's default.
func optionsOf(spec *v1beta2.SparkApplicationSpec, specPath *field.Path) batchOptions {
	if spec.Scheduling != nil && spec.Scheduling.BatchScheduler != nil {
		nested := spec.Scheduling.BatchScheduler
		return batchOptions{
			queue: deref(nested.Queue), priorityClassName: deref(nested.PriorityClassName), resources: nested.Resources,
			path: specPath.Child("scheduling", "batchScheduler"),
		}
	}
	options := batchOptions{path: specPath.Child("batchSchedulerOptions")}
	if top := spec.BatchSchedulerOptions; top != nil {
		options.queue, options.priorityClassName, options.resources = deref(top.Queue), deref(top.PriorityClassName), top.Resources
	}
	return options
}

// given says whether an option was given, and what it says.
func (o batchOptions) given(name string) (any, bool) {
	switch name {
	case "queue":
		return o.queue, o.queue != ""
	case "priorityClassName":
		return o.priorityClassName, o.priorityClassName != ""
	default:
		return quantities(o.resources), len(o.resources) > 0
	}
}

// objectName refuses an option that is no name of an object of the cluster.
func (o batchOptions) objectName(option, value string) field.ErrorList {
	if value == "" {
		return nil
	}
	if problems := apivalidation.IsDNS1123Subdomain(value); len(problems) > 0 {
		return field.ErrorList{field.Invalid(o.path.Child(option), value, strings.Join(problems, "; "))}
	}
	return nil
}

func (o batchOptions) quantities() field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(o.resources)) {
		quantity := o.resources[name]
		path := o.path.Child("resources").Key(string(name))
		if problems := apivalidation.IsQualifiedName(string(name)); len(problems) > 0 {
			errs = append(errs, field.Invalid(path, string(name), strings.Join(problems, "; ")))
		}
		if quantity.Sign() < 0 {
			errs = append(errs, field.Invalid(path, quantity.String(), "must not be negative"))
		}
	}
	return errs
}

// quantities writes a list of resources as JSON has it.
func quantities(list corev1.ResourceList) map[string]any {
	out := make(map[string]any, len(list))
	for name, quantity := range list {
		out[string(name)] = quantity.String()
	}
	return out
}

// newPodGroup makes the PodGroup of a batch scheduler.
func newPodGroup(app *v1beta2.SparkApplication, gvk schema.GroupVersionKind, name string, spec map[string]any) *unstructured.Unstructured {
	group := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	group.SetGroupVersionKind(gvk)
	group.SetName(name)
	group.SetNamespace(app.Namespace)
	group.SetLabels(map[string]string{spark.LabelAppName: app.Name, spark.LabelCreatedBy: spark.LabelTrue})
	group.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(app, v1beta2.SchemeGroupVersion.WithKind("SparkApplication"))})
	return group
}

// fitted puts the name of an application between prefix and suffix, and cuts it so that the whole is not too long.
func fitted(prefix, appName, suffix string, length int) string {
	return prefix + spark.Truncated(appName, length-len(prefix)-len(suffix)) + suffix
}
