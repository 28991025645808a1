//go:build linux

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

package e2e

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// history is what a watch tells of the executors of a namespace, in the order in which it happened.
type history struct {
	mu sync.Mutex
	// existed and bound are the pods in the order in which they were seen first, at all and with a node.
	existed, bound []string
	// existedAtFirstBinding is how many existed when the first was seen with a node.
	existedAtFirstBinding int
	// scheduled is when the scheduler says that it has placed a pod.
	scheduled map[string]time.Time
}

// watchExecutors follows the executors of a tenant from now to the end of the test.
func (n *tenant) watchExecutors() *history {
	n.t.Helper()
	h := &history{scheduled: map[string]time.Time{}}
	options := metav1.ListOptions{LabelSelector: labelRole + "=executor"}
	list, err := n.kube.CoreV1().Pods(n.namespace).List(n.t.Context(), options)
	require.NoError(n.t, err)
	require.Empty(n.t, list.Items)
	options.ResourceVersion = list.ResourceVersion
	w, err := n.kube.CoreV1().Pods(n.namespace).Watch(context.Background(), options)
	require.NoError(n.t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range w.ResultChan() {
			h.take(event)
		}
	}()
	n.t.Cleanup(func() {
		w.Stop()
		<-done
	})
	return h
}

func (h *history) take(event watch.Event) {
	pod, ok := event.Object.(*corev1.Pod)
	if !ok {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if event.Type == watch.Added {
		h.existed = append(h.existed, pod.Name)
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			if _, known := h.scheduled[pod.Name]; !known {
				h.scheduled[pod.Name] = c.LastTransitionTime.Time
			}
		}
	}
	if pod.Spec.NodeName == "" {
		return
	}
	if slices.Contains(h.bound, pod.Name) {
		return
	}
	if len(h.bound) == 0 {
		h.existedAtFirstBinding = len(h.existed)
	}
	h.bound = append(h.bound, pod.Name)
}

// placement returns how many pods existed when the first got its node, how many got one, and the time between the first
// and the last of the scheduler's placements.
func (h *history) placement() (existedAtFirstBinding, bound int, spread time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var first, last time.Time
	for _, at := range h.scheduled {
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	return h.existedAtFirstBinding, len(h.bound), last.Sub(first)
}
