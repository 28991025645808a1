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

package sparkdriver

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// parseTemplate reads a pod template, YAML or JSON. It stays untyped: Spark's client keeps fields that it doesn't know,
// and so must we, or the membership in a pod group would be lost here and not where a real driver loses it.
func parseTemplate(text string) (map[string]any, error) {
	var template map[string]any
	if err := yaml.Unmarshal([]byte(text), &template); err != nil {
		return nil, fmt.Errorf("could not load pod from template file: %w", err)
	}
	if kind, ok := template["kind"]; ok && kind != "Pod" {
		return nil, fmt.Errorf("could not load pod from template file: it holds a %v", kind)
	}
	if template == nil {
		template = map[string]any{}
	}
	return template, nil
}

// podBuilder edits a pod held as JSON values.
type podBuilder struct {
	pod       map[string]any
	container map[string]any // the Spark container, which build appends
	others    []any
}

// newPodBuilder takes the Spark container out of a copy of the template: the one that is named, else the first, as
// KubernetesUtils.selectSparkContainer does.
func newPodBuilder(template map[string]any, containerName string) *podBuilder {
	b := &podBuilder{pod: runtime.DeepCopyJSON(normalize(template)), container: map[string]any{}}
	containers, _, _ := unstructured.NestedSlice(b.pod, "spec", "containers")
	selected := 0
	if containerName != "" {
		for i, c := range containers {
			if m, ok := c.(map[string]any); ok && m["name"] == containerName {
				selected = i
			}
		}
	}
	for i, c := range containers {
		if m, ok := c.(map[string]any); ok && i == selected {
			b.container = m
			continue
		}
		b.others = append(b.others, c)
	}
	return b
}

// normalize turns what a YAML decoder made into what DeepCopyJSON accepts: int64 and float64 only.
func normalize(v map[string]any) map[string]any {
	out := make(map[string]any, len(v))
	for k, e := range v {
		out[k] = normalizeValue(e)
	}
	return out
}

func normalizeValue(v any) any {
	switch t := v.(type) {
	case map[string]any:
		return normalize(t)
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = normalizeValue(e)
		}
		return out
	case float64:
		if t == float64(int64(t)) {
			return int64(t)
		}
		return t
	case int:
		return int64(t)
	default:
		return v
	}
}

// child returns the object at a path, made if absent.
func child(m map[string]any, path ...string) map[string]any {
	for _, p := range path {
		next, ok := m[p].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[p] = next
		}
		m = next
	}
	return m
}

// appendTo appends to the list at a key.
func appendTo(m map[string]any, key string, values ...any) {
	if len(values) == 0 {
		return
	}
	list, _ := m[key].([]any)
	m[key] = append(list, values...)
}

func (b *podBuilder) meta() map[string]any { return child(b.pod, "metadata") }
func (b *podBuilder) spec() map[string]any { return child(b.pod, "spec") }

func (b *podBuilder) addEnv(name, value string) {
	appendTo(b.container, "env", map[string]any{"name": name, "value": value})
}

func (b *podBuilder) addEnvFromField(name, field string) {
	appendTo(b.container, "env", map[string]any{"name": name, "valueFrom": map[string]any{
		"fieldRef": map[string]any{"apiVersion": "v1", "fieldPath": field},
	}})
}

func (b *podBuilder) addVolume(volume, mount map[string]any) {
	appendTo(b.spec(), "volumes", volume)
	appendTo(b.container, "volumeMounts", mount)
}

// build returns the pod with the Spark container behind the others.
func (b *podBuilder) build() *unstructured.Unstructured {
	b.pod["apiVersion"], b.pod["kind"] = "v1", "Pod"
	b.spec()["containers"] = append(append([]any{}, b.others...), b.container)
	return &unstructured.Unstructured{Object: b.pod}
}
