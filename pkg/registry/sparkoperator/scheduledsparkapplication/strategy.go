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

package scheduledsparkapplication

import (
	"context"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/operation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/validation"
	"github.com/spark-apiserver/spark-apiserver/pkg/features"
	"github.com/spark-apiserver/spark-apiserver/pkg/registry/sparkoperator/sparkapplication"
)

// servedVersion is the only version that is served. Every version has to be named in the reset fields.
var servedVersion = fieldpath.APIVersion(v1beta2.SchemeGroupVersion.String())

// scheduledSparkApplicationStrategy implements behavior for ScheduledSparkApplication objects.
type scheduledSparkApplicationStrategy struct {
	rest.DeclarativeValidation
	names.NameGenerator
	features   featuregate.FeatureGate
	schedulers validation.BatchSchedulers
}

var (
	_ rest.RESTCreateStrategy              = &scheduledSparkApplicationStrategy{}
	_ rest.RESTUpdateStrategy              = &scheduledSparkApplicationStrategy{}
	_ rest.GarbageCollectionDeleteStrategy = &scheduledSparkApplicationStrategy{}
	_ rest.ResetFieldsStrategy             = &scheduledSparkApplicationStrategy{}
	_ rest.DeclarativeValidationStrategy   = &scheduledSparkApplicationStrategy{}
	_ rest.RESTUpdateStrategy              = &scheduledSparkApplicationStatusStrategy{}
	_ rest.ResetFieldsStrategy             = &scheduledSparkApplicationStatusStrategy{}
)

// NewStrategy returns the rules for creating, changing and deleting ScheduledSparkApplications. The scheme is the one that the
// declarative validation is registered with; the gate decides what a run may ask for, and the
// batch schedulers are those that it may name.
func NewStrategy(scheme *runtime.Scheme, gate featuregate.FeatureGate, schedulers validation.BatchSchedulers) *scheduledSparkApplicationStrategy { //nolint:revive // used through the interfaces of package rest
	return &scheduledSparkApplicationStrategy{
		DeclarativeValidation: rest.DeclarativeValidation{Scheme: scheme},
		NameGenerator:         names.SimpleNameGenerator,
		features:              gate,
		schedulers:            schedulers,
	}
}

// ValidateDeclaratively adds what the rules beside the fields of the types say, where nothing was said yet.
func (s *scheduledSparkApplicationStrategy) ValidateDeclaratively(ctx context.Context, obj, old runtime.Object, errs field.ErrorList, on operation.Type, config rest.DeclarativeValidationConfig) field.ErrorList {
	return validation.OncePerValue(s.DeclarativeValidation.ValidateDeclaratively(ctx, obj, old, errs, on, config))
}

// NamespaceScoped is true: a schedule lives beside its runs.
func (*scheduledSparkApplicationStrategy) NamespaceScoped() bool {
	return true
}

// GetResetFields names what this strategy wipes, so that no applier comes to own it.
func (*scheduledSparkApplicationStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return map[fieldpath.APIVersion]*fieldpath.Set{
		servedVersion: fieldpath.NewSet(fieldpath.MakePathOrDie("status")),
	}
}

// PrepareForCreate wipes the status, which is the controller's, and starts counting generations.
func (s *scheduledSparkApplicationStrategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	schedule := obj.(*sparkoperator.ScheduledSparkApplication)
	schedule.Status = sparkoperator.ScheduledSparkApplicationStatus{}
	schedule.Generation = 1
	s.Canonicalize(schedule)
}

// Validate refuses what would surely fail.
func (s *scheduledSparkApplicationStrategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return validation.ValidateScheduledSparkApplication(obj.(*sparkoperator.ScheduledSparkApplication), s.validationOptions())
}

// WarningsOnCreate says what won't have the effect that the user may expect.
func (*scheduledSparkApplicationStrategy) WarningsOnCreate(_ context.Context, obj runtime.Object) []string {
	return validation.WarningsForScheduledSparkApplication(obj.(*sparkoperator.ScheduledSparkApplication), nil)
}

// Canonicalize brings the pod templates into the form that they are compared in.
func (*scheduledSparkApplicationStrategy) Canonicalize(obj runtime.Object) {
	sparkapplication.CanonicalizeSpec(&obj.(*sparkoperator.ScheduledSparkApplication).Spec.Template)
}

// AllowCreateOnUpdate is false: a schedule is made by POST or by apply.
func (*scheduledSparkApplicationStrategy) AllowCreateOnUpdate(context.Context) bool {
	return false
}

// PrepareForUpdate keeps the status and counts a changed spec as a new generation.
func (s *scheduledSparkApplicationStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	newSchedule, oldSchedule := obj.(*sparkoperator.ScheduledSparkApplication), old.(*sparkoperator.ScheduledSparkApplication)
	newSchedule.Status = oldSchedule.Status
	s.Canonicalize(newSchedule)
	newSchedule.Generation = oldSchedule.Generation
	if !apiequality.Semantic.DeepEqual(newSchedule.Spec, oldSchedule.Spec) {
		newSchedule.Generation++
	}
}

// ValidateUpdate refuses what would surely fail. Everything may be edited, since an edit is for runs to come.
func (s *scheduledSparkApplicationStrategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidateScheduledSparkApplicationUpdate(obj.(*sparkoperator.ScheduledSparkApplication), old.(*sparkoperator.ScheduledSparkApplication), s.validationOptions())
}

// WarningsOnUpdate says what won't have the effect that the user may expect.
func (*scheduledSparkApplicationStrategy) WarningsOnUpdate(_ context.Context, obj, old runtime.Object) []string {
	return validation.WarningsForScheduledSparkApplication(obj.(*sparkoperator.ScheduledSparkApplication), old.(*sparkoperator.ScheduledSparkApplication))
}

// AllowUnconditionalUpdate is false, as it is for custom resources: a PUT has to name the version that it replaces.
func (*scheduledSparkApplicationStrategy) AllowUnconditionalUpdate(context.Context) bool {
	return false
}

// DefaultGarbageCollectionPolicy deletes the runs of a schedule after the schedule itself.
func (*scheduledSparkApplicationStrategy) DefaultGarbageCollectionPolicy(context.Context) rest.GarbageCollectionPolicy {
	return rest.DeleteDependents
}

func (s *scheduledSparkApplicationStrategy) validationOptions() validation.Options {
	return validation.Options{
		Schedulers:              s.schedulers,
		WorkloadAwareScheduling: s.features.Enabled(features.SparkApplicationWorkloadAwareScheduling),
		Enabled:                 func(gate string) bool { return s.features.Enabled(featuregate.Feature(gate)) },
	}
}

// scheduledSparkApplicationStatusStrategy implements behavior for the status of ScheduledSparkApplication objects.
type scheduledSparkApplicationStatusStrategy struct {
	*scheduledSparkApplicationStrategy
}

// NewStatusStrategy returns the rules for changing the status alone.
func NewStatusStrategy(strategy *scheduledSparkApplicationStrategy) *scheduledSparkApplicationStatusStrategy { //nolint:revive // used through the interfaces of package rest
	return &scheduledSparkApplicationStatusStrategy{strategy}
}

// GetResetFields names what a change of the status never changes.
func (*scheduledSparkApplicationStatusStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return map[fieldpath.APIVersion]*fieldpath.Set{
		servedVersion: fieldpath.NewSet(
			fieldpath.MakePathOrDie("metadata"),
			fieldpath.MakePathOrDie("spec"),
		),
	}
}

// PrepareForUpdate keeps everything but the status.
func (*scheduledSparkApplicationStatusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	newSchedule, oldSchedule := obj.(*sparkoperator.ScheduledSparkApplication), old.(*sparkoperator.ScheduledSparkApplication)
	newSchedule.Spec = oldSchedule.Spec
	metav1.ResetObjectMetaForStatus(&newSchedule.ObjectMeta, &oldSchedule.ObjectMeta)
}

// ValidateUpdate refuses a status that contradicts itself.
func (*scheduledSparkApplicationStatusStrategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidateScheduledSparkApplicationStatusUpdate(obj.(*sparkoperator.ScheduledSparkApplication), old.(*sparkoperator.ScheduledSparkApplication))
}

// WarningsOnUpdate has nothing to say: the status is written by the controller.
func (*scheduledSparkApplicationStatusStrategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}
