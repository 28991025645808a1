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
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/scheduling/schedulingv1/workloadbuilder"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// gateName is the name of the gate in pkg/features, which a pure package doesn't import: the answer of the gate is an
// argument.
const gateName = "SparkApplicationWorkloadAwareScheduling"

// ValidateOptions is what validation depends on beside the object.
type ValidateOptions struct {
	// WorkloadAwareScheduling says whether the feature gate SparkApplicationWorkloadAwareScheduling is on.
	WorkloadAwareScheduling bool
	// Enabled says whether a gate of those that Extras names is on. Nil: none is.
	Enabled func(gate string) bool
	// Schedulers are the batch schedulers that the server knows.
	Schedulers Schedulers
}

func (o ValidateOptions) enabled(gate string) bool { return o.Enabled != nil && o.Enabled(gate) }

// Validate refuses a resolved application whose executors surely can't be placed in the way it asks for, and whatever
// of its scheduling this release can't honour. The rules of the building blocks themselves (exactly one policy and so
// on) are part of the generated validation and are not repeated.
func Validate(app *spark.Application, specPath *field.Path, opts ValidateOptions) field.ErrorList {
	spec := &app.App.Spec
	errs := ValidateSpec(spec, specPath, opts)
	choice := Choose(spec, specPath)
	if !choice.Native() || !opts.WorkloadAwareScheduling {
		return errs
	}
	if opts.enabled(gateDynamicAllocation) {
		errs = append(errs, validateGangBounds(app, specPath, choice)...)
	}
	errs = append(errs, validateGangSize(app, choice)...)
	errs = append(errs, validateSchedulerNames(app)...)
	errs = append(errs, validateSparkVersion(app, specPath)...)
	errs = append(errs, validatePriorityClass(app, specPath)...)
	errs = append(errs, validateGroupPriority(app, specPath)...)
	errs = append(errs, validateAllocation(app, specPath, choice)...)
	errs = append(errs, validateBlocks(app, specPath, errs)...)
	return errs
}

// ValidateSpec is the part of Validate that needs no resolved application, for a spec that can't be resolved.
func ValidateSpec(spec *v1beta2.SparkApplicationSpec, specPath *field.Path, opts ValidateOptions) field.ErrorList {
	choice := opts.Schedulers.Choose(spec, specPath)
	errs := opts.Schedulers.validateChoice(spec, specPath, choice)
	if !choice.Native() {
		return errs
	}
	path := specPath.Child("scheduling")
	if !opts.WorkloadAwareScheduling {
		return append(errs, field.Forbidden(path, fmt.Sprintf("needs the feature gate %s, which is off in this server",
			gateName)))
	}
	errs = append(errs, validateSupported(spec.Scheduling, path)...)
	errs = append(errs, validateExtras(spec, specPath, opts)...)
	errs = append(errs, validateMembership(spec, specPath)...)
	errs = append(errs, validateDriverMaster(spec, specPath)...)
	return errs
}

// validateSupported refuses what no gate lets in. The scheduling block may be nil.
func validateSupported(scheduling *v1beta2.SparkSchedulingSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if scheduling == nil {
		return nil
	}
	policy := scheduling.SchedulingPolicy
	gang := policy != nil && policy.Gang != nil
	if gang && policy.Gang.MinCount != nil {
		errs = append(errs, field.Forbidden(path.Child("schedulingPolicy", "gang", "minCount"),
			"is computed from the number of executors"))
	}
	if scheduling.AdmissionDeadlineSeconds != nil && !gang {
		errs = append(errs, field.Forbidden(path.Child("admissionDeadlineSeconds"),
			"needs schedulingPolicy.gang: only a gang waits to be placed as a whole"))
	}
	if s := scheduling.AdmissionDeadlineSeconds; s != nil && *s < 1 {
		errs = append(errs, field.Invalid(path.Child("admissionDeadlineSeconds"), *s,
			"must be at least 1 second; without the field the server's --gang-admission-deadline holds"))
	}
	return append(errs, validateClaims(scheduling, path)...)
}

// validateDriverMaster refuses a driver that runs everything inside of itself: KubernetesClusterManager makes no
// executor for such a master, and the group would stay empty.
func validateDriverMaster(spec *v1beta2.SparkApplicationSpec, specPath *field.Path) field.ErrorList {
	master := deref(spec.Driver.KubernetesMaster)
	if !strings.HasPrefix(master, "local") {
		return nil
	}
	return field.ErrorList{field.Invalid(specPath.Child("driver", "kubernetesMaster"), master,
		"a local master makes no executors that could be placed together; give the URL of the API server, or remove the field")}
}

func validateGangSize(app *spark.Application, choice Choice) field.ErrorList {
	if choice.Kind != Gang || app.Executors.Initial >= 1 || app.Executors.Path == nil {
		return nil // a number that can't be resolved has no path, and an error of its own
	}
	return field.ErrorList{field.Invalid(app.Executors.Path, app.Executors.Initial, "a gang has at least 1 executor")}
}

// validateSchedulerNames lets members be placed by the default scheduler alone: kube-scheduler fails a group whose
// members name different ones, and a scheduler that doesn't serve PodGroups leaves them pending without a word.
func validateSchedulerNames(app *spark.Application) field.ErrorList {
	var errs field.ErrorList
	for _, name := range app.SchedulerNames() {
		if name.Value != "" && name.Value != corev1.DefaultSchedulerName {
			errs = append(errs, field.Invalid(name.Path, name.Value,
				fmt.Sprintf("with scheduling.schedulingPolicy the scheduler is %q; remove the field", corev1.DefaultSchedulerName)))
		}
	}
	return errs
}

// validateSparkVersion refuses versions before 3.3. Their Kubernetes client drops the fields of a pod template that it
// doesn't know, and the group is one of those.
func validateSparkVersion(app *spark.Application, specPath *field.Path) field.ErrorList {
	if app.Line.SupportsSchedulingGroup() {
		return nil
	}
	return field.ErrorList{field.Invalid(specPath.Child("sparkVersion"), app.App.Spec.SparkVersion,
		"scheduling.schedulingPolicy needs Spark 3.3 or later: older versions lose the group of an executor's pod")}
}

// validatePriorityClass refuses the classes of the system. Their values are above what a PodGroup may have.
func validatePriorityClass(app *spark.Application, specPath *field.Path) field.ErrorList {
	class := groupPriorityClass(app)
	if !strings.HasPrefix(class, "system-") {
		return nil
	}
	path := specPath.Child("executor", "priorityClassName")
	if scheduling := app.App.Spec.Scheduling; scheduling != nil && deref(scheduling.PriorityClassName) != "" {
		path = specPath.Child("scheduling", "priorityClassName")
	} else if deref(app.App.Spec.Executor.PriorityClassName) == "" {
		path = specPath.Child("executor", "template", "spec", "priorityClassName")
	}
	return field.ErrorList{field.Forbidden(path,
		fmt.Sprintf("the group of executors can't have the class %q of the system; name another one", class))}
}

// validateAllocation checks the settings of Spark's allocator (ExecutorPodsAllocator). A limit below the size of the
// gang means that the gang is never complete: nothing is placed, and nothing says why.
func validateAllocation(app *spark.Application, specPath *field.Path, choice Choice) field.ErrorList {
	var errs field.ErrorList
	if allocator, path, set := app.Conf(confAllocator); set && allocator != allocatorDirect {
		errs = append(errs, field.Invalid(path, allocator,
			fmt.Sprintf("must be %q with scheduling.schedulingPolicy; remove the property", allocatorDirect)))
	}
	if choice.Kind != Gang {
		return errs
	}
	for _, key := range []string{confMaxPendingPods, confMaxPendingPodsPerRp, confAllocationMaximum} {
		value, path, set := app.Conf(key)
		if !set {
			continue
		}
		limit, err := parseInt32(value)
		switch {
		case err != nil:
			errs = append(errs, field.Invalid(path, value, "must be a whole number"))
		case limit < app.Executors.Initial:
			errs = append(errs, field.Invalid(path, value,
				fmt.Sprintf("must be at least the size of the gang, %d (%s)", app.Executors.Initial, app.Executors.Path)))
		}
	}
	// Each of the two is enough for the driver to see its executors; without both it stops after the first batch.
	watcher, _, watcherSet := app.Conf(confEnableAPIWatcher)
	polling, path, pollingSet := app.Conf(confEnableAPIPolling)
	if watcherSet && pollingSet && isFalse(watcher) && isFalse(polling) {
		errs = append(errs, field.Invalid(path, polling, fmt.Sprintf(
			"must not be false together with %s: the driver would never see its executors", specPath.Child("sparkConf").Key(confEnableAPIWatcher))))
	}
	return errs
}

// validateBlocks has the builder check its allow-lists. What was refused before is not refused again.
func validateBlocks(app *spark.Application, specPath *field.Path, before field.ErrorList) field.ErrorList {
	builder := workloadbuilder.NewBuilder(schedulingItem(app, specPath),
		buildOptions(app.App, WorkloadName(app.App.Name, app.App.UID)))
	return slices.DeleteFunc(builder.Validate(context.Background(), workloadbuilder.ValidationInput{}), func(err *field.Error) bool {
		return slices.ContainsFunc(before, func(earlier *field.Error) bool { return earlier.Field == err.Field })
	})
}

func parseInt32(value string) (int32, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 32)
	return int32(n), err
}

// isTrue and isFalse read a boolean as Spark's ConfigHelpers.toBoolean does.
func isTrue(value string) bool {
	return strings.EqualFold(strings.TrimSpace(value), "true")
}

func isFalse(value string) bool {
	return strings.EqualFold(strings.TrimSpace(value), "false")
}
