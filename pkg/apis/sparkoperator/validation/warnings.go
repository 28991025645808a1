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

package validation

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// WarningsForSparkApplication says what of a valid application is accepted and will not do what its author may think.
// The old object is nil for a create. An update that changes nothing of the spec is answered without warnings: whoever
// labels an object can't help what its author wrote.
func WarningsForSparkApplication(app, old *sparkoperator.SparkApplication) []string {
	if old != nil && (app.DeletionTimestamp != nil || equality.Semantic.DeepEqual(&app.Spec, &old.Spec)) {
		return nil
	}
	var warnings []string
	add := func(more ...string) {
		for _, warning := range more {
			if !slices.Contains(warnings, warning) {
				warnings = append(warnings, warning)
			}
		}
	}

	if old != nil && restartRelevantChange(&app.Spec, &old.Spec) {
		add(editWarnings(old)...)
	}
	add(specWarnings(versioned(app), specPath)...)
	return warnings
}

// DeprecatedFields lists the paths of the deprecated fields that the spec of a new or edited application uses. The old
// object is nil for a create. An update that leaves the spec alone uses none.
func DeprecatedFields(app, old *sparkoperator.SparkApplication) []string {
	if old != nil && equality.Semantic.DeepEqual(&app.Spec, &old.Spec) {
		return nil
	}
	var paths []string
	for _, used := range scheduling.DeprecatedFields(&versioned(app).Spec, specPath) {
		paths = append(paths, used.Path.String())
	}
	return paths
}

// specWarnings says what of a spec, wherever it is, won't do what its author may think.
func specWarnings(app *v1beta2.SparkApplication, path *field.Path) []string {
	var warnings []string
	resolved, errs := spark.Resolve(app, path)
	if len(errs) == 0 && resolved != nil {
		warnings = append(warnings, resolved.Warnings()...)
		warnings = append(warnings, scheduling.Warnings(resolved, path)...)
	} else {
		// A stored object that breaks a newer rule still deserves to hear of its deprecated fields.
		warnings = append(warnings, scheduling.DeprecationWarnings(&app.Spec, path)...)
	}
	return warnings
}

// editWarnings says what an edit of the spec does to an application that has begun.
func editWarnings(old *sparkoperator.SparkApplication) []string {
	switch state := old.Status.AppState.State; {
	case state == sparkoperator.ApplicationStateNew, state == sparkoperator.ApplicationStateSuspending,
		state == sparkoperator.ApplicationStateSuspended: // nothing runs that the edit would end
		return nil
	case terminal(state):
		return []string{fmt.Sprintf("%s: the application has ended (%s); the edit runs it again", specPath, state)}
	default:
		return []string{fmt.Sprintf("%s: the edit ends the current attempt (%s) and starts another one", specPath, state)}
	}
}
