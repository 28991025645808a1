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

package scheduledsparkapplication

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/controller/tell"
)

// Reasons of events on a ScheduledSparkApplication. The Spark Operator has none.
const (
	eventReasonScheduleInvalid = "ScheduleInvalid"
	eventReasonRunStarted      = "RunStarted"
	eventReasonRunSkipped      = "RunSkipped"
	eventReasonRunReplaced     = "RunReplaced"
	eventReasonRunRefused      = "RunRefused"
	eventReasonRunsMissed      = "RunsMissed"
)

// Actions of events: what the controller was doing.
const (
	actionSchedule = "Schedule"
	actionRun      = "Run"
)

// Event is an event about the schedule.
type Event = tell.Event

func normal(reason, action, message string) Event {
	return Event{Type: corev1.EventTypeNormal, Reason: reason, Action: action, Message: message}
}

func warning(reason, action, message string) Event {
	return Event{Type: corev1.EventTypeWarning, Reason: reason, Action: action, Message: message}
}
