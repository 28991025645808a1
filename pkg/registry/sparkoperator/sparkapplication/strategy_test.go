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

package sparkapplication

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/install"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/validation"
	"github.com/spark-apiserver/spark-apiserver/pkg/features"
)

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return scheme
}

func newTestStrategy(t *testing.T, workloadAware bool) *sparkApplicationStrategy {
	t.Helper()
	gate := features.NewFeatureGate()
	require.NoError(t, gate.SetFromMap(map[string]bool{string(features.SparkApplicationWorkloadAwareScheduling): workloadAware}))
	return NewStrategy(newScheme(), gate, validation.BatchSchedulers{KubeSchedulers: []string{"kube-scheduler"}})
}

func validApplication() *sparkoperator.SparkApplication {
	versioned := &v1beta2.SparkApplication{
		ObjectMeta: metav1.ObjectMeta{Name: "pi", Namespace: "default"},
		Spec: v1beta2.SparkApplicationSpec{
			SparkVersion:        "4.0.1",
			Image:               new("spark:4.0.1"),
			MainClass:           new("org.apache.spark.examples.SparkPi"),
			MainApplicationFile: new("local:///opt/spark/examples/jars/spark-examples.jar"),
			Executor:            v1beta2.ExecutorSpec{Instances: new(int32(2))},
		},
	}
	newScheme().Default(versioned)
	hub := &sparkoperator.SparkApplication{}
	if err := v1beta2.Convert_v1beta2_SparkApplication_To_sparkoperator_SparkApplication(versioned, hub, nil); err != nil {
		panic(err)
	}
	return hub
}

func gangScheduling() *sparkoperator.SparkSchedulingSpec {
	return &sparkoperator.SparkSchedulingSpec{
		SchedulingPolicy: &sparkoperator.SchedulingPolicy{Gang: &sparkoperator.GangSchedulingPolicy{}},
	}
}

func TestStrategyConventions(t *testing.T) {
	strategy := newTestStrategy(t, false)

	assert.True(t, strategy.NamespaceScoped())
	assert.False(t, strategy.AllowCreateOnUpdate(t.Context()))
	assert.False(t, strategy.AllowUnconditionalUpdate(t.Context()))
	assert.Equal(t, rest.DeleteDependents, strategy.DefaultGarbageCollectionPolicy(t.Context()))
}

// TestResetFieldsNameEveryServedVersion fails when a version is served and not thought of here.
func TestResetFieldsNameEveryServedVersion(t *testing.T) {
	strategy := newTestStrategy(t, false)
	for name, test := range map[string]struct {
		strategy rest.ResetFieldsStrategy
		want     *fieldpath.Set
	}{
		"main":   {strategy, fieldpath.NewSet(fieldpath.MakePathOrDie("status"))},
		"status": {NewStatusStrategy(strategy), fieldpath.NewSet(fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec"))},
	} {
		t.Run(name, func(t *testing.T) {
			got := test.strategy.GetResetFields()
			versions := newScheme().PrioritizedVersionsForGroup(sparkoperator.GroupName)
			assert.Len(t, got, len(versions))
			for _, version := range versions {
				assert.True(t, test.want.Equals(got[fieldpath.APIVersion(version.String())]), version)
			}
		})
	}
}

func TestPrepareForCreate(t *testing.T) {
	app := validApplication()
	app.Generation = 7
	app.Status = sparkoperator.SparkApplicationStatus{SubmissionID: "forged", AppState: sparkoperator.ApplicationState{State: sparkoperator.ApplicationStateCompleted}}
	app.Spec.Driver.Template = &runtime.RawExtension{Raw: []byte(`{"spec": {"b": 1, "a": 2}}`)}

	newTestStrategy(t, false).PrepareForCreate(t.Context(), app)

	assert.Equal(t, sparkoperator.SparkApplicationStatus{}, app.Status)
	assert.EqualValues(t, 1, app.Generation)
	want := &runtime.RawExtension{Raw: []byte(`{"spec":{"a":2,"b":1}}`)} // byte for byte
	assert.Equal(t, want, app.Spec.Driver.Template)
}

func TestPrepareForUpdate(t *testing.T) {
	for name, test := range map[string]struct {
		change         func(*sparkoperator.SparkApplication)
		wantGeneration int64
	}{
		"nothing":             {func(*sparkoperator.SparkApplication) {}, 3},
		"metadata":            {func(app *sparkoperator.SparkApplication) { app.Labels = map[string]string{"a": "b"} }, 3},
		"status":              {func(app *sparkoperator.SparkApplication) { app.Status.SubmissionID = "forged" }, 3},
		"a forged generation": {func(app *sparkoperator.SparkApplication) { app.Generation = 99 }, 3},
		"the order of a template's keys": {func(app *sparkoperator.SparkApplication) {
			app.Spec.Executor.Template = &runtime.RawExtension{Raw: []byte(`{"spec": {"z": 1, "a": 2.50}}`)}
		}, 3},
		"an empty list for none": {func(app *sparkoperator.SparkApplication) { app.Spec.Arguments = []string{} }, 3},
		"spec":                   {func(app *sparkoperator.SparkApplication) { app.Spec.Arguments = []string{"1000"} }, 4},
		"suspend":                {func(app *sparkoperator.SparkApplication) { app.Spec.Suspend = new(true) }, 4},
		"a template": {func(app *sparkoperator.SparkApplication) {
			app.Spec.Executor.Template = &runtime.RawExtension{Raw: []byte(`{"spec":{"a":2.5,"z":1}}`)}
		}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			old := validApplication()
			old.Generation = 3
			old.Status.SubmissionID = "real"
			old.Spec.Executor.Template = &runtime.RawExtension{Raw: []byte(`{"spec":{"a":2.50,"z":1}}`)}
			app := old.DeepCopy()
			test.change(app)

			newTestStrategy(t, false).PrepareForUpdate(t.Context(), app, old)

			assert.Equal(t, test.wantGeneration, app.Generation)
			assert.Equal(t, "real", app.Status.SubmissionID)
		})
	}
}

func TestStatusPrepareForUpdate(t *testing.T) {
	old := validApplication()
	old.Generation = 3
	old.Labels = map[string]string{"a": "b"}
	app := old.DeepCopy()
	app.Labels = map[string]string{"a": "forged"}
	app.Finalizers = []string{"forged/finalizer"}
	app.Spec.Arguments = []string{"forged"}
	app.Spec.Scheduling = gangScheduling()
	app.Status.SubmissionID = "real"

	NewStatusStrategy(newTestStrategy(t, false)).PrepareForUpdate(t.Context(), app, old)

	assert.Equal(t, old.Spec, app.Spec)
	assert.Equal(t, old.Labels, app.Labels)
	assert.Empty(t, app.Finalizers)
	assert.EqualValues(t, 3, app.Generation)
	assert.Equal(t, "real", app.Status.SubmissionID)
}

func TestValidateFollowsTheFeatureGate(t *testing.T) {
	app := validApplication()
	app.Spec.Scheduling = gangScheduling()

	assert.NotEmpty(t, newTestStrategy(t, false).Validate(t.Context(), app))
	assert.Empty(t, newTestStrategy(t, true).Validate(t.Context(), app))
}

func TestValidateUpdateKeepsScheduling(t *testing.T) {
	strategy := newTestStrategy(t, true)
	old := validApplication()
	old.ResourceVersion = "1"
	app := old.DeepCopy()
	require.Empty(t, strategy.ValidateUpdate(t.Context(), app, old))

	app.Spec.Scheduling = gangScheduling()
	errs := strategy.ValidateUpdate(t.Context(), app, old)
	require.NotEmpty(t, errs)
	assert.Contains(t, errs[0].Field, "spec.scheduling")
}

func TestWarnings(t *testing.T) {
	strategy := newTestStrategy(t, false)
	app := validApplication()
	assert.Empty(t, strategy.WarningsOnCreate(t.Context(), app))

	// A typed field shadows a property.
	app.Spec.Driver.Memory = new("2g")
	app.Spec.SparkConf = map[string]string{"spark.driver.memory": "4g"}
	warnings := strategy.WarningsOnCreate(t.Context(), app)
	require.NotEmpty(t, warnings)
	assert.Contains(t, warnings[0], "spark.driver.memory")
	assert.Empty(t, NewStatusStrategy(strategy).WarningsOnUpdate(t.Context(), app, app))
}

// TestDeclarativeRules shows that the rules beside the fields are reached through the strategy.
func TestDeclarativeRules(t *testing.T) {
	strategy := newTestStrategy(t, false)
	ctx := genericapirequest.WithRequestInfo(genericapirequest.WithNamespace(t.Context(), corev1.NamespaceDefault), &genericapirequest.RequestInfo{
		APIGroup: sparkoperator.GroupName, APIVersion: v1beta2.SchemeGroupVersion.Version, Resource: "sparkapplications", Verb: "create",
	})
	app := validApplication()
	rest.FillObjectMetaSystemFields(app)
	require.NoError(t, rest.BeforeCreate(strategy, ctx, app))

	app.Spec.Type = "Cobol"
	err := rest.BeforeCreate(strategy, ctx, app)
	require.ErrorContains(t, err, `spec.type: Unsupported value: "Cobol"`)
}
