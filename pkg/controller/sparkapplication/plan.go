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

package sparkapplication

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/controller/tell"
)

// Step is something that a plan makes sure of.
type Step string

const (
	// StepSubmit creates what the current attempt needs, the driver pod last.
	StepSubmit Step = "Submit"
	// StepRestorePodGroup creates the PodGroup of a running attempt again.
	StepRestorePodGroup Step = "RestorePodGroup"
	// StepRestoreObjects creates the ConfigMap and the Service of a running attempt again.
	StepRestoreObjects Step = "RestoreObjects"
	// StepLowerMinCount lowers the minCount of an admitted gang to 1. kube-scheduler 1.37 otherwise holds back a
	// replacement executor until minCount executors are missing (kubernetes#136334).
	StepLowerMinCount Step = "LowerMinCount"
	// StepSideObjects makes the side objects of the current attempt, as far as possible.
	StepSideObjects Step = "SideObjects"
)

// DeletionKind is the kind of an object that a plan deletes.
type DeletionKind string

const (
	// DeletePod deletes a pod.
	DeletePod DeletionKind = "Pod"
	// DeletePodGroup deletes a PodGroup.
	DeletePodGroup DeletionKind = "PodGroup"
)

// Deletion is an object that has to go. The UID makes sure that it is that very object.
type Deletion struct {
	Kind DeletionKind
	Name string
	UID  types.UID
	// Force deletes a pod without waiting for its node.
	Force bool
	// Stale says that the object is of an earlier attempt. It is only deleted after a live read of the application has
	// confirmed which attempt is the current one.
	Stale bool
}

// Event is an event about the application.
type Event = tell.Event

// Plan is what should be. It is applied in the order of its fields.
type Plan struct {
	// Rules are the rules by which it was decided.
	Rules []Rule
	// Clear is deleted before the status is written, because the status says that it is gone.
	Clear []Deletion
	// ClearSubmission is the submission ID of an attempt whose ConfigMap, Service and PersistentVolumeClaims are deleted
	// before the status is written. Empty for none.
	ClearSubmission string
	// ClearSide says that the side objects are deleted before the status is written.
	ClearSide bool
	// Status is what the status should be.
	Status v1beta2.SparkApplicationStatus
	// Events tell of the change of status. They are sent once it is written.
	Events []Event
	// Ensure are the steps to take.
	Ensure []Step
	// Delete is deleted last.
	Delete []Deletion
	// DeleteObjects is the submission ID of an attempt whose ConfigMap and Service are deleted then. Empty for none.
	DeleteObjects string
	// DeleteApplication deletes the application itself, because its time to live is over.
	DeleteApplication bool
	// RequeueAfter is when to look again although nothing has happened. Zero for never.
	RequeueAfter time.Duration
}

func podDeletion(pod *corev1.Pod) Deletion {
	return Deletion{Kind: DeletePod, Name: pod.Name, UID: pod.UID}
}

func podGroupDeletion(group *schedulingv1beta1.PodGroup, stale bool) Deletion {
	return Deletion{Kind: DeletePodGroup, Name: group.Name, UID: group.UID, Stale: stale}
}

// requeueAfter asks for another look after at most d.
func (p *Plan) requeueAfter(d time.Duration) {
	if p.RequeueAfter == 0 || d < p.RequeueAfter {
		p.RequeueAfter = max(d, time.Millisecond)
	}
}

func deleting(o metav1.Object) bool { return o.GetDeletionTimestamp() != nil }
