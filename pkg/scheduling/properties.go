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

package scheduling

// The properties of Spark that decide whether a gang can be complete. Names as in org.apache.spark.deploy.k8s.Config and
// org.apache.spark.internal.config of Spark 4.
const (
	confDynamicAllocation   = "spark.dynamicAllocation.enabled"
	confDynamicMin          = "spark.dynamicAllocation.minExecutors"
	confDynamicInitial      = "spark.dynamicAllocation.initialExecutors"
	confExecutorInstances   = "spark.executor.instances"
	confAllocator           = "spark.kubernetes.allocation.pods.allocator"
	confMaxPendingPods      = "spark.kubernetes.allocation.maxPendingPods"
	confMaxPendingPodsPerRp = "spark.kubernetes.allocation.maxPendingPodsPerRp"
	confAllocationMaximum   = "spark.kubernetes.allocation.maximum"
	confEnableAPIWatcher    = "spark.kubernetes.executor.enableApiWatcher"
	confEnableAPIPolling    = "spark.kubernetes.executor.enableApiPolling"

	confExecutorTemplateFile    = "spark.kubernetes.executor.podTemplateFile"
	confExecutorLabelPrefix     = "spark.kubernetes.executor.label."
	confDriverFeatureSteps      = "spark.kubernetes.driver.pod.featureSteps"
	confExecutorFeatureSteps    = "spark.kubernetes.executor.pod.featureSteps"
	confRegisteredWaitingTime   = "spark.scheduler.maxRegisteredResourcesWaitingTime"
	confRegisteredResourceRatio = "spark.scheduler.minRegisteredResourcesRatio"

	// allocatorDirect makes the driver create the pods of its executors one by one. It is Spark's default.
	allocatorDirect = "direct"
)
