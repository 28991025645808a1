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
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

func TestStrategicMergePatchesAreNotOffered(t *testing.T) {
	const merge, strategic, apply = "application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml"
	patch := &spec.Operation{OperationProps: spec.OperationProps{Consumes: []string{merge, strategic, apply}}}
	two, err := withoutStrategicMerge(&spec.Swagger{SwaggerProps: spec.SwaggerProps{Paths: &spec.Paths{Paths: map[string]spec.PathItem{
		"/a": {PathItemProps: spec.PathItemProps{Patch: patch}}, "/b": {},
	}}}})
	require.NoError(t, err)
	assert.Equal(t, []string{merge, apply}, two.Paths.Paths["/a"].Patch.Consumes)

	body := &spec3.RequestBody{RequestBodyProps: spec3.RequestBodyProps{Content: map[string]*spec3.MediaType{merge: {}, strategic: {}, apply: {}}}}
	three, err := withoutStrategicMergeV3(&spec3.OpenAPI{Paths: &spec3.Paths{Paths: map[string]*spec3.Path{
		"/a": {PathProps: spec3.PathProps{Patch: &spec3.Operation{OperationProps: spec3.OperationProps{RequestBody: body}}}}, "/b": {},
	}}})
	require.NoError(t, err)
	assert.Len(t, three.Paths.Paths["/a"].Patch.RequestBody.Content, 2)
	assert.NotContains(t, three.Paths.Paths["/a"].Patch.RequestBody.Content, strategic)
}
