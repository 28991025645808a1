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

package realdriver

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/resource"
)

// missing says what of a structure isn't in another: every key and every element of a list has to be there, with at
// least what is wanted. Elements are found by their mount path or their name, and of several of one name the last counts,
// as it does with variables; those without either may be anywhere. A wanted null must be absent. Numbers are compared as
// quantities, since the API server writes those in its own way.
func missing(path string, want, got any) []string {
	switch want := want.(type) {
	case nil:
		if got != nil {
			return []string{fmt.Sprintf("%s: %v, and nothing is wanted", path, got)}
		}
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: %v, want %v", path, got, want)}
		}
		var all []string
		for key, value := range want {
			all = append(all, missing(path+"."+key, value, object[key])...)
		}
		slices.Sort(all)
		return all
	case []any:
		list, ok := got.([]any)
		if !ok {
			return []string{fmt.Sprintf("%s: %v, want %v", path, got, want)}
		}
		var all []string
		for i, element := range want {
			all = append(all, missingElement(fmt.Sprintf("%s[%d]", path, i), element, list)...)
		}
		return all
	default:
		if !reflect.DeepEqual(want, got) && !sameQuantity(want, got) {
			return []string{fmt.Sprintf("%s: %v, want %v", path, got, want)}
		}
	}
	return nil
}

func missingElement(path string, want any, list []any) []string {
	object, _ := want.(map[string]any)
	for _, key := range []string{"mountPath", "name"} {
		name, ok := object[key].(string)
		if !ok {
			continue
		}
		for _, element := range slices.Backward(list) {
			if found, ok := element.(map[string]any); ok && found[key] == name {
				return missing(strings.TrimRight(path, "[0123456789]")+"["+name+"]", want, element)
			}
		}
		return []string{fmt.Sprintf("%s: no %s", path, name)}
	}
	if slices.ContainsFunc(list, func(element any) bool { return len(missing(path, want, element)) == 0 }) {
		return nil
	}
	return []string{fmt.Sprintf("%s: no %v in %v", path, want, list)}
}

func sameQuantity(a, b any) bool {
	first, err := resource.ParseQuantity(fmt.Sprint(a))
	if err != nil {
		return false
	}
	second, err := resource.ParseQuantity(fmt.Sprint(b))
	return err == nil && first.Cmp(second) == 0
}

func TestMissing(t *testing.T) {
	pod := map[string]any{
		"a": "x", "n": int64(3), "q": "500m",
		"env":    []any{map[string]any{"name": "E", "value": "1"}, map[string]any{"name": "E", "value": "2"}},
		"mounts": []any{map[string]any{"name": "v", "mountPath": "/1"}, map[string]any{"name": "v", "mountPath": "/2", "readOnly": true}},
		"plain":  []any{"one", map[string]any{"key": "k", "more": "m"}},
	}
	for name, c := range map[string]struct {
		want map[string]any
		ok   bool
	}{
		"itself":                     {pod, false}, // of two variables of one name only the last counts
		"scalars":                    {map[string]any{"a": "x", "n": int64(3)}, true},
		"a quantity":                 {map[string]any{"q": "0.5"}, true},
		"another quantity":           {map[string]any{"q": "0.6"}, false},
		"another scalar":             {map[string]any{"a": "y"}, false},
		"not there":                  {map[string]any{"b": "x"}, false},
		"absent":                     {map[string]any{"b": nil}, true},
		"absent, and there":          {map[string]any{"a": nil}, false},
		"the last variable":          {map[string]any{"env": []any{map[string]any{"name": "E", "value": "2"}}}, true},
		"the first variable":         {map[string]any{"env": []any{map[string]any{"name": "E", "value": "1"}}}, false},
		"a mount":                    {map[string]any{"mounts": []any{map[string]any{"name": "v", "mountPath": "/2", "readOnly": true}}}, true},
		"a mount of another kind":    {map[string]any{"mounts": []any{map[string]any{"name": "v", "mountPath": "/1", "readOnly": true}}}, false},
		"a nameless element":         {map[string]any{"plain": []any{map[string]any{"key": "k"}}}, true},
		"a nameless element, absent": {map[string]any{"plain": []any{map[string]any{"key": "other"}}}, false},
		"a text in a list":           {map[string]any{"plain": []any{"one"}}, true},
		"of another type":            {map[string]any{"plain": map[string]any{"a": "b"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.ok, len(missing("pod", c.want, pod)) == 0, missing("pod", c.want, pod))
		})
	}
}
