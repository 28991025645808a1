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
	"encoding/json"
	"slices"

	kjson "sigs.k8s.io/json"
)

// Templates are held as JSON values (map[string]any, []any, string, int64, float64, bool), since typed structures would
// lose the fields that a newer cluster knows.

// toJSON turns a value into JSON values that share no memory with it.
func toJSON(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &out); err != nil {
		return nil, err
	}
	return out, nil
}

// child returns the object at some keys, made where it is missing.
func child(m map[string]any, keys ...string) map[string]any {
	for _, k := range keys {
		next, ok := m[k].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[k] = next
		}
		m = next
	}
	return m
}

// lookup returns the value at some keys.
func lookup(m map[string]any, keys ...string) (any, bool) {
	var v any = m
	for _, k := range keys {
		object, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = object[k]; !ok {
			return nil, false
		}
	}
	return v, true
}

// objectsAt returns the objects of the list at a key.
func objectsAt(m map[string]any, key string) []map[string]any {
	list, _ := m[key].([]any)
	objects := make([]map[string]any, 0, len(list))
	for _, v := range list {
		if object, ok := v.(map[string]any); ok {
			objects = append(objects, object)
		}
	}
	return objects
}

// appendAt appends to the list at a key.
func appendAt(m map[string]any, key string, values ...any) {
	if len(values) == 0 {
		return
	}
	list, _ := m[key].([]any)
	m[key] = append(slices.Clone(list), values...)
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

// withoutNulls drops what is null, which means "not given" in Kubernetes' JSON.
func withoutNulls(v any) any {
	switch t := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, e := range t {
			if e != nil {
				out[k] = withoutNulls(e)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(t))
		for _, e := range t {
			if e != nil {
				out = append(out, withoutNulls(e))
			}
		}
		return out
	default:
		return v
	}
}
