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

package v1beta2

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
)

const (
	defaultCores                = int32(1)
	defaultMemory               = "1g"
	defaultInstances            = int32(1)
	defaultRetryIntervalSeconds = int64(5)
	defaultRunHistoryLimit      = int32(1)
)

// The Spark properties whose presence takes the place of a default of a typed field.
const (
	confDriverCores              = "spark.driver.cores"
	confDriverMemory             = "spark.driver.memory"
	confExecutorCores            = "spark.executor.cores"
	confExecutorMemory           = "spark.executor.memory"
	confExecutorInstances        = "spark.executor.instances"
	confDynamicAllocationEnabled = "spark.dynamicAllocation.enabled"
)

func addDefaultingFuncs(scheme *runtime.Scheme) error {
	return RegisterDefaults(scheme)
}

// SetDefaults_SparkApplicationSpec fills in what the user left open. A default depends on the object alone, and a Spark
// property that says the same thing is respected, so that a default never shadows what the user wrote.
func SetDefaults_SparkApplicationSpec(spec *SparkApplicationSpec) {
	if spec.Type == "" {
		spec.Type = ScalaApplicationType
	}
	if spec.Mode == "" {
		spec.Mode = ClusterMode
	}
	setRestartPolicyDefaults(&spec.RestartPolicy)
	setSizeDefaults(&spec.Driver.SparkPodSpec, spec.SparkConf, confDriverCores, confDriverMemory)
	setSizeDefaults(&spec.Executor.SparkPodSpec, spec.SparkConf, confExecutorCores, confExecutorMemory)

	dynamic := dynamicAllocationEnabled(spec)
	if spec.Executor.Instances == nil && !has(spec.SparkConf, confExecutorInstances) && !dynamic {
		spec.Executor.Instances = new(defaultInstances)
	}
	if da := spec.DynamicAllocation; da != nil && da.Enabled && da.ShuffleTrackingEnabled == nil {
		da.ShuffleTrackingEnabled = new(true)
	}
	// Scheduling intent without a policy is basic and never gang: basic can't hang.
	if s := spec.Scheduling; s != nil && s.SchedulingPolicy == nil && s.BatchScheduler == nil {
		s.SchedulingPolicy = &sparkoperator.SchedulingPolicy{Basic: &sparkoperator.BasicSchedulingPolicy{}}
	}
}

// SetDefaults_ScheduledSparkApplicationSpec fills in what the user left open of a schedule. Its template gets the defaults of
// an application by the function above.
func SetDefaults_ScheduledSparkApplicationSpec(spec *ScheduledSparkApplicationSpec) {
	if spec.ConcurrencyPolicy == "" {
		spec.ConcurrencyPolicy = ConcurrencyAllow
	}
	if spec.SuccessfulRunHistoryLimit == nil {
		spec.SuccessfulRunHistoryLimit = new(defaultRunHistoryLimit)
	}
	if spec.FailedRunHistoryLimit == nil {
		spec.FailedRunHistoryLimit = new(defaultRunHistoryLimit)
	}
}

func setRestartPolicyDefaults(policy *RestartPolicy) {
	if policy.Type == "" {
		policy.Type = RestartPolicyNever
	}
	if policy.Type == RestartPolicyNever {
		return
	}
	if policy.OnFailureRetryInterval == nil {
		policy.OnFailureRetryInterval = new(defaultRetryIntervalSeconds)
	}
	if policy.OnSubmissionFailureRetryInterval == nil {
		policy.OnSubmissionFailureRetryInterval = new(defaultRetryIntervalSeconds)
	}
}

func setSizeDefaults(pod *SparkPodSpec, conf map[string]string, coresKey, memoryKey string) {
	if pod.Cores == nil && !has(conf, coresKey) {
		pod.Cores = new(defaultCores)
	}
	if pod.Memory == nil && !has(conf, memoryKey) {
		pod.Memory = new(defaultMemory)
	}
}

// dynamicAllocationEnabled follows today's operator: the block decides where there is one, else the property.
func dynamicAllocationEnabled(spec *SparkApplicationSpec) bool {
	if spec.DynamicAllocation != nil {
		return spec.DynamicAllocation.Enabled
	}
	return strings.EqualFold(strings.TrimSpace(spec.SparkConf[confDynamicAllocationEnabled]), "true")
}

func has(conf map[string]string, key string) bool {
	return conf[key] != ""
}
