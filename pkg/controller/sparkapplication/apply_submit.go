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
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// submit creates what the attempt of the status needs, in an order in which no mount and no scheduling has to wait: the
// Workload, the PodGroup, the claims, the ConfigMap, the Service, and the driver pod last. What is there is adopted.
func (a *applier) submit(ctx context.Context, m *memory, s *Snapshot) error {
	status := &s.Application.Status
	submission, err := s.Compile(status.SubmissionID, status.LastSubmissionAttemptTime.Time, "")
	if err != nil {
		return refused(ReasonCompilationFailed, err.Error())
	}
	if err := agree(status, submission.Native); err != nil {
		return err
	}
	if submission.Native != nil {
		if err := a.enforcement.obstacle(s.Application); err != nil {
			return err
		}
	}
	if err := a.access.check(ctx, s.Application, submission); err != nil {
		return cmp.Or(a.probeDriver(ctx, submission.Objects.Driver), err)
	}
	if submission.Native != nil {
		submission, err = a.submitScheduling(ctx, m, s, submission.Native)
		if err != nil {
			return err
		}
	}
	if err := a.probeExecutor(ctx, s.Application, submission); err != nil {
		return err
	}
	if err := a.submitBatch(ctx, s.Application, submission.Batch); err != nil {
		return err
	}
	if err := a.createObjects(ctx, s.Application, submission); err != nil {
		return err
	}
	return a.createDriver(ctx, m, s, submission.Objects.Driver)
}

// restoreObjects creates the ConfigMap and the Service of an attempt again.
func (a *applier) restoreObjects(ctx context.Context, s *Snapshot) error {
	status := &s.Application.Status
	submission, err := s.Compile(status.SubmissionID, status.LastSubmissionAttemptTime.Time, attemptPriorityClass(status))
	if err != nil {
		return refused(ReasonCompilationFailed, fmt.Sprintf("the ConfigMap and the Service of the driver can't be made again: %v", err))
	}
	return a.createObjects(ctx, s.Application, submission)
}

// attemptPriorityClass is the class that the members of the attempt's PodGroup were given.
func attemptPriorityClass(status *v1beta2.SparkApplicationStatus) string {
	if status.WorkloadScheduling == nil || len(status.WorkloadScheduling.PodGroups) == 0 {
		return ""
	}
	return status.WorkloadScheduling.PodGroups[0].PriorityClassName
}

// createObjects creates what the driver pod mounts and is found by.
func (a *applier) createObjects(ctx context.Context, app *v1beta2.SparkApplication, submission *scheduling.Submission) error {
	namespace := app.Namespace
	for _, claim := range submission.Objects.PersistentVolumeClaims {
		if _, _, err := createOrAdopt(ctx, a, app, writeVolumeClaim, "PersistentVolumeClaim", claim, a.kube.CoreV1().PersistentVolumeClaims(namespace)); err != nil {
			return err
		}
	}
	if submission.Objects.ConfigMap != nil {
		if _, _, err := createOrAdopt(ctx, a, app, writeConfigMap, "ConfigMap", submission.Objects.ConfigMap, a.kube.CoreV1().ConfigMaps(namespace)); err != nil {
			return err
		}
	}
	if submission.Objects.Service != nil {
		if _, _, err := createOrAdopt(ctx, a, app, writeService, "Service", submission.Objects.Service, a.kube.CoreV1().Services(namespace)); err != nil {
			return err
		}
	}
	return nil
}

// submitScheduling creates the Workload and the PodGroup, and compiles the rest anew with the priority class that the
// PodGroup was given: its members must have the same.
func (a *applier) submitScheduling(ctx context.Context, m *memory, s *Snapshot, native *scheduling.Native) (*scheduling.Submission, error) {
	if s.PodGroup == nil {
		if err := a.probeExtras(ctx, s, native.PodGroup); err != nil {
			return nil, err
		}
	}
	if err := a.ensureWorkload(ctx, s, native.Workload); err != nil {
		return nil, err
	}
	group, err := a.ensurePodGroup(ctx, m, s, native.PodGroup)
	if err != nil {
		return nil, err
	}
	status := &s.Application.Status
	submission, err := s.Compile(status.SubmissionID, status.LastSubmissionAttemptTime.Time, group.Spec.PriorityClassName)
	if err != nil {
		return nil, refused(ReasonCompilationFailed, err.Error())
	}
	return submission, requireMembership(submission, group.Name)
}

// agree makes sure that the record and what is compiled speak of the same objects and the same number of executors.
func agree(status *v1beta2.SparkApplicationStatus, native *scheduling.Native) error {
	record := status.WorkloadScheduling
	if native == nil && record == nil {
		return nil
	}
	stale := &Obstacle{Kind: ObstacleStaleIdentity, Reason: ReasonPreparingAttempt, Message: "the record of the attempt is not what its application compiles to"}
	if native == nil || record == nil || len(record.PodGroups) != 1 {
		return stale
	}
	group := record.PodGroups[0]
	size := int32(0)
	if group.MinCount != nil {
		size = *group.MinCount
	}
	if record.SubmissionID != status.SubmissionID || record.WorkloadName != native.Workload.Name ||
		group.PodGroupName != native.PodGroup.Name || size != native.MinCount {
		return stale
	}
	return nil
}

// requireMembership is the last guard against an attempt that would silently be scheduled without its PodGroup.
func requireMembership(submission *scheduling.Submission, podGroup string) error {
	got, _, _ := unstructured.NestedString(submission.Objects.ExecutorTemplate, "spec", "schedulingGroup", "podGroupName")
	if got != podGroup {
		return refused(ReasonCompilationFailed, fmt.Sprintf("the executor pod template names PodGroup %q instead of %q", got, podGroup))
	}
	return nil
}

const kindPod = "pod"

// createDriver creates the driver pod. The answer is remembered, because a cache shows the pod later.
func (a *applier) createDriver(ctx context.Context, m *memory, s *Snapshot, driver *corev1.Pod) error {
	app := s.Application
	m.driverUntried = ""
	got, created, err := createOrAdopt(ctx, a, app, writeDriver, kindPod, driver, a.kube.CoreV1().Pods(app.Namespace))
	if err != nil {
		return err
	}
	if got.Labels[spark.LabelSubmissionID] != app.Status.SubmissionID {
		if !deleting(got) {
			if err := a.deletePod(ctx, app.Namespace, got.Name, got.UID, false); err != nil {
				return err
			}
		}
		return waiting(fmt.Sprintf("the driver pod %s of an earlier attempt is being removed", got.Name))
	}
	if created {
		klog.FromContext(ctx).Info("Created the driver pod", "pod", klog.KObj(got), "submissionID", app.Status.SubmissionID)
	}
	a.event(app, eventApplicationSubmitted(app))
	m.driver, m.driverAt, m.driverSeen = got, a.clock.Now(), app.Status.SubmissionID
	s.Driver, s.DriverSeen, s.DriverAbsent = got, true, false
	return nil
}

// objectClient is a typed client of one kind in one namespace.
type objectClient[T any] interface {
	Create(ctx context.Context, object T, options metav1.CreateOptions) (T, error)
	Get(ctx context.Context, name string, options metav1.GetOptions) (T, error)
}

// createOrAdopt creates an object, or returns the one of its name that this application owns. It says whether it has
// created it.
func createOrAdopt[T metav1.Object](ctx context.Context, a *applier, app *v1beta2.SparkApplication, write, kind string, want T, client objectClient[T]) (T, bool, error) {
	var got T
	err := a.write(write, func() error {
		var err error
		got, err = client.Create(ctx, want, metav1.CreateOptions{})
		return err
	})
	if isAlreadyExists(err) {
		// The cache may not know the object, or know it no longer.
		got, err = client.Get(ctx, want.GetName(), metav1.GetOptions{})
		if err != nil {
			return got, false, fmt.Errorf("read the existing %s %s: %w", kind, want.GetName(), err)
		}
		return got, false, adoptable(app, kind, got)
	}
	if err != nil {
		return got, false, classify(fmt.Sprintf("create %s %s", kind, want.GetName()), err)
	}
	return got, true, nil
}

// adoptable says whether an existing object is this application's.
func adoptable(app *v1beta2.SparkApplication, kind string, got metav1.Object) error {
	if metav1.IsControlledBy(got, app) {
		return nil
	}
	owner := metav1.GetControllerOf(got)
	if owner != nil && owner.Kind == "SparkApplication" && owner.Name == app.Name {
		return waiting(fmt.Sprintf("the %s %s of a deleted SparkApplication of the same name has not been removed yet", kind, got.GetName()))
	}
	remedy := "delete it"
	if kind == kindPod {
		remedy = "delete it, or give the driver another name by spec.driver.podName"
	}
	return refused(ReasonObjectConflict, fmt.Sprintf("%s %s exists and does not belong to this application: %s", kind, got.GetName(), remedy))
}
