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
	"context"
	"errors"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/controller/faultpoint"
	"github.com/spark-apiserver/spark-apiserver/pkg/controller/tell"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
	"github.com/spark-apiserver/spark-apiserver/pkg/schedules"
)

// maxReason is how much of an error becomes the reason in a status. A long one has the errors of many fields.
const maxReason = 2048

// errGone says that the schedule was deleted meanwhile.
var errGone = errors.New("the schedule is gone")

// applier carries out plans.
type applier struct {
	spark    versioned.Interface
	memories *memories
	recorder events.EventRecorder
	// fault, in tests, makes the applier stop at a fault point.
	fault faultpoint.Hook
}

// apply carries out a plan in the order of its fields. Whatever it writes may be its last act: the next try finds what is
// there and goes on from it. It returns the snapshot to decide by next, or nil if there is nothing more to decide.
func (a *applier) apply(ctx context.Context, s *Snapshot, plan *Plan) (*Snapshot, error) {
	written, err := a.writeStatus(ctx, s.Schedule, plan)
	if err != nil {
		return nil, err
	}
	next := s.with(written)
	again := plan.Again

	for _, run := range plan.Replace {
		if err := a.deleteRun(ctx, run); err != nil {
			return nil, err
		}
		a.event(next.Schedule, normal(eventReasonRunReplaced, actionRun,
			fmt.Sprintf("SparkApplication %s was deleted, because the run due at %s takes its place", run.Name, stamp(plan.CreateSlot))))
	}
	if plan.Create != nil {
		run, refusal, err := a.create(ctx, next.Schedule, plan)
		if err != nil {
			return nil, err
		}
		if refusal != nil {
			next = next.with(next.Schedule)
			next.Refusal = refusal
		} else {
			next = next.withRun(run)
		}
		again = true
	}
	for _, run := range plan.Prune {
		if err := a.deleteRun(ctx, run); err != nil {
			return nil, err
		}
	}
	if !again {
		return nil, nil
	}
	return next, nil
}

// writeStatus writes the status that the plan wants, if it differs, and tells of it. It returns the schedule as it is then.
func (a *applier) writeStatus(ctx context.Context, schedule *v1beta2.ScheduledSparkApplication, plan *Plan) (*v1beta2.ScheduledSparkApplication, error) {
	if equality.Semantic.DeepEqual(schedule.Status, plan.Status) {
		return schedule, nil
	}
	// Everything else of the object goes as it came: the resource version makes sure that nobody has written since.
	changed := *schedule
	changed.Status = plan.Status
	var written *v1beta2.ScheduledSparkApplication
	err := a.write(writeStatus, func() error {
		var err error
		written, err = a.spark.SparkoperatorV1beta2().ScheduledSparkApplications(schedule.Namespace).UpdateStatus(ctx, &changed, metav1.UpdateOptions{})
		if err == nil {
			a.memories.remember(written)
		}
		return err
	})
	if apierrors.IsNotFound(err) {
		return nil, errGone
	}
	if err != nil {
		return nil, fmt.Errorf("write the status: %w", err)
	}
	countRuns(plan.Counts)
	for _, event := range plan.Events {
		a.event(written, event)
	}
	return written, nil
}

// create creates a run, or finds the one of its name that this schedule owns. A refusal is no error: it is decided on.
func (a *applier) create(ctx context.Context, schedule *v1beta2.ScheduledSparkApplication, plan *Plan) (*v1beta2.SparkApplication, *Refusal, error) {
	client := a.spark.SparkoperatorV1beta2().SparkApplications(schedule.Namespace)
	var run *v1beta2.SparkApplication
	err := a.write(writeRunCreate, func() error {
		var err error
		run, err = client.Create(ctx, plan.Create, metav1.CreateOptions{})
		return err
	})
	switch {
	case err == nil:
		klog.FromContext(ctx).Info("Created a run", "sparkApplication", klog.KObj(run), "slot", plan.CreateSlot)
		return run, nil, nil
	case apierrors.IsAlreadyExists(err):
		run, err = client.Get(ctx, plan.Create.Name, metav1.GetOptions{})
		if err != nil {
			return nil, nil, fmt.Errorf("read the SparkApplication %s, which exists: %w", plan.Create.Name, err)
		}
		if schedules.Owns(schedule, run) {
			return run, nil, nil
		}
		if namesakeOwns(schedule, run) {
			return nil, nil, fmt.Errorf("the SparkApplication %s of a deleted schedule of the same name has not been removed yet", run.Name)
		}
		return nil, &Refusal{Slot: plan.CreateSlot, Message: fmt.Sprintf("SparkApplication %s exists and does not belong to this schedule", run.Name)}, nil
	case isRefusal(err):
		return nil, &Refusal{Slot: plan.CreateSlot, Message: tell.Shortened(err.Error(), maxReason), Invalid: apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)}, nil
	default:
		return nil, nil, fmt.Errorf("create the SparkApplication %s: %w", plan.Create.Name, err)
	}
}

// isRefusal says whether the same request would be answered in the same way again: by validation, by quota, by a policy.
// The other errors of clients are about the moment: conflicts, time-outs, too many requests.
func isRefusal(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch code := status.Status().Code; code {
	case http.StatusUnauthorized, http.StatusNotFound, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	default:
		return code >= http.StatusBadRequest && code < http.StatusInternalServerError
	}
}

func namesakeOwns(schedule *v1beta2.ScheduledSparkApplication, run *v1beta2.SparkApplication) bool {
	for _, owner := range run.OwnerReferences {
		if owner.Kind == kind && owner.Name == schedule.Name {
			return true
		}
	}
	return false
}

// deleteRun deletes a run and, after it, what belongs to it.
func (a *applier) deleteRun(ctx context.Context, run *v1beta2.SparkApplication) error {
	err := a.write(writeRunDelete, func() error {
		return a.spark.SparkoperatorV1beta2().SparkApplications(run.Namespace).Delete(ctx, run.Name, metav1.DeleteOptions{
			Preconditions:     &metav1.Preconditions{UID: &run.UID},
			PropagationPolicy: new(metav1.DeletePropagationBackground),
		})
	})
	// A conflict says that the name is another object's by now.
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return fmt.Errorf("delete the SparkApplication %s: %w", run.Name, err)
}

// write does one write between its two fault points.
func (a *applier) write(name string, do func() error) error {
	return a.fault.Write(name, do)
}

func (a *applier) event(schedule *v1beta2.ScheduledSparkApplication, event Event) {
	event.Send(a.recorder, reference(schedule))
}

// kind is the kind of a schedule. Objects from caches and clients don't say of which kind they are.
const kind = "ScheduledSparkApplication"

func reference(schedule *v1beta2.ScheduledSparkApplication) *corev1.ObjectReference {
	return &corev1.ObjectReference{
		APIVersion:      v1beta2.SchemeGroupVersion.String(),
		Kind:            kind,
		Namespace:       schedule.Namespace,
		Name:            schedule.Name,
		UID:             schedule.UID,
		ResourceVersion: schedule.ResourceVersion,
	}
}
