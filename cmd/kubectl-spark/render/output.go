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
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

const (
	outputYAML = "yaml"
	outputJSON = "json"
	outputName = "name"
)

var outputs = []string{outputYAML, outputJSON, outputName}

// printer writes the objects of applications. flush writes what has to wait until all of them are known.
type printer interface {
	print(*result) error
	flush() error
}

func newPrinter(format string, out io.Writer) printer {
	switch format {
	case outputJSON:
		return &jsonPrinter{out: out, items: []any{}}
	case outputName:
		return &namePrinter{out: out}
	default:
		return &yamlPrinter{out: out}
	}
}

// yamlPrinter writes a stream of documents in which comments say what is what.
type yamlPrinter struct {
	out io.Writer
}

func (p *yamlPrinter) print(res *result) error {
	var text bytes.Buffer
	for i, o := range res.objects {
		text.WriteString("---\n")
		if i == 0 {
			fmt.Fprintf(&text, "# SparkApplication %s/%s\n", res.application.Namespace, res.application.Name)
			if res.schedule != "" {
				fmt.Fprintf(&text, "# The run of ScheduledSparkApplication %s that is due at %s\n", res.schedule, res.due)
			}
			if len(res.placeholders) > 0 {
				text.WriteString("# Placeholders for what a cluster chooses; names and labels that derive from them differ too:\n")
				for _, placeholder := range res.placeholders {
					fmt.Fprintf(&text, "#   %s: %s\n", placeholder[0], placeholder[1])
				}
			}
			text.WriteString("#\n")
		}
		content, err := simplified(o.Object)
		if err != nil {
			return err
		}
		document, err := yaml.Marshal(content)
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "# %s: %s.\n%s", o.GetObjectKind().GroupVersionKind().Kind, o.purpose, document)
	}
	_, err := p.out.Write(text.Bytes())
	return err
}

func (p *yamlPrinter) flush() error { return nil }

// jsonPrinter writes one List of everything.
type jsonPrinter struct {
	out   io.Writer
	items []any
}

func (p *jsonPrinter) print(res *result) error {
	for _, o := range res.objects {
		content, err := simplified(o.Object)
		if err != nil {
			return err
		}
		p.items = append(p.items, content)
	}
	return nil
}

func (p *jsonPrinter) flush() error {
	encoder := json.NewEncoder(p.out)
	encoder.SetIndent("", "    ")
	return encoder.Encode(map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{}, "items": p.items})
}

// namePrinter writes kind.group/name, one a line, as kubectl does.
type namePrinter struct {
	out io.Writer
}

func (p *namePrinter) print(res *result) error {
	for _, o := range res.objects {
		content, err := simplified(o.Object)
		if err != nil {
			return err
		}
		u := unstructured.Unstructured{Object: content}
		if _, err := fmt.Fprintf(p.out, "%s/%s\n", strings.ToLower(u.GroupVersionKind().GroupKind().String()), u.GetName()); err != nil {
			return err
		}
	}
	return nil
}

func (p *namePrinter) flush() error { return nil }

// simplified returns an object without what Go's types add to it and the server ignores: the status, and nulls.
func simplified(object runtime.Object) (map[string]any, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	delete(content, "status")
	removeNulls(content)
	return content, nil
}

// removeNulls removes fields that are null, such as the creation time of metadata or the constraints of a group, which
// Go's types write out where they are not set.
func removeNulls(value any) {
	switch value := value.(type) {
	case map[string]any:
		maps.DeleteFunc(value, func(_ string, inner any) bool { return inner == nil })
		for _, inner := range value {
			removeNulls(inner)
		}
	case []any:
		for _, inner := range value {
			removeNulls(inner)
		}
	}
}
