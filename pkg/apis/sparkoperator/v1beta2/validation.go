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

package v1beta2

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// addValidationFuncs registers the declarative rules, those that are written as tags beside the fields. They are
// generated for the specs alone and not for the whole objects: a status is written by the controller only, and the rules
// of its metav1.Condition can't be generated outside of apimachinery.
func addValidationFuncs(scheme *runtime.Scheme) error {
	scheme.AddValidationFunc((*SparkApplication)(nil), validateSpecOf(
		func(app *SparkApplication) *SparkApplicationSpec { return &app.Spec }, Validate_SparkApplicationSpec))
	scheme.AddValidationFunc((*ScheduledSparkApplication)(nil), validateSpecOf(
		func(schedule *ScheduledSparkApplication) *ScheduledSparkApplicationSpec { return &schedule.Spec }, Validate_ScheduledSparkApplicationSpec))
	return nil
}

// validateSpecOf makes what the scheme asks for of what is generated for a spec.
func validateSpecOf[Object, Spec any](
	specOf func(*Object) *Spec,
	validate func(ctx context.Context, op operation.Operation, path *field.Path, spec, old *Spec) field.ErrorList,
) func(ctx context.Context, op operation.Operation, obj, oldObj any) field.ErrorList {
	return func(ctx context.Context, op operation.Operation, obj, oldObj any) field.ErrorList {
		object, ok := obj.(*Object)
		if !ok {
			return field.ErrorList{field.InternalError(nil, fmt.Errorf("not a %T: %T", object, obj))}
		}
		if op.Request.SubresourcePath() != "/" {
			return nil // a subresource never changes the spec
		}
		var oldSpec *Spec
		if old, ok := oldObj.(*Object); ok && old != nil {
			oldSpec = specOf(old)
		}
		return validate(ctx, op, field.NewPath("spec"), specOf(object), oldSpec)
	}
}
