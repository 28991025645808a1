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

package sparkdriver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMebibytes(t *testing.T) {
	for size, want := range map[string]int64{
		"512": 512, "512m": 512, "512MB": 512, "1g": 1024, "2GB": 2048, "1t": 1 << 20, "1p": 1 << 30,
		"2048k": 2, "1023kb": 0, "1048576b": 1, "1048575b": 0,
	} {
		got, err := mebibytes(size)
		require.NoError(t, err, size)
		assert.Equal(t, want, got, size)
	}
	for _, bad := range []string{"", "1.5g", "-1", "g", "1x", "9000000000000000000p"} {
		_, err := mebibytes(bad)
		assert.Error(t, err, bad)
	}
}

func TestExecutorMemory(t *testing.T) {
	for name, tc := range map[string]struct {
		conf Conf
		want int64
	}{
		"default":                    {Conf{}, 1024 + 384},
		"factor above the minimum":   {Conf{"spark.executor.memory": "8g"}, 8192 + 819},
		"submitter's factor":         {Conf{"spark.executor.memory": "4g", "spark.kubernetes.memoryOverheadFactor": "0.4"}, 4096 + 1638},
		"executor's own factor wins": {Conf{"spark.executor.memory": "4g", "spark.kubernetes.memoryOverheadFactor": "0.4", "spark.executor.memoryOverheadFactor": "0.2"}, 4096 + 819},
		"overhead wins":              {Conf{"spark.executor.memory": "4g", "spark.executor.memoryOverhead": "100", "spark.executor.memoryOverheadFactor": "0.2"}, 4196},
		"minimum of 4.0":             {Conf{"spark.executor.minMemoryOverhead": "500m"}, 1524},
		"off-heap disabled":          {Conf{"spark.memory.offHeap.size": "1g"}, 1408},
		"off-heap":                   {Conf{"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "1g"}, 2432},
		"off-heap without a unit":    {Conf{"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "1572864"}, 1409},
		"python's share":             {Conf{"spark.kubernetes.resource.type": "python", "spark.executor.pyspark.memory": "512"}, 1920},
		"python's share for java":    {Conf{"spark.kubernetes.resource.type": "java", "spark.executor.pyspark.memory": "512"}, 1408},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.conf.executorMemory()
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestExecutorResources(t *testing.T) {
	requests, limits, err := Conf{
		"spark.executor.cores": "4", "spark.kubernetes.executor.request.cores": "500m", "spark.kubernetes.executor.limit.cores": "2",
		"spark.executor.resource.gpu.amount": "1", "spark.executor.resource.gpu.vendor": "nvidia.com",
	}.executorResources()
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"cpu": "500m", "memory": "1408Mi"}, requests)
	assert.Equal(t, map[string]any{"cpu": "2", "memory": "1408Mi", "nvidia.com/gpu": "1"}, limits)

	_, _, err = Conf{"spark.executor.resource.gpu.amount": "1"}.executorResources()
	assert.ErrorContains(t, err, "vendor")
}

func TestTarget(t *testing.T) {
	for name, tc := range map[string]struct {
		conf Conf
		want int
	}{
		"default":                      {Conf{}, 2},
		"static":                       {Conf{"spark.executor.instances": "5"}, 5},
		"dynamic without numbers":      {Conf{"spark.dynamicAllocation.enabled": "true"}, 0},
		"dynamic, the largest of them": {Conf{"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.minExecutors": "2", "spark.dynamicAllocation.initialExecutors": "4", "spark.executor.instances": "3"}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.conf.target()
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"5": 5 * time.Second, "100ms": 100 * time.Millisecond, "7d": 168 * time.Hour, "2min": 2 * time.Minute} {
		got, err := Conf{"k": text}.duration("k", time.Second, 0)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	_, err := Conf{"k": "1.5s"}.duration("k", time.Second, 0)
	assert.Error(t, err)
}
