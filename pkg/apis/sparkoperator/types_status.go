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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SparkApplicationStatus is what the controller has observed of an application.
type SparkApplicationStatus struct {
	// sparkApplicationId is the id of the application inside of Spark.
	SparkApplicationID string

	// submissionID identifies the current attempt. It is a UUID, and is stored before anything is created.
	SubmissionID string

	// lastSubmissionAttemptTime is when the current attempt was submitted.
	LastSubmissionAttemptTime metav1.Time

	// terminationTime is when the current attempt ended.
	TerminationTime metav1.Time

	// driverInfo is about the driver of the current attempt.
	DriverInfo DriverInfo

	// applicationState is the state of the application as a whole.
	AppState ApplicationState

	// executorState is the state of executors by the names of their pods: of every one that lives, and of the last ones
	// that ended. executorCounts has the totals.
	ExecutorState map[string]ExecutorState

	// executionAttempts is how many times the application was submitted with success.
	ExecutionAttempts int32

	// submissionAttempts is how many times a submission was tried.
	SubmissionAttempts int32

	// observedGeneration is the generation of the spec that the current attempt was made from.
	ObservedGeneration int64

	// conditions are the conditions Running, Complete, Failed and Suspended; WorkloadSchedulingReady, for applications that
	// use the workload-aware scheduling of Kubernetes; and SideObjectsReady, once something beside the driver, such as the
	// Service of its UI, could not be made.
	Conditions []metav1.Condition

	// executorCounts says how many executors of the current attempt are in each state.
	ExecutorCounts *ExecutorCounts

	// workloadScheduling is the record of the current attempt's use of workload-aware scheduling. It is stored before
	// anything is created, and is absent for applications that don't use it.
	WorkloadScheduling *WorkloadSchedulingStatus

	// restartHash is a versioned hash ("v1:" and the hash) of the fields of the spec whose edit calls for a new attempt,
	// as the current attempt was made from.
	RestartHash string

	// failureCounts says how many attempts have failed, and by whose doing, since the spec was last edited. restartPolicy
	// is about them. Absent while none has.
	FailureCounts *FailureCounts

	// batchScheduling is the record of the current attempt's use of a batch scheduler such as Volcano or YuniKorn. It is
	// stored before anything is created, and is absent for applications that don't use one. The attempt keeps to it
	// whatever becomes of the server's default.
	BatchScheduling *BatchSchedulingStatus
}

// FailureCounts counts the attempts that failed since the spec was last edited.
type FailureCounts struct {
	// submission is how many submissions failed. restartPolicy.onSubmissionFailureRetries is compared with it.
	Submission int32

	// run is how many runs failed for which the cluster is not to blame, or for which it was to blame more often than is
	// forgiven. restartPolicy.onFailureRetries is compared with it.
	Run int32

	// infrastructure is how many runs the cluster ended: by eviction, preemption, or the loss of a node. They are run again
	// without being counted as run, up to a limit that the server has.
	Infrastructure int32
}

// BatchSchedulingStatus is the record of an attempt's use of a batch scheduler.
type BatchSchedulingStatus struct {
	// name is the name of the batch scheduler, which is also the schedulerName of the attempt's pods.
	Name string

	// podGroupName is the name of the batch scheduler's PodGroup. Absent for a batch scheduler that needs none, and once
	// the PodGroup was removed because the attempt has ended.
	PodGroupName string
}

// DriverInfo is about the driver of an attempt.
type DriverInfo struct {
	// webUIServiceName is the name of the UI's Service.
	WebUIServiceName string

	// webUIPort is the port of the UI's Service.
	WebUIPort int32

	// webUIAddress is the address of the UI inside of the cluster.
	WebUIAddress string

	// webUIIngressName is the name of the UI's Ingress.
	WebUIIngressName string

	// webUIIngressAddress is the URL of the UI's Ingress.
	WebUIIngressAddress string

	// podName is the name of the driver's pod.
	PodName string
}

// ApplicationState is the state of an application as a whole.
type ApplicationState struct {
	// state is one of SUBMITTED, RUNNING, SUCCEEDING, COMPLETED, FAILING, FAILED, SUBMISSION_FAILED, PENDING_RERUN,
	// INVALIDATING, SUSPENDING, SUSPENDED, RESUMING and UNKNOWN, or empty for a new application.
	State ApplicationStateType

	// errorMessage says why the application failed.
	ErrorMessage string
}

// ExecutorCounts says how many executors of an attempt are in each state.
type ExecutorCounts struct {
	// pending counts executors whose pods do not run yet.
	Pending int32

	// running counts executors whose pods run.
	Running int32

	// completed counts executors that ended well.
	Completed int32

	// failed counts executors that ended with an error or were lost.
	Failed int32

	// unknown counts executors of which nothing is known.
	Unknown int32
}

// WorkloadSchedulingPolicy names the policy of an attempt.
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
	Policy WorkloadSchedulingPolicy

	// submissionID is the attempt that this record is about.
	SubmissionID string

	// workloadName is the name of the Workload.
	WorkloadName string

	// podGroups are the attempt's PodGroups, one for each template of the Workload.
	PodGroups []PodGroupRecord

	// waitStartTime is when the driver started and the gang began to wait.
	WaitStartTime *metav1.Time

	// deadlineTime is when the attempt fails if its gang has not been placed.
	DeadlineTime *metav1.Time

	// admittedTime is when the controller saw that the scheduler had placed the group.
	AdmittedTime *metav1.Time
}

// PodGroupRecord is one PodGroup of an attempt.
type PodGroupRecord struct {
	// templateName is the name of the Workload's template that the PodGroup was made from.
	TemplateName string

	// podGroupName is the name of the PodGroup.
	PodGroupName string

	// minCount is how many members are placed together: the resolved number of executors. Absent for policy Basic.
	MinCount *int32

	// boundMembers is how many of our executors in the group have a node.
	BoundMembers int32

	// priorityClassName is the priority class that the PodGroup was given, so that later members can be given the same.
	PriorityClassName string
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
)
