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
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"sigs.k8s.io/yaml"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/install"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/typecheck"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// item is one object of a document.
type item struct {
	kind schema.GroupVersionKind
	name string
	// application is nil for other kinds.
	application *v1beta2.SparkApplication
	// schedule is nil for other kinds.
	schedule *v1beta2.ScheduledSparkApplication
	// strictErrors are fields that are unknown or given twice.
	strictErrors []error
}

func (i item) describe() string {
	return strings.TrimSpace(i.kind.GroupKind().String() + " " + i.name)
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return scheme
}

// header is as much of an object as is needed to know what it is.
type header struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct {
		Name         string `json:"name"`
		GenerateName string `json:"generateName"`
	} `json:"metadata"`
	Items []json.RawMessage `json:"items"`
}

// decode returns the objects of a document: one, or those of a list.
func decode(scheme *runtime.Scheme, d document) ([]item, error) {
	data := d.data
	var strictErrors []error
	if !d.json {
		var err error
		if data, err = yaml.YAMLToJSON(d.data); err != nil {
			return nil, err
		}
		if _, err := yaml.YAMLToJSONStrict(d.data); err != nil {
			strictErrors = append(strictErrors, err)
		}
	}
	return decodeJSON(scheme, data, strictErrors)
}

func decodeJSON(scheme *runtime.Scheme, data []byte, strictErrors []error) ([]item, error) {
	var h header
	if err := json.Unmarshal(data, &h); err != nil {
		return nil, fmt.Errorf("not a Kubernetes object: %w", err)
	}
	gvk := h.GroupVersionKind()
	if gvk.Kind == "" || h.APIVersion == "" {
		return nil, errors.New("not a Kubernetes object: apiVersion and kind must be set")
	}
	sparkApplication := v1beta2.SchemeGroupVersion.WithKind("SparkApplication")
	switch {
	case strings.HasSuffix(gvk.Kind, "List") && (gvk.Group == "" || gvk.Group == sparkApplication.Group):
		var items []item
		for i, raw := range h.Items {
			inner, err := decodeJSON(scheme, raw, strictErrors)
			if err != nil {
				return nil, fmt.Errorf("items[%d]: %w", i, err)
			}
			items = append(items, inner...)
		}
		return items, nil
	case gvk.Group != sparkApplication.Group || gvk.Kind != sparkApplication.Kind && gvk.Kind != scheduledKind:
		return []item{{kind: gvk, name: cmp.Or(h.Metadata.Name, h.Metadata.GenerateName)}}, nil
	case gvk.Version != sparkApplication.Version:
		return nil, fmt.Errorf("apiVersion: %s is not served; use %s", h.APIVersion, v1beta2.SchemeGroupVersion)
	}

	serializer := kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme, scheme, kjson.SerializerOptions{Strict: true})
	object, _, err := serializer.Decode(data, nil, nil)
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		strictErrors = append(strictErrors, strict.Errors()...)
	} else if err != nil {
		known, unknown := scheme.New(gvk)
		if unknown != nil {
			return nil, unknown
		}
		return nil, fmt.Errorf("%s %q: %w", strings.ToLower(gvk.Kind), h.Metadata.Name, typecheck.Explain(err, data, reflect.TypeOf(known)))
	}
	decoded := item{kind: gvk, name: h.Metadata.Name, strictErrors: strictErrors}
	switch object := object.(type) {
	case *v1beta2.SparkApplication:
		decoded.application = object
	case *v1beta2.ScheduledSparkApplication:
		decoded.schedule = object
	default:
		return nil, fmt.Errorf("decoded as %T", object)
	}
	return []item{decoded}, nil
}
