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
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// Reasons of events. Those about applications, drivers and executors are the Kubeflow Spark Operator's, those about
// Workloads and PodGroups are the Job controller's where it has one.
const (
	eventReasonApplicationAdded     = "SparkApplicationAdded"
	eventReasonApplicationSubmitted = "SparkApplicationSubmitted"
	eventReasonSubmissionFailed     = "SparkApplicationSubmissionFailed"
	eventReasonApplicationCompleted = "SparkApplicationCompleted"
	eventReasonApplicationFailed    = "SparkApplicationFailed"
	eventReasonSuspending           = "SparkApplicationSuspending"
	eventReasonSuspended            = "SparkApplicationSuspended"
	eventReasonResuming             = "SparkApplicationResuming"
	eventReasonPendingRerun         = "SparkApplicationPendingRerun"
	eventReasonInvalidating         = "SparkApplicationInvalidating"
	eventReasonDriverPending        = "SparkDriverPending"
	eventReasonDriverRunning        = "SparkDriverRunning"
	eventReasonDriverCompleted      = "SparkDriverCompleted"
	eventReasonDriverFailed         = "SparkDriverFailed"
	eventReasonDriverUnknown        = "SparkDriverUnknown"
	eventReasonDriverNotFound       = "SparkDriverNotFound"
	eventReasonExecutorPrefix       = "SparkExecutor"

	eventReasonWorkloadCreated      = "WorkloadCreated"
	eventReasonPodGroupCreated      = "PodGroupCreated"
	eventReasonFailedWorkloadCreate = "FailedWorkloadCreate"
	eventReasonFailedPodGroupCreate = "FailedPodGroupCreate"
	eventReasonGangAdmitted         = "GangAdmitted"
	eventReasonStalePodGroupDeleted = "StalePodGroupDeleted"
)

// Actions of events: what the controller was doing.
const (
	actionSubmit   = "Submit"
	actionObserve  = "Observe"
	actionSchedule = "Schedule"
	actionSuspend  = "Suspend"
	actionEnd      = "End"
)

func normal(reason, action, message string) Event {
	return Event{Type: corev1.EventTypeNormal, Reason: reason, Action: action, Message: message}
}

func warning(reason, action, message string) Event {
	return Event{Type: corev1.EventTypeWarning, Reason: reason, Action: action, Message: message}
}

func eventApplicationAdded(app *v1beta2.SparkApplication) Event {
	return normal(eventReasonApplicationAdded, actionSubmit, fmt.Sprintf("SparkApplication %s was added", app.Name))
}

func eventApplicationSubmitted(app *v1beta2.SparkApplication) Event {
	return normal(eventReasonApplicationSubmitted, actionSubmit, fmt.Sprintf("SparkApplication %s was submitted successfully", app.Name))
}

func eventSubmissionFailed(app *v1beta2.SparkApplication, message string) Event {
	return warning(eventReasonSubmissionFailed, actionSubmit, fmt.Sprintf("failed to submit SparkApplication %s: %s", app.Name, message))
}

func eventApplicationCompleted(app *v1beta2.SparkApplication) Event {
	return normal(eventReasonApplicationCompleted, actionEnd, fmt.Sprintf("SparkApplication %s completed", app.Name))
}

func eventApplicationFailed(app *v1beta2.SparkApplication, message string) Event {
	return warning(eventReasonApplicationFailed, actionEnd, fmt.Sprintf("SparkApplication %s failed: %s", app.Name, message))
}

func eventSuspending(app *v1beta2.SparkApplication) Event {
	return normal(eventReasonSuspending, actionSuspend, fmt.Sprintf("SparkApplication %s is being suspended", app.Name))
}

func eventSuspended(app *v1beta2.SparkApplication) Event {
	return normal(eventReasonSuspended, actionSuspend, fmt.Sprintf("SparkApplication %s is suspended", app.Name))
}

func eventResuming(app *v1beta2.SparkApplication) Event {
	return normal(eventReasonResuming, actionSuspend, fmt.Sprintf("SparkApplication %s is being resumed", app.Name))
}

func eventPendingRerun(app *v1beta2.SparkApplication, why string) Event {
	return warning(eventReasonPendingRerun, actionSubmit, fmt.Sprintf("SparkApplication %s is run again: %s", app.Name, why))
}

func eventInvalidating(app *v1beta2.SparkApplication) Event {
	return normal(eventReasonInvalidating, actionSubmit, fmt.Sprintf("the spec of SparkApplication %s was edited: its attempt is ended, and another one follows", app.Name))
}

func eventDriverPending(name string) Event {
	return normal(eventReasonDriverPending, actionObserve, fmt.Sprintf("Driver %s is pending", name))
}

func eventDriverRunning(name string) Event {
	return normal(eventReasonDriverRunning, actionObserve, fmt.Sprintf("Driver %s is running", name))
}

func eventDriverCompleted(name string) Event {
	return normal(eventReasonDriverCompleted, actionObserve, fmt.Sprintf("Driver %s completed", name))
}

func eventDriverFailed(name, message string) Event {
	return warning(eventReasonDriverFailed, actionObserve, fmt.Sprintf("Driver %s failed: %s", name, message))
}

func eventDriverUnknown(name string) Event {
	return warning(eventReasonDriverUnknown, actionObserve, fmt.Sprintf("Driver %s in unknown state", name))
}

func eventDriverNotFound(name string) Event {
	return warning(eventReasonDriverNotFound, actionObserve, fmt.Sprintf("Driver %s was not found", name))
}

// maxNamesInEvent is how many executors an event names.
const maxNamesInEvent = 5

// executorEvents tells of the executors that changed their state, one event for each state. Nothing is told of executors
// that were removed while the driver ran: their end is not known yet.
func executorEvents(before, after map[string]v1beta2.ExecutorState) []Event {
	var events []Event
	for _, kind := range []struct {
		state        v1beta2.ExecutorState
		reason, verb string
		bad          bool
	}{
		{v1beta2.ExecutorStatePending, "Pending", "pending", false},
		{v1beta2.ExecutorStateRunning, "Running", "running", false},
		{v1beta2.ExecutorStateCompleted, "Completed", "completed", false},
		{v1beta2.ExecutorStateFailed, "Failed", "failed", true},
	} {
		var names []string
		for name, state := range after {
			if old, known := before[name]; state == kind.state && (!known || old != state) {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			continue
		}
		slices.Sort(names)
		text := fmt.Sprintf("%s %s: %s", executorsText(int32(len(names))), kind.verb, strings.Join(names[:min(len(names), maxNamesInEvent)], ", "))
		if len(names) > maxNamesInEvent {
			text += ", ..."
		}
		event := normal(eventReasonExecutorPrefix+kind.reason, actionObserve, text)
		if kind.bad {
			event.Type = corev1.EventTypeWarning
		}
		events = append(events, event)
	}
	return events
}
