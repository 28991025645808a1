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
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// statusInterval is how far apart two writes of a status are in which no state and no condition turned. The comings and
// goings of executors are collected meanwhile.
const statusInterval = time.Second

// writeStatus writes the status that the plan wants, if it differs, and sends the plan's events after it. It returns
// nil if nothing was written.
func (a *applier) writeStatus(ctx context.Context, m *memory, app *v1beta2.SparkApplication, plan *Plan) (*v1beta2.SparkApplication, error) {
	if equality.Semantic.DeepEqual(app.Status, plan.Status) {
		return nil, nil
	}
	if rest := statusInterval - a.clock.Since(m.statusAt); rest > 0 && !urgent(&app.Status, &plan.Status) {
		plan.requeueAfter(rest)
		m.executorEnds = executorEndsNotIn(&app.Status, &plan.Status)
		return nil, nil
	}
	// Everything else of the object goes as it came: the resource version makes sure that nobody has written since.
	changed := *app
	changed.Status = plan.Status
	var written *v1beta2.SparkApplication
	err := a.write(writeStatus, func() error {
		var err error
		written, err = a.spark.SparkoperatorV1beta2().SparkApplications(app.Namespace).UpdateStatus(ctx, &changed, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		m.application, m.statusAt, m.executorEnds = written, a.clock.Now(), nil
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("write the status: %w", err)
	}
	if before, now := app.Status.AppState.State, written.Status.AppState.State; before != now {
		klog.FromContext(ctx).Info("Changed the state", "from", before, "to", now,
			"submissionID", written.Status.SubmissionID, "message", written.Status.AppState.ErrorMessage)
		countTransition(app, written)
	}
	countAdmission(&app.Status, &written.Status)
	for _, event := range plan.Events {
		a.event(written, event)
	}
	return written, nil
}

// urgent says whether a change of status is to be seen at once. That the last member of a gang was bound is: the scheduler
// reports the admission before the caches show all of its pods bound, and a gang must not be seen to be placed in part.
// The count only falls with the interval, so executors that come and go cause two writes in an interval at most.
func urgent(before, after *v1beta2.SparkApplicationStatus) bool {
	return before.AppState != after.AppState || before.SubmissionID != after.SubmissionID ||
		conditionsFlipped(before.Conditions, after.Conditions) || gangBound(after) && !gangBound(before)
}

func (a *applier) event(app *v1beta2.SparkApplication, event Event) {
	event.Send(a.recorder, reference(app))
}

// reference refers to the application. Objects from caches and clients don't say of which kind they are.
func reference(app *v1beta2.SparkApplication) *corev1.ObjectReference {
	return &corev1.ObjectReference{
		APIVersion:      v1beta2.SchemeGroupVersion.String(),
		Kind:            "SparkApplication",
		Namespace:       app.Namespace,
		Name:            app.Name,
		UID:             app.UID,
		ResourceVersion: app.ResourceVersion,
	}
}
