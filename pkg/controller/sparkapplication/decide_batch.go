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
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
)

// DeleteBatchPodGroup deletes the PodGroup of an attempt's batch scheduler. It isn't watched, so that its UID isn't known;
// whose it is is looked up.
const DeleteBatchPodGroup DeletionKind = "BatchPodGroup"

// batchRecord is what is written down of the batch scheduler of an attempt, nil without one.
func batchRecord(batch *scheduling.Batch) *v1beta2.BatchSchedulingStatus {
	if batch == nil {
		return nil
	}
	return &v1beta2.BatchSchedulingStatus{Name: batch.Name, PodGroupName: batch.PodGroupName()}
}

// removeBatchPodGroup removes the PodGroup of an attempt that is over. That it is gone is written down, so that it is
// removed once; the record is written after the removal, so that none is forgotten.
func (d *decision) removeBatchPodGroup() {
	record := d.status.BatchScheduling
	if record == nil || record.PodGroupName == "" {
		return
	}
	d.plan.Clear = append(d.plan.Clear, Deletion{Kind: DeleteBatchPodGroup, Name: record.PodGroupName})
	d.status.BatchScheduling = &v1beta2.BatchSchedulingStatus{Name: record.Name}
}
