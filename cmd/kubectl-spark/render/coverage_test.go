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

package render

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

const notInThisRelease = "refused by this release, so that an example of it could not be applied"

const deprecated = "deprecated, so that our examples use scheduling.batchScheduler only"

// notInExamples are the fields that no example uses, with the reason. Everything below a path is meant too.
var notInExamples = map[string]string{
	"batchScheduler":                   deprecated,
	"batchSchedulerOptions":            deprecated,
	"scheduling.schedulingConstraints": notInThisRelease,
	"scheduling.disruptionMode":        notInThisRelease,
	"scheduling.resourceClaims":        notInThisRelease,
	"scheduling.priorityClassName":     notInThisRelease,
	"executor.memoryLimit":             "Spark sets the limit of executors itself, so that the field has no effect on them",
}

// Between them the examples use every field of the spec that this release can honour, as a reader should find one of
// each.
func TestExamplesUseEveryField(t *testing.T) {
	fields := map[string]bool{}
	walkFields(reflect.TypeFor[v1beta2.SparkApplicationSpec](), "", fields)
	require.Greater(t, len(fields), 100, "the walk over the types has stopped early")

	used := map[string]bool{}
	for _, name := range exampleFiles(t) {
		data, err := os.ReadFile(filepath.Join(examplesFolder, name+".yaml"))
		require.NoError(t, err)
		for document := range strings.SplitSeq(string(data), "\n---\n") {
			var object map[string]any
			require.NoError(t, yaml.Unmarshal([]byte(document), &object), name)
			if object["kind"] == "SparkApplication" {
				collectUse(object["spec"], "", fields, used)
			}
		}
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		reason, exempt := exempted(field)
		switch {
		case !used[field] && !exempt:
			t.Errorf("no example uses spec.%s", field)
		case used[field] && exempt:
			t.Errorf("spec.%s is used by an example, although the list says: %s", field, reason)
		}
	}
	for field := range notInExamples {
		known := slices.ContainsFunc(slices.Collect(maps.Keys(fields)), func(f string) bool { return under(f, field) })
		assert.True(t, known, "spec.%s is listed and is no field", field)
	}
}

func exempted(field string) (string, bool) {
	for listed, reason := range notInExamples {
		if under(field, listed) {
			return reason, true
		}
	}
	return "", false
}

func under(field, parent string) bool {
	return field == parent || strings.HasPrefix(field, parent+".")
}

// walkFields collects the paths of all fields of our own types. Types of Kubernetes are not entered: their fields are
// theirs to explain.
func walkFields(t reflect.Type, path string, fields map[string]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.PkgPath() != reflect.TypeFor[v1beta2.SparkApplicationSpec]().PkgPath() {
		return
	}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && strings.Contains(options, "inline") {
			walkFields(f.Type, path, fields)
			continue
		}
		inner := strings.TrimPrefix(path+"."+name, ".")
		fields[inner] = true
		walkFields(f.Type, inner, fields)
	}
}

// collectUse marks the fields that a manifest sets. Elements of lists and values of maps count for their field.
func collectUse(value any, path string, fields, used map[string]bool) {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			collectUse(element, path, fields, used)
		}
	case map[string]any:
		for key, inner := range value {
			field := strings.TrimPrefix(path+"."+key, ".")
			if fields[field] {
				used[field] = true
				collectUse(inner, field, fields, used)
			} else {
				// A map of ours, such as envSecretKeyRefs: the key is the user's.
				collectUse(inner, path, fields, used)
			}
		}
	}
}
