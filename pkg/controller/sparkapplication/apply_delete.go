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

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// deleteAll deletes objects. What is gone, or is another object by now, is no error.
func (a *applier) deleteAll(ctx context.Context, m *memory, s *Snapshot, deletions []Deletion) error {
	namespace := s.Application.Namespace
	confirmed := false
	for _, d := range deletions {
		if d.Stale && !confirmed {
			current, err := a.attemptIsCurrent(ctx, s.Application)
			if err != nil {
				return err
			}
			if !current {
				continue
			}
			confirmed = true
		}
		switch d.Kind {
		case DeleteBatchPodGroup:
			if err := a.deleteBatchPodGroup(ctx, s.Application, d.Name); err != nil {
				return err
			}
		case DeletePod:
			if err := a.deletePod(ctx, namespace, d.Name, d.UID, d.Force); err != nil {
				return err
			}
		case DeletePodGroup:
			if err := a.deletePodGroup(ctx, m, namespace, d.Name, d.UID); err != nil {
				return err
			}
			if d.Stale {
				a.event(s.Application, normal(eventReasonStalePodGroupDeleted, actionSchedule, "deleted PodGroup "+d.Name+" of an earlier attempt"))
			}
		}
	}
	return nil
}

// attemptIsCurrent asks the server whether the attempt that the snapshot knows is the application's current one. By an
// old cache the group of a live attempt would look like one of an earlier attempt.
func (a *applier) attemptIsCurrent(ctx context.Context, app *v1beta2.SparkApplication) (bool, error) {
	live, err := a.spark.SparkoperatorV1beta2().SparkApplications(app.Namespace).Get(ctx, app.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the application: %w", err)
	}
	return live.UID == app.UID && live.Status.SubmissionID == app.Status.SubmissionID, nil
}

func (a *applier) deletePod(ctx context.Context, namespace, name string, uid types.UID, force bool) error {
	options := byUID(uid)
	if force {
		options.GracePeriodSeconds = new(int64(0))
	}
	return a.write(writePodDelete, func() error {
		if err := gone(a.kube.CoreV1().Pods(namespace).Delete(ctx, name, options)); err != nil {
			return fmt.Errorf("delete pod %s: %w", name, err)
		}
		klog.FromContext(ctx).V(2).Info("Deleted a pod", "pod", klog.KRef(namespace, name))
		return nil
	})
}

func (a *applier) deletePodGroup(ctx context.Context, m *memory, namespace, name string, uid types.UID) error {
	if m.podGroupDeleted == uid {
		return nil
	}
	err := a.write(writePodGroupDelete, func() error {
		if err := gone(a.kube.SchedulingV1beta1().PodGroups(namespace).Delete(ctx, name, byUID(uid))); err != nil {
			return fmt.Errorf("delete PodGroup %s: %w", name, err)
		}
		klog.FromContext(ctx).V(2).Info("Deleted a PodGroup", "podGroup", klog.KRef(namespace, name))
		return nil
	})
	if err == nil {
		m.podGroupDeleted = uid
	}
	return err
}

// clearSubmission deletes the ConfigMap, the Service and the PersistentVolumeClaims of an attempt.
func (a *applier) clearSubmission(ctx context.Context, app *v1beta2.SparkApplication, submissionID string) error {
	if submissionID == "" {
		return nil
	}
	if err := a.deleteObjects(ctx, app, submissionID); err != nil {
		return err
	}
	claims, err := a.kube.CoreV1().PersistentVolumeClaims(app.Namespace).List(ctx, ofAttempt(app, submissionID))
	if err != nil {
		return fmt.Errorf("list the PersistentVolumeClaims of an attempt: %w", err)
	}
	for i := range claims.Items {
		if err := a.deleteOwned(ctx, app, &claims.Items[i], a.kube.CoreV1().PersistentVolumeClaims(app.Namespace)); err != nil {
			return err
		}
	}
	return nil
}

func ofAttempt(app *v1beta2.SparkApplication, submissionID string) metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: labels.Set{
		spark.LabelAppName:      app.Name,
		spark.LabelSubmissionID: submissionID,
	}.String()}
}

// deleteObjects deletes the ConfigMap and the Service of an attempt.
func (a *applier) deleteObjects(ctx context.Context, app *v1beta2.SparkApplication, submissionID string) error {
	if submissionID == "" {
		return nil
	}
	options := ofAttempt(app, submissionID)
	core := a.kube.CoreV1()
	configMaps, err := core.ConfigMaps(app.Namespace).List(ctx, options)
	if err != nil {
		return fmt.Errorf("list the ConfigMaps of an attempt: %w", err)
	}
	for i := range configMaps.Items {
		if err := a.deleteOwned(ctx, app, &configMaps.Items[i], core.ConfigMaps(app.Namespace)); err != nil {
			return err
		}
	}
	services, err := core.Services(app.Namespace).List(ctx, options)
	if err != nil {
		return fmt.Errorf("list the Services of an attempt: %w", err)
	}
	for i := range services.Items {
		if err := a.deleteOwned(ctx, app, &services.Items[i], core.Services(app.Namespace)); err != nil {
			return err
		}
	}
	return nil
}

type deleter interface {
	Delete(ctx context.Context, name string, options metav1.DeleteOptions) error
}

func (a *applier) deleteOwned(ctx context.Context, app *v1beta2.SparkApplication, object metav1.Object, client deleter) error {
	if !metav1.IsControlledBy(object, app) || deleting(object) {
		return nil
	}
	return a.write(writeAttemptDelete, func() error {
		if err := gone(client.Delete(ctx, object.GetName(), byUID(object.GetUID()))); err != nil {
			return fmt.Errorf("delete %s of an earlier attempt: %w", object.GetName(), err)
		}
		return nil
	})
}

func byUID(uid types.UID) metav1.DeleteOptions {
	return metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}
}

// gone passes over the errors of a delete that say that the very object is gone.
func gone(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
