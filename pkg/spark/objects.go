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

package spark

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Attempt is what tells one run of an application from the next.
type Attempt struct {
	// SubmissionID is the attempt's id, a UUID. Names and the id of the Spark application follow from it.
	SubmissionID string
	// SubmitTime is when the attempt was submitted. Spark counts it in milliseconds.
	SubmitTime time.Time
	// Group is the PodGroup that the executors join; nil without workload-aware scheduling.
	Group *Group
	// Placement marks the pods for a batch scheduler; nil without one.
	Placement *Placement
	// Side are the server's settings for side objects, of which the driver has to know a path of its UI.
	Side SideSettings
}

// Group is a PodGroup as its members need to know it.
type Group struct {
	// PodGroupName is the name of the PodGroup, in the namespace of the application.
	PodGroupName string
	// Gang says whether the group is placed all together or not at all.
	Gang bool
	// MinCount is how many members are placed together. Only read of a gang, where it must be the number of executors that
	// the application starts with.
	MinCount int32
	// PriorityClassName is the group's priority class, which every member must have; empty leaves it to the executors.
	PriorityClassName string
	// DisruptedTogether says that all members are preempted when one of them is.
	DisruptedTogether bool
	// ResourceClaims are devices that all members share.
	ResourceClaims []corev1.PodResourceClaim
}

// Objects are what an attempt consists of, in the order in which they are to be created.
type Objects struct {
	// PersistentVolumeClaims are the claims of the driver that Spark makes on demand.
	PersistentVolumeClaims []*corev1.PersistentVolumeClaim
	// ConfigMap holds spark.properties and the pod template of the executors.
	ConfigMap *corev1.ConfigMap
	// Service is the headless Service through which executors find the driver.
	Service *corev1.Service
	// Driver is the driver's pod.
	Driver *corev1.Pod
	// Properties is the content of spark.properties.
	Properties map[string]string
	// ExecutorTemplate is the pod template of the executors as a JSON object, fields unknown to this release included.
	ExecutorTemplate map[string]any
}

// Build makes the objects of an attempt. It reads nothing but its arguments and gives the same objects for the same
// ones. It fails only where the attempt contradicts the application, never for what Resolve has accepted. The
// application is not changed, and the objects share no memory with it.
func Build(a *Application, at Attempt) (*Objects, error) {
	if g := at.Group; g != nil && g.Gang && g.MinCount != a.Executors.Initial {
		return nil, fmt.Errorf("a gang of %d contradicts the number of executors, %d (%s)", g.MinCount, a.Executors.Initial, a.Executors.Path)
	}
	if at.Group != nil && at.Placement != nil {
		return nil, fmt.Errorf("the pods can't be both members of PodGroup %s and placed by %s", at.Group.PodGroupName, at.Placement.SchedulerName)
	}
	rep := &report{}
	objects := assemble(a, at, rep)
	if err := rep.errs.ToAggregate(); err != nil {
		return nil, err
	}
	return objects, nil
}
