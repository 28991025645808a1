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
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// withoutOldErrors drops the errors that the old object has as well, at the same field and with the same value. The old
// object is only validated when there is something to drop.
func withoutOldErrors(errs field.ErrorList, old func() field.ErrorList) field.ErrorList {
	if len(errs) == 0 {
		return nil
	}
	known := sets.New[string]()
	for _, err := range old() {
		known.Insert(errorKey(err))
	}
	var fresh field.ErrorList
	for _, err := range errs {
		if !known.Has(errorKey(err)) {
			fresh = append(fresh, err)
		}
	}
	return fresh
}

// errorKey identifies an error by what is wrong where, and not by how that is put: the text may name another field, which
// is free to change.
func errorKey(err *field.Error) string {
	value, jsonErr := json.Marshal(err.BadValue)
	if jsonErr != nil {
		value = fmt.Appendf(nil, "%v", err.BadValue)
	}
	return fmt.Sprintf("%s\x00%s\x00%s", err.Type, err.Field, value)
}
