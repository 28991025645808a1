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
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func gangOf(name string, executors int32) *v1beta2.SparkApplication {
	app := application(name)
	app.Spec.Executor.Instances = &executors
	app.Spec.Scheduling = &v1beta2.SparkSchedulingSpec{
		SchedulingPolicy: &sparkoperator.SchedulingPolicy{Gang: &sparkoperator.GangSchedulingPolicy{}},
	}
	return app
}

func TestScaleIsAnEdit(t *testing.T) {
	s := newSuite(t)
	applications := s.typed.SparkoperatorV1beta2().SparkApplications(s.namespace)
	created := s.create(t, gangOf("pi", 2))

	scale, err := applications.GetScale(t.Context(), "pi", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, created.UID, scale.UID)
	assert.EqualValues(t, 2, scale.Spec.Replicas)
	assert.Equal(t, "spark-role=executor,sparkoperator.k8s.io/app-name=pi", scale.Status.Selector)
	assert.Empty(t, scale.ManagedFields)

	scale.Spec.Replicas = 3
	scale, err = applications.UpdateScale(t.Context(), "pi", scale, metav1.UpdateOptions{FieldManager: "autoscaler"})
	require.NoError(t, err)
	assert.EqualValues(t, 3, scale.Spec.Replicas)
	app, err := applications.Get(t.Context(), "pi", metav1.GetOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 3, *app.Spec.Executor.Instances)
	assert.EqualValues(t, 2, app.Generation)
	assert.Equal(t, created.Spec.Scheduling, app.Spec.Scheduling)
	assert.Equal(t, scale.ResourceVersion, app.ResourceVersion)

	// What was read before somebody else wrote can't be written.
	stale := scale.DeepCopy()
	stale.ResourceVersion, stale.Spec.Replicas = created.ResourceVersion, 9
	_, err = applications.UpdateScale(t.Context(), "pi", stale, metav1.UpdateOptions{})
	require.True(t, apierrors.IsConflict(err), "%v", err)
	stale.ResourceVersion, stale.UID = "", "another"
	_, err = applications.UpdateScale(t.Context(), "pi", stale, metav1.UpdateOptions{})
	require.True(t, apierrors.IsConflict(err), "%v", err)

	// A dry run stores nothing.
	scale.Spec.Replicas = 7
	dry, err := applications.UpdateScale(t.Context(), "pi", scale, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
	require.NoError(t, err)
	assert.EqualValues(t, 7, dry.Spec.Replicas)
	again, err := applications.GetScale(t.Context(), "pi", metav1.GetOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 3, again.Spec.Replicas)

	_, err = applications.GetScale(t.Context(), "missing", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	_, err = applications.UpdateScale(t.Context(), "missing", &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "missing"}}, metav1.UpdateOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
}

func TestScaleRefusesWhatCantBe(t *testing.T) {
	s := newSuite(t)
	applications := s.typed.SparkoperatorV1beta2().SparkApplications(s.namespace)
	s.create(t, application("pi"))
	dynamic := application("dynamic")
	dynamic.Spec.Executor.Instances = nil
	dynamic.Spec.DynamicAllocation = &v1beta2.DynamicAllocation{Enabled: true}
	s.create(t, dynamic)

	for name, test := range map[string]struct {
		app, patch, want string
	}{
		"none":               {"pi", `{"spec":{"replicas":0}}`, "spec.replicas: Invalid value: 0: must be at least 1"},
		"negative":           {"pi", `{"spec":{"replicas":-1}}`, "spec.replicas: Invalid value: -1"},
		"dynamic allocation": {"dynamic", `{"spec":{"replicas":3}}`, "spec.replicas: Forbidden: the application uses dynamic allocation"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := applications.Patch(t.Context(), test.app, types.MergePatchType, []byte(test.patch), metav1.PatchOptions{}, "scale")
			require.True(t, apierrors.IsInvalid(err), "%v", err)
			require.ErrorContains(t, err, test.want)
			require.ErrorContains(t, err, "Scale")
		})
	}
	scale, err := applications.GetScale(t.Context(), "dynamic", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Zero(t, scale.Spec.Replicas)

	// An unknown field of a scale is told as that of any other object.
	err = s.typed.SparkoperatorV1beta2().RESTClient().Patch(types.MergePatchType).AbsPath(s.path("pi", "scale")).
		Param("fieldValidation", "Strict").Body([]byte(`{"spec":{"replica":3}}`)).Do(t.Context()).Error()
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	require.ErrorContains(t, err, `unknown field "spec.replica"`)
}

// owners returns who owns the number of executors, through which subresource.
func owners(t *testing.T, app *v1beta2.SparkApplication) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, entry := range app.ManagedFields {
		var fields struct {
			Spec struct {
				Executor map[string]any `json:"f:executor"`
			} `json:"f:spec"`
		}
		require.NoError(t, json.Unmarshal([]byte(entry.FieldsV1.GetRawString()), &fields))
		assert.Equal(t, v1beta2.SchemeGroupVersion.String(), entry.APIVersion)
		if _, ok := fields.Spec.Executor["f:instances"]; ok {
			found[entry.Manager] = entry.Subresource
		}
	}
	return found
}

// Whoever scales comes to own the number, and appliers of the application and of its scale see each other.
func TestScaleOwnership(t *testing.T) {
	s := newSuite(t)
	applications := s.typed.SparkoperatorV1beta2().SparkApplications(s.namespace)
	body := func(executors string) []byte {
		return []byte(`{"apiVersion":"sparkoperator.k8s.io/v1beta2","kind":"SparkApplication","metadata":{"name":"pi"},"spec":{
			"type":"Scala","sparkVersion":"4.0.1","image":"spark:4.0.1","mainClass":"org.example.Main","mainApplicationFile":"local:///app.jar",
			"driver":{},"executor":{"cores":1` + executors + `}}}`)
	}
	app, err := applications.Patch(t.Context(), "pi", types.ApplyPatchType, body(`,"instances":2`), metav1.PatchOptions{FieldManager: "git"})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"git": ""}, owners(t, app))

	// An autoscaler's update takes the number over.
	patch := func(kind types.PatchType, manager string, force bool, body string) error {
		// The typed client would read the Scale that is answered as an application.
		request := s.typed.SparkoperatorV1beta2().RESTClient().Patch(kind).AbsPath(s.path("pi", "scale")).Param("fieldManager", manager).Body([]byte(body))
		if force {
			request.Param("force", "true")
		}
		return request.Do(t.Context()).Error()
	}
	require.NoError(t, patch(types.MergePatchType, "autoscaler", false, `{"spec":{"replicas":3}}`))
	app, err = applications.Get(t.Context(), "pi", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"autoscaler": "scale"}, owners(t, app))

	// The manifest with the old number is told so, and one without it leaves the number alone.
	_, err = applications.Patch(t.Context(), "pi", types.ApplyPatchType, body(`,"instances":2`), metav1.PatchOptions{FieldManager: "git"})
	require.True(t, apierrors.IsConflict(err), "%v", err)
	require.ErrorContains(t, err, ".spec.executor.instances")
	app, err = applications.Patch(t.Context(), "pi", types.ApplyPatchType, body(""), metav1.PatchOptions{FieldManager: "git"})
	require.NoError(t, err)
	assert.EqualValues(t, 3, *app.Spec.Executor.Instances)

	// An applied scale conflicts with the autoscaler, and takes over by force.
	apply := `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"pi"},"spec":{"replicas":5}}`
	err = patch(types.ApplyPatchType, "operator", false, apply)
	require.True(t, apierrors.IsConflict(err), "%v", err)
	require.ErrorContains(t, err, ".spec.replicas")
	require.NoError(t, patch(types.ApplyPatchType, "operator", true, apply))
	app, err = applications.Get(t.Context(), "pi", metav1.GetOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 5, *app.Spec.Executor.Instances)
	assert.Equal(t, map[string]string{"operator": "scale"}, owners(t, app))
	assert.Equal(t, "local:///app.jar", *app.Spec.MainApplicationFile)
}

func TestScaleIsDiscovered(t *testing.T) {
	s := newSuite(t)
	client, err := discovery.NewDiscoveryClientForConfig(s.config)
	require.NoError(t, err)
	list, err := client.ServerResourcesForGroupVersion(v1beta2.SchemeGroupVersion.String())
	require.NoError(t, err)
	for _, resource := range list.APIResources {
		if resource.Name == "sparkapplications/scale" {
			assert.Equal(t, "Scale", resource.Kind)
			assert.Equal(t, "autoscaling", resource.Group)
			assert.Equal(t, "v1", resource.Version)
			assert.ElementsMatch(t, []string{"get", "patch", "update"}, resource.Verbs)
			return
		}
	}
	assert.Fail(t, "the scale is not discovered", "%v", list.APIResources)
}
