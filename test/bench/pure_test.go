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

package bench

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/install"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/validation"
	controller "github.com/spark-apiserver/spark-apiserver/pkg/controller/sparkapplication"
	"github.com/spark-apiserver/spark-apiserver/pkg/features"
	registry "github.com/spark-apiserver/spark-apiserver/pkg/registry/sparkoperator/sparkapplication"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

const submissionID = "5e1f2f0e-3f3d-4b62-9b1f-8f0b0d7c9a11"

// subject is the application of the API benchmark as it is stored.
type subject struct {
	scheme   *runtime.Scheme
	raw      *v1beta2.SparkApplication
	stored   *v1beta2.SparkApplication
	internal *sparkoperator.SparkApplication
}

func newSubject(tb testing.TB) *subject {
	tb.Helper()
	s := &subject{scheme: runtime.NewScheme(), raw: &v1beta2.SparkApplication{}, internal: &sparkoperator.SparkApplication{}}
	install.Install(s.scheme)
	require.NoError(tb, yaml.UnmarshalStrict(applicationManifest, s.raw))
	s.raw.Namespace, s.raw.UID, s.raw.Generation = "bench", "0a9a5d4e-7d3c-4d55-8a3f-0d2d1c5a6b7c", 1
	s.raw.Spec.Suspend = nil
	s.stored = s.raw.DeepCopy()
	s.scheme.Default(s.stored)
	require.NoError(tb, s.scheme.Convert(s.stored, s.internal, nil))
	return s
}

// running is what the controller sees of an application whose gang runs.
func (s *subject) running(tb testing.TB) *controller.Snapshot {
	tb.Helper()
	app := s.stored.DeepCopy()
	app.Status.SubmissionID, app.Status.ObservedGeneration = submissionID, app.Generation
	app.Status.AppState.State = v1beta2.ApplicationStateRunning
	app.Status.LastSubmissionAttemptTime = metav1.NewTime(time.Unix(1_800_000_000, 0))
	compiled, err := scheduling.CompileSubmission(app, submissionID, app.Status.LastSubmissionAttemptTime.Time, "")
	require.NoError(tb, err)
	driver := compiled.Objects.Driver.DeepCopy()
	driver.UID, driver.Status.Phase = "1", corev1.PodRunning
	app.Status.DriverInfo.PodName = driver.Name
	snapshot := &controller.Snapshot{
		Application: app, Settings: controller.DefaultSettings(), FreshSubmissionID: submissionID, Driver: driver, DriverSeen: true,
		FeatureEnabled: true, PodGroupsKnown: true,
		Compile: func(string, time.Time, string) (*scheduling.Submission, error) { return compiled, nil },
	}
	for i := range executorsEach {
		snapshot.Executors = append(snapshot.Executors, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "executor-" + string(rune('a'+i)), Namespace: app.Namespace},
			Status:     corev1.PodStatus{Phase: corev1.PodRunning},
		})
	}
	return snapshot
}

// pure are the functions through which every application goes, by the names of their benchmarks.
var pure = []struct {
	name string
	// allocations is how many one call may make; TestAllocations holds the code to it. More than measured by about a quarter.
	allocations float64
	prepare     func(tb testing.TB, s *subject) func()
}{
	{"Default", 135, func(_ testing.TB, s *subject) func() {
		return func() { s.scheme.Default(s.raw.DeepCopy()) }
	}},
	{"Convert", 5, func(_ testing.TB, s *subject) func() {
		return func() { _ = s.scheme.Convert(s.stored, &sparkoperator.SparkApplication{}, nil) }
	}},
	{"Validate", 3300, func(tb testing.TB, s *subject) func() {
		options := validation.Options{WorkloadAwareScheduling: true}
		require.Empty(tb, validation.ValidateSparkApplication(s.internal, options))
		return func() { validation.ValidateSparkApplication(s.internal, options) }
	}},
	{"ValidateUpdate", 3350, func(tb testing.TB, s *subject) func() {
		options := validation.Options{WorkloadAwareScheduling: true}
		old := s.internal.DeepCopy()
		old.ResourceVersion = "1"
		edited := old.DeepCopy()
		edited.Spec.Arguments = append(edited.Spec.Arguments, "more")
		require.Empty(tb, validation.ValidateSparkApplicationUpdate(edited, old, options))
		return func() { validation.ValidateSparkApplicationUpdate(edited, old, options) }
	}},
	{"StrategyWarnings", 3200, func(_ testing.TB, s *subject) func() {
		strategy := registry.NewStrategy(s.scheme, features.NewFeatureGate(), validation.BatchSchedulers{})
		return func() { strategy.WarningsOnCreate(context.Background(), s.internal) }
	}},
	{"Resolve", 3200, func(tb testing.TB, s *subject) func() {
		_, errs := spark.Resolve(s.stored, field.NewPath("spec"))
		require.Empty(tb, errs)
		return func() { spark.Resolve(s.stored, field.NewPath("spec")) }
	}},
	{"CompileSubmission", 5700, func(tb testing.TB, s *subject) func() {
		at := time.Unix(1_800_000_000, 0)
		_, err := scheduling.CompileSubmission(s.stored, submissionID, at, "")
		require.NoError(tb, err)
		return func() { _, _ = scheduling.CompileSubmission(s.stored, submissionID, at, "") }
	}},
	{"Decide", 180, func(tb testing.TB, s *subject) func() {
		snapshot, now := s.running(tb), time.Unix(1_800_000_100, 0)
		plan := controller.Decide(snapshot, now)
		require.NotEmpty(tb, plan.Rules)
		return func() { controller.Decide(snapshot, now) }
	}},
	{"Print", 18, func(tb testing.TB, s *subject) func() {
		convertor := registry.NewTableConvertor()
		_, err := convertor.ConvertToTable(context.Background(), s.internal, nil)
		require.NoError(tb, err)
		return func() { _, _ = convertor.ConvertToTable(context.Background(), s.internal, nil) }
	}},
}

// BenchmarkPure has a sub-benchmark for each pure function: go test -run '^$' -bench Pure -count 10 ./test/bench, for benchstat.
func BenchmarkPure(b *testing.B) {
	for _, f := range pure {
		b.Run(f.name, func(b *testing.B) {
			call := f.prepare(b, newSubject(b))
			b.ReportAllocs()
			for b.Loop() {
				call()
			}
		})
	}
}

// TestAllocations: what goes through these functions at every request and at every look at an application must not become
// garbage unnoticed. Times are measured by the benchmark above and asserted nowhere.
func TestAllocations(t *testing.T) {
	for _, f := range pure {
		t.Run(f.name, func(t *testing.T) {
			call := f.prepare(t, newSubject(t))
			measured := testing.AllocsPerRun(20, call)
			t.Logf("%.0f allocations", measured)
			assert.LessOrEqual(t, measured, f.allocations, "if more are needed, say so here")
		})
	}
}

// TestPeersAreAlike: the CRD's schema is complete, and nothing that is compared is smaller than it claims to be.
func TestPeersAreAlike(t *testing.T) {
	definition, err := customResourceDefinition()
	require.NoError(t, err)
	encoded, err := json.Marshal(definition)
	require.NoError(t, err)
	assert.NotContains(t, string(encoded), `"$ref":`)
	for _, name := range []string{"sparkConf", "schedulingPolicy", "tolerations", "jmxExporterJar", "workloadScheduling"} {
		assert.Contains(t, string(encoded), `"`+name+`"`, name)
	}
	all, err := peers(1000)
	require.NoError(t, err)
	for _, p := range all {
		body, err := p.body("one")
		require.NoError(t, err, p.name)
		assert.Contains(t, string(body), revisionBefore, p.name)
		assert.Greater(t, len(body), 2000, p.name)
	}
	assert.Len(t, chosen(all, oursJSON, crdJSON), 2)
}

func TestRotation(t *testing.T) {
	firsts := map[string]int{}
	for round := range 6 {
		order := rotated([]string{"a", "b", "c"}, round)
		assert.Len(t, order, 3)
		firsts[order[0]]++
	}
	assert.Equal(t, map[string]int{"a": 2, "b": 2, "c": 2}, firsts)
}
