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

package sparkapplication

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
)

// servedVersion is the only version that is served. Every version has to be named in the reset fields.
var servedVersion = fieldpath.APIVersion(v1beta2.SchemeGroupVersion.String())

// sparkApplicationStrategy implements behavior for SparkApplication objects.
type sparkApplicationStrategy struct {
	rest.DeclarativeValidation
	names.NameGenerator
	features   featuregate.FeatureGate
	schedulers validation.BatchSchedulers
}

var (
	_ rest.RESTCreateStrategy              = &sparkApplicationStrategy{}
	_ rest.RESTUpdateStrategy              = &sparkApplicationStrategy{}
	_ rest.GarbageCollectionDeleteStrategy = &sparkApplicationStrategy{}
	_ rest.ResetFieldsStrategy             = &sparkApplicationStrategy{}
	_ rest.DeclarativeValidationStrategy   = &sparkApplicationStrategy{}
	_ rest.RESTUpdateStrategy              = &sparkApplicationStatusStrategy{}
	_ rest.ResetFieldsStrategy             = &sparkApplicationStatusStrategy{}
)

// NewStrategy returns the rules for creating, changing and deleting SparkApplications. The scheme is the one that the
// declarative validation is registered with; the gate and the known batch schedulers decide what an application may ask for.
func NewStrategy(scheme *runtime.Scheme, gate featuregate.FeatureGate, schedulers validation.BatchSchedulers) *sparkApplicationStrategy { //nolint:revive // used through the interfaces of package rest
	registerMetrics()
	return &sparkApplicationStrategy{
		DeclarativeValidation: rest.DeclarativeValidation{Scheme: scheme},
		NameGenerator:         names.SimpleNameGenerator,
		features:              gate,
		schedulers:            schedulers,
	}
}

// ValidateDeclaratively adds what the rules beside the fields of the types say, where nothing was said yet.
func (s *sparkApplicationStrategy) ValidateDeclaratively(ctx context.Context, obj, old runtime.Object, errs field.ErrorList, on operation.Type, config rest.DeclarativeValidationConfig) field.ErrorList {
	return validation.OncePerValue(s.DeclarativeValidation.ValidateDeclaratively(ctx, obj, old, errs, on, config))
}

// NamespaceScoped is true: an application lives beside its pods.
func (*sparkApplicationStrategy) NamespaceScoped() bool {
	return true
}

// GetResetFields names what this strategy wipes, so that no applier comes to own it.
func (*sparkApplicationStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return map[fieldpath.APIVersion]*fieldpath.Set{
		servedVersion: fieldpath.NewSet(fieldpath.MakePathOrDie("status")),
	}
}

// PrepareForCreate wipes the status, which is the controller's, and starts counting generations.
func (s *sparkApplicationStrategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	app := obj.(*sparkoperator.SparkApplication)
	app.Status = sparkoperator.SparkApplicationStatus{}
	app.Generation = 1
	s.Canonicalize(app)
}

// Validate refuses what would surely fail.
func (s *sparkApplicationStrategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return validation.ValidateSparkApplication(obj.(*sparkoperator.SparkApplication), s.validationOptions())
}

// WarningsOnCreate says what won't have the effect that the user may expect.
func (*sparkApplicationStrategy) WarningsOnCreate(_ context.Context, obj runtime.Object) []string {
	app := obj.(*sparkoperator.SparkApplication)
	countDeprecatedFields(app, nil)
	return validation.WarningsForSparkApplication(app, nil)
}

// Canonicalize brings the pod templates into the form that they are compared in.
func (*sparkApplicationStrategy) Canonicalize(obj runtime.Object) {
	CanonicalizeSpec(&obj.(*sparkoperator.SparkApplication).Spec)
}

// AllowCreateOnUpdate is false: an application is made by POST or by apply.
func (*sparkApplicationStrategy) AllowCreateOnUpdate(context.Context) bool {
	return false
}

// PrepareForUpdate keeps the status and counts a changed spec as a new generation.
func (s *sparkApplicationStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	newApp, oldApp := obj.(*sparkoperator.SparkApplication), old.(*sparkoperator.SparkApplication)
	newApp.Status = oldApp.Status
	s.Canonicalize(newApp)
	newApp.Generation = oldApp.Generation
	if !apiequality.Semantic.DeepEqual(newApp.Spec, oldApp.Spec) {
		newApp.Generation++
	}
}

// ValidateUpdate refuses what would surely fail, and what can't be changed once the application exists.
func (s *sparkApplicationStrategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidateSparkApplicationUpdate(obj.(*sparkoperator.SparkApplication), old.(*sparkoperator.SparkApplication), s.validationOptions())
}

// WarningsOnUpdate says what won't have the effect that the user may expect.
func (*sparkApplicationStrategy) WarningsOnUpdate(_ context.Context, obj, old runtime.Object) []string {
	app, oldApp := obj.(*sparkoperator.SparkApplication), old.(*sparkoperator.SparkApplication)
	countDeprecatedFields(app, oldApp)
	return validation.WarningsForSparkApplication(app, oldApp)
}

// AllowUnconditionalUpdate is false, as it is for custom resources: a PUT has to name the version that it replaces.
func (*sparkApplicationStrategy) AllowUnconditionalUpdate(context.Context) bool {
	return false
}

// DefaultGarbageCollectionPolicy deletes what belongs to an application after the application itself.
func (*sparkApplicationStrategy) DefaultGarbageCollectionPolicy(context.Context) rest.GarbageCollectionPolicy {
	return rest.DeleteDependents
}

func (s *sparkApplicationStrategy) validationOptions() validation.Options {
	return validation.Options{
		WorkloadAwareScheduling: s.features.Enabled(features.SparkApplicationWorkloadAwareScheduling),
		Enabled:                 func(gate string) bool { return s.features.Enabled(featuregate.Feature(gate)) },
		Schedulers:              s.schedulers,
	}
}

// sparkApplicationStatusStrategy implements behavior for the status of SparkApplication objects.
type sparkApplicationStatusStrategy struct {
	*sparkApplicationStrategy
}

// NewStatusStrategy returns the rules for changing the status alone.
func NewStatusStrategy(strategy *sparkApplicationStrategy) *sparkApplicationStatusStrategy { //nolint:revive // used through the interfaces of package rest
	return &sparkApplicationStatusStrategy{strategy}
}

// GetResetFields names what a change of the status never changes.
func (*sparkApplicationStatusStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return map[fieldpath.APIVersion]*fieldpath.Set{
		servedVersion: fieldpath.NewSet(
			fieldpath.MakePathOrDie("metadata"),
			fieldpath.MakePathOrDie("spec"),
		),
	}
}

// PrepareForUpdate keeps everything but the status.
func (*sparkApplicationStatusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	newApp, oldApp := obj.(*sparkoperator.SparkApplication), old.(*sparkoperator.SparkApplication)
	newApp.Spec = oldApp.Spec
	metav1.ResetObjectMetaForStatus(&newApp.ObjectMeta, &oldApp.ObjectMeta)
}

// ValidateUpdate refuses a status that contradicts itself.
func (*sparkApplicationStatusStrategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidateSparkApplicationStatusUpdate(obj.(*sparkoperator.SparkApplication), old.(*sparkoperator.SparkApplication))
}

// WarningsOnUpdate has nothing to say: the status is written by the controller.
func (*sparkApplicationStatusStrategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}
