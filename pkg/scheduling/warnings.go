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

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// Warnings says what of an application's scheduling is accepted and had better be changed, in a fixed order.
func Warnings(app *spark.Application, specPath *field.Path) []string {
	warnings := append(DeprecationWarnings(&app.App.Spec, specPath), batchWarnings(app, specPath)...)
	if Choose(&app.App.Spec, specPath).Kind != Gang {
		return warnings
	}
	n := app.Executors.Initial
	if value, path, set := app.Conf(confAllocationMaximum); set {
		// Ids of executors are never used twice, so that those of replacements count as well.
		if maximum, err := parseInt32(value); err == nil && maximum >= n && int64(maximum) < 2*int64(n) {
			warnings = append(warnings, fmt.Sprintf("%s: %q is less than twice the size of the gang, %d; each replacement of an executor counts, and the driver fails when they are used up",
				path, value, n))
		}
	}
	if value, path, set := app.Conf(confRegisteredWaitingTime); set {
		warnings = append(warnings, fmt.Sprintf("%s: %q is kept; a gang may wait longer than that, and the application's code then runs without executors; remove the property to wait for the gang",
			path, value))
	}
	if value, path, set := app.Conf(confRegisteredResourceRatio); set {
		warnings = append(warnings, fmt.Sprintf("%s: %q is kept; the application's code starts when this share of the gang has registered; Spark's default on Kubernetes is 0.8",
			path, value))
	}
	return warnings
}

// DeprecationWarnings names each deprecated scheduling field in use and what takes its place. It needs no resolved
// application.
func DeprecationWarnings(spec *v1beta2.SparkApplicationSpec, specPath *field.Path) []string {
	var warnings []string
	for _, old := range DeprecatedFields(spec, specPath) {
		warnings = append(warnings, fmt.Sprintf("%s is deprecated; use %s", old.Path, old.Replacement))
	}
	return warnings
}

// DeprecatedField is a deprecated field in use.
type DeprecatedField struct {
	Path, Replacement *field.Path
}

// DeprecatedFields lists the deprecated scheduling fields that a spec uses. They work until they are removed.
func DeprecatedFields(spec *v1beta2.SparkApplicationSpec, specPath *field.Path) []DeprecatedField {
	var used []DeprecatedField
	nested := specPath.Child("scheduling", "batchScheduler")
	if deref(spec.BatchScheduler) != "" {
		used = append(used, DeprecatedField{specPath.Child("batchScheduler"), nested.Child("name")})
	}
	options := spec.BatchSchedulerOptions
	if options == nil {
		return used
	}
	for _, option := range []struct {
		name string
		set  bool
	}{
		{"queue", options.Queue != nil},
		{"priorityClassName", options.PriorityClassName != nil},
		{"resources", len(options.Resources) > 0},
	} {
		if option.set {
			used = append(used, DeprecatedField{specPath.Child("batchSchedulerOptions", option.name), nested.Child(option.name)})
		}
	}
	return used
}
