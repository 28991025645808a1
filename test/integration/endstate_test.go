//go:build faultpoints

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

package integration

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// endState describes all that there is in a namespace, without what is different in every run: identities and times.
// Two runs that came to the same end have the same description.
func (w *witness) endState(namespace string) string {
	var out strings.Builder
	app := w.application(namespace)
	if app != nil {
		describeStatus(&out, app)
	}
	var lines []string
	for kind, indexer := range w.objects {
		for _, object := range inNamespace(indexer, namespace) {
			if line := describeObject(kind, object, app); line != "" {
				lines = append(lines, line)
			}
		}
	}
	slices.Sort(lines)
	for _, line := range lines {
		fmt.Fprintln(&out, line)
	}
	for i, count := range driversPerAttempt(w.driversOf(namespace)) {
		fmt.Fprintf(&out, "attempt %d has had %d driver pod(s)\n", i+1, count)
	}
	return out.String()
}

// driversPerAttempt counts driver pods by attempt, in order of the attempts.
func driversPerAttempt(drivers []driverRecord) []int {
	var attempts []string
	var counts []int
	for _, driver := range drivers {
		i := slices.Index(attempts, string(driver.owner)+driver.submission)
		if i < 0 {
			attempts = append(attempts, string(driver.owner)+driver.submission)
			counts = append(counts, 1)
			continue
		}
		counts[i]++
	}
	return counts
}

func describeStatus(out *strings.Builder, app *v1beta2.SparkApplication) {
	status := &app.Status
	names := namesOf(app)
	fmt.Fprintf(out, "state %s, message %q\n", status.AppState.State, names.Replace(status.AppState.ErrorMessage))
	fmt.Fprintf(out, "submission attempts %d, execution attempts %d, generation observed: %t\n",
		status.SubmissionAttempts, status.ExecutionAttempts, status.ObservedGeneration == app.Generation)
	fmt.Fprintf(out, "driver %s, has an attempt: %t, submitted: %t, ended: %t\n", status.DriverInfo.PodName, status.SubmissionID != "",
		!status.LastSubmissionAttemptTime.IsZero(), !status.TerminationTime.IsZero())
	if status.ExecutorCounts != nil {
		fmt.Fprintf(out, "executor counts %+v\n", *status.ExecutorCounts)
	}
	states := make([]string, 0, len(status.ExecutorState))
	for name, state := range status.ExecutorState {
		states = append(states, name[strings.LastIndexByte(name, '-')+1:]+"="+string(state))
	}
	slices.Sort(states)
	fmt.Fprintf(out, "executors %s\n", strings.Join(states, " "))
	if record := status.WorkloadScheduling; record != nil {
		fmt.Fprintf(out, "record of %s scheduling, of this attempt: %t, admitted: %t", record.Policy, record.SubmissionID == status.SubmissionID, record.AdmittedTime != nil)
		for _, group := range record.PodGroups {
			fmt.Fprintf(out, ", group of %s", group.TemplateName)
			if group.MinCount != nil {
				fmt.Fprintf(out, " with minCount %d", *group.MinCount)
			}
		}
		fmt.Fprintln(out)
	}
	conditions := slices.SortedFunc(slices.Values(status.Conditions), func(a, b metav1.Condition) int { return cmp.Compare(a.Type, b.Type) })
	for i := range conditions {
		c := &conditions[i]
		fmt.Fprintf(out, "condition %s=%s %s %q\n", c.Type, c.Status, c.Reason, names.Replace(c.Message))
	}
}

// namesOf replaces the names that every run has of its own.
func namesOf(app *v1beta2.SparkApplication) *strings.Replacer {
	pairs := []string{app.Namespace, "NAMESPACE", string(app.UID), "UID"}
	if id := app.Status.SubmissionID; id != "" {
		pairs = append(pairs, id, "ATTEMPT", strings.ReplaceAll(id, "-", ""), "ATTEMPT")
	}
	if record := app.Status.WorkloadScheduling; record != nil {
		pairs = append(pairs, record.WorkloadName, "WORKLOAD")
		for _, group := range record.PodGroups {
			pairs = append(pairs, group.PodGroupName, "GROUP")
		}
	}
	return strings.NewReplacer(pairs...)
}

var executorNumber = regexp.MustCompile(`-exec-(\d+)$`)

// describeObject describes what an application made, in one line; what Kubernetes puts into every namespace isn't told.
func describeObject(kind string, object any, app *v1beta2.SparkApplication) string {
	o, ok := object.(metav1.Object)
	if !ok || o.GetName() == "kube-root-ca.crt" {
		return ""
	}
	owner := "nobody"
	if controller := metav1.GetControllerOf(o); controller != nil {
		owner = controller.Kind
		if app != nil && controller.Kind == "SparkApplication" && controller.UID != app.UID {
			owner = "another SparkApplication"
		}
	}
	line := fmt.Sprintf("%s owned by %s", kind, owner)
	if submission := o.GetLabels()[labelSubmission]; submission != "" {
		line += fmt.Sprintf(", of the present attempt: %t", app != nil && app.Status.SubmissionID == submission)
	}
	if o.GetDeletionTimestamp() != nil {
		line += ", being deleted"
	}
	switch typed := object.(type) {
	case *corev1.Pod:
		line += fmt.Sprintf(", %s %s", typed.Labels[labelRole], typed.Status.Phase)
		if number := executorNumber.FindStringSubmatch(typed.Name); number != nil {
			line += " number " + number[1]
		}
	case *schedulingv1beta1.PodGroup:
		line += minCount(typed.Spec.SchedulingPolicy.Gang)
	case *schedulingv1beta1.Workload:
		for i := range typed.Spec.PodGroupTemplates {
			line += minCount(typed.Spec.PodGroupTemplates[i].SchedulingPolicy.Gang)
		}
	}
	return line
}

func minCount(gang *schedulingv1beta1.GangSchedulingPolicy) string {
	if gang == nil {
		return ", no gang"
	}
	return fmt.Sprintf(", minCount %d", gang.MinCount)
}
