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

package spark

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// report collects what is wrong with an application and what is worth a warning.
type report struct {
	errs     field.ErrorList
	warnings []string
	warned   map[string]bool
}

// err adds an error once: what driver and executors have in common is looked at for both.
func (r *report) err(e *field.Error) {
	if !slices.ContainsFunc(r.errs, func(o *field.Error) bool { return o.Field == e.Field && o.Error() == e.Error() }) {
		r.errs = append(r.errs, e)
	}
}

func (r *report) invalid(path *field.Path, value any, format string, args ...any) {
	r.err(field.Invalid(path, value, fmt.Sprintf(format, args...)))
}

// warnf adds a warning once, however often the same thing is said.
func (r *report) warnf(path *field.Path, format string, args ...any) {
	w := path.String() + ": " + fmt.Sprintf(format, args...)
	if r.warned[w] {
		return
	}
	if r.warned == nil {
		r.warned = map[string]bool{}
	}
	r.warned[w] = true
	r.warnings = append(r.warnings, w)
}
