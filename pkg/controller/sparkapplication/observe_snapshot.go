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

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/features"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// snapshot returns what there is of an application, or nil if there is no such application.
func (o *observer) snapshot(ctx context.Context, key types.NamespacedName) (*Snapshot, error) {
	cached, err := o.applications.SparkApplications(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m := o.memories.of(key, cached.UID)
	app := cached
	if m.application != nil && newer(m.application, cached) {
		app = m.application
	} else {
		m.application = nil
	}
	s := &Snapshot{
		Application:       app,
		Settings:          o.settings,
		FreshSubmissionID: uuid.NewString(),
		FeatureEnabled:    o.gate.Enabled(features.SparkApplicationWorkloadAwareScheduling),
		Compile:           o.compiler(app),
		ExecutorEnds:      m.executorEnds,
		Side:              m.side,
	}
	if err := o.observePods(key, m, s); err != nil {
		return nil, err
	}
	if err := o.confirmDriver(ctx, m, s); err != nil {
		return nil, err
	}
	o.observeVolumes(ctx, m, s)
	o.objects.observe(m, s, o.clock.Now())
	o.objects.observeLeft(s)
	choice := scheduling.Choose(&app.Spec, field.NewPath("spec"))
	if choice.Native() {
		s.MissingGate = o.missingGate(app)
		if err := o.observeScheduling(ctx, key, m, s); err != nil {
			return nil, err
		}
	}
	if choice.Kind == scheduling.Gang && s.FeatureEnabled && submits(s) && !deleting(app) {
		s.Queue = o.gangs.ask(app)
	}
	return s, nil
}

// missingGate names a gate that is off and that an application needs beside the one for workload-aware scheduling.
func (o *observer) missingGate(app *v1beta2.SparkApplication) string {
	for _, extra := range scheduling.Extras(&app.Spec, field.NewPath("spec")) {
		if !o.gate.Enabled(featuregate.Feature(extra.Gate)) {
			return extra.Gate
		}
	}
	return ""
}

// observePods sorts the pods that carry the application's name.
func (o *observer) observePods(key types.NamespacedName, m *memory, s *Snapshot) error {
	objects, err := o.pods.GetIndexer().ByIndex(indexByApplication, key.String())
	if err != nil {
		return fmt.Errorf("look up the pods of %s: %w", key, err)
	}
	var pods []*corev1.Pod
	for _, object := range objects {
		if pod, ok := object.(*corev1.Pod); ok {
			pods = append(pods, pod)
		}
	}
	s.sortPods(pods)
	current := s.Application.Status.SubmissionID
	if s.Driver != nil {
		m.driver, m.driverSeen = nil, current
	}
	s.DriverSeen = current != "" && m.driverSeen == current
	return nil
}

// confirmDriver asks the API server for the driver if no cache shows it, because a cache may be late. Our own create is
// trusted for a while.
func (o *observer) confirmDriver(ctx context.Context, m *memory, s *Snapshot) error {
	status := &s.Application.Status
	if s.Driver != nil || !expectsDriver(s.Application) {
		return nil
	}
	if status.SubmissionID == "" || status.DriverInfo.PodName == "" {
		s.DriverAbsent = true
		return nil
	}
	if m.driver != nil && m.driver.Labels[spark.LabelSubmissionID] == status.SubmissionID && o.clock.Since(m.driverAt) < cacheLag {
		s.Driver = m.driver
		// A pod that is gone before any cache has shown it is never heard of.
		s.lookAgain(cacheLag - o.clock.Since(m.driverAt))
		return nil
	}
	m.driver = nil
	pod, err := o.kube.CoreV1().Pods(s.Application.Namespace).Get(ctx, status.DriverInfo.PodName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		s.DriverAbsent = true
		return o.traceDriver(ctx, m, s)
	case err != nil:
		return fmt.Errorf("look for the driver pod: %w", err)
	case metav1.IsControlledBy(pod, s.Application) && pod.Labels[spark.LabelSubmissionID] == status.SubmissionID:
		s.Driver, m.driverSeen = pod, status.SubmissionID
		s.DriverSeen = true
	default:
		s.DriverAbsent = true
		return o.traceDriver(ctx, m, s)
	}
	return nil
}

// expectsDriver says whether the status speaks of an attempt that may have a driver.
func expectsDriver(app *v1beta2.SparkApplication) bool {
	if deleting(app) {
		return false
	}
	switch app.Status.AppState.State {
	case v1beta2.ApplicationStateSubmitted, v1beta2.ApplicationStateRunning, v1beta2.ApplicationStateUnknown,
		v1beta2.ApplicationStateSuspending, v1beta2.ApplicationStateInvalidating, v1beta2.ApplicationStatePendingRerun,
		v1beta2.ApplicationStateFailedSubmission:
		return true
	default:
		return false
	}
}

// observeScheduling looks at what the cluster has of scheduling.k8s.io, and what it can do.
func (o *observer) observeScheduling(ctx context.Context, key types.NamespacedName, m *memory, s *Snapshot) error {
	if deleting(s.Application) {
		return nil
	}
	if s.FeatureEnabled && (submits(s) || s.Application.Status.AppState.State == v1beta2.ApplicationStateSuspending) {
		s.Capability = o.capability(ctx, key.Namespace)
		switch s.Capability.State {
		case CapabilityNotServed:
			return nil
		case CapabilityUnknown:
			klog.FromContext(ctx).Info("It is not known whether the cluster serves PodGroups", "reason", s.Capability.Message)
		}
	} else if s.Application.Status.WorkloadScheduling == nil {
		// No attempt of it has used scheduling.k8s.io.
		return nil
	}
	groups, known, err := o.podGroups.of(key)
	if err != nil {
		return err
	}
	s.PodGroupsKnown = known
	s.sortPodGroups(groups)
	o.rememberPodGroup(m, s)
	return nil
}

// rememberPodGroup prefers what we wrote to what a cache still shows.
func (o *observer) rememberPodGroup(m *memory, s *Snapshot) {
	written := m.podGroup
	if written == nil {
		return
	}
	fresh := written.Labels[spark.LabelSubmissionID] == s.Application.Status.SubmissionID
	switch {
	case s.PodGroup != nil && fresh && newer(written, s.PodGroup):
		s.PodGroup = written
	case s.PodGroup == nil && fresh && o.clock.Since(m.podGroupAt) < cacheLag && !ended(s.Application):
		s.PodGroup = written
		s.lookAgain(cacheLag - o.clock.Since(m.podGroupAt))
	default:
		m.podGroup = nil
	}
}

func ended(app *v1beta2.SparkApplication) bool {
	return app.Status.AppState.State == v1beta2.ApplicationStateCompleted || app.Status.AppState.State == v1beta2.ApplicationStateFailed
}

// submits says whether an attempt may be submitted next.
func submits(s *Snapshot) bool {
	switch s.Application.Status.AppState.State {
	case v1beta2.ApplicationStateNew, v1beta2.ApplicationStateResuming, v1beta2.ApplicationStatePendingRerun,
		v1beta2.ApplicationStateFailedSubmission:
		return true
	case v1beta2.ApplicationStateSubmitted:
		return s.Driver == nil
	default:
		return false
	}
}

// compiler compiles an application, and keeps the last result for whoever asks for the same.
func (o *observer) compiler(app *v1beta2.SparkApplication) CompileFunc {
	type question struct {
		submissionID, priorityClassName string
		submitTime                      time.Time
	}
	var last question
	var result *scheduling.Submission
	return func(submissionID string, submitTime time.Time, priorityClassName string) (*scheduling.Submission, error) {
		q := question{submissionID: submissionID, priorityClassName: priorityClassName, submitTime: submitTime}
		if result != nil && q == last {
			return result, nil
		}
		submission, err := o.compile(app, submissionID, submitTime, priorityClassName)
		if err != nil {
			return nil, err
		}
		last, result = q, submission
		return submission, nil
	}
}
