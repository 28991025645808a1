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

package spark

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// fuzzRuns is how many applications the fuzz test makes; the seeds are the numbers below it.
const fuzzRuns = 600

var fuzzWords = []string{"a", "b", "my-conf", "x.y", "spark-local-dir-1", "/a", "/opt/spark/conf", "1", "2", "512m", "1g", "true", "local:///a.jar", "local:///a.py", "", "A B", "ü", "4.0.1", "3.5.0", "TCP", "spark-kubernetes-driver"}

var fuzzKeys = []string{
	"spark.executor.instances", "spark.driver.memory", "spark.ui.port", "spark.kubernetes.driver.label.a", "spark.kubernetes.executor.label.a",
	"spark.kubernetes.driver.volumes.emptyDir.a.mount.path", "spark.kubernetes.executor.volumes.emptyDir.a.mount.path", "spark.kubernetes.driver.secretKeyRef.A",
	"spark.kubernetes.driver.secrets.a", "spark.dynamicAllocation.enabled", "spark.local.dir", "spark.memory.offHeap.enabled", "spark.executorEnv.A",
	"spark.kubernetes.driver.service.label.a", "spark.driver.resource.gpu.amount", "spark.jars", "spark.x", "a",
}

// fuzzer fills applications with values of which many are legal, so that a good part of them is accepted.
func fuzzer(seed int64) *randfill.Filler {
	word := func(c randfill.Continue) string { return fuzzWords[c.Intn(len(fuzzWords))] }
	return randfill.NewWithSeed(seed).NilChance(0.9).NumElements(0, 2).MaxDepth(9).Funcs(
		func(s *string, c randfill.Continue) { *s = word(c) },
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewQuantity(int64(c.Intn(5)), resource.DecimalSI)
		},
		func(i *intstr.IntOrString, c randfill.Continue) { *i = intstr.FromInt32(int32(c.Intn(100))) },
		func(i *int32, c randfill.Continue) { *i = int32(c.Intn(7)) },
		func(m *map[string]string, c randfill.Continue) {
			*m = map[string]string{}
			for range c.Intn(3) {
				(*m)[word(c)] = word(c)
			}
		},
		func(v *corev1.Volume, c randfill.Continue) {
			v.Name = word(c)
			v.EmptyDir = &corev1.EmptyDirVolumeSource{}
		},
		func(raw *runtime.RawExtension, c randfill.Continue) {
			var template corev1.PodTemplateSpec
			c.Fill(&template.Spec)
			template.Labels = map[string]string{"a": word(c)}
			encoded, err := json.Marshal(&template)
			if err != nil {
				panic(err)
			}
			switch c.Intn(5) {
			case 0:
				encoded = encoded[:len(encoded)/2]
			case 1:
				encoded = []byte(strings.Replace(string(encoded), "{", fmt.Sprintf(`{"future":%q,"%s":null,`, word(c), word(c)), c.Intn(4)))
			}
			raw.Raw = encoded
		},
	)
}

func fuzzedApp(seed int64) *v1beta2.SparkApplication {
	random := rand.New(rand.NewSource(seed))
	app := newApp()
	f := fuzzer(seed)
	spec := app.Spec.DeepCopy()
	f.Fill(spec)
	// Each seed lets through a few parts only: an application of nothing but nonsense is never accepted.
	set := func(apply func()) {
		if random.Intn(4) == 0 {
			apply()
		}
	}
	set(func() { app.Spec.Driver = spec.Driver })
	set(func() { app.Spec.Executor = spec.Executor })
	set(func() { app.Spec.Driver.Template = &runtime.RawExtension{}; f.Fill(app.Spec.Driver.Template) })
	set(func() { app.Spec.Executor.Template = &runtime.RawExtension{}; f.Fill(app.Spec.Executor.Template) })
	set(func() { app.Spec.Volumes = spec.Volumes })
	set(func() { app.Spec.Deps = spec.Deps })
	set(func() { app.Spec.Arguments, app.Spec.ProxyUser = spec.Arguments, spec.ProxyUser })
	set(func() { app.Spec.DynamicAllocation = spec.DynamicAllocation })
	set(func() { app.Spec.SparkVersion = spec.SparkVersion })
	set(func() { app.Spec.MainApplicationFile = spec.MainApplicationFile })
	set(func() { app.Spec.HadoopConf, app.Spec.NodeSelector = spec.HadoopConf, spec.NodeSelector })
	set(func() {
		app.Spec.SparkConfigMap, app.Spec.HadoopConfigMap, app.Spec.Monitoring = new("conf"), new("conf"), spec.Monitoring
	})
	set(func() {
		app.Spec.SparkConf = map[string]string{}
		for range random.Intn(4) {
			app.Spec.SparkConf[fuzzKeys[random.Intn(len(fuzzKeys))]] = fuzzWords[random.Intn(len(fuzzWords))]
		}
	})
	v1beta2.SetDefaults_SparkApplicationSpec(&app.Spec)
	return app
}

// Whatever Resolve accepts can be built, with and without a gang, again and again alike; nothing panics, and nothing
// changes the application.
func TestBuildNeverFailsAfterResolve(t *testing.T) {
	accepted := 0
	for seed := range int64(fuzzRuns) {
		app := fuzzedApp(seed)
		before := app.DeepCopy()
		a, errs := Resolve(app, testSpecPath)
		require.Equal(t, before, app, "seed %d: Resolve changed the application", seed)
		again, errsAgain := Resolve(app, testSpecPath)
		require.Equal(t, errs, errsAgain, "seed %d", seed)
		require.Equal(t, a.Warnings(), again.Warnings(), "seed %d", seed)
		_ = a.SchedulerNames()
		if len(errs) > 0 {
			continue
		}
		accepted++
		for _, group := range []*Group{nil, {PodGroupName: "g", Gang: true, MinCount: a.Executors.Initial, PriorityClassName: "c"}} {
			at := Attempt{SubmissionID: testSubmissionID, SubmitTime: testTime, Group: group}
			o, err := Build(a, at)
			require.NoError(t, err, "seed %d", seed)
			checkObjects(t, o)
			second, err := Build(again, at)
			require.NoError(t, err, "seed %d", seed)
			require.Equal(t, encoded(t, o), encoded(t, second), "seed %d: not the same twice", seed)
			// What is built is the caller's.
			o.Driver.Spec.Containers[0].Env = nil
			clear(o.ExecutorTemplate["spec"].(map[string]any))
			clear(o.Driver.Labels)
			third, err := Build(a, at)
			require.NoError(t, err)
			require.Equal(t, encoded(t, second), encoded(t, third), "seed %d: the objects share memory with the application", seed)
			require.Equal(t, before, app, "seed %d: Build changed the application", seed)
		}
	}
	assert.Greater(t, accepted, fuzzRuns/10, "the fuzzer has to get past Resolve often enough to mean something")
	t.Logf("%d of %d accepted", accepted, fuzzRuns)
}

func encoded(t *testing.T, o *Objects) string {
	t.Helper()
	text, err := json.Marshal(o)
	require.NoError(t, err)
	return string(text)
}

func BenchmarkResolveAndBuild(b *testing.B) {
	app := newApp()
	for b.Loop() {
		a, errs := Resolve(app, testSpecPath)
		if len(errs) > 0 {
			b.Fatal(errs)
		}
		if _, err := Build(a, testAttempt); err != nil {
			b.Fatal(err)
		}
	}
}
