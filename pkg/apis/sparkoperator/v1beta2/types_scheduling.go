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
	corev1 "k8s.io/api/core/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
)

// SparkSchedulingSpec says how the executors of an application are placed. It is immutable.
type SparkSchedulingSpec struct {
	// schedulingPolicy asks for the workload-aware scheduling of Kubernetes (KEP-6089). "gang: {}" places the executors
	// all together or not at all; "basic: {}" places them one by one under a PodGroup. The size of the gang is never
	// given here: it is the number of executors. Default, unless batchScheduler is set: basic.
	// +optional
	// +k8s:optional
	SchedulingPolicy *sparkoperator.SchedulingPolicy `json:"schedulingPolicy,omitempty" protobuf:"bytes,1,opt,name=schedulingPolicy"`

	// schedulingConstraints keeps the executors together in one domain of the cluster's topology.
	// +optional
	// +k8s:optional
	SchedulingConstraints *sparkoperator.SchedulingConstraints `json:"schedulingConstraints,omitempty" protobuf:"bytes,2,opt,name=schedulingConstraints"`

	// disruptionMode says whether executors may be preempted one by one or only all together.
	// +optional
	// +k8s:optional
	DisruptionMode *sparkoperator.DisruptionMode `json:"disruptionMode,omitempty" protobuf:"bytes,3,opt,name=disruptionMode"`

	// resourceClaims are devices that the executors share.
	// +optional
	// +listType=atomic
	// +k8s:optional
	ResourceClaims []sparkoperator.ResourceClaim `json:"resourceClaims,omitempty" protobuf:"bytes,4,rep,name=resourceClaims"`

	// priorityClassName is the priority class of the group of executors.
	// +optional
	PriorityClassName *string `json:"priorityClassName,omitempty" protobuf:"bytes,5,opt,name=priorityClassName"`

	// admissionDeadlineSeconds is the time in seconds that a gang may wait to be placed, counted from the start of the
	// driver. An attempt whose gang isn't placed by then fails.
	// +optional
	AdmissionDeadlineSeconds *int64 `json:"admissionDeadlineSeconds,omitempty" protobuf:"varint,6,opt,name=admissionDeadlineSeconds"`

	// batchScheduler hands the application to a batch scheduler such as Volcano or YuniKorn. It excludes every other
	// field of this block.
	// +optional
	// +k8s:optional
	BatchScheduler *BatchSchedulerSpec `json:"batchScheduler,omitempty" protobuf:"bytes,7,opt,name=batchScheduler"`
}

// BatchSchedulerSpec names a batch scheduler and its options.
type BatchSchedulerSpec struct {
	// name is the name of the batch scheduler: volcano, yunikorn, or a kube-scheduler with the co-scheduling plugin.
	// +k8s:required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// queue is the queue in which the application waits.
	// +optional
	Queue *string `json:"queue,omitempty" protobuf:"bytes,2,opt,name=queue"`

	// priorityClassName is the priority class of the application in its queue.
	// +optional
	PriorityClassName *string `json:"priorityClassName,omitempty" protobuf:"bytes,3,opt,name=priorityClassName"`

	// resources take the place of the computed sum of what the application needs.
	// +optional
	Resources corev1.ResourceList `json:"resources,omitempty" protobuf:"bytes,4,rep,name=resources,casttype=k8s.io/api/core/v1.ResourceList,castkey=k8s.io/api/core/v1.ResourceName"`
}
