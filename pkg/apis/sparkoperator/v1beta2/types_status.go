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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SparkApplicationStatus is what the controller has observed of an application.
type SparkApplicationStatus struct {
	// sparkApplicationId is the id of the application inside of Spark.
	// +optional
	SparkApplicationID string `json:"sparkApplicationId,omitempty" protobuf:"bytes,1,opt,name=sparkApplicationId"`

	// submissionID identifies the current attempt. It is a UUID, and is stored before anything is created.
	// +optional
	SubmissionID string `json:"submissionID,omitempty" protobuf:"bytes,2,opt,name=submissionID"`

	// lastSubmissionAttemptTime is when the current attempt was submitted.
	// +optional
	// +nullable
	LastSubmissionAttemptTime metav1.Time `json:"lastSubmissionAttemptTime,omitempty" protobuf:"bytes,3,opt,name=lastSubmissionAttemptTime"`

	// terminationTime is when the current attempt ended.
	// +optional
	// +nullable
	TerminationTime metav1.Time `json:"terminationTime,omitempty" protobuf:"bytes,4,opt,name=terminationTime"`

	// driverInfo is about the driver of the current attempt.
	DriverInfo DriverInfo `json:"driverInfo" protobuf:"bytes,5,opt,name=driverInfo"`

	// applicationState is the state of the application as a whole.
	// +optional
	AppState ApplicationState `json:"applicationState,omitempty" protobuf:"bytes,6,opt,name=applicationState"`

	// executorState is the state of executors by the names of their pods: of every one that lives, and of the last ones
	// that ended. executorCounts has the totals.
	// +optional
	ExecutorState map[string]ExecutorState `json:"executorState,omitempty" protobuf:"bytes,7,rep,name=executorState,castvalue=ExecutorState"`

	// executionAttempts is how many times the application was submitted with success.
	// +optional
	ExecutionAttempts int32 `json:"executionAttempts,omitempty" protobuf:"varint,8,opt,name=executionAttempts"`

	// submissionAttempts is how many times a submission was tried.
	// +optional
	SubmissionAttempts int32 `json:"submissionAttempts,omitempty" protobuf:"varint,9,opt,name=submissionAttempts"`

	// observedGeneration is the generation of the spec that the current attempt was made from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty" protobuf:"varint,10,opt,name=observedGeneration"`

	// conditions are the conditions Running, Complete, Failed and Suspended; WorkloadSchedulingReady, for applications that
	// use the workload-aware scheduling of Kubernetes; and SideObjectsReady, once something beside the driver, such as the
	// Service of its UI, could not be made.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +patchStrategy=merge
	// +patchMergeKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type" protobuf:"bytes,11,rep,name=conditions"`

	// executorCounts says how many executors of the current attempt are in each state.
	// +optional
	ExecutorCounts *ExecutorCounts `json:"executorCounts,omitempty" protobuf:"bytes,12,opt,name=executorCounts"`

	// workloadScheduling is the record of the current attempt's use of workload-aware scheduling. It is stored before
	// anything is created, and is absent for applications that don't use it.
	// +optional
	WorkloadScheduling *WorkloadSchedulingStatus `json:"workloadScheduling,omitempty" protobuf:"bytes,13,opt,name=workloadScheduling"`

	// restartHash is a versioned hash ("v1:" and the hash) of the fields of the spec whose edit calls for a new attempt,
	// as the current attempt was made from.
	// +optional
	RestartHash string `json:"restartHash,omitempty" protobuf:"bytes,14,opt,name=restartHash"`

	// failureCounts says how many attempts have failed, and by whose doing, since the spec was last edited. restartPolicy
	// is about them. Absent while none has.
	// +optional
	FailureCounts *FailureCounts `json:"failureCounts,omitempty" protobuf:"bytes,15,opt,name=failureCounts"`

	// batchScheduling is the record of the current attempt's use of a batch scheduler such as Volcano or YuniKorn. It is
	// stored before anything is created, and is absent for applications that don't use one. The attempt keeps to it
	// whatever becomes of the server's default.
	// +optional
	BatchScheduling *BatchSchedulingStatus `json:"batchScheduling,omitempty" protobuf:"bytes,17,opt,name=batchScheduling"`
}

// FailureCounts counts the attempts that failed since the spec was last edited.
type FailureCounts struct {
	// submission is how many submissions failed. restartPolicy.onSubmissionFailureRetries is compared with it.
	// +optional
	Submission int32 `json:"submission,omitempty" protobuf:"varint,1,opt,name=submission"`

	// run is how many runs failed for which the cluster is not to blame, or for which it was to blame more often than is
	// forgiven. restartPolicy.onFailureRetries is compared with it.
	// +optional
	Run int32 `json:"run,omitempty" protobuf:"varint,2,opt,name=run"`

	// infrastructure is how many runs the cluster ended: by eviction, preemption, or the loss of a node. They are run again
	// without being counted as run, up to a limit that the server has.
	// +optional
	Infrastructure int32 `json:"infrastructure,omitempty" protobuf:"varint,3,opt,name=infrastructure"`
}

// BatchSchedulingStatus is the record of an attempt's use of a batch scheduler.
type BatchSchedulingStatus struct {
	// name is the name of the batch scheduler, which is also the schedulerName of the attempt's pods.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// podGroupName is the name of the batch scheduler's PodGroup. Absent for a batch scheduler that needs none, and once
	// the PodGroup was removed because the attempt has ended.
	// +optional
	PodGroupName string `json:"podGroupName,omitempty" protobuf:"bytes,2,opt,name=podGroupName"`
}

// DriverInfo is about the driver of an attempt.
type DriverInfo struct {
	// webUIServiceName is the name of the UI's Service.
	// +optional
	WebUIServiceName string `json:"webUIServiceName,omitempty" protobuf:"bytes,1,opt,name=webUIServiceName"`

	// webUIPort is the port of the UI's Service.
	// +optional
	WebUIPort int32 `json:"webUIPort,omitempty" protobuf:"varint,2,opt,name=webUIPort"`

	// webUIAddress is the address of the UI inside of the cluster.
	// +optional
	WebUIAddress string `json:"webUIAddress,omitempty" protobuf:"bytes,3,opt,name=webUIAddress"`

	// webUIIngressName is the name of the UI's Ingress.
	// +optional
	WebUIIngressName string `json:"webUIIngressName,omitempty" protobuf:"bytes,4,opt,name=webUIIngressName"`

	// webUIIngressAddress is the URL of the UI's Ingress.
	// +optional
	WebUIIngressAddress string `json:"webUIIngressAddress,omitempty" protobuf:"bytes,5,opt,name=webUIIngressAddress"`

	// podName is the name of the driver's pod.
	// +optional
	PodName string `json:"podName,omitempty" protobuf:"bytes,6,opt,name=podName"`
}

// ApplicationState is the state of an application as a whole.
type ApplicationState struct {
	// state is one of SUBMITTED, RUNNING, SUCCEEDING, COMPLETED, FAILING, FAILED, SUBMISSION_FAILED, PENDING_RERUN,
	// INVALIDATING, SUSPENDING, SUSPENDED, RESUMING and UNKNOWN, or empty for a new application.
	State ApplicationStateType `json:"state" protobuf:"bytes,1,opt,name=state,casttype=ApplicationStateType"`

	// errorMessage says why the application failed.
	// +optional
	ErrorMessage string `json:"errorMessage,omitempty" protobuf:"bytes,2,opt,name=errorMessage"`
}

// ExecutorCounts says how many executors of an attempt are in each state.
type ExecutorCounts struct {
	// pending counts executors whose pods do not run yet.
	// +optional
	Pending int32 `json:"pending,omitempty" protobuf:"varint,1,opt,name=pending"`

	// running counts executors whose pods run.
	// +optional
	Running int32 `json:"running,omitempty" protobuf:"varint,2,opt,name=running"`

	// completed counts executors that ended well.
	// +optional
	Completed int32 `json:"completed,omitempty" protobuf:"varint,3,opt,name=completed"`

	// failed counts executors that ended with an error or were lost.
	// +optional
	Failed int32 `json:"failed,omitempty" protobuf:"varint,4,opt,name=failed"`

	// unknown counts executors of which nothing is known.
	// +optional
	Unknown int32 `json:"unknown,omitempty" protobuf:"varint,5,opt,name=unknown"`
}

// WorkloadSchedulingPolicy names the policy of an attempt.
// +enum
type WorkloadSchedulingPolicy string

const (
	// WorkloadSchedulingPolicyBasic places executors one by one.
	WorkloadSchedulingPolicyBasic WorkloadSchedulingPolicy = "Basic"
	// WorkloadSchedulingPolicyGang places executors all together or not at all.
	WorkloadSchedulingPolicyGang WorkloadSchedulingPolicy = "Gang"
)

// WorkloadSchedulingStatus is the record of an attempt's use of workload-aware scheduling.
type WorkloadSchedulingStatus struct {
	// policy is Basic or Gang.
	Policy WorkloadSchedulingPolicy `json:"policy" protobuf:"bytes,1,opt,name=policy,casttype=WorkloadSchedulingPolicy"`

	// submissionID is the attempt that this record is about.
	SubmissionID string `json:"submissionID" protobuf:"bytes,2,opt,name=submissionID"`

	// workloadName is the name of the Workload.
	WorkloadName string `json:"workloadName" protobuf:"bytes,3,opt,name=workloadName"`

	// podGroups are the attempt's PodGroups, one for each template of the Workload.
	// +optional
	// +listType=map
	// +listMapKey=templateName
	PodGroups []PodGroupRecord `json:"podGroups,omitempty" protobuf:"bytes,4,rep,name=podGroups"`

	// waitStartTime is when the driver started and the gang began to wait.
	// +optional
	WaitStartTime *metav1.Time `json:"waitStartTime,omitempty" protobuf:"bytes,5,opt,name=waitStartTime"`

	// deadlineTime is when the attempt fails if its gang has not been placed.
	// +optional
	DeadlineTime *metav1.Time `json:"deadlineTime,omitempty" protobuf:"bytes,6,opt,name=deadlineTime"`

	// admittedTime is when the controller saw that the scheduler had placed the group.
	// +optional
	AdmittedTime *metav1.Time `json:"admittedTime,omitempty" protobuf:"bytes,7,opt,name=admittedTime"`
}

// PodGroupRecord is one PodGroup of an attempt.
type PodGroupRecord struct {
	// templateName is the name of the Workload's template that the PodGroup was made from.
	TemplateName string `json:"templateName" protobuf:"bytes,1,opt,name=templateName"`

	// podGroupName is the name of the PodGroup.
	PodGroupName string `json:"podGroupName" protobuf:"bytes,2,opt,name=podGroupName"`

	// minCount is how many members are placed together: the resolved number of executors. Absent for policy Basic.
	// +optional
	MinCount *int32 `json:"minCount,omitempty" protobuf:"varint,3,opt,name=minCount"`

	// boundMembers is how many of our executors in the group have a node.
	// +optional
	BoundMembers int32 `json:"boundMembers,omitempty" protobuf:"varint,4,opt,name=boundMembers"`

	// priorityClassName is the priority class that the PodGroup was given, so that later members can be given the same.
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty" protobuf:"bytes,5,opt,name=priorityClassName"`
}

// The types of the conditions of a SparkApplication.
const (
	// ConditionRunning is true while the driver runs.
	ConditionRunning = "Running"
	// ConditionComplete is true once the application has ended well.
	ConditionComplete = "Complete"
	// ConditionFailed is true once the application has failed and won't run again.
	ConditionFailed = "Failed"
	// ConditionSuspended is true while the application is suspended and holds no resources.
	ConditionSuspended = "Suspended"
	// ConditionWorkloadSchedulingReady says how far the placement of the executors has come.
	ConditionWorkloadSchedulingReady = "WorkloadSchedulingReady"
	// ConditionSideObjectsReady is false while a side object, such as the Service of the UI, can't be made. An application
	// that has never had such trouble doesn't have it.
	ConditionSideObjectsReady = "SideObjectsReady"
)
