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
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/klog/v2"
)

const (
	// volumePatience is how long a driver that has a node may take to start before its events are looked at.
	volumePatience = 20 * time.Second
	// volumeLook is how far apart two looks at the events of one driver are.
	volumeLook = 20 * time.Second
)

// volumeReasons are the kubelet's reasons for events about what keeps a pod from starting and is not in its status.
var volumeReasons = []string{"FailedMount", "FailedAttachVolume", "FailedMapVolume", "FailedCreatePodSandBox"}

// observeVolumes looks at the events of a driver that has had a node for a while and has not started. A kubelet tells in
// events alone that a volume can't be mounted, for example because its ConfigMap or secret is not there.
func (o *observer) observeVolumes(ctx context.Context, m *memory, s *Snapshot) {
	driver := s.Driver
	if driver == nil || deleting(driver) || driver.Status.Phase != corev1.PodPending && driver.Status.Phase != "" {
		m.volumeTrouble, m.volumeAt = "", time.Time{}
		return
	}
	bound := boundAt(driver)
	if driver.Spec.NodeName == "" || bound.IsZero() || troubleOf(driver) != nil {
		return
	}
	if rest := volumePatience - o.clock.Since(bound); rest > 0 {
		s.lookAgain(rest)
		return
	}
	s.lookAgain(volumeLook)
	if o.clock.Since(m.volumeAt) >= volumeLook {
		m.volumeAt = o.clock.Now()
		m.volumeTrouble = o.volumeTrouble(ctx, driver)
	}
	s.VolumeTrouble = m.volumeTrouble
}

func (o *observer) volumeTrouble(ctx context.Context, driver *corev1.Pod) string {
	list, err := o.kube.CoreV1().Events(driver.Namespace).List(ctx, metav1.ListOptions{FieldSelector: fields.Set{
		"involvedObject.uid": string(driver.UID), "type": corev1.EventTypeWarning,
	}.String()})
	if err != nil {
		klog.FromContext(ctx).V(2).Info("The events of the driver are not known", "driver", klog.KObj(driver), "reason", err.Error())
		return ""
	}
	var last *corev1.Event
	for i := range list.Items {
		event := &list.Items[i]
		if slices.Contains(volumeReasons, event.Reason) && (last == nil || last.LastTimestamp.Before(&event.LastTimestamp)) {
			last = event
		}
	}
	if last == nil {
		return ""
	}
	return last.Reason + ": " + last.Message
}
