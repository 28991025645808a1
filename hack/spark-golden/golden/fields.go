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
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	kjson "sigs.k8s.io/json"
)

// Fields are the leaves of objects by their path, each as JSON, such as Pod.spec.restartPolicy with "Never" in quotes.
// Elements of lists that have a name are told by it, mounts by their path, others by their index. Where the order of
// named elements matters, it is a field of its own.
type Fields map[string]string

// AddObject adds an object of a record under a name. It goes through Kubernetes' own type first, so that the same
// quantity has the same text and what is empty is absent; a field that the type doesn't have is an error.
func (f Fields) AddObject(name string, object any) error {
	var typed any
	switch kind, _, _ := strings.Cut(name, "/"); kind {
	case "Pod", ExecutorTemplateObject:
		typed = &corev1.Pod{}
	case "Service":
		typed = &corev1.Service{}
	case "ConfigMap":
		typed = &corev1.ConfigMap{}
	case "PersistentVolumeClaim":
		typed = &corev1.PersistentVolumeClaim{}
	case "NetworkPolicy":
		typed = &networkingv1.NetworkPolicy{}
	case "Secret":
		typed = &corev1.Secret{}
	default:
		return fmt.Errorf("objects of the kind %s aren't expected", kind)
	}
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	strict, err := kjson.UnmarshalStrict(text, typed)
	if err := errors.Join(append(strict, err)...); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if text, err = json.Marshal(typed); err != nil {
		return err
	}
	var plain map[string]any
	if err := json.Unmarshal(text, &plain); err != nil {
		return err
	}
	delete(plain, "status")
	f.add(name, plain)
	return nil
}

// AddProperties adds properties, one field for each.
func (f Fields) AddProperties(lines []string) error {
	values, err := ParseProperties(lines)
	for key, value := range values {
		f["properties["+key+"]"] = value
	}
	return err
}

func (f Fields) add(path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		// The types have these two even where they say nothing.
		if len(v) == 0 && !strings.HasSuffix(path, ".resources") && !strings.HasSuffix(path, ".metadata") {
			f[path] = "{}"
		}
		for key, below := range v {
			if strings.ContainsAny(key, "./") {
				f.add(path+"["+key+"]", below)
			} else {
				f.add(path+"."+key, below)
			}
		}
	case []any:
		f.addList(path, v)
	default:
		text, _ := json.Marshal(v) // it came from JSON
		// An empty type of a hostPath says the same as none.
		if !(strings.HasSuffix(path, ".hostPath.type") && string(text) == `""`) {
			f[path] = string(text)
		}
	}
}

func (f Fields) addList(path string, list []any) {
	names := make([]string, 0, len(list))
	seen := map[string]int{}
	for i, element := range list {
		name := elementName(element)
		if name == "" || strings.HasSuffix(path, ".ownerReferences") {
			name = strconv.Itoa(i)
		} else {
			names = append(names, name)
		}
		if seen[name]++; seen[name] > 1 {
			name += "#" + strconv.Itoa(seen[name])
		}
		f.add(path+"["+name+"]", element)
	}
	switch {
	case strings.HasSuffix(path, ".env"):
		f[path+".order"] = strings.Join(envOrder(list, names), " ")
	case strings.HasSuffix(path, "ontainers"):
		f[path+".order"] = strings.Join(names, " ")
	}
}

func elementName(element any) string {
	object, _ := element.(map[string]any)
	for _, key := range []string{"mountPath", "name", "key"} {
		// Tolerations have keys too, more than one of the same.
		if name, _ := object[key].(string); name != "" && (key != "key" || object["path"] != nil) {
			return name
		}
	}
	return ""
}

// envOrder are the names of variables in their order, apart from those whose order is that of a hash table in Spark:
// the user's own after SPARK_APPLICATION_ID, and those from secrets.
func envOrder(list []any, names []string) []string {
	if len(names) != len(list) {
		return names
	}
	names = slices.Clone(names)
	start := slices.Index(names, "SPARK_APPLICATION_ID") + 1
	end := slices.Index(names, "SPARK_DRIVER_BIND_ADDRESS")
	if start == 0 || end < start {
		return names
	}
	slices.Sort(names[start:end])
	last := end + 1
	for last < len(list) {
		object, _ := list[last].(map[string]any)
		from, _ := object["valueFrom"].(map[string]any)
		if from["secretKeyRef"] == nil {
			break
		}
		last++
	}
	slices.Sort(names[end+1 : last])
	return names
}
