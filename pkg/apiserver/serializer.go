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

package apiserver

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/typecheck"
)

// requestSerializer reads and writes the bodies of requests. Where one has values of the wrong type, its error names all of
// them by the paths of the manifest.
type requestSerializer struct {
	runtime.NegotiatedSerializer
}

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (s requestSerializer) SupportedMediaTypes() []runtime.SerializerInfo {
	infos := s.NegotiatedSerializer.SupportedMediaTypes()
	explained := make([]runtime.SerializerInfo, 0, len(infos))
	for _, info := range infos {
		// Protobuf has no field names to speak of, and whoever writes it has the types.
		switch info.MediaType {
		case runtime.ContentTypeJSON:
			info.Serializer = explainingSerializer{Serializer: info.Serializer}
			info.StrictSerializer = explainingSerializer{Serializer: info.StrictSerializer}
		case runtime.ContentTypeYAML:
			info.Serializer = explainingSerializer{Serializer: info.Serializer, yaml: true}
			info.StrictSerializer = explainingSerializer{Serializer: info.StrictSerializer, yaml: true}
		}
		explained = append(explained, info)
	}
	return explained
}

// explainingSerializer puts the words of typecheck into the decoder's errors.
type explainingSerializer struct {
	runtime.Serializer
	yaml bool
}

// Decode implements runtime.Decoder.
func (s explainingSerializer) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	object, actual, err := s.Serializer.Decode(data, defaults, into)
	if err == nil || actual == nil || runtime.IsStrictDecodingError(err) {
		return object, actual, err
	}
	known, unknown := Scheme.New(*actual)
	if unknown != nil {
		return object, actual, err
	}
	if s.yaml {
		converted, invalid := yaml.YAMLToJSON(data)
		if invalid != nil {
			return object, actual, err
		}
		data = converted
	}
	return object, actual, typecheck.Explain(err, data, reflect.TypeOf(known))
}
