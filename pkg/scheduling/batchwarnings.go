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
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// batchWarnings says what a chosen batch scheduler leaves without effect. A name that isn't known here is taken for one of
// a kube-scheduler; whether it is one is for validation to say.
func batchWarnings(app *spark.Application, specPath *field.Path) []string {
	spec := &app.App.Spec
	choice := Choose(spec, specPath)
	if choice.Kind != BatchScheduler {
		if spec.BatchSchedulerOptions != nil && choice.Kind == None {
			return []string{fmt.Sprintf("%s: is only for the batch scheduler that the server chooses by default, if it does; name one with %s",
				specPath.Child("batchSchedulerOptions"), specPath.Child("scheduling", "batchScheduler", "name"))}
		}
		return nil
	}
	scheduler, known := Schedulers{}.batchScheduler(choice.BatchScheduler)
	if !known {
		scheduler = schedulerPlugins{name: choice.BatchScheduler}
	}
	options := optionsOf(spec, specPath)
	var warnings []string
	for _, name := range scheduler.ignored() {
		if value, given := options.given(name); given {
			warnings = append(warnings, fmt.Sprintf("%s: %v has no effect with the batch scheduler %q; remove the field", options.path.Child(name), value, choice.BatchScheduler))
		}
	}
	for _, named := range app.SchedulerNames() {
		if named.Value != choice.BatchScheduler {
			warnings = append(warnings, fmt.Sprintf("%s: %q has no effect, because %s gives the pods to %q; remove one of them",
				named.Path, named.Value, choice.Path, choice.BatchScheduler))
		}
	}
	batch, err := scheduler.place(app, options)
	if err != nil {
		return warnings
	}
	if value, path, own := app.AnnotationOf(spark.Driver, volcanoGroupAnnotation); own && choice.BatchScheduler == volcanoName {
		warnings = append(warnings, fmt.Sprintf("%s: %q is taken for a PodGroup of yours: none is made, and the executors are left as they are", path, value))
	}
	for _, role := range []struct {
		spark.Role
		spark.Marks
	}{{spark.Driver, batch.Placement.Driver}, {spark.Executor, batch.Placement.Executor}} {
		warnings = append(warnings, shadowed(role.Labels, choice.BatchScheduler, func(key string) (string, *field.Path, bool) { return app.LabelOf(role.Role, key) })...)
		warnings = append(warnings, shadowed(role.Annotations, choice.BatchScheduler, func(key string) (string, *field.Path, bool) { return app.AnnotationOf(role.Role, key) })...)
	}
	return warnings
}

// shadowed warns of labels or annotations of an application that a batch scheduler needs otherwise.
func shadowed(marks map[string]string, scheduler string, given func(key string) (string, *field.Path, bool)) []string {
	var warnings []string
	for _, key := range slices.Sorted(maps.Keys(marks)) {
		if value, path, ok := given(key); ok && value != marks[key] {
			warnings = append(warnings, fmt.Sprintf("%s: %q has no effect, because the batch scheduler %q needs the value %q; remove it", path, value, scheduler, marks[key]))
		}
	}
	return warnings
}
