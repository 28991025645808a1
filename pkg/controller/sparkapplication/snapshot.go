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
	"slices"
	"time"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// CompileFunc compiles the application of a Snapshot for one attempt. It is pure. The result is shared and must not be
// changed. priorityClassName is the class that the attempt's PodGroup was given, or empty while there is none.
type CompileFunc func(submissionID string, submitTime time.Time, priorityClassName string) (*scheduling.Submission, error)

// Snapshot is one application and all that belongs to it, as it is at one time. Nothing in it may be changed.
type Snapshot struct {
	// Application is the application, with defaults.
	Application *v1beta2.SparkApplication

	// Settings are what the administrator has decided.
	Settings Settings

	// FreshSubmissionID is a UUID that no attempt has used, for the attempt that may begin.
	FreshSubmissionID string

	// Driver is the driver pod of the current attempt.
	Driver *corev1.Pod
	// DriverSeen says that the driver pod of the current attempt is known to have existed.
	DriverSeen bool
	// DriverAbsent says that a live read has shown that there is no driver pod of the current attempt. Without it a nil
	// Driver means nothing: a cache may be late.
	DriverAbsent bool
	// VolumeTrouble is what the kubelet says of volumes of the driver pod that it can't mount.
	VolumeTrouble string
	// LookAgain is when what is not watched, or was not seen by a watch, is to be looked at again. Zero for never.
	LookAgain time.Duration
	// ObjectsMissing says that the ConfigMap or the Service of a living driver is not there.
	ObjectsMissing bool
	// ObjectsLeft says that the ConfigMap or the Service of an attempt that has ended is still there.
	ObjectsLeft bool
	// Queue is the place of an application that must wait for its turn to have a driver. Nil if it need not.
	Queue *Place
	// OtherDrivers are driver pods of this application that belong to other attempts.
	OtherDrivers []*corev1.Pod

	// Executors are the executor pods of the current attempt. OtherExecutors carry the application's name and are of other
	// attempts, be it of this application or of a deleted namesake; they are never touched.
	Executors      []*corev1.Pod
	OtherExecutors []*corev1.Pod

	// ExecutorEnds are ends of executors that were seen earlier and are not in the status yet. Their pods may be gone.
	ExecutorEnds map[string]v1beta2.ExecutorState

	// FeatureEnabled says whether the gate SparkApplicationWorkloadAwareScheduling is on.
	FeatureEnabled bool
	// MissingGate is a gate that the application needs besides and that is off. Empty if there is none.
	MissingGate string
	// Capability says what the cluster can do for an application with workload-aware scheduling. It is only looked up
	// where an attempt may be submitted.
	Capability Capability
	// PodGroupsKnown says that PodGroup and StalePodGroups are what the cluster has.
	PodGroupsKnown bool
	// PodGroup is the PodGroup of the current attempt, and StalePodGroups are this application's others.
	PodGroup       *schedulingv1beta1.PodGroup
	StalePodGroups []*schedulingv1beta1.PodGroup

	// Side is what came of making side objects.
	Side sideOutcome

	// Obstacle is what kept the last try to apply a plan from being carried out.
	Obstacle *Obstacle

	// Compile compiles Application.
	Compile CompileFunc
}

// Place is a place in the line of the applications of a namespace that wait for a driver.
type Place struct {
	// Position is 1 for the first.
	Position int
	// Waiting is how many drivers wait for their gangs.
	Waiting int
}

// CapabilityState says how far the cluster supports workload-aware scheduling.
type CapabilityState int

const (
	// CapabilityUnknown means that it could not be found out.
	CapabilityUnknown CapabilityState = iota
	// CapabilityReady means that nothing speaks against a submission.
	CapabilityReady
	// CapabilityNotServed means that the cluster does not serve Workloads and PodGroups.
	CapabilityNotServed
	// CapabilityFieldsDropped means that the cluster accepts what we need and silently drops a part of it.
	CapabilityFieldsDropped
)

// Capability is what the cluster can do for workload-aware scheduling.
type Capability struct {
	State   CapabilityState
	Message string
}

// ObstacleKind says what an Obstacle calls for.
type ObstacleKind int

const (
	// ObstacleRefused means that trying again changes nothing.
	ObstacleRefused ObstacleKind = iota
	// ObstacleWaiting means that something else must come first, which the attempt waits for.
	ObstacleWaiting
	// ObstacleStaleIdentity means that the names of the attempt are taken by something of ours that can't be used again,
	// so that the attempt needs a new identity.
	ObstacleStaleIdentity
)

// Obstacle is a reason for which a plan can't be carried out, other than a passing error.
type Obstacle struct {
	Kind ObstacleKind
	// Reason is the reason of a condition.
	Reason string
	// Message is a sentence for the user.
	Message string
	// RetryAfter is when to try again an attempt that waits. Zero for a short while.
	RetryAfter time.Duration
}

// Error makes an Obstacle travel as an error inside of this package.
func (o *Obstacle) Error() string { return o.Message }

// lookAgain asks for another look after at most d.
func (s *Snapshot) lookAgain(d time.Duration) {
	if s.LookAgain == 0 || d < s.LookAgain {
		s.LookAgain = max(d, time.Millisecond)
	}
}

// sortPods says of pods that carry the application's name what they are to the current attempt. A driver counts by its
// owner; an executor, which its driver owns, by the submission ID.
func (s *Snapshot) sortPods(pods []*corev1.Pod) {
	s.Driver, s.OtherDrivers, s.Executors, s.OtherExecutors = nil, nil, nil, nil
	current := s.Application.Status.SubmissionID
	for _, pod := range pods {
		ofCurrent := current != "" && pod.Labels[spark.LabelSubmissionID] == current
		switch pod.Labels[spark.LabelSparkRole] {
		case spark.SparkRoleDriver:
			switch {
			case !metav1.IsControlledBy(pod, s.Application):
			case ofCurrent:
				s.Driver = pod
			default:
				s.OtherDrivers = append(s.OtherDrivers, pod)
			}
		case spark.SparkRoleExecutor:
			if ofCurrent {
				s.Executors = append(s.Executors, pod)
			} else {
				s.OtherExecutors = append(s.OtherExecutors, pod)
			}
		}
	}
}

// sortPodGroups does the same for PodGroups. Those of others are passed over.
func (s *Snapshot) sortPodGroups(groups []*schedulingv1beta1.PodGroup) {
	s.PodGroup, s.StalePodGroups = nil, nil
	current := s.Application.Status.SubmissionID
	for _, group := range groups {
		switch {
		case !metav1.IsControlledBy(group, s.Application):
		case current != "" && group.Labels[spark.LabelSubmissionID] == current:
			s.PodGroup = group
		default:
			s.StalePodGroups = append(s.StalePodGroups, group)
		}
	}
}

// withApplication is the snapshot after the application was written, perhaps with another attempt.
func (s *Snapshot) withApplication(app *v1beta2.SparkApplication) *Snapshot {
	next := *s
	next.Application = app
	next.Obstacle = nil
	if app.Status.SubmissionID == s.Application.Status.SubmissionID {
		return &next
	}
	next.FreshSubmissionID = uuid.NewString()
	next.ExecutorEnds = nil
	pods := slices.Concat(s.OtherDrivers, s.Executors, s.OtherExecutors)
	if s.Driver != nil {
		pods = append(pods, s.Driver)
	}
	next.sortPods(pods)
	groups := slices.Clone(s.StalePodGroups)
	if s.PodGroup != nil {
		groups = append(groups, s.PodGroup)
	}
	next.sortPodGroups(groups)
	next.DriverSeen = next.Driver != nil
	// Nothing but the driver that was adopted can be of an attempt that has only now been written down.
	next.DriverAbsent = next.Driver == nil
	return &next
}
