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

package server

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	applyv1beta2 "github.com/spark-apiserver/spark-apiserver/pkg/generated/applyconfiguration/sparkoperator/v1beta2"
)

func TestApplyByTwoManagers(t *testing.T) {
	s := newSuite(t)
	applications := s.typed.SparkoperatorV1beta2().SparkApplications(s.namespace)
	first := func(keys string) []byte {
		return []byte(`{"apiVersion":"sparkoperator.k8s.io/v1beta2","kind":"SparkApplication","metadata":{"name":"pi"},"spec":{
			"type":"Scala","sparkVersion":"4.0.1","image":"spark:4.0.1","mainClass":"org.example.Main","mainApplicationFile":"local:///app.jar",
			"sparkConf":{"spark.eventLog.enabled":"true"},
			"driver":{"template":` + keys + `,"cores":1},"executor":{"instances":4}}}`)
	}
	keys, reordered := `{"metadata":{"labels":{"a":"1","b":"2"}},"spec":{"containers":[{"name":"spark-kubernetes-driver","image":"x"}]}}`,
		`{"spec":{"containers":[{"image":"x","name":"spark-kubernetes-driver"}]},"metadata":{"labels":{"b":"2","a":"1"}}}`
	created, err := applications.Patch(t.Context(), "pi", types.ApplyPatchType, first(keys), metav1.PatchOptions{FieldManager: "first"})
	require.NoError(t, err)
	assert.EqualValues(t, 1, created.Generation)

	second := applyv1beta2.SparkApplication("pi", s.namespace).
		WithLabels(map[string]string{"team": "b"}).
		WithSpec(applyv1beta2.SparkApplicationSpec().WithSparkConf(map[string]string{"spark.ui.enabled": "false"}))
	merged, err := applications.Apply(t.Context(), second, metav1.ApplyOptions{FieldManager: "second"})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"spark.eventLog.enabled": "true", "spark.ui.enabled": "false"}, merged.Spec.SparkConf)
	assert.Equal(t, "b", merged.Labels["team"])
	assert.EqualValues(t, 2, merged.Generation)

	// The same manifest again is no change, whichever way its keys are sorted.
	for _, body := range [][]byte{first(keys), first(reordered)} {
		again, err := applications.Patch(t.Context(), "pi", types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: "first"})
		require.NoError(t, err)
		assert.Equal(t, merged.ResourceVersion, again.ResourceVersion)
	}

	// What the other manages can't be taken without force.
	taking := applyv1beta2.SparkApplication("pi", s.namespace).
		WithSpec(applyv1beta2.SparkApplicationSpec().WithSparkVersion("3.5.7"))
	_, err = applications.Apply(t.Context(), taking, metav1.ApplyOptions{FieldManager: "second"})
	require.True(t, apierrors.IsConflict(err), err)
	require.ErrorContains(t, err, ".spec.sparkVersion")

	// What a manager no longer says is gone, and the other's is not.
	without := applyv1beta2.SparkApplication("pi", s.namespace).WithLabels(map[string]string{"team": "b"})
	left, err := applications.Apply(t.Context(), without, metav1.ApplyOptions{FieldManager: "second"})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"spark.eventLog.enabled": "true"}, left.Spec.SparkConf)
}

func TestAppliersNeverOwnWhatIsWiped(t *testing.T) {
	s := newSuite(t)
	applications := s.typed.SparkoperatorV1beta2().SparkApplications(s.namespace)
	body := []byte(`{"apiVersion":"sparkoperator.k8s.io/v1beta2","kind":"SparkApplication","metadata":{"name":"pi"},"spec":{
		"sparkVersion":"4.0.1","mainClass":"org.example.Main","mainApplicationFile":"local:///app.jar","image":"x","driver":{},"executor":{}},
		"status":{"submissionID":"forged","driverInfo":{}}}`)
	app, err := applications.Patch(t.Context(), "pi", types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: "user"})
	require.NoError(t, err)
	assert.Empty(t, app.Status.SubmissionID)
	require.Len(t, app.ManagedFields, 1)
	assert.NotContains(t, app.ManagedFields[0].FieldsV1.GetRawString(), "f:status")

	status := []byte(`{"apiVersion":"sparkoperator.k8s.io/v1beta2","kind":"SparkApplication","metadata":{"name":"pi","labels":{"forged":"true"}},
		"spec":{"sparkVersion":"0.0"},"status":{"submissionID":"real","driverInfo":{}}}`)
	app, err = applications.Patch(t.Context(), "pi", types.ApplyPatchType, status, metav1.PatchOptions{FieldManager: "controller"}, "status")
	require.NoError(t, err)
	assert.Equal(t, "real", app.Status.SubmissionID)
	assert.Equal(t, "4.0.1", app.Spec.SparkVersion)
	for _, entry := range app.ManagedFields {
		if entry.Manager == "controller" {
			assert.Equal(t, "status", entry.Subresource)
			assert.NotContains(t, entry.FieldsV1.GetRawString(), "f:spec")
			assert.NotContains(t, entry.FieldsV1.GetRawString(), "f:labels")
		}
	}
}
