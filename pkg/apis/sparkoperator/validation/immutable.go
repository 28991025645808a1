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
	"cmp"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

const immutableDetail = "field is immutable; create a new SparkApplication"

// validateSchedulingUnchanged refuses every difference between two scheduling blocks, at the most exact fields that
// differ. Both are defaulted, so that writing a default out is no difference. The block is immutable as a whole: a
// Workload's policy, constraints and priority are frozen, and a running gang can't be asked to have been another one.
func validateSchedulingUnchanged(spec, old *v1beta2.SparkApplicationSpec, specPath *field.Path) field.ErrorList {
	return validateUnchanged(specPath.Child("scheduling"), reflect.ValueOf(spec.Scheduling), reflect.ValueOf(old.Scheduling))
}

// validateUnchanged walks two values of one type. It compares semantically: quantities by their amount, and a nil list
// is an empty one; but an absent block differs from an empty one, since the former says nothing.
func validateUnchanged(path *field.Path, value, old reflect.Value) field.ErrorList {
	if equality.Semantic.DeepEqual(value.Interface(), old.Interface()) {
		return nil
	}
	var errs field.ErrorList
	switch {
	case value.Type() == reflect.TypeFor[resource.Quantity]():
	case value.Kind() == reflect.Pointer && !value.IsNil() && !old.IsNil():
		return validateUnchanged(path, value.Elem(), old.Elem())
	case value.Kind() == reflect.Struct:
		for i := range value.NumField() {
			errs = append(errs, validateUnchanged(fieldPath(path, value.Type().Field(i)), value.Field(i), old.Field(i))...)
		}
	case value.Kind() == reflect.Slice && value.Len() == old.Len():
		for i := range value.Len() {
			errs = append(errs, validateUnchanged(path.Index(i), value.Index(i), old.Index(i))...)
		}
	case value.Kind() == reflect.Map && sameKeys(value, old):
		for _, key := range sortedKeys(value) {
			errs = append(errs, validateUnchanged(path.Key(key.String()), value.MapIndex(key), old.MapIndex(key))...)
		}
	}
	if len(errs) == 0 {
		errs = append(errs, field.Invalid(path, value.Interface(), immutableDetail).WithOrigin("immutable"))
	}
	return errs
}

func fieldPath(path *field.Path, f reflect.StructField) *field.Path {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" {
		return path // an embedded struct
	}
	return path.Child(name)
}

func sameKeys(a, b reflect.Value) bool {
	return a.Len() == b.Len() && !slices.ContainsFunc(a.MapKeys(), func(key reflect.Value) bool { return !b.MapIndex(key).IsValid() })
}

func sortedKeys(m reflect.Value) []reflect.Value {
	return slices.SortedFunc(slices.Values(m.MapKeys()), func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
}
