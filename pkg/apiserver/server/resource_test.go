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
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func TestCreateReadUpdateDelete(t *testing.T) {
	s := newSuite(t)
	applications := s.typed.SparkoperatorV1beta2().SparkApplications(s.namespace)
	forged := application("pi")
	forged.Status.AppState.State = v1beta2.ApplicationStateCompleted
	created := s.create(t, forged)
	assert.EqualValues(t, 1, created.Generation)
	assert.Equal(t, v1beta2.ClusterMode, created.Spec.Mode, "defaults are stored")
	assert.Equal(t, new(int32(1)), created.Spec.Driver.Cores)

	raw, err := s.typed.Discovery().RESTClient().Get().AbsPath(s.path("pi")).SetHeader("Accept", "application/json").DoRaw(t.Context())
	require.NoError(t, err)
	var document map[string]any
	require.NoError(t, json.Unmarshal(raw, &document))
	assert.NotContains(t, document, "status", "a fresh application has none, not even an empty one")
	assert.Contains(t, document, "spec")

	created.Labels = map[string]string{"team": "a"}
	labelled, err := applications.Update(t.Context(), created, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 1, labelled.Generation)
	labelled.Spec.Arguments = []string{"1000"}
	edited, err := applications.Update(t.Context(), labelled, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 2, edited.Generation)

	_, err = applications.Update(t.Context(), labelled, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsConflict(err), err)
	edited.ResourceVersion = ""
	_, err = applications.Update(t.Context(), edited, metav1.UpdateOptions{})
	require.True(t, apierrors.IsInvalid(err), err)
	require.ErrorContains(t, err, "metadata.resourceVersion")

	_, err = applications.Create(t.Context(), application("pi"), metav1.CreateOptions{})
	assert.True(t, apierrors.IsAlreadyExists(err), err)
	missing := application("missing")
	missing.ResourceVersion = "1"
	_, err = applications.Update(t.Context(), missing, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsNotFound(err), "PUT creates nothing: %v", err)

	require.NoError(t, applications.Delete(t.Context(), "pi", metav1.DeleteOptions{}))
	_, err = applications.Get(t.Context(), "pi", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), err)
}

func TestGenerateName(t *testing.T) {
	s := newSuite(t)
	app := application("")
	app.GenerateName = "pi-"
	assert.Regexp(t, `^pi-.{5}$`, s.create(t, app).Name)
}

func TestPropagation(t *testing.T) {
	s := newSuite(t)
	applications := s.typed.SparkoperatorV1beta2().SparkApplications(s.namespace)
	for policy, want := range map[metav1.DeletionPropagation][]string{
		metav1.DeletePropagationForeground: {metav1.FinalizerDeleteDependents},
		metav1.DeletePropagationOrphan:     {metav1.FinalizerOrphanDependents},
		metav1.DeletePropagationBackground: nil,
		"":                                 nil,
	} {
		app := s.create(t, application("pi"))
		options := metav1.DeleteOptions{}
		if policy != "" {
			options.PropagationPolicy = &policy
		}
		require.NoError(t, applications.Delete(t.Context(), app.Name, options))
		got, err := applications.Get(t.Context(), app.Name, metav1.GetOptions{})
		if want == nil {
			assert.True(t, apierrors.IsNotFound(err), "%q: %v", policy, err)
			continue
		}
		require.NoError(t, err, policy)
		assert.Equal(t, want, got.Finalizers)
		assert.NotNil(t, got.DeletionTimestamp)
		_, err = applications.Patch(t.Context(), app.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		require.NoError(t, err)
	}
}

func TestDryRunStoresNothing(t *testing.T) {
	s := newSuite(t)
	applications := s.typed.SparkoperatorV1beta2().SparkApplications(s.namespace)
	dryRun := []string{metav1.DryRunAll}
	created, err := applications.Create(t.Context(), application("pi"), metav1.CreateOptions{DryRun: dryRun})
	require.NoError(t, err)
	assert.NotEmpty(t, created.UID)
	_, err = applications.Get(t.Context(), "pi", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), err)

	s.create(t, application("pi"))
	_, err = applications.Patch(t.Context(), "pi", types.MergePatchType, []byte(`{"spec":{"arguments":["1"]}}`), metav1.PatchOptions{DryRun: dryRun})
	require.NoError(t, err)
	require.NoError(t, applications.Delete(t.Context(), "pi", metav1.DeleteOptions{DryRun: dryRun}))
	got, err := applications.Get(t.Context(), "pi", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Empty(t, got.Spec.Arguments)
}

func TestPatches(t *testing.T) {
	s := newSuite(t)
	applications := s.typed.SparkoperatorV1beta2().SparkApplications(s.namespace)
	s.create(t, application("pi"))
	for kind, patch := range map[types.PatchType]string{
		types.JSONPatchType:  `[{"op":"add","path":"/spec/arguments","value":["json"]}]`,
		types.MergePatchType: `{"spec":{"arguments":["merge"]}}`,
	} {
		patched, err := applications.Patch(t.Context(), "pi", kind, []byte(patch), metav1.PatchOptions{})
		require.NoError(t, err, kind)
		require.Len(t, patched.Spec.Arguments, 1)
		assert.Contains(t, string(kind), patched.Spec.Arguments[0])
	}
	// A type error is refused, wherever it is.
	_, err := applications.Patch(t.Context(), "pi", types.MergePatchType, []byte(`{"spec":{"executor":{"instances":"many"}}}`), metav1.PatchOptions{})
	assert.True(t, apierrors.IsBadRequest(err) || apierrors.IsInvalid(err), err)
}

func TestStatusSubresource(t *testing.T) {
	s := newSuite(t)
	applications := s.typed.SparkoperatorV1beta2().SparkApplications(s.namespace)
	app := s.create(t, application("pi"))
	app.Status.AppState.State = v1beta2.ApplicationStateSubmitted
	app.Status.SubmissionID = "c2a1f3d4-0000-4000-8000-000000000001"
	app.Spec.Arguments = []string{"forged"}
	app.Labels = map[string]string{"forged": "true"}
	updated, err := applications.UpdateStatus(t.Context(), app, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, v1beta2.ApplicationStateSubmitted, updated.Status.AppState.State)
	assert.Empty(t, updated.Spec.Arguments)
	assert.Empty(t, updated.Labels)
	assert.EqualValues(t, 1, updated.Generation)

	// The main resource leaves the status alone.
	updated.Status.AppState.State = v1beta2.ApplicationStateFailed
	updated.Spec.Arguments = []string{"1000"}
	edited, err := applications.Update(t.Context(), updated, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, v1beta2.ApplicationStateSubmitted, edited.Status.AppState.State)
	assert.Equal(t, []string{"1000"}, edited.Spec.Arguments)

	patched, err := applications.Patch(t.Context(), "pi", types.MergePatchType,
		[]byte(`{"status":{"applicationState":{"state":"RUNNING"}},"spec":{"arguments":["forged"]}}`), metav1.PatchOptions{}, "status")
	require.NoError(t, err)
	assert.Equal(t, v1beta2.ApplicationStateRunning, patched.Status.AppState.State)
	assert.Equal(t, []string{"1000"}, patched.Spec.Arguments)
	assert.Equal(t, app.Status.SubmissionID, patched.Status.SubmissionID)
}

func TestTemplatesKeepUnknownFields(t *testing.T) {
	s := newSuite(t)
	app := application("pi")
	app.Spec.Executor.Template = &runtime.RawExtension{Raw: []byte(`{"spec": {"fieldOfTomorrow": {"b": 1, "a": 12345678901234567890}, "containers": [{"name": "spark-kubernetes-executor"}]}}`)}
	created := s.create(t, app)
	want := `{"spec":{"containers":[{"name":"spark-kubernetes-executor"}],"fieldOfTomorrow":{"a":12345678901234567890,"b":1}}}`
	assert.Equal(t, want, string(created.Spec.Executor.Template.Raw))
	got, err := s.typed.SparkoperatorV1beta2().SparkApplications(s.namespace).Get(t.Context(), "pi", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, want, string(got.Spec.Executor.Template.Raw))
}
