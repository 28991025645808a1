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
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// maxEndedExecutors is how many executors that have ended are listed by name. Executors that live are all listed, and
// executorCounts counts them all.
const maxEndedExecutors = 100

// followExecutors takes over the states of the executors.
func (d *decision) followExecutors() {
	before := d.status.ExecutorState
	after := d.executorStates(before)
	counts := countExecutors(before, after, d.status.ExecutorCounts, d.removedState())
	d.plan.Events = append(d.plan.Events, executorEvents(before, after)...)
	evictEnded(after)
	if len(after) == 0 && before == nil {
		return
	}
	d.status.ExecutorState = after
	d.status.ExecutorCounts = counts
}

// removedState is the state of an executor that was removed. The driver removes its executors before it ends, so while
// it lives nothing can be said of them, and its own end decides.
func (d *decision) removedState() v1beta2.ExecutorState {
	switch d.status.AppState.State {
	case v1beta2.ApplicationStateSucceeding, v1beta2.ApplicationStateCompleted:
		return v1beta2.ExecutorStateCompleted
	case v1beta2.ApplicationStateFailing, v1beta2.ApplicationStateFailed:
		return v1beta2.ExecutorStateFailed
	default:
		return v1beta2.ExecutorStateUnknown
	}
}

// executorStates returns the state of every executor that is known by name.
func (d *decision) executorStates(before map[string]v1beta2.ExecutorState) map[string]v1beta2.ExecutorState {
	removed := d.removedState()
	after := make(map[string]v1beta2.ExecutorState, len(d.Executors))
	for name, state := range before {
		if !executorEnded(state) {
			// Unless its pod is found below.
			state = removed
		}
		after[name] = state
	}
	maps.Copy(after, d.ExecutorEnds)
	evictedBelow := lowestEnded(before)
	for _, pod := range d.Executors {
		state := executorState(pod, removed)
		if _, known := d.ExecutorEnds[pod.Name]; known {
			continue
		}
		if old, known := before[pod.Name]; known {
			if !executorEnded(old) {
				after[pod.Name] = state
			}
			continue
		}
		// The pod of an executor that ended long ago and was counted then.
		if podEnded(pod) && executorID(pod.Name) < evictedBelow {
			continue
		}
		after[pod.Name] = state
	}
	return after
}

func executorState(pod *corev1.Pod, removed v1beta2.ExecutorState) v1beta2.ExecutorState {
	switch pod.Status.Phase {
	case corev1.PodPending, "":
		return v1beta2.ExecutorStatePending
	case corev1.PodRunning:
		return v1beta2.ExecutorStateRunning
	case corev1.PodSucceeded:
		return v1beta2.ExecutorStateCompleted
	case corev1.PodFailed:
		// The driver stops an executor by deleting its pod; that it then ends with the exit code of a signal is no failure.
		if deleting(pod) && pod.Status.Reason == "" {
			return removed
		}
		return v1beta2.ExecutorStateFailed
	default:
		return v1beta2.ExecutorStateUnknown
	}
}

// executorEndsNotIn returns the ends of executors that a status holds and an earlier one of the same attempt doesn't.
func executorEndsNotIn(before, after *v1beta2.SparkApplicationStatus) map[string]v1beta2.ExecutorState {
	if before.SubmissionID != after.SubmissionID {
		return nil
	}
	var ends map[string]v1beta2.ExecutorState
	for name, state := range after.ExecutorState {
		if executorEnded(state) && before.ExecutorState[name] != state {
			if ends == nil {
				ends = map[string]v1beta2.ExecutorState{}
			}
			ends[name] = state
		}
	}
	return ends
}

func executorEnded(state v1beta2.ExecutorState) bool {
	return state == v1beta2.ExecutorStateCompleted || state == v1beta2.ExecutorStateFailed
}

// countExecutors counts the executors of the attempt. Those that are no longer listed by name are in the old counts
// only; of these, the ones of which nothing was known are now what a removed executor is.
func countExecutors(before, after map[string]v1beta2.ExecutorState, old *v1beta2.ExecutorCounts, removed v1beta2.ExecutorState) *v1beta2.ExecutorCounts {
	listed, counts := tally(before), tally(after)
	if old == nil {
		return counts
	}
	counts.Completed += max(old.Completed-listed.Completed, 0)
	counts.Failed += max(old.Failed-listed.Failed, 0)
	unlisted := max(old.Unknown-listed.Unknown, 0)
	switch removed {
	case v1beta2.ExecutorStateCompleted:
		counts.Completed += unlisted
	case v1beta2.ExecutorStateFailed:
		counts.Failed += unlisted
	default:
		counts.Unknown += unlisted
	}
	return counts
}

func tally(states map[string]v1beta2.ExecutorState) *v1beta2.ExecutorCounts {
	counts := &v1beta2.ExecutorCounts{}
	for _, state := range states {
		switch state {
		case v1beta2.ExecutorStatePending:
			counts.Pending++
		case v1beta2.ExecutorStateRunning:
			counts.Running++
		case v1beta2.ExecutorStateCompleted:
			counts.Completed++
		case v1beta2.ExecutorStateFailed:
			counts.Failed++
		default:
			counts.Unknown++
		}
	}
	return counts
}

// evictEnded keeps the names of the last executors that are no more.
func evictEnded(states map[string]v1beta2.ExecutorState) {
	names := endedNames(states)
	for _, name := range names[:max(len(names)-maxEndedExecutors, 0)] {
		delete(states, name)
	}
}

// endedNames returns the names of executors that are no more, in the order of their ids.
func endedNames(states map[string]v1beta2.ExecutorState) []string {
	names := slices.DeleteFunc(slices.Collect(maps.Keys(states)), func(name string) bool {
		state := states[name]
		return state == v1beta2.ExecutorStatePending || state == v1beta2.ExecutorStateRunning
	})
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(executorID(a), executorID(b)), strings.Compare(a, b))
	})
	return names
}

// lowestEnded is the lowest id that is still listed where the list of ended executors is full. Executors with lower ids
// that have ended were listed before.
func lowestEnded(states map[string]v1beta2.ExecutorState) int {
	names := endedNames(states)
	if len(names) < maxEndedExecutors {
		return -1
	}
	return executorID(names[0])
}

// executorID is the number at the end of an executor's name: Spark names executors "<prefix>-exec-<id>".
func executorID(name string) int {
	id, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	if err != nil {
		return 0
	}
	return id
}
