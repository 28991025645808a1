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

package bench

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/openapi"
)

// The peer: the same kind, served by kube-apiserver itself. A group of its own lets it stand beside ours.
var customResource = schema.GroupVersionResource{Group: "crd.spark-apiserver.io", Version: "v1beta2", Resource: "sparkapplications"}

// customResourceDefinition is what a CRD of our kind looks like: the schema is ours, reference by reference, and nothing else is
// asked of kube-apiserver: no webhook, no conversion, no rule in CEL.
func customResourceDefinition() (map[string]any, error) {
	model := (&v1beta2.SparkApplication{}).OpenAPIModelName()
	definitions := openapi.GetOpenAPIDefinitions(func(name string) spec.Ref { return spec.MustCreateRef("#/definitions/" + name) })
	root, err := structural(definitions, model)
	if err != nil {
		return nil, err
	}
	properties, ok := root["properties"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s has no properties", model)
	}
	properties["metadata"] = map[string]any{"type": "object"}
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": customResource.GroupResource().String()},
		"spec": map[string]any{
			"group": customResource.Group, "scope": "Namespaced",
			"names": map[string]any{"plural": customResource.Resource, "singular": "sparkapplication", "kind": "SparkApplication", "listKind": "SparkApplicationList"},
			"versions": []any{map[string]any{
				"name": customResource.Version, "served": true, "storage": true,
				"schema":       map[string]any{"openAPIV3Schema": root},
				"subresources": map[string]any{"status": map[string]any{}},
			}},
		},
	}, nil
}

// structural returns a model with every reference resolved, as a CRD wants it.
func structural(definitions map[string]common.OpenAPIDefinition, model string) (map[string]any, error) {
	switch {
	case strings.HasSuffix(model, ".IntOrString"), strings.HasSuffix(model, ".Quantity"):
		return map[string]any{"x-kubernetes-int-or-string": true}, nil
	case strings.HasSuffix(model, ".RawExtension"):
		return map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}, nil
	case strings.HasSuffix(model, ".FieldsV1"):
		return map[string]any{"type": "object"}, nil
	}
	definition, ok := definitions[model]
	if !ok {
		return nil, fmt.Errorf("there is no model %s", model)
	}
	return structuralSchema(definitions, &definition.Schema)
}

func structuralSchema(definitions map[string]common.OpenAPIDefinition, s *spec.Schema) (map[string]any, error) {
	if reference := s.Ref.String(); reference != "" {
		return structural(definitions, path.Base(reference))
	}
	if len(s.AllOf) == 1 && len(s.Type) == 0 {
		return structuralSchema(definitions, &s.AllOf[0])
	}
	out := map[string]any{}
	if s.Description != "" {
		out["description"] = s.Description
	}
	if len(s.Type) > 0 {
		out["type"] = s.Type[0]
	}
	if s.Format != "" {
		out["format"] = s.Format
	}
	if len(s.Enum) > 0 {
		out["enum"] = s.Enum
	}
	if len(s.Required) > 0 {
		required := make([]any, 0, len(s.Required))
		for _, name := range s.Required {
			required = append(required, name)
		}
		out["required"] = required
	}
	if len(s.Properties) > 0 {
		properties := map[string]any{}
		for name := range s.Properties {
			property := s.Properties[name]
			resolved, err := structuralSchema(definitions, &property)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			properties[name] = resolved
		}
		out["properties"] = properties
	}
	for name, inner := range map[string]*spec.Schema{"items": itemsOf(s), "additionalProperties": valuesOf(s)} {
		if inner == nil {
			continue
		}
		resolved, err := structuralSchema(definitions, inner)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = resolved
	}
	return out, nil
}

func itemsOf(s *spec.Schema) *spec.Schema {
	if s.Items == nil {
		return nil
	}
	return s.Items.Schema
}

func valuesOf(s *spec.Schema) *spec.Schema {
	if s.AdditionalProperties == nil {
		return nil
	}
	return s.AdditionalProperties.Schema
}

// installCustomResource creates the definition and waits until kube-apiserver serves the kind.
func installCustomResource(ctx context.Context, client dynamic.Interface) error {
	definition, err := customResourceDefinition()
	if err != nil {
		return err
	}
	definitions := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	if _, err := definitions.Create(ctx, &unstructured.Unstructured{Object: definition}, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create the CustomResourceDefinition: %w", err)
	}
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := client.Resource(customResource).Namespace(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{Limit: 1})
		return err == nil, nil
	})
}
