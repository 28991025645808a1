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

package options

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// The descriptions below don't offer strategic merge patches, so that `kubectl apply` changes applications as it does with
// today's custom resources: by JSON merge patches, under which a list is replaced as a whole. Offered one, kubectl merges
// lists of Kubernetes' own types by their keys, and `kubectl apply --dry-run=client` fails for each application that
// exists: it can merge strategically only what it has compiled in.

// withoutStrategicMerge leaves them out of OpenAPI 2.
func withoutStrategicMerge(s *spec.Swagger) (*spec.Swagger, error) {
	if s.Paths == nil {
		return s, nil
	}
	for _, path := range s.Paths.Paths {
		if path.Patch != nil {
			path.Patch.Consumes = slices.DeleteFunc(slices.Clone(path.Patch.Consumes), func(kind string) bool {
				return kind == string(types.StrategicMergePatchType)
			})
		}
	}
	return s, nil
}

// withoutStrategicMergeV3 leaves them out of OpenAPI 3.
func withoutStrategicMergeV3(s *spec3.OpenAPI) (*spec3.OpenAPI, error) {
	if s.Paths == nil {
		return s, nil
	}
	for _, path := range s.Paths.Paths {
		if path.Patch != nil && path.Patch.RequestBody != nil {
			delete(path.Patch.RequestBody.Content, string(types.StrategicMergePatchType))
		}
	}
	return s, nil
}
