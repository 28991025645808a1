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
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// traceReasons are the reasons of events that a pod gets once it has a place or runs: the scheduler's and the kubelet's.
var traceReasons = []string{"Scheduled", "Started"}

// traceDriver looks for what a driver has left behind that is gone and that the status doesn't tell of: this process, or
// the one before it, may have stopped between the creation of the driver and the writing of the status, and the driver may
// have ended and been removed before anybody looked. It would run a second time if it was made again.
func (o *observer) traceDriver(ctx context.Context, m *memory, s *Snapshot) error {
	status := &s.Application.Status
	switch {
	case status.AppState.State != v1beta2.ApplicationStateSubmitted || s.DriverSeen || m.driverUntried == status.SubmissionID:
		return nil
	case conditionReason(status, v1beta2.ConditionRunning) == ReasonDriverQueued:
		// That its turn has come is written before there is a driver.
		return nil
	}
	trace := ""
	if len(s.Executors) > 0 {
		trace = "executor " + s.Executors[0].Name
	} else {
		var err error
		if trace, err = o.traceInEvents(ctx, s); err != nil {
			return fmt.Errorf("look for what the driver pod has left behind: %w", err)
		}
	}
	if trace == "" {
		return nil
	}
	klog.FromContext(ctx).Info("The driver pod was made and is gone, and it is not made again", "pod", klog.KRef(s.Application.Namespace, status.DriverInfo.PodName), "trace", trace)
	m.driverSeen, s.DriverSeen = status.SubmissionID, true
	return nil
}

// traceInEvents returns the event that tells of the driver pod of the current attempt, or "". Pods of earlier attempts had
// the same name, and were gone before this attempt made its ConfigMap, just before its driver. Both times are the
// cluster's own. Events are kept for an hour, unless the cluster says otherwise.
func (o *observer) traceInEvents(ctx context.Context, s *Snapshot) (string, error) {
	app := s.Application
	configMaps, err := o.kube.CoreV1().ConfigMaps(app.Namespace).List(ctx, metav1.ListOptions{LabelSelector: labels.Set{
		spark.LabelAppName: app.Name, spark.LabelSubmissionID: app.Status.SubmissionID,
	}.String()})
	if err != nil || len(configMaps.Items) == 0 {
		return "", err
	}
	made := configMaps.Items[0].CreationTimestamp
	list, err := o.kube.CoreV1().Events(app.Namespace).List(ctx, metav1.ListOptions{FieldSelector: fields.Set{
		"involvedObject.kind": "Pod", "involvedObject.name": app.Status.DriverInfo.PodName,
	}.String()})
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(list.Items, func(event corev1.Event) bool {
		return slices.Contains(traceReasons, event.Reason) && event.InvolvedObject.Name == app.Status.DriverInfo.PodName &&
			!event.CreationTimestamp.Before(&made)
	})
	if i < 0 {
		return "", nil
	}
	return fmt.Sprintf("event %s of %s", list.Items[i].Reason, list.Items[i].CreationTimestamp.UTC().Format(time.RFC3339)), nil
}
