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

package v1beta2_test

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/install"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return scheme
}

// defaulted is what a spec with nothing in it becomes.
func defaulted() v1beta2.SparkApplicationSpec {
	return v1beta2.SparkApplicationSpec{
		Type: v1beta2.ScalaApplicationType,
		Mode: v1beta2.ClusterMode,
		Driver: v1beta2.DriverSpec{
			SparkPodSpec: v1beta2.SparkPodSpec{Cores: new(int32(1)), Memory: new("1g")},
		},
		Executor: v1beta2.ExecutorSpec{
			SparkPodSpec: v1beta2.SparkPodSpec{Cores: new(int32(1)), Memory: new("1g")},
			Instances:    new(int32(1)),
		},
		RestartPolicy: v1beta2.RestartPolicy{Type: v1beta2.RestartPolicyNever},
	}
}

func basic() *sparkoperator.SchedulingPolicy {
	return &sparkoperator.SchedulingPolicy{Basic: &sparkoperator.BasicSchedulingPolicy{}}
}

func gang() *sparkoperator.SchedulingPolicy {
	return &sparkoperator.SchedulingPolicy{Gang: &sparkoperator.GangSchedulingPolicy{}}
}

func TestDefaults(t *testing.T) {
	for _, tc := range []struct {
		name string
		// in is changed before defaulting, want is what the defaults of an empty spec are changed to.
		in, want func(*v1beta2.SparkApplicationSpec)
	}{{
		name: "empty",
	}, {
		name: "type is kept",
		in:   func(s *v1beta2.SparkApplicationSpec) { s.Type = v1beta2.PythonApplicationType },
		want: func(s *v1beta2.SparkApplicationSpec) { s.Type = v1beta2.PythonApplicationType },
	}, {
		name: "mode is kept, to be refused by validation",
		in:   func(s *v1beta2.SparkApplicationSpec) { s.Mode = v1beta2.ClientMode },
		want: func(s *v1beta2.SparkApplicationSpec) { s.Mode = v1beta2.ClientMode },
	}, {
		name: "Never has no intervals",
		in:   func(s *v1beta2.SparkApplicationSpec) { s.RestartPolicy.Type = v1beta2.RestartPolicyNever },
	}, {
		name: "OnFailure has intervals",
		in:   func(s *v1beta2.SparkApplicationSpec) { s.RestartPolicy.Type = v1beta2.RestartPolicyOnFailure },
		want: func(s *v1beta2.SparkApplicationSpec) {
			s.RestartPolicy = v1beta2.RestartPolicy{
				Type:                             v1beta2.RestartPolicyOnFailure,
				OnFailureRetryInterval:           new(int64(5)),
				OnSubmissionFailureRetryInterval: new(int64(5)),
			}
		},
	}, {
		name: "Always keeps the intervals it has",
		in: func(s *v1beta2.SparkApplicationSpec) {
			s.RestartPolicy = v1beta2.RestartPolicy{Type: v1beta2.RestartPolicyAlways, OnFailureRetryInterval: new(int64(30))}
		},
		want: func(s *v1beta2.SparkApplicationSpec) {
			s.RestartPolicy = v1beta2.RestartPolicy{
				Type:                             v1beta2.RestartPolicyAlways,
				OnFailureRetryInterval:           new(int64(30)),
				OnSubmissionFailureRetryInterval: new(int64(5)),
			}
		},
	}, {
		name: "sizes are kept",
		in: func(s *v1beta2.SparkApplicationSpec) {
			s.Driver.Cores, s.Driver.Memory = new(int32(2)), new("2g")
			s.Executor.Cores, s.Executor.Memory, s.Executor.Instances = new(int32(3)), new("3g"), new(int32(4))
		},
		want: func(s *v1beta2.SparkApplicationSpec) {
			s.Driver.Cores, s.Driver.Memory = new(int32(2)), new("2g")
			s.Executor.Cores, s.Executor.Memory, s.Executor.Instances = new(int32(3)), new("3g"), new(int32(4))
		},
	}, {
		name: "a property takes the place of a size",
		in: func(s *v1beta2.SparkApplicationSpec) {
			s.SparkConf = map[string]string{
				"spark.driver.cores": "2", "spark.driver.memory": "2g",
				"spark.executor.cores": "3", "spark.executor.memory": "3g", "spark.executor.instances": "4",
			}
		},
		want: func(s *v1beta2.SparkApplicationSpec) {
			s.Driver.Cores, s.Driver.Memory = nil, nil
			s.Executor.Cores, s.Executor.Memory, s.Executor.Instances = nil, nil, nil
		},
	}, {
		name: "an empty property doesn't",
		in:   func(s *v1beta2.SparkApplicationSpec) { s.SparkConf = map[string]string{"spark.executor.instances": ""} },
	}, {
		name: "dynamic allocation by the block",
		in: func(s *v1beta2.SparkApplicationSpec) {
			s.DynamicAllocation = &v1beta2.DynamicAllocation{Enabled: true}
		},
		want: func(s *v1beta2.SparkApplicationSpec) {
			s.DynamicAllocation = &v1beta2.DynamicAllocation{Enabled: true, ShuffleTrackingEnabled: new(true)}
			s.Executor.Instances = nil
		},
	}, {
		name: "shuffle tracking is kept",
		in: func(s *v1beta2.SparkApplicationSpec) {
			s.DynamicAllocation = &v1beta2.DynamicAllocation{Enabled: true, ShuffleTrackingEnabled: new(false)}
		},
		want: func(s *v1beta2.SparkApplicationSpec) {
			s.DynamicAllocation = &v1beta2.DynamicAllocation{Enabled: true, ShuffleTrackingEnabled: new(false)}
			s.Executor.Instances = nil
		},
	}, {
		name: "a block that is off",
		in:   func(s *v1beta2.SparkApplicationSpec) { s.DynamicAllocation = &v1beta2.DynamicAllocation{} },
		want: func(s *v1beta2.SparkApplicationSpec) { s.DynamicAllocation = &v1beta2.DynamicAllocation{} },
	}, {
		name: "dynamic allocation by the property, under its proper key",
		in: func(s *v1beta2.SparkApplicationSpec) {
			s.SparkConf = map[string]string{"spark.dynamicAllocation.enabled": " True"}
		},
		want: func(s *v1beta2.SparkApplicationSpec) { s.Executor.Instances = nil },
	}, {
		name: "not under another key",
		in: func(s *v1beta2.SparkApplicationSpec) {
			s.SparkConf = map[string]string{"spark.dynamicallocation.enabled": "true"}
		},
	}, {
		name: "an empty scheduling block is basic",
		in:   func(s *v1beta2.SparkApplicationSpec) { s.Scheduling = &v1beta2.SparkSchedulingSpec{} },
		want: func(s *v1beta2.SparkApplicationSpec) {
			s.Scheduling = &v1beta2.SparkSchedulingSpec{SchedulingPolicy: basic()}
		},
	}, {
		name: "a scheduling block with other fields is basic",
		in: func(s *v1beta2.SparkApplicationSpec) {
			s.Scheduling = &v1beta2.SparkSchedulingSpec{PriorityClassName: new("high")}
		},
		want: func(s *v1beta2.SparkApplicationSpec) {
			s.Scheduling = &v1beta2.SparkSchedulingSpec{SchedulingPolicy: basic(), PriorityClassName: new("high")}
		},
	}, {
		name: "gang is kept, and its size is not written into the spec",
		in: func(s *v1beta2.SparkApplicationSpec) {
			s.Scheduling = &v1beta2.SparkSchedulingSpec{SchedulingPolicy: gang()}
		},
		want: func(s *v1beta2.SparkApplicationSpec) {
			s.Scheduling = &v1beta2.SparkSchedulingSpec{SchedulingPolicy: gang()}
		},
	}, {
		name: "an empty policy is left to validation",
		in: func(s *v1beta2.SparkApplicationSpec) {
			s.Scheduling = &v1beta2.SparkSchedulingSpec{SchedulingPolicy: &sparkoperator.SchedulingPolicy{}}
		},
		want: func(s *v1beta2.SparkApplicationSpec) {
			s.Scheduling = &v1beta2.SparkSchedulingSpec{SchedulingPolicy: &sparkoperator.SchedulingPolicy{}}
		},
	}, {
		name: "a batch scheduler gets no policy",
		in: func(s *v1beta2.SparkApplicationSpec) {
			s.Scheduling = &v1beta2.SparkSchedulingSpec{BatchScheduler: &v1beta2.BatchSchedulerSpec{Name: "volcano"}}
		},
		want: func(s *v1beta2.SparkApplicationSpec) {
			s.Scheduling = &v1beta2.SparkSchedulingSpec{BatchScheduler: &v1beta2.BatchSchedulerSpec{Name: "volcano"}}
		},
	}, {
		name: "deprecated fields are never moved",
		in: func(s *v1beta2.SparkApplicationSpec) {
			s.BatchScheduler = new("volcano")
			s.BatchSchedulerOptions = &v1beta2.BatchSchedulerConfiguration{Queue: new("root")}
		},
		want: func(s *v1beta2.SparkApplicationSpec) {
			s.BatchScheduler = new("volcano")
			s.BatchSchedulerOptions = &v1beta2.BatchSchedulerConfiguration{Queue: new("root")}
		},
	}} {
		t.Run(tc.name, func(t *testing.T) {
			app := &v1beta2.SparkApplication{}
			if tc.in != nil {
				tc.in(&app.Spec)
			}
			want := defaulted()
			want.SparkConf = app.Spec.SparkConf // a default is never written into it
			if tc.want != nil {
				tc.want(&want)
			}
			scheme := newScheme()
			scheme.Default(app)
			assert.Equal(t, want, app.Spec)

			again := app.DeepCopy()
			scheme.Default(again)
			assert.Equal(t, app, again, "defaulting twice is no change")
		})
	}
}

// TestDefaultsAreIdempotent defaults random objects twice.
func TestDefaultsAreIdempotent(t *testing.T) {
	scheme := newScheme()
	filler := randfill.New().RandSource(rand.NewSource(2962)).NilChance(0.5).NumElements(0, 2).MaxDepth(12).Funcs(
		func(_ *runtime.RawExtension, _ randfill.Continue) {},
		func(_ *metav1.FieldsV1, _ randfill.Continue) {},
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewQuantity(c.Int63n(1000), resource.DecimalSI)
		},
		func(v *intstr.IntOrString, c randfill.Continue) { *v = intstr.FromInt32(c.Int31n(1000)) },
		func(l *corev1.ResourceList, _ randfill.Continue) { *l = nil },
	)
	for range 500 {
		app := &v1beta2.SparkApplication{}
		filler.Fill(app)
		scheme.Default(app)
		again := app.DeepCopy()
		scheme.Default(again)
		require.Equal(t, app, again)
	}
}
