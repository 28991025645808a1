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

import "github.com/spark-apiserver/spark-apiserver/pkg/controller/faultpoint"

// The writes of the controller.
const (
	writeStatus            = "status"
	writeWorkload          = "workload"
	writeWorkloadMinCount  = "workload-min-count"
	writeWorkloadDelete    = "workload-delete"
	writePodGroup          = "podgroup"
	writePodGroupMinCount  = "podgroup-min-count"
	writePodGroupDelete    = "podgroup-delete"
	writeVolumeClaim       = "persistentvolumeclaim"
	writeConfigMap         = "configmap"
	writeService           = "service"
	writeDriver            = "driver"
	writeSideObject        = "side-object"
	writePodDelete         = "pod-delete"
	writeAttemptDelete     = "attempt-object-delete"
	writeApplicationDelete = "application-delete"
	writeBatchGroup        = "batch-podgroup"
	writeBatchGroupUpdate  = "batch-podgroup-update"
	writeBatchGroupDelete  = "batch-podgroup-delete"
)

var writes = []string{
	writeStatus, writeWorkload, writeWorkloadMinCount, writeWorkloadDelete, writePodGroup, writePodGroupMinCount,
	writePodGroupDelete, writeVolumeClaim, writeConfigMap, writeService, writeDriver, writeSideObject, writePodDelete, writeAttemptDelete,
	writeApplicationDelete, writeBatchGroup, writeBatchGroupUpdate, writeBatchGroupDelete,
}

// FaultPoints lists every fault point.
func FaultPoints() []faultpoint.Point {
	points := make([]faultpoint.Point, 0, 2*len(writes))
	for _, write := range writes {
		points = append(points, faultpoint.Before(write), faultpoint.After(write))
	}
	return points
}
