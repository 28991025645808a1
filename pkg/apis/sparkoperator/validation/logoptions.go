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

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
)

// ValidateSparkApplicationLogOptions returns what is wrong with the query parameters of a log, by their names. The rules are
// those of a pod's log.
func ValidateSparkApplicationLogOptions(o *sparkoperator.SparkApplicationLogOptions) field.ErrorList {
	var errs field.ErrorList
	for _, p := range []struct {
		name  string
		value *int64
		least int64
	}{
		{"executor", o.Executor, 1}, {"sinceSeconds", o.SinceSeconds, 1}, {"tailLines", o.TailLines, 0}, {"limitBytes", o.LimitBytes, 1},
	} {
		if p.value != nil && *p.value < p.least {
			errs = append(errs, field.Invalid(field.NewPath(p.name), *p.value, fmt.Sprintf("must be %d or more", p.least)))
		}
	}
	if o.SinceSeconds != nil && o.SinceTime != nil {
		errs = append(errs, field.Forbidden(field.NewPath("sinceTime"), "sinceSeconds is given too: at most one of the two may be"))
	}
	if o.Container != "" {
		for _, problem := range validation.IsDNS1123Label(o.Container) {
			errs = append(errs, field.Invalid(field.NewPath("container"), o.Container, problem))
		}
	}
	return errs
}
