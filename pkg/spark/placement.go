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

package spark

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Placement is what a batch scheduler wants to find on the pods of an attempt.
type Placement struct {
	// SchedulerName takes the place of whatever scheduler the application names.
	SchedulerName string
	// Driver and Executor are added to the pods of the role, and win over what the application says of the same keys.
	Driver, Executor Marks
}

// Marks are labels and annotations.
type Marks struct {
	Labels, Annotations map[string]string
}

// batchPlacement marks the pods for a batch scheduler. Executors get their marks by properties, since Spark lets those
// win over a template; it comes after the other steps, since it wins over what they have set.
func batchPlacement(b *driverBuilder) {
	p := b.attempt.Placement
	if p == nil {
		return
	}
	if p.SchedulerName != "" {
		b.pod.Spec.SchedulerName = p.SchedulerName
		// Releases before 3.3 know but the key for both roles.
		for _, key := range []string{keySchedulerName, keyDriverSchedulerName, keyExecutorSchedulerName} {
			b.property(key, p.SchedulerName)
		}
	}
	for _, r := range []struct {
		*role
		marks Marks
	}{{&b.a.driver, p.Driver}, {&b.a.executor, p.Executor}} {
		for _, key := range slices.Sorted(maps.Keys(r.marks.Labels)) {
			b.property(r.prefixLabel+key, r.marks.Labels[key])
		}
		for _, key := range slices.Sorted(maps.Keys(r.marks.Annotations)) {
			b.property(r.prefixAnnotation+key, r.marks.Annotations[key])
		}
	}
	b.pod.Labels = overlaid(b.pod.Labels, p.Driver.Labels)
	b.pod.Annotations = overlaid(b.pod.Annotations, p.Driver.Annotations)
}

// overlaid adds entries to a map, which may be nil.
func overlaid[M ~map[K]V, K comparable, V any](into, from M) M {
	if len(from) == 0 {
		return into
	}
	if into == nil {
		into = M{}
	}
	maps.Copy(into, from)
	return into
}

// LabelOf returns the label that the application gives to the pods of a role, and where it says so.
func (a *Application) LabelOf(role Role, key string) (value string, at *field.Path, ok bool) {
	return a.markOf(role, "labels", key)
}

// AnnotationOf returns the annotation that the application gives to the pods of a role, and where it says so.
func (a *Application) AnnotationOf(role Role, key string) (value string, at *field.Path, ok bool) {
	return a.markOf(role, "annotations", key)
}

func (a *Application) markOf(role Role, list, key string) (string, *field.Path, bool) {
	r := &a.driver
	if role == Executor {
		r = &a.executor
	}
	prefix := r.prefixLabel
	if list == "annotations" {
		prefix = r.prefixAnnotation
	}
	if s, ok := a.conf[prefix+key]; ok {
		return s.value, s.path, true
	}
	if values, path, ok := a.TemplateField(role, "metadata", list); ok {
		object, _ := values.(map[string]any)
		if value, ok := object[key].(string); ok {
			return value, path.Key(key), true
		}
	}
	return "", nil, false
}
