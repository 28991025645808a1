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
	"fmt"
	"strings"
)

// executorMemory returns the memory of an executor container in MiB: BasicExecutorFeatureStep with ResourceProfile's
// executor defaults. It is heap, overhead, off-heap if enabled, and Python's own share for Python applications.
func (c Conf) executorMemory() (int64, error) {
	heap, err := mebibytes(c.get("1g", "spark.executor.memory"))
	if err != nil {
		return 0, err
	}
	overhead, err := c.executorOverhead(heap)
	if err != nil {
		return 0, err
	}
	total := heap + overhead
	if c.boolean("spark.memory.offHeap.enabled", false) {
		// Unlike its neighbours this size is in bytes when it has no unit.
		offHeap, err := mebibytes(withUnit(c.get("0", "spark.memory.offHeap.size"), "b"))
		if err != nil {
			return 0, err
		}
		total += offHeap
	}
	if c["spark.kubernetes.resource.type"] == "python" {
		python, err := mebibytes(c.get("0", "spark.executor.pyspark.memory"))
		if err != nil {
			return 0, err
		}
		total += python
	}
	return total, nil
}

func (c Conf) executorOverhead(heap int64) (int64, error) {
	if v, ok := c["spark.executor.memoryOverhead"]; ok {
		return mebibytes(v)
	}
	// In the driver the language's default has already become spark.kubernetes.memoryOverheadFactor, written by the
	// submitter.
	general, err := c.float("spark.kubernetes.memoryOverheadFactor", 0.1)
	if err != nil {
		return 0, err
	}
	factor, err := c.float("spark.executor.memoryOverheadFactor", general)
	if err != nil {
		return 0, err
	}
	least, err := mebibytes(c.get("384m", "spark.executor.minMemoryOverhead"))
	if err != nil {
		return 0, err
	}
	return max(int64(factor*float64(heap)), least), nil
}

func withUnit(size, unit string) string {
	if size != "" && size[len(size)-1] >= '0' && size[len(size)-1] <= '9' {
		return size + unit
	}
	return size
}

// executorResources returns requests and limits that Spark sets on the executor container. Others that a template has
// stay.
func (c Conf) executorResources() (requests, limits map[string]any, err error) {
	memory, err := c.executorMemory()
	if err != nil {
		return nil, nil, err
	}
	quantity := fmt.Sprintf("%dMi", memory)
	requests = map[string]any{"cpu": c.get("1", "spark.kubernetes.executor.request.cores", "spark.executor.cores"), "memory": quantity}
	limits = map[string]any{"memory": quantity}
	if v, ok := c["spark.kubernetes.executor.limit.cores"]; ok {
		limits["cpu"] = v
	}
	custom, names := c.withPrefix("spark.executor.resource.")
	for _, name := range names {
		resource, ok := strings.CutSuffix(name, ".amount")
		if !ok {
			continue
		}
		vendor := custom[resource+".vendor"]
		if vendor == "" {
			return nil, nil, fmt.Errorf("resource: %s was requested, but vendor was not specified", resource)
		}
		limits[vendor+"/"+resource] = custom[name]
	}
	return requests, limits, nil
}
