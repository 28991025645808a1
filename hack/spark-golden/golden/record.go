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

package golden

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Record is what spark-submit did for a case.
type Record struct {
	// Case, Line and Version say what was run, by which Spark.
	Case    string `json:"case"`
	Line    string `json:"line"`
	Version string `json:"version"`
	// Requests are the writes in their order, such as "POST Pod".
	Requests []string `json:"requests,omitempty"`
	// Objects are what was written, by kind. The ConfigMap with the executors' template is ConfigMap/executors, and
	// claims are PersistentVolumeClaim/1 and so on.
	Objects map[string]any `json:"objects,omitempty"`
	// Properties are the lines of spark.properties in the order of their text, without comments.
	Properties []string `json:"properties,omitempty"`
	// Refusal is what spark-submit said when it refused the application; then there are no objects.
	Refusal string `json:"refusal,omitempty"`
}

// Keys of the driver's ConfigMap and of that for the executors.
const (
	propertiesKey = "spark.properties"
	templateKey   = "podspec-configmap-key"
)

// Names of objects in a record that aren't just a kind.
const (
	// ConfigMapObject is the driver's ConfigMap.
	ConfigMapObject = "ConfigMap"
	// ExecutorConfigMapObject is the ConfigMap that Spark makes for the executors' template.
	ExecutorConfigMapObject = "ConfigMap/executors"
	// ExecutorTemplateObject is the executors' template itself.
	ExecutorTemplateObject = "ExecutorTemplate"
)

// Add puts a written object into the record.
func (r *Record) Add(object map[string]any) error {
	kind, _ := object["kind"].(string)
	if kind == "" {
		return fmt.Errorf("an object without a kind was written")
	}
	key := kind
	data, _ := object["data"].(map[string]any)
	switch {
	case kind == "ConfigMap" && data[templateKey] != nil:
		key = ExecutorConfigMapObject
	case kind == "ConfigMap" && data[propertiesKey] != nil:
		text, _ := data[propertiesKey].(string)
		r.Properties = PropertyLines(text)
		delete(data, propertiesKey)
	case kind == "ConfigMap":
		key = kind + "/" + strings.Join(slices.Sorted(maps.Keys(data)), ",")
	case kind == "PersistentVolumeClaim":
		key = fmt.Sprintf("%s/%d", kind, len(r.Requests)) // by request for now; Finish numbers them
	}
	if _, ok := r.Objects[key]; ok {
		return fmt.Errorf("%s was written twice", key)
	}
	if r.Objects == nil {
		r.Objects = map[string]any{}
	}
	r.Objects[key] = object
	return nil
}

// Finish brings what is in no order into one.
func (r *Record) Finish() {
	var claims []string
	for key := range r.Objects {
		if strings.HasPrefix(key, "PersistentVolumeClaim/") {
			claims = append(claims, key)
		}
	}
	text := func(key string) string {
		encoded, _ := json.Marshal(r.Objects[key]) // it came from JSON
		return string(encoded)
	}
	slices.SortFunc(claims, func(a, b string) int { return strings.Compare(text(a), text(b)) })
	ordered := make([]any, len(claims))
	for i, key := range claims {
		ordered[i] = r.Objects[key]
		delete(r.Objects, key)
	}
	for i, claim := range ordered {
		r.Objects[fmt.Sprintf("PersistentVolumeClaim/%d", i+1)] = claim
	}
}

// File is the name of the recording of a case.
func File(root, line, name string) string { return filepath.Join(root, line, name+".json") }

// ReadRecord reads a recording.
func ReadRecord(file string) (*Record, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := &Record{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

// Write writes a recording, what is random in it replaced. further are texts to replace besides, each followed by what
// takes its place.
func (r *Record) Write(root string, further ...string) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(r); err != nil {
		return err
	}
	file := File(root, r.Line, r.Case)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(WithoutRandom(text.String(), further...)), 0o644)
}

// What is random, or at least another each time.
var random = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`spark-[0-9a-f]{32}\b`), "{appID}"},
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "{uid}"},
	{regexp.MustCompile(`-[0-9a-f]{16}\b`), "-{uid}"},
	{regexp.MustCompile(`(spark\.app\.submitTime=)\d+`), "${1}{time}"},
}

// WithoutRandom replaces ids, times and what else differs from run to run by names in braces. further are texts to
// replace first, each followed by what takes its place.
func WithoutRandom(text string, further ...string) string {
	text = strings.NewReplacer(further...).Replace(text)
	for _, r := range random {
		text = r.pattern.ReplaceAllString(text, r.with)
	}
	return text
}
