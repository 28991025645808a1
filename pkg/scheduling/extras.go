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

// The feature gates of what goes beyond placing executors as a group. Their names are those of pkg/features, which a pure
// package doesn't import.
const (
	gatePriorityClass     = "SparkApplicationGroupPriorityClass"
	gateDisruptionMode    = "SparkApplicationDisruptionMode"
	gateTopology          = "SparkApplicationTopology"
	gateResourceClaims    = "SparkApplicationSharedResourceClaims"
	gateDynamicAllocation = "SparkApplicationGroupDynamicAllocation"
)

// maxResourceClaims is how many claims a PodGroup may have (PodGroupMaxResourceClaims).
const maxResourceClaims = 4

// Extra is something that an application uses beyond a group, and that has a feature gate of its own.
type Extra struct {
	// Gate is the name of the gate.
	Gate string
	// Path is where the application asks for it.
	Path *field.Path
}

// Extras lists what an application with workload-aware scheduling uses beyond a group.
func Extras(spec *v1beta2.SparkApplicationSpec, specPath *field.Path) []Extra {
	if !Choose(spec, specPath).Native() {
		return nil
	}
	var extras []Extra
	if scheduling, path := spec.Scheduling, specPath.Child("scheduling"); scheduling != nil {
		if scheduling.PriorityClassName != nil {
			extras = append(extras, Extra{gatePriorityClass, path.Child("priorityClassName")})
		}
		if scheduling.DisruptionMode != nil {
			extras = append(extras, Extra{gateDisruptionMode, path.Child("disruptionMode")})
		}
		if scheduling.SchedulingConstraints != nil {
			extras = append(extras, Extra{gateTopology, path.Child("schedulingConstraints")})
		}
		if len(scheduling.ResourceClaims) > 0 {
			extras = append(extras, Extra{gateResourceClaims, path.Child("resourceClaims")})
		}
	}
	if path := dynamicAllocationPath(spec, specPath); path != nil {
		extras = append(extras, Extra{gateDynamicAllocation, path})
	}
	return extras
}

// dynamicAllocationPath is the place that turns dynamic allocation on, or nil. A block that is there decides.
func dynamicAllocationPath(spec *v1beta2.SparkApplicationSpec, specPath *field.Path) *field.Path {
	switch {
	case spec.DynamicAllocation != nil && spec.DynamicAllocation.Enabled:
		return specPath.Child("dynamicAllocation", "enabled")
	case spec.DynamicAllocation == nil && isTrue(spec.SparkConf[confDynamicAllocation]):
		return specPath.Child("sparkConf").Key(confDynamicAllocation)
	default:
		return nil
	}
}

// validateExtras refuses what the gates don't let in.
func validateExtras(spec *v1beta2.SparkApplicationSpec, specPath *field.Path, opts ValidateOptions) field.ErrorList {
	var errs field.ErrorList
	for _, extra := range Extras(spec, specPath) {
		if opts.enabled(extra.Gate) {
			continue
		}
		detail := fmt.Sprintf("needs the feature gate %s, which is off in this server", extra.Gate)
		switch extra.Gate {
		case gateDynamicAllocation:
			detail += "; without it set executor.instances, and turn dynamic allocation off"
		case gatePriorityClass:
			detail += "; without it the group has the priority class of the executors (executor.priorityClassName)"
		}
		errs = append(errs, field.Forbidden(extra.Path, detail))
	}
	return errs
}

// validateGroupPriority makes sure that the group and its members are given one class: the scheduler fails a group whose
// members have another priority.
func validateGroupPriority(app *spark.Application, specPath *field.Path) field.ErrorList {
	scheduling := app.App.Spec.Scheduling
	if scheduling == nil || scheduling.PriorityClassName == nil {
		return nil
	}
	class, own := *scheduling.PriorityClassName, app.ExecutorPriorityClassName
	if own == "" || own == class {
		return nil
	}
	return field.ErrorList{field.Invalid(specPath.Child("scheduling", "priorityClassName"), class,
		fmt.Sprintf("must be the priority class of the executors, %q: all members of a group have its priority; remove one of the two", own))}
}

// validateClaims checks what neither the API server nor the builder does for us before the PodGroup is created.
func validateClaims(scheduling *v1beta2.SparkSchedulingSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(scheduling.ResourceClaims) > maxResourceClaims {
		errs = append(errs, field.TooMany(path.Child("resourceClaims"), len(scheduling.ResourceClaims), maxResourceClaims))
	}
	for i := range scheduling.ResourceClaims {
		name := scheduling.ResourceClaims[i].Name
		for j := range i {
			if scheduling.ResourceClaims[j].Name == name {
				errs = append(errs, field.Duplicate(path.Child("resourceClaims").Index(i).Child("name"), name))
				break
			}
		}
	}
	return errs
}

// validateGangBounds keeps a gang with dynamic allocation to what Spark never goes below. Spark gives up executors that it
// started with and that idle, down to the minimum; a gang that counted on more would wait for them for ever.
func validateGangBounds(app *spark.Application, specPath *field.Path, choice Choice) field.ErrorList {
	if choice.Kind != Gang || !app.Executors.Dynamic {
		return nil
	}
	value, path, _ := app.Conf(confDynamicMin)
	minimum, err := parseInt32(value)
	if err != nil || minimum < 1 {
		return field.ErrorList{field.Required(specPath.Child("dynamicAllocation", "minExecutors"),
			"a gang with dynamic allocation is the executors that the application never goes below: at least 1")}
	}
	var errs field.ErrorList
	for _, key := range []string{confDynamicInitial, confExecutorInstances} {
		value, at, set := app.Conf(key)
		if n, err := parseInt32(value); set && err == nil && n > minimum {
			errs = append(errs, field.Invalid(at, n, fmt.Sprintf(
				"must not be more than the size of the gang, %d (%s): with dynamic allocation the gang is what the application starts with", minimum, path)))
		}
	}
	return errs
}
