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
	"reflect"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/typecheck"
)

// template is a pod template that the user gave.
type template struct {
	// object is the template as JSON values; nil without one. It is copied, never changed.
	object map[string]any
	// typed is the template as far as this release knows its fields; nil without one.
	typed *corev1.PodTemplateSpec
	path  *field.Path
}

// copied returns a copy of the template that can be changed, empty without one.
func (t template) copied() map[string]any {
	if t.object == nil {
		return map[string]any{}
	}
	return runtime.DeepCopyJSON(t.object)
}

// TemplateField returns the value at some keys of a role's pod template as the user wrote it, with its path. The value
// must not be changed.
func (a *Application) TemplateField(role Role, keys ...string) (value any, path *field.Path, ok bool) {
	t := a.driverTemplate
	if role == Executor {
		t = a.executorTemplate
	}
	path = t.path
	for _, k := range keys {
		path = path.Child(k)
	}
	value, ok = lookup(t.object, keys...)
	return value, path, ok
}

var unknownFieldPattern = regexp.MustCompile(`^(unknown|duplicate) field (".*")$`)

// decodeTemplate reads a pod template. A wrong type of a known field is an error, since the driver or the API server
// would refuse it; a field that isn't known is a warning with the consequence.
func decodeTemplate(raw *runtime.RawExtension, path *field.Path, unknown string, rep *report) template {
	t := template{path: path}
	if raw == nil {
		return t
	}
	encoded := raw.Raw
	if len(encoded) == 0 && raw.Object != nil {
		var err error
		if encoded, err = json.Marshal(raw.Object); err != nil {
			rep.invalid(path, "", "can't be written as JSON: %v", err)
			return t
		}
	}
	if len(encoded) == 0 || string(encoded) == "null" {
		return t
	}
	problems, err := kjson.UnmarshalStrict(encoded, &corev1.PodTemplateSpec{})
	if err != nil {
		wrong := typecheck.Errors(encoded, reflect.TypeFor[corev1.PodTemplateSpec](), path)
		for _, err := range wrong {
			rep.err(err)
		}
		if len(wrong) == 0 {
			rep.invalid(path, brief(encoded), "must be a pod template: %v", err)
		}
		return t
	}
	var object map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(encoded, &object); err != nil {
		rep.invalid(path, brief(encoded), "must be a pod template: %v", err)
		return t
	}
	for _, problem := range problems {
		m := unknownFieldPattern.FindStringSubmatch(problem.Error())
		if m == nil {
			rep.warnf(path, "%v", problem)
			continue
		}
		name, err := strconv.Unquote(m[2])
		if err != nil {
			name = m[2]
		}
		switch {
		case name == "apiVersion" || name == "kind":
		case m[1] == "duplicate":
			rep.warnf(path, "the field %s is given more than once; the last one counts", name)
		default:
			rep.warnf(path, "the field %s is unknown: %s", name, unknown)
		}
	}
	t.object, _ = withoutNulls(object).(map[string]any)
	delete(t.object, "apiVersion")
	delete(t.object, "kind")
	t.typed = &corev1.PodTemplateSpec{}
	if clean, err := json.Marshal(t.object); err == nil {
		_ = kjson.UnmarshalCaseSensitivePreserveInts(clean, t.typed) // it was read once already
	}
	return t
}

// templateOf is the template of a role.
func (a *Application) templateOf(r *role) template {
	if r.name == Executor {
		return a.executorTemplate
	}
	return a.driverTemplate
}

// brief cuts a template for the message of an error.
func brief(encoded []byte) string {
	const most = 64
	if len(encoded) > most {
		return strings.ToValidUTF8(string(encoded[:most]), "") + "..."
	}
	return string(encoded)
}
