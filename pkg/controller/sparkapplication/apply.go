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

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/controller/faultpoint"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// applier carries out plans.
type applier struct {
	spark    versioned.Interface
	kube     kubernetes.Interface
	batch    *batchGroups
	clock    clock.PassiveClock
	memories *memories
	access   *accessChecker
	recorder events.EventRecorder
	side     spark.SideSettings
	// enforcement is shared with the observer.
	enforcement *enforcement
	// fault, in tests, makes the applier stop at a fault point.
	fault faultpoint.Hook
}

// outcome is what came of a plan.
type outcome struct {
	// again says that there is more to decide at once, from snapshot.
	again        bool
	snapshot     *Snapshot
	requeueAfter time.Duration
}

// apply carries out a plan in the order of its fields. Whatever it writes may be its last act: the next try finds what
// is there and goes on from it.
func (a *applier) apply(ctx context.Context, s *Snapshot, plan *Plan) (outcome, error) {
	key := types.NamespacedName{Namespace: s.Application.Namespace, Name: s.Application.Name}
	m := a.memories.of(key, s.Application.UID)
	if err := a.deleteAll(ctx, m, s, plan.Clear); err != nil {
		return outcome{}, err
	}
	if err := a.clearSubmission(ctx, s.Application, plan.ClearSubmission); err != nil {
		return outcome{}, err
	}

	if plan.ClearSide {
		if err := a.clearSide(ctx, m, s.Application); err != nil {
			return outcome{}, err
		}
	}

	before := s.Application.Status
	written, err := a.writeStatus(ctx, m, s.Application, plan)
	if err != nil {
		if apierrors.IsNotFound(err) {
			return outcome{}, nil
		}
		return outcome{}, err
	}
	next := s
	result := outcome{}
	if written != nil {
		next = s.withApplication(written)
		result.again = before.AppState.State != written.Status.AppState.State || before.SubmissionID != written.Status.SubmissionID
		if before.SubmissionID != written.Status.SubmissionID && next.Driver == nil {
			m.driverUntried = written.Status.SubmissionID
		}
	}

	driver := next.Driver
	obstacle, next, err := a.ensureAll(ctx, m, next, plan.Ensure)
	if err != nil {
		return outcome{}, err
	}
	if obstacle != nil {
		next.Obstacle = obstacle
		result.again = true
	} else if next.Driver != driver || sideToTell(s, next) {
		result.again = true
	}
	if err := a.deleteAll(ctx, m, next, plan.Delete); err != nil {
		return outcome{}, err
	}
	if err := a.deleteObjects(ctx, next.Application, plan.DeleteObjects); err != nil {
		return outcome{}, err
	}
	result.snapshot = next
	if written != nil && looksAgain(written.Status.AppState.State) {
		result.again, result.requeueAfter = false, time.Millisecond
		return result, nil
	}
	if plan.DeleteApplication {
		return outcome{}, a.deleteApplication(ctx, next.Application)
	}
	result.requeueAfter = plan.RequeueAfter
	return result, nil
}

// looksAgain says whether the next attempt is to be decided from a new snapshot: whether it may begin depends on what is
// only looked at then.
func looksAgain(state v1beta2.ApplicationStateType) bool {
	return state == v1beta2.ApplicationStatePendingRerun || state == v1beta2.ApplicationStateResuming
}

// ensureAll takes the steps of a plan. An obstacle ends them.
func (a *applier) ensureAll(ctx context.Context, m *memory, s *Snapshot, steps []Step) (*Obstacle, *Snapshot, error) {
	next := *s
	for _, step := range steps {
		var err error
		switch step {
		case StepSubmit:
			err = a.submit(ctx, m, &next)
		case StepRestorePodGroup:
			err = a.restorePodGroup(ctx, m, &next)
		case StepRestoreObjects:
			err = a.restoreObjects(ctx, &next)
		case StepLowerMinCount:
			err = a.lowerMinCount(ctx, m, &next)
		case StepSideObjects:
			err = a.ensureSide(ctx, m, &next)
		}
		if err == nil {
			continue
		}
		obstacle, err := asObstacle(err)
		if err != nil {
			return nil, nil, fmt.Errorf("step %s: %w", step, err)
		}
		klog.FromContext(ctx).V(2).Info("Met an obstacle", "step", step, "reason", obstacle.Reason, "message", obstacle.Message)
		return obstacle, &next, nil
	}
	return nil, &next, nil
}

// write does one write between its two fault points.
func (a *applier) write(name string, do func() error) error {
	return a.fault.Write(name, do)
}

func (a *applier) deleteApplication(ctx context.Context, app *v1beta2.SparkApplication) error {
	klog.FromContext(ctx).Info("Deleting the application, whose time to live is over", "terminationTime", app.Status.TerminationTime)
	return a.write(writeApplicationDelete, func() error {
		err := a.spark.SparkoperatorV1beta2().SparkApplications(app.Namespace).Delete(ctx, app.Name, metav1.DeleteOptions{
			// An application that was edited meanwhile is looked at again.
			Preconditions:     &metav1.Preconditions{UID: &app.UID, ResourceVersion: &app.ResourceVersion},
			PropagationPolicy: new(metav1.DeletePropagationBackground),
		})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}
