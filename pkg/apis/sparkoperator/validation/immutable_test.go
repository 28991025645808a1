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

package validation

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
)

// TestSchedulingIsImmutable goes through the ways to change the block (R14).
func TestSchedulingIsImmutable(t *testing.T) {
	block := func(edits ...func(*sparkoperator.SparkSchedulingSpec)) edit {
		return func(app *sparkoperator.SparkApplication) {
			app.Spec.Scheduling = &sparkoperator.SparkSchedulingSpec{}
			for _, edit := range edits {
				edit(app.Spec.Scheduling)
			}
		}
	}
	withGang := func(s *sparkoperator.SparkSchedulingSpec) {
		s.SchedulingPolicy = &sparkoperator.SchedulingPolicy{Gang: &sparkoperator.GangSchedulingPolicy{}}
	}
	basic := block(func(s *sparkoperator.SparkSchedulingSpec) {
		s.SchedulingPolicy = &sparkoperator.SchedulingPolicy{Basic: &sparkoperator.BasicSchedulingPolicy{}}
	})
	topology := func(key string) func(*sparkoperator.SparkSchedulingSpec) {
		return func(s *sparkoperator.SparkSchedulingSpec) {
			s.SchedulingConstraints = &sparkoperator.SchedulingConstraints{}
			s.SchedulingConstraints.Topology = slices.Grow(s.SchedulingConstraints.Topology, 1)[:1]
			s.SchedulingConstraints.Topology[0].Key = key
		}
	}
	claims := func(names ...string) func(*sparkoperator.SparkSchedulingSpec) {
		return func(s *sparkoperator.SparkSchedulingSpec) {
			for _, name := range names {
				s.ResourceClaims = append(s.ResourceClaims, sparkoperator.ResourceClaim{Name: name})
			}
		}
	}
	batch := func(b sparkoperator.BatchSchedulerSpec) edit {
		return block(func(s *sparkoperator.SparkSchedulingSpec) { s.BatchScheduler = &b })
	}
	resources := func(cpu string) edit {
		return batch(sparkoperator.BatchSchedulerSpec{Name: "volcano", Resources: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}})
	}

	const path = "spec.scheduling"
	for _, tc := range []struct {
		name    string
		old, to edit
		// want are the fields that are named, none for no change.
		want []string
	}{
		{"nothing", noScheduling, noScheduling, nil},
		{"the same", gang, gang, nil},
		{"the empty block again", emptyScheduling, emptyScheduling, nil},
		{"the default written out", emptyScheduling, basic, nil},
		{"the default left out", basic, emptyScheduling, nil},
		{"empty claims", gang, block(withGang, func(s *sparkoperator.SparkSchedulingSpec) {
			s.ResourceClaims = []sparkoperator.ResourceClaim{}
		}), nil},
		{"the same amount", resources("1"), resources("1000m"), nil},

		{"set", noScheduling, gang, []string{path}},
		{"set to the empty block", noScheduling, emptyScheduling, []string{path}},
		{"unset", gang, noScheduling, []string{path}},
		{"the empty block unset", emptyScheduling, noScheduling, []string{path}},
		{"basic to gang", basic, gang, []string{path + ".schedulingPolicy.basic", path + ".schedulingPolicy.gang"}},
		{"gang to the empty block", gang, emptyScheduling, []string{path + ".schedulingPolicy.basic", path + ".schedulingPolicy.gang"}},
		{"size set", gang, block(withGang, func(s *sparkoperator.SparkSchedulingSpec) {
			s.SchedulingPolicy.Gang.MinCount = new(int32(2))
		}), []string{path + ".schedulingPolicy.gang.minCount"}},
		{"constraints set", gang, block(withGang, topology("rack")), []string{path + ".schedulingConstraints"}},
		{"constraints changed", block(withGang, topology("rack")), block(withGang, topology("zone")), []string{path + ".schedulingConstraints.topology[0].key"}},
		{"disruption mode set", gang, block(withGang, func(s *sparkoperator.SparkSchedulingSpec) {
			s.DisruptionMode = &sparkoperator.DisruptionMode{}
		}), []string{path + ".disruptionMode"}},
		{"a claim more", block(withGang, claims("a")), block(withGang, claims("a", "b")), []string{path + ".resourceClaims"}},
		{"another claim", block(withGang, claims("a", "b")), block(withGang, claims("a", "c")), []string{path + ".resourceClaims[1].name"}},
		{"priority class set", gang, block(withGang, func(s *sparkoperator.SparkSchedulingSpec) {
			s.PriorityClassName = new("high")
		}), []string{path + ".priorityClassName"}},
		{"deadline changed", block(withGang, func(s *sparkoperator.SparkSchedulingSpec) {
			s.AdmissionDeadlineSeconds = new(int64(1))
		}), block(withGang, func(s *sparkoperator.SparkSchedulingSpec) {
			s.AdmissionDeadlineSeconds = new(int64(2))
		}), []string{path + ".admissionDeadlineSeconds"}},
		{"batch scheduler", batch(sparkoperator.BatchSchedulerSpec{Name: "volcano"}), batch(sparkoperator.BatchSchedulerSpec{Name: "yunikorn"}),
			[]string{path + ".batchScheduler.name"}},
		{"queue", batch(sparkoperator.BatchSchedulerSpec{Name: "volcano"}), batch(sparkoperator.BatchSchedulerSpec{Name: "volcano", Queue: new("a")}),
			[]string{path + ".batchScheduler.queue"}},
		{"amount", resources("1"), resources("2"), []string{path + ".batchScheduler.resources[cpu]"}},
		{"amounts", resources("1"), batch(sparkoperator.BatchSchedulerSpec{Name: "volcano"}), []string{path + ".batchScheduler.resources"}},
		{"gang to batch scheduler", gang, batch(sparkoperator.BatchSchedulerSpec{Name: "volcano"}),
			[]string{path + ".schedulingPolicy", path + ".batchScheduler"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, opts := range []Options{{}, gateOn} {
				for _, state := range []sparkoperator.ApplicationStateType{"", sparkoperator.ApplicationStateRunning, sparkoperator.ApplicationStateCompleted} {
					old := newApplication(tc.old, withState(state))
					app := newApplication(tc.to, withState(state))
					errs := ValidateSparkApplicationUpdate(app, old, opts)
					var fields []string
					for _, err := range errs {
						fields = append(fields, err.Field)
						assert.Equal(t, field.ErrorTypeInvalid, err.Type)
						assert.Equal(t, "field is immutable; create a new SparkApplication", err.Detail)
						assert.NotEmpty(t, err.Error())
					}
					assert.Equal(t, tc.want, fields)
				}
			}
		})
	}
}

// TestSchedulingIsImmutableWhileDeleting has no exception for objects that are being deleted.
func TestSchedulingIsImmutableWhileDeleting(t *testing.T) {
	deleted := func(app *sparkoperator.SparkApplication) {
		app.DeletionTimestamp, app.DeletionGracePeriodSeconds = &metav1.Time{}, new(int64(0))
	}
	old := newApplication(gang, deleted)
	assertErrors(t, []want{{field.ErrorTypeInvalid, "spec.scheduling", "field is immutable"}},
		ValidateSparkApplicationUpdate(edited(old, noScheduling), old, gateOn))
}

// TestNothingButSchedulingIsImmutable edits everything else.
func TestNothingButSchedulingIsImmutable(t *testing.T) {
	old := newApplication(gang, withState(sparkoperator.ApplicationStateRunning))
	app := edited(old, func(app *sparkoperator.SparkApplication) {
		app.Labels = map[string]string{"team": "a"}
		app.Spec.Executor.Instances = new(int32(8))
		app.Spec.Image = new("apache/spark:4.0.5")
		app.Spec.Arguments = []string{"1000"}
		app.Spec.TimeToLiveSeconds = new(int64(60))
		app.Spec.Suspend = new(true)
		app.Spec.SparkConf = map[string]string{"spark.eventLog.enabled": "false"}
	})
	assert.Empty(t, ValidateSparkApplicationUpdate(app, old, gateOn))
}
