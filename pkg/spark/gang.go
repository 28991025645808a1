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

package spark

import (
	"fmt"
	"strconv"
)

const (
	// allocatorDirect makes executors as pods of their own.
	allocatorDirect = "direct"
	// minBatch and maxBatch bound how many executors the driver asks for at a time: its default of 5 or 10 a second would
	// keep a large gang waiting for its last members.
	minBatch, maxBatch = 20, 200
	// waitWithoutDeadline is as long as a driver can wait for its executors. Spark's default of 30 s would start the user's
	// code without any.
	waitWithoutDeadline = "7d"
	// waitAfterDeadline is added to the deadline of the gang, which is to end the attempt before Spark's own does.
	waitAfterDeadlineSeconds = int64(600)
	// maxWaitSeconds keeps the sum within what Spark can read.
	maxWaitSeconds = int64(1) << 32
	// toleratedDisruptions is how often all executors may be preempted before the driver gives up: Spark counts each of
	// them as a failed executor, and fails at twice their number.
	toleratedDisruptions = 20
)

// pinGroup sets what a group of executors depends on. The number of executors, and whether there is dynamic allocation, are
// pinned even where they are defaults; what the user set of the rest is respected, and checked by the scheduling rules.
func pinGroup(a *Application, group *Group, properties map[string]string) {
	if group == nil {
		return
	}
	initial := strconv.Itoa(int(a.Executors.Initial))
	properties[keyDynamicEnabled] = strconv.FormatBool(a.Executors.Dynamic)
	if a.Executors.Dynamic {
		properties[keyDynamicInitial] = initial
	} else {
		properties[keyExecutorInstances] = initial
	}
	setDefault(properties, keyAllocationPodsAllocator, allocatorDirect)
	if group.DisruptedTogether {
		setDefault(properties, keyMaxExecutorFailures, strconv.FormatInt(toleratedDisruptions*int64(max(a.Executors.Initial, 1)), 10))
	}
	if !group.Gang {
		return
	}
	setDefault(properties, keyAllocationBatchSize, strconv.Itoa(int(max(minBatch, min(a.Executors.Initial, maxBatch)))))
	wait := waitWithoutDeadline
	if s := a.App.Spec.Scheduling; s != nil && s.AdmissionDeadlineSeconds != nil {
		wait = fmt.Sprintf("%ds", min(*s.AdmissionDeadlineSeconds, maxWaitSeconds)+waitAfterDeadlineSeconds)
	}
	setDefault(properties, keyMaxRegisteredWaiting, wait)
}

func setDefault(properties map[string]string, key, value string) {
	if _, ok := properties[key]; !ok {
		properties[key] = value
	}
}
