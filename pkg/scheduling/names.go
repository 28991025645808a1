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
	"fmt"
	"hash/fnv"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/dump"
)

// ExecutorsTemplate is the name of the Workload's template that the executors' PodGroups are made from. The names
// "driver" and "executors-<n>" are kept free for groups to come.
const ExecutorsTemplate = "executors"

// WorkloadName returns the name of an application's Workload: the application's name and a hash of its UID, so that an
// application which is deleted and created again never meets the Workload of its namesake. The algorithm is the one by
// which Kubernetes names the Workload of a Job.
func WorkloadName(appName string, uid types.UID) string {
	hash := fnv.New32a()
	fmt.Fprint(hash, dump.ForHash(uid))
	suffix := rand.SafeEncodeString(fmt.Sprint(hash.Sum32()))
	if appName == "" {
		return suffix
	}
	return truncate(appName, validation.DNS1123SubdomainMaxLength-len(suffix)-1) + "-" + suffix
}

// PodGroupName returns the name of the PodGroup that an attempt makes from a template of a Workload. The submission ID
// is part of the hash: kube-scheduler knows a group by its name and not by its UID, so that no two attempts may share
// one. The algorithm is that of workloadbuilder.GeneratePodGroupName of Kubernetes 1.38, with the submission ID as what
// tells siblings apart.
func PodGroupName(workloadName, templateName, submissionID string) string {
	hash := fnv.New32a()
	// The separators keep ("a", "bc") and ("ab", "c") apart.
	fmt.Fprintf(hash, "%s\x00%s\x00%s", workloadName, templateName, submissionID)
	suffix := rand.SafeEncodeString(fmt.Sprint(hash.Sum32()))

	// Where both names don't fit, each is sure of one half, and has what the other leaves of its own.
	room := validation.DNS1123SubdomainMaxLength - len(suffix) - 2
	templateRoom := max(room/2, room-len(workloadName))
	templateName = truncate(templateName, templateRoom)
	workloadName = truncate(workloadName, room-len(templateName))
	return fmt.Sprintf("%s-%s-%s", workloadName, templateName, suffix)
}

func truncate(s string, n int) string {
	return s[:min(len(s), n)]
}
