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
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func python(app *v1beta2.SparkApplication) { app.Spec.MainApplicationFile = new("local:///a.py") }

func TestMemoryAndCores(t *testing.T) {
	edit := func(f func(s *v1beta2.SparkApplicationSpec)) func(*v1beta2.SparkApplication) {
		return func(app *v1beta2.SparkApplication) { f(&app.Spec) }
	}
	for name, c := range map[string]struct {
		edits            []func(*v1beta2.SparkApplication)
		driver, executor string
		driverCPU        string
		driverCPULimit   string
		factor           string
	}{
		"defaults":   {driver: "1408Mi", executor: "1408Mi", driverCPU: "1", factor: "0.1"},
		"python":     {edits: []func(*v1beta2.SparkApplication){python, edit(func(s *v1beta2.SparkApplicationSpec) { s.Driver.Memory = new("4g") })}, driver: "5734Mi", executor: "1433Mi", driverCPU: "1", factor: "0.4"},
		"large heap": {edits: []func(*v1beta2.SparkApplication){edit(func(s *v1beta2.SparkApplicationSpec) { s.Driver.Memory = new("10g"); s.Executor.Memory = new("100g") })}, driver: "11264Mi", executor: "112640Mi", driverCPU: "1", factor: "0.1"},
		"overhead": {edits: []func(*v1beta2.SparkApplication){edit(func(s *v1beta2.SparkApplicationSpec) {
			s.Driver.MemoryOverhead = new("100m")
			s.Executor.MemoryOverhead = new("1g")
		})}, driver: "1124Mi", executor: "2Gi", driverCPU: "1", factor: "0.1"},
		"common factor":   {edits: []func(*v1beta2.SparkApplication){edit(func(s *v1beta2.SparkApplicationSpec) { s.MemoryOverheadFactor = new("1") })}, driver: "2Gi", executor: "2Gi", driverCPU: "1", factor: "1.0"},
		"role's factor":   {edits: []func(*v1beta2.SparkApplication){withConf("spark.driver.memoryOverheadFactor", "0.5", "spark.executor.memoryOverheadFactor", "2")}, driver: "1536Mi", executor: "3Gi", driverCPU: "1", factor: "0.1"},
		"3.5 fixed min":   {edits: []func(*v1beta2.SparkApplication){version("3.5.3"), withConf("spark.driver.minMemoryOverhead", "1g")}, driver: "1408Mi", executor: "1408Mi", driverCPU: "1", factor: "0.1"},
		"4.0 min":         {edits: []func(*v1beta2.SparkApplication){withConf("spark.driver.minMemoryOverhead", "1g", "spark.executor.minMemoryOverhead", "10m")}, driver: "2Gi", executor: "1126Mi", driverCPU: "1", factor: "0.1"},
		"off-heap":        {edits: []func(*v1beta2.SparkApplication){withConf("spark.memory.offHeap.enabled", "TRUE", "spark.memory.offHeap.size", "104857600")}, driver: "1408Mi", executor: "1508Mi", driverCPU: "1", factor: "0.1"},
		"off-heap off":    {edits: []func(*v1beta2.SparkApplication){withConf("spark.memory.offHeap.enabled", "false", "spark.memory.offHeap.size", "1g")}, driver: "1408Mi", executor: "1408Mi", driverCPU: "1", factor: "0.1"},
		"pyspark":         {edits: []func(*v1beta2.SparkApplication){python, withConf("spark.executor.pyspark.memory", "100")}, driver: "1433Mi", executor: "1533Mi", driverCPU: "1", factor: "0.4"},
		"pyspark of java": {edits: []func(*v1beta2.SparkApplication){withConf("spark.executor.pyspark.memory", "100")}, driver: "1408Mi", executor: "1408Mi", driverCPU: "1", factor: "0.1"},
		"by conf":         {edits: []func(*v1beta2.SparkApplication){withConf("spark.driver.memory", "2g", "spark.executor.memory", "3g", "spark.driver.cores", "3")}, driver: "2432Mi", executor: "3456Mi", driverCPU: "3", factor: "0.1"},
		"core request": {edits: []func(*v1beta2.SparkApplication){edit(func(s *v1beta2.SparkApplicationSpec) {
			s.Driver.Cores, s.Driver.CoreRequest, s.Driver.CoreLimit = new(int32(4)), new("0.5"), new("800m")
		})}, driver: "1408Mi", executor: "1408Mi", driverCPU: "500m", driverCPULimit: "800m", factor: "0.1"},
		"limit of the template stays": {edits: []func(*v1beta2.SparkApplication){driverTemplate(`{"spec":{"containers":[{"resources":{"limits":{"cpu":2,"memory":"1Mi"}}}]}}`)}, driver: "1408Mi", executor: "1408Mi", driverCPU: "1", driverCPULimit: "2", factor: "0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			a, o := built(t, c.edits...)
			checkObjects(t, o)
			got := o.Driver.Spec.Containers[0].Resources
			assertQuantity(t, c.driver, got.Requests[corev1.ResourceMemory])
			assertQuantity(t, c.driver, got.Limits[corev1.ResourceMemory])
			assertQuantity(t, c.driverCPU, got.Requests[corev1.ResourceCPU])
			limit, limited := got.Limits[corev1.ResourceCPU]
			assert.Equal(t, c.driverCPULimit != "", limited)
			if limited {
				assertQuantity(t, c.driverCPULimit, limit)
			}
			executor := a.ExecutorResources()
			assertQuantity(t, c.executor, executor.Requests[corev1.ResourceMemory])
			assertQuantity(t, c.executor, executor.Limits[corev1.ResourceMemory])
			assert.Equal(t, c.factor, o.Properties[keyMemoryOverheadFactor])
		})
	}
}

func assertQuantity(t *testing.T, want string, got resource.Quantity) {
	t.Helper()
	assert.Zero(t, got.Cmp(resource.MustParse(want)), "want %s, got %s", want, got.String())
}

func TestDriverMemoryLimit(t *testing.T) {
	for text, want := range map[string]string{"2g": "2Gi", "2GB": "2Gi", "2Gi": "2Gi", "1500m": "1500Mi", "2G": "2Gi", "1500M": "1500Mi", "1500e6": "1500e6", "1t": "1Ti"} {
		_, o := built(t, func(app *v1beta2.SparkApplication) { app.Spec.Driver.MemoryLimit = new(text) })
		got := o.Driver.Spec.Containers[0].Resources
		assertQuantity(t, want, got.Limits[corev1.ResourceMemory])
		assertQuantity(t, "1408Mi", got.Requests[corev1.ResourceMemory])
	}
}

func TestCustomResources(t *testing.T) {
	a, o := built(t, withConf(
		"spark.driver.resource.gpu.amount", "2", "spark.driver.resource.gpu.vendor", "nvidia.com",
		"spark.executor.resource.gpu.amount", "1", "spark.executor.resource.gpu.vendor", "amd.com",
	))
	got := o.Driver.Spec.Containers[0].Resources
	assertQuantity(t, "2", got.Limits["nvidia.com/gpu"])
	assert.NotContains(t, got.Requests, corev1.ResourceName("nvidia.com/gpu"))
	assertQuantity(t, "1", a.ExecutorResources().Limits["amd.com/gpu"])
}
