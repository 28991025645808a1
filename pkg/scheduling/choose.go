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

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// Kind is the way in which the executors of an application are placed.
type Kind string

const (
	// None leaves the pods to their scheduler, one by one and with no object of scheduling.k8s.io.
	None Kind = "None"
	// Basic makes the executors members of a PodGroup that places them one by one.
	Basic Kind = "Basic"
	// Gang makes the executors members of a PodGroup that places them all together or not at all.
	Gang Kind = "Gang"
	// BatchScheduler hands the application to a batch scheduler.
	BatchScheduler Kind = "BatchScheduler"
)

// Choice is how an application wants its executors placed.
type Choice struct {
	Kind Kind
	// BatchScheduler is the name of the batch scheduler, for that kind.
	BatchScheduler string
	// Path is the field that made the choice; nil where nothing was chosen, and where the server's default was.
	Path *field.Path
}

// Native says whether the executors are placed by the workload-aware scheduling of Kubernetes.
func (c Choice) Native() bool {
	return c.Kind == Basic || c.Kind == Gang
}

// Choose answers which way a defaulted spec asks for, on a server without a default batch scheduler. The default of a
// server never makes a choice native, and takes none away that is.
func Choose(spec *v1beta2.SparkApplicationSpec, specPath *field.Path) Choice {
	return Schedulers{}.Choose(spec, specPath)
}

func nativeChoice(scheduling *v1beta2.SparkSchedulingSpec, path *field.Path) Choice {
	switch policy := scheduling.SchedulingPolicy; {
	case policy == nil:
		return Choice{Kind: Basic, Path: path}
	case policy.Gang != nil:
		return Choice{Kind: Gang, Path: path.Child("schedulingPolicy", "gang")}
	default:
		return Choice{Kind: Basic, Path: path.Child("schedulingPolicy")}
	}
}

// nativeChildren lists the fields in use that only the workload-aware scheduling of Kubernetes gives a meaning.
func nativeChildren(scheduling *v1beta2.SparkSchedulingSpec, path *field.Path) []*field.Path {
	var used []*field.Path
	for _, child := range []struct {
		name string
		set  bool
	}{
		{"schedulingPolicy", scheduling.SchedulingPolicy != nil},
		{"schedulingConstraints", scheduling.SchedulingConstraints != nil},
		{"disruptionMode", scheduling.DisruptionMode != nil},
		{"resourceClaims", len(scheduling.ResourceClaims) > 0},
		{"priorityClassName", scheduling.PriorityClassName != nil},
		{"admissionDeadlineSeconds", scheduling.AdmissionDeadlineSeconds != nil},
	} {
		if child.set {
			used = append(used, path.Child(child.name))
		}
	}
	return used
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
