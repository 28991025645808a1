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

package scheduledsparkapplication

import (
	"testing"
	"time"

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

func newTestStrategy(t *testing.T, workloadAware bool) *scheduledSparkApplicationStrategy {
	t.Helper()
	gate := features.NewFeatureGate()
	require.NoError(t, gate.SetFromMap(map[string]bool{string(features.SparkApplicationWorkloadAwareScheduling): workloadAware}))
	return NewStrategy(newScheme(), gate, validation.BatchSchedulers{KubeSchedulers: []string{"kube-scheduler"}})
}

func validSchedule() *sparkoperator.ScheduledSparkApplication {
	versioned := &v1beta2.ScheduledSparkApplication{
		ObjectMeta: metav1.ObjectMeta{Name: "nightly", Namespace: "default"},
		Spec: v1beta2.ScheduledSparkApplicationSpec{
			Schedule: "0 2 * * *",
			Template: v1beta2.SparkApplicationSpec{
				SparkVersion:        "4.0.1",
				Image:               new("spark:4.0.1"),
				MainClass:           new("org.apache.spark.examples.SparkPi"),
				MainApplicationFile: new("local:///opt/spark/examples/jars/spark-examples.jar"),
				Driver:              v1beta2.DriverSpec{SparkPodSpec: v1beta2.SparkPodSpec{Template: &runtime.RawExtension{Raw: []byte(`{"spec":{"a":2.50,"z":1}}`)}}},
			},
		},
	}
	newScheme().Default(versioned)
	hub := &sparkoperator.ScheduledSparkApplication{}
	if err := v1beta2.Convert_v1beta2_ScheduledSparkApplication_To_sparkoperator_ScheduledSparkApplication(versioned, hub, nil); err != nil {
		panic(err)
	}
	return hub
}

func gangScheduling() *sparkoperator.SparkSchedulingSpec {
	return &sparkoperator.SparkSchedulingSpec{SchedulingPolicy: &sparkoperator.SchedulingPolicy{Gang: &sparkoperator.GangSchedulingPolicy{}}}
}

func TestStrategyConventions(t *testing.T) {
	strategy := newTestStrategy(t, false)
	assert.True(t, strategy.NamespaceScoped())
	assert.False(t, strategy.AllowCreateOnUpdate(t.Context()))
	assert.False(t, strategy.AllowUnconditionalUpdate(t.Context()))
	assert.Equal(t, rest.DeleteDependents, strategy.DefaultGarbageCollectionPolicy(t.Context()))

	for name, test := range map[string]struct {
		strategy rest.ResetFieldsStrategy
		want     *fieldpath.Set
	}{
		"main":   {strategy, fieldpath.NewSet(fieldpath.MakePathOrDie("status"))},
		"status": {NewStatusStrategy(strategy), fieldpath.NewSet(fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec"))},
	} {
		got := test.strategy.GetResetFields()
		versions := newScheme().PrioritizedVersionsForGroup(sparkoperator.GroupName)
		assert.Len(t, got, len(versions), name)
		for _, version := range versions {
			assert.True(t, test.want.Equals(got[fieldpath.APIVersion(version.String())]), "%s %s", name, version)
		}
	}
}

func TestPrepareForCreate(t *testing.T) {
	schedule := validSchedule()
	schedule.Generation = 7
	schedule.Status.LastRunName = "forged"
	schedule.Spec.Template.Driver.Template = &runtime.RawExtension{Raw: []byte(`{"spec": {"b": 1, "a": 2}}`)}

	newTestStrategy(t, false).PrepareForCreate(t.Context(), schedule)

	assert.Equal(t, sparkoperator.ScheduledSparkApplicationStatus{}, schedule.Status)
	assert.EqualValues(t, 1, schedule.Generation)
	want := &runtime.RawExtension{Raw: []byte(`{"spec":{"a":2,"b":1}}`)} // byte for byte
	assert.Equal(t, want, schedule.Spec.Template.Driver.Template)
}

func TestPrepareForUpdate(t *testing.T) {
	for name, test := range map[string]struct {
		change         func(*sparkoperator.ScheduledSparkApplication)
		wantGeneration int64
	}{
		"nothing":  {func(*sparkoperator.ScheduledSparkApplication) {}, 3},
		"metadata": {func(s *sparkoperator.ScheduledSparkApplication) { s.Labels = map[string]string{"a": "b"} }, 3},
		"status":   {func(s *sparkoperator.ScheduledSparkApplication) { s.Status.LastRunName = "forged" }, 3},
		"the order of a template's keys": {func(s *sparkoperator.ScheduledSparkApplication) {
			s.Spec.Template.Driver.Template = &runtime.RawExtension{Raw: []byte(`{"spec": {"z": 1, "a": 2.50}}`)}
		}, 3},
		"suspend":    {func(s *sparkoperator.ScheduledSparkApplication) { s.Spec.Suspend = new(true) }, 4},
		"template":   {func(s *sparkoperator.ScheduledSparkApplication) { s.Spec.Template.Arguments = []string{"1000"} }, 4},
		"scheduling": {func(s *sparkoperator.ScheduledSparkApplication) { s.Spec.Template.Scheduling = gangScheduling() }, 4},
	} {
		t.Run(name, func(t *testing.T) {
			old := validSchedule()
			old.Generation = 3
			old.Status.LastRunName = "real"
			schedule := old.DeepCopy()
			test.change(schedule)
			newTestStrategy(t, false).PrepareForUpdate(t.Context(), schedule, old)
			assert.Equal(t, test.wantGeneration, schedule.Generation)
			assert.Equal(t, "real", schedule.Status.LastRunName)
		})
	}
}

func TestStatusPrepareForUpdate(t *testing.T) {
	old := validSchedule()
	old.Generation = 3
	schedule := old.DeepCopy()
	schedule.Labels = map[string]string{"a": "forged"}
	schedule.Spec.Schedule = "@hourly"
	schedule.Status.LastRunName = "real"
	NewStatusStrategy(newTestStrategy(t, false)).PrepareForUpdate(t.Context(), schedule, old)
	assert.Equal(t, old.Spec, schedule.Spec)
	assert.Equal(t, old.Labels, schedule.Labels)
	assert.EqualValues(t, 3, schedule.Generation)
	assert.Equal(t, "real", schedule.Status.LastRunName)
}

// TestTheSchedulingBlockIsEditable: an application's is not, but this one is for runs to come.
func TestTheSchedulingBlockIsEditable(t *testing.T) {
	old := validSchedule()
	old.ResourceVersion = "1"
	schedule := old.DeepCopy()
	schedule.Spec.Template.Scheduling = gangScheduling()
	assert.Empty(t, newTestStrategy(t, true).ValidateUpdate(t.Context(), schedule, old))
	errs := newTestStrategy(t, false).ValidateUpdate(t.Context(), schedule, old)
	require.NotEmpty(t, errs, "with the gate off")
	assert.Equal(t, "spec.template.scheduling", errs[0].Field)
}

// TestRules shows that the rules beside the fields and those by hand are reached through the strategy.
func TestRules(t *testing.T) {
	strategy := newTestStrategy(t, false)
	ctx := genericapirequest.WithRequestInfo(genericapirequest.WithNamespace(t.Context(), corev1.NamespaceDefault), &genericapirequest.RequestInfo{
		APIGroup: sparkoperator.GroupName, APIVersion: v1beta2.SchemeGroupVersion.Version, Resource: "scheduledsparkapplications", Verb: "create",
	})
	schedule := validSchedule()
	schedule.Spec.Template.Driver.Template = nil
	rest.FillObjectMetaSystemFields(schedule)
	require.NoError(t, rest.BeforeCreate(strategy, ctx, schedule))
	assert.Empty(t, strategy.WarningsOnCreate(ctx, schedule))

	schedule.Spec.ConcurrencyPolicy, schedule.Spec.Template.Type, schedule.Spec.TimeZone = "Queue", "Cobol", "Mars"
	err := rest.BeforeCreate(strategy, ctx, schedule)
	require.ErrorContains(t, err, `spec.template.type: Unsupported value: "Cobol"`)
	require.ErrorContains(t, err, `spec.concurrencyPolicy: Unsupported value: "Queue"`)
	require.ErrorContains(t, err, `spec.timeZone: Invalid value: "Mars"`)

	schedule.Spec.Template.SparkConf = map[string]string{"spark.driver.memory": "4g"}
	require.NotEmpty(t, strategy.WarningsOnUpdate(ctx, schedule, validSchedule()))
	assert.Contains(t, strategy.WarningsOnUpdate(ctx, schedule, validSchedule())[0], "spec.template.sparkConf[spark.driver.memory]")
	assert.Empty(t, NewStatusStrategy(strategy).WarningsOnUpdate(ctx, schedule, validSchedule()))
}

func TestTable(t *testing.T) {
	fresh, run := validSchedule(), validSchedule()
	run.Spec.TimeZone, run.Spec.Suspend = "Europe/Berlin", new(true)
	run.Status = sparkoperator.ScheduledSparkApplicationStatus{
		LastRun: metav1.NewTime(time.Now().Add(-3*time.Hour - time.Minute)), LastRunName: "nightly-1772359200",
		NextRun:       metav1.Date(2026, 3, 1, 3, 0, 0, 0, time.FixedZone("elsewhere", 3600)),
		ScheduleState: sparkoperator.ScheduleStateFailedValidation, Reason: "the run was refused",
	}
	list := &sparkoperator.ScheduledSparkApplicationList{
		ListMeta: metav1.ListMeta{ResourceVersion: "42", Continue: "token", RemainingItemCount: new(int64(7))},
		Items:    []sparkoperator.ScheduledSparkApplication{*fresh, *run},
	}
	table, err := NewTableConvertor().ConvertToTable(t.Context(), list, nil)
	require.NoError(t, err)
	require.Len(t, table.Rows, 2)
	assert.Equal(t, []any{"nightly", "0 2 * * *", "<none>", "false", "<none>", "<none>", "<unknown>", "<none>", "Allow", "<none>", "<none>"}, table.Rows[0].Cells)
	assert.Equal(t, []any{"nightly", "0 2 * * *", "Europe/Berlin", "true", "3h1m", "nightly-1772359200", "<unknown>",
		"2026-03-01T02:00:00Z", "Allow", "FailedValidation", "the run was refused"}, table.Rows[1].Cells)
	assert.Equal(t, "42", table.ResourceVersion)
	assert.Equal(t, "token", table.Continue)
	assert.Equal(t, new(int64(7)), table.RemainingItemCount)

	var narrow []string
	for _, column := range table.ColumnDefinitions {
		assert.NotEmpty(t, column.Description, column.Name)
		if column.Priority == 0 {
			narrow = append(narrow, column.Name)
		}
	}
	assert.Equal(t, []string{"Name", "Schedule", "TimeZone", "Suspend", "Last Run", "Last Run Name", "Age"}, narrow, "as in the Spark Operator's table")
	assert.Len(t, table.ColumnDefinitions, len(table.Rows[0].Cells))

	table, err = NewTableConvertor().ConvertToTable(t.Context(), fresh, &metav1.TableOptions{NoHeaders: true})
	require.NoError(t, err)
	assert.Empty(t, table.ColumnDefinitions)
	_, err = NewTableConvertor().ConvertToTable(t.Context(), &metav1.Status{}, nil)
	require.Error(t, err)
}
