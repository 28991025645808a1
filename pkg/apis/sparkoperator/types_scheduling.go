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

package sparkoperator

import (
	corev1 "k8s.io/api/core/v1"
)

// SparkSchedulingSpec says how the executors of an application are placed. It is immutable.
type SparkSchedulingSpec struct {
	// schedulingPolicy asks for the workload-aware scheduling of Kubernetes (KEP-6089). "gang: {}" places the executors
	// all together or not at all; "basic: {}" places them one by one under a PodGroup. The size of the gang is never
	// given here: it is the number of executors. Default, unless batchScheduler is set: basic.
	SchedulingPolicy *SchedulingPolicy

	// schedulingConstraints keeps the executors together in one domain of the cluster's topology.
	SchedulingConstraints *SchedulingConstraints

	// disruptionMode says whether executors may be preempted one by one or only all together.
	DisruptionMode *DisruptionMode

	// resourceClaims are devices that the executors share.
	ResourceClaims []ResourceClaim

	// priorityClassName is the priority class of the group of executors.
	PriorityClassName *string

	// admissionDeadlineSeconds is the time in seconds that a gang may wait to be placed, counted from the start of the
	// driver. An attempt whose gang isn't placed by then fails.
	AdmissionDeadlineSeconds *int64

	// batchScheduler hands the application to a batch scheduler such as Volcano or YuniKorn. It excludes every other
	// field of this block.
	BatchScheduler *BatchSchedulerSpec
}

// BatchSchedulerSpec names a batch scheduler and its options.
type BatchSchedulerSpec struct {
	// name is the name of the batch scheduler: volcano, yunikorn, or a kube-scheduler with the co-scheduling plugin.
	Name string

	// queue is the queue in which the application waits.
	Queue *string

	// priorityClassName is the priority class of the application in its queue.
	PriorityClassName *string

	// resources take the place of the computed sum of what the application needs.
	Resources corev1.ResourceList
}
