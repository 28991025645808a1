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
	"k8s.io/apimachinery/pkg/types"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func gang() *v1beta2.SparkSchedulingSpec {
	return &v1beta2.SparkSchedulingSpec{SchedulingPolicy: &sparkoperator.SchedulingPolicy{Gang: &sparkoperator.GangSchedulingPolicy{}}}
}

func basic() *v1beta2.SparkSchedulingSpec {
	return &v1beta2.SparkSchedulingSpec{SchedulingPolicy: &sparkoperator.SchedulingPolicy{Basic: &sparkoperator.BasicSchedulingPolicy{}}}
}

func TestSchedulingIsDefaulted(t *testing.T) {
	s := newSuite(t)
	app := application("pi")
	app.Spec.Scheduling = &v1beta2.SparkSchedulingSpec{}
	assert.Equal(t, basic(), s.create(t, app).Spec.Scheduling)
}

// TestSchedulingIsImmutable tries every change through every kind of request.
func TestSchedulingIsImmutable(t *testing.T) {
	s := newSuite(t)
	applications := s.typed.SparkoperatorV1beta2().SparkApplications(s.namespace)
	changes := map[string]struct{ from, to *v1beta2.SparkSchedulingSpec }{
		"set":           {nil, gang()},
		"set-empty":     {nil, &v1beta2.SparkSchedulingSpec{}},
		"unset":         {gang(), nil},
		"edit":          {gang(), basic()},
		"edit-to-empty": {gang(), &v1beta2.SparkSchedulingSpec{}},
		"unset-basic":   {basic(), nil},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			app := application(name)
			app.Spec.Scheduling = change.from
			stored := s.create(t, app)
			refused := func(how string, err error) {
				t.Helper()
				require.Error(t, err, how)
				assert.True(t, apierrors.IsInvalid(err), "%s: %v", how, err)
				require.ErrorContains(t, err, "spec.scheduling", how)
				assert.ErrorContains(t, err, "create a new SparkApplication", how)
			}

			put := stored.DeepCopy()
			put.Spec.Scheduling = change.to
			_, err := applications.Update(t.Context(), put, metav1.UpdateOptions{})
			refused("PUT", err)

			value, err := json.Marshal(change.to)
			require.NoError(t, err)
			jsonPatch := `[{"op":"add","path":"/spec/scheduling","value":` + string(value) + `}]`
			merge := `{"spec":{"scheduling":` + string(value) + `}}`
			switch {
			case change.to == nil:
				jsonPatch = `[{"op":"remove","path":"/spec/scheduling"}]`
			case change.from != nil:
				// A merge patch keeps what it doesn't name.
				merge = `{"spec":{"scheduling":{"schedulingPolicy":{"gang":null,"basic":{}}}}}`
			}
			_, err = applications.Patch(t.Context(), name, types.JSONPatchType, []byte(jsonPatch), metav1.PatchOptions{})
			refused("JSON patch", err)
			_, err = applications.Patch(t.Context(), name, types.MergePatchType, []byte(merge), metav1.PatchOptions{})
			refused("merge patch", err)

			// An applier removes what it owns by leaving it out.
			applied := name + "-applied"
			owner := metav1.PatchOptions{FieldManager: "owner", Force: new(true)}
			_, err = applications.Patch(t.Context(), applied, types.ApplyPatchType, apply(applied, change.from), owner)
			require.NoError(t, err)
			_, err = applications.Patch(t.Context(), applied, types.ApplyPatchType, apply(applied, change.to), owner)
			refused("apply", err)
			_, err = applications.Patch(t.Context(), applied, types.ApplyPatchType, apply(applied, change.from), owner)
			require.NoError(t, err, "the same manifest again")

			// Everything else stays editable.
			_, err = applications.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}},"spec":{"arguments":["1"],"suspend":true}}`), metav1.PatchOptions{})
			require.NoError(t, err)
			got, err := applications.Get(t.Context(), name, metav1.GetOptions{})
			require.NoError(t, err)
			assert.Equal(t, stored.Spec.Scheduling, got.Spec.Scheduling)
		})
	}
}

// apply returns what an applier sends that says all of an application.
func apply(name string, scheduling *v1beta2.SparkSchedulingSpec) []byte {
	spec := map[string]any{
		"type":                "Scala",
		"sparkVersion":        "4.0.1",
		"image":               "spark:4.0.1",
		"mainClass":           "org.apache.spark.examples.SparkPi",
		"mainApplicationFile": "local:///opt/spark/examples/jars/spark-examples.jar",
		"driver":              map[string]any{"serviceAccount": "spark"},
		"executor":            map[string]any{"instances": 4},
	}
	if scheduling != nil {
		spec["scheduling"] = scheduling
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": v1beta2.SchemeGroupVersion.String(),
		"kind":       "SparkApplication",
		"metadata":   map[string]any{"name": name},
		"spec":       spec,
	})
	if err != nil {
		panic(err)
	}
	return body
}

func TestStatusNeverChangesScheduling(t *testing.T) {
	s := newSuite(t)
	applications := s.typed.SparkoperatorV1beta2().SparkApplications(s.namespace)
	app := application("pi")
	app.Spec.Scheduling = gang()
	s.create(t, app)
	patched, err := applications.Patch(t.Context(), "pi", types.MergePatchType,
		[]byte(`{"spec":{"scheduling":null},"status":{"driverInfo":{"podName":"pi-driver"}}}`), metav1.PatchOptions{}, "status")
	require.NoError(t, err)
	assert.Equal(t, gang(), patched.Spec.Scheduling)
	assert.Equal(t, "pi-driver", patched.Status.DriverInfo.PodName)
}

func TestGateOffRefusesNativeScheduling(t *testing.T) {
	server, err := launch(dataDir(t))
	require.NoError(t, err)
	s := &suite{config: server.LoopbackClientConfig(), namespace: "default"}
	s.typed = mustClient(t, s.config)
	app := application("pi")
	app.Spec.Scheduling = gang()
	_, err = s.typed.SparkoperatorV1beta2().SparkApplications("default").Create(t.Context(), app, metav1.CreateOptions{})
	require.Error(t, err)
	assert.True(t, apierrors.IsInvalid(err), err)
	require.ErrorContains(t, err, "SparkApplicationWorkloadAwareScheduling")
	require.NoError(t, server.stop())
}
