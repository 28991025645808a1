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

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// validateSpec refuses what surely fails later. Most of it is what the packages find that turn the spec into a driver,
// its executors and their scheduling objects; what they have no use for is checked here.
func validateSpec(app *v1beta2.SparkApplication, path *field.Path, opts Options) field.ErrorList {
	resolved, errs := spark.Resolve(app, path)

	schedulingOpts := scheduling.ValidateOptions{
		WorkloadAwareScheduling: opts.WorkloadAwareScheduling, Enabled: opts.Enabled, Schedulers: opts.Schedulers,
	}
	if resolved != nil {
		errs = appendNew(errs, scheduling.Validate(resolved, path, schedulingOpts))
	} else {
		errs = appendNew(errs, scheduling.ValidateSpec(&app.Spec, path, schedulingOpts))
	}

	spec := &app.Spec
	errs = appendNew(errs, validateTemplateVersion(spec, path))
	errs = appendNew(errs, validatePythonVersion(spec, path))
	errs = appendNew(errs, validateNodeSelectors(spec, path))
	errs = appendNew(errs, validateUIOptions(spec.SparkUIOptions, path.Child("sparkUIOptions")))
	errs = appendNew(errs, validateDriverIngressOptions(spec.DriverIngressOptions, path.Child("driverIngressOptions")))
	return errs
}

// appendNew leaves out errors at fields that are in error already: the packages that validate parts of the spec overlap
// where one needs what another checks.
func appendNew(errs, more field.ErrorList) field.ErrorList {
	known := len(errs)
	for _, err := range more {
		if !slices.ContainsFunc(errs[:known], func(e *field.Error) bool { return e.Field == err.Field }) {
			errs = append(errs, err)
		}
	}
	return errs
}

// OncePerValue leaves out errors about a value of which an earlier error has spoken already. The rules beside the fields of the
// types and those that are written by hand see the same mistake; what is written by hand says more and goes first.
func OncePerValue(errs field.ErrorList) field.ErrorList {
	type mistake struct{ field, value string }
	seen := map[mistake]bool{}
	var once field.ErrorList
	for _, err := range errs {
		m := mistake{field: err.Field}
		if err.BadValue != nil {
			m.value = fmt.Sprint(err.BadValue)
		}
		if !seen[m] {
			seen[m] = true
			once = append(once, err)
		}
	}
	return once
}
