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

package scheduling

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// TestChooseTruthTable goes through every combination of what can ask for a back end, before and after defaulting.
func TestChooseTruthTable(t *testing.T) {
	for _, block := range []bool{false, true} {
		for _, gang := range []bool{false, true} {
			for _, otherNative := range []bool{false, true} {
				for _, nested := range []bool{false, true} {
					for _, top := range []bool{false, true} {
						for _, options := range []bool{false, true} {
							if !block && (gang || otherNative || nested) {
								continue // there is no place to say so
							}
							name := fmt.Sprintf("block=%t,gang=%t,otherNative=%t,nested=%t,top=%t,options=%t", block, gang, otherNative, nested, top, options)
							t.Run(name, func(t *testing.T) {
								spec := &v1beta2.SparkApplicationSpec{}
								if block {
									spec.Scheduling = &v1beta2.SparkSchedulingSpec{}
								}
								if gang {
									gangPolicy(spec.Scheduling)
								}
								if otherNative {
									spec.Scheduling.PriorityClassName = new("high")
								}
								if nested {
									nestedVolcano(spec.Scheduling)
								}
								if top {
									spec.BatchScheduler = new("yunikorn")
								}
								if options {
									spec.BatchSchedulerOptions = &v1beta2.BatchSchedulerConfiguration{Queue: new("root")}
								}

								want, wantName := None, ""
								switch {
								case gang:
									want = Gang
								case otherNative:
									want = Basic
								case nested:
									want, wantName = BatchScheduler, "volcano"
								case top:
									want, wantName = BatchScheduler, "yunikorn"
								case block:
									want = Basic
								}
								got := Choose(spec, testSpecPath)
								assert.Equal(t, want, got.Kind)
								assert.Equal(t, wantName, got.BatchScheduler)
								assert.Equal(t, want == Gang || want == Basic, got.Native())
								assert.Equal(t, want == None, got.Path == nil, "what was chosen has a path")
							})
						}
					}
				}
			}
		}
	}
}

func TestChoosePath(t *testing.T) {
	for _, tc := range []struct {
		name     string
		edit     edit
		want     Kind
		wantPath string
	}{
		{"gang", withScheduling(gangPolicy), Gang, "spec.scheduling.schedulingPolicy.gang"},
		{"basic", withScheduling(basicPolicy), Basic, "spec.scheduling.schedulingPolicy"},
		{"empty block, defaulted", withScheduling(), Basic, "spec.scheduling.schedulingPolicy"},
		{"empty policy, refused elsewhere", withScheduling(func(s *v1beta2.SparkSchedulingSpec) {
			s.SchedulingPolicy = &sparkoperator.SchedulingPolicy{}
		}), Basic, "spec.scheduling.schedulingPolicy"},
		{"nested", withScheduling(nestedVolcano), BatchScheduler, "spec.scheduling.batchScheduler"},
		{"top", func(app *v1beta2.SparkApplication) { app.Spec.BatchScheduler = new("volcano") }, BatchScheduler, "spec.batchScheduler"},
		{"an empty name is none", func(app *v1beta2.SparkApplication) { app.Spec.BatchScheduler = new("") }, None, "<nil>"},
		{"a named scheduler is a setting of the pods", func(app *v1beta2.SparkApplication) {
			app.Spec.Executor.SchedulerName = new("volcano")
		}, None, "<nil>"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Choose(&newApplication(tc.edit).Spec, testSpecPath)
			assert.Equal(t, tc.want, got.Kind)
			assert.Equal(t, tc.wantPath, got.Path.String())
		})
	}
}

// TestChooseNeverTranslates guards against a batch scheduler becoming a gang: each kind has its own cause.
func TestChooseNeverTranslates(t *testing.T) {
	for _, name := range []string{"volcano", "yunikorn", "kube-scheduler", "anything"} {
		top := &v1beta2.SparkApplicationSpec{BatchScheduler: &name}
		nested := &v1beta2.SparkApplicationSpec{Scheduling: &v1beta2.SparkSchedulingSpec{BatchScheduler: &v1beta2.BatchSchedulerSpec{Name: name}}}
		for _, spec := range []*v1beta2.SparkApplicationSpec{top, nested} {
			got := Choose(spec, testSpecPath)
			assert.Equal(t, BatchScheduler, got.Kind)
			assert.Equal(t, name, got.BatchScheduler)
		}
	}
}
