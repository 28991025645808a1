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

package schedules

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

var slot = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

func TestRunName(t *testing.T) {
	assert.Equal(t, "nightly-1772359200", RunName("nightly", slot))
	assert.Equal(t, RunName("nightly", slot), RunName("nightly", slot.In(time.FixedZone("elsewhere", 3600))))
	assert.NotEqual(t, RunName("nightly", slot), RunName("nightly", slot.Add(time.Second)))

	fits := strings.Repeat("a", 52)
	assert.Equal(t, fits+"-1772359200", RunName(fits, slot))
	for _, long := range []string{strings.Repeat("a", 53), strings.Repeat("a", 63), strings.Repeat("a", 42) + "--" + strings.Repeat("b", 19), strings.Repeat("a-", 31) + "a"} {
		name := RunName(long, slot)
		assert.Empty(t, validation.IsDNS1035Label(name), name)
		assert.LessOrEqual(t, len(name), 63)
		assert.NotEqual(t, name, RunName(long[:len(long)-1]+"c", slot), "cut alike, told apart")
		assert.True(t, strings.HasSuffix(name, "-1772359200"))
	}
}

func TestRun(t *testing.T) {
	schedule := &v1beta2.ScheduledSparkApplication{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "jobs", Name: "nightly", UID: "uid",
			Labels:      map[string]string{"team": "a", "sparkoperator.k8s.io/scheduled-app-name": "somebody-else"},
			Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}"},
		},
		Spec: v1beta2.ScheduledSparkApplicationSpec{Template: v1beta2.SparkApplicationSpec{SparkVersion: "4.0.1", Arguments: []string{"1000"}}},
	}
	run := Run(schedule, slot)

	assert.Equal(t, metav1.ObjectMeta{
		Namespace:       "jobs",
		Name:            "nightly-1772359200",
		Labels:          map[string]string{"team": "a", "sparkoperator.k8s.io/scheduled-app-name": "nightly"},
		Annotations:     map[string]string{"sparkoperator.k8s.io/scheduled-time": "2026-03-01T10:00:00Z"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "sparkoperator.k8s.io/v1beta2", Kind: "ScheduledSparkApplication", Name: "nightly", UID: "uid", BlockOwnerDeletion: new(true)}},
	}, run.ObjectMeta)
	assert.Equal(t, schedule.Spec.Template, run.Spec)
	assert.Equal(t, "somebody-else", schedule.Labels["sparkoperator.k8s.io/scheduled-app-name"], "the schedule is not changed")
	run.Spec.Arguments[0] = "1"
	assert.Equal(t, "1000", schedule.Spec.Template.Arguments[0], "nor shared")

	assert.True(t, Owns(schedule, run))
	assert.True(t, SlotOf(run).Equal(slot))
	schedule.UID = "another"
	assert.False(t, Owns(schedule, run), "the run of a deleted namesake")
	run.Annotations = nil
	run.CreationTimestamp = metav1.NewTime(slot.Add(time.Minute))
	assert.True(t, SlotOf(run).Equal(slot.Add(time.Minute)))
}
