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
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func compiled(t *testing.T, edits ...edit) *Native {
	t.Helper()
	native, err := Compile(resolve(t, append(edits, withScheduling(gangPolicy))...), testSubmissionID)
	require.NoError(t, err)
	return native
}

func TestWorkloadDifference(t *testing.T) {
	withClass := func(app *v1beta2.SparkApplication) { app.Spec.Executor.PriorityClassName = new("high") }
	for _, tc := range []struct {
		name string
		got  func(*schedulingv1beta1.Workload)
		want string
	}{
		{"nothing", func(*schedulingv1beta1.Workload) {}, ""},
		{"metadata", func(w *schedulingv1beta1.Workload) { w.ResourceVersion, w.Labels = "7", nil }, ""},
		{"size of the gang", func(w *schedulingv1beta1.Workload) {
			w.Spec.PodGroupTemplates[0].SchedulingPolicy.Gang.MinCount = 9
		}, ""},
		{"empty lists", func(w *schedulingv1beta1.Workload) {
			w.Spec.PodGroupTemplates[0].ResourceClaims = []schedulingv1beta1.PodGroupResourceClaim{}
			w.Spec.CompositePodGroupTemplates = []schedulingv1beta1.CompositePodGroupTemplate{}
		}, ""},
		{"priority class", func(w *schedulingv1beta1.Workload) { w.Spec.PodGroupTemplates[0].PriorityClassName = "low" },
			`spec.podGroupTemplates[0].priorityClassName: wanted "high", got "low"`},
		{"dropped priority class", func(w *schedulingv1beta1.Workload) { w.Spec.PodGroupTemplates[0].PriorityClassName = "" },
			`spec.podGroupTemplates[0].priorityClassName: wanted "high", got nothing`},
		{"variant", func(w *schedulingv1beta1.Workload) {
			w.Spec.PodGroupTemplates[0].SchedulingPolicy = schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}}
		}, `spec.podGroupTemplates[0].schedulingPolicy.basic: wanted nothing, got {}`},
		{"owner", func(w *schedulingv1beta1.Workload) { w.Spec.ControllerRef.Name = "other" },
			`spec.controllerRef.name: wanted "spark-pi", got "other"`},
		{"another template", func(w *schedulingv1beta1.Workload) {
			w.Spec.PodGroupTemplates = append(w.Spec.PodGroupTemplates, schedulingv1beta1.PodGroupTemplate{Name: "more"})
		}, `spec.podGroupTemplates: wanted [{`},
		{"topology", func(w *schedulingv1beta1.Workload) {
			w.Spec.PodGroupTemplates[0].SchedulingConstraints = &schedulingv1beta1.PodGroupSchedulingConstraints{
				Topology: []schedulingv1beta1.TopologyConstraint{{Key: "rack"}},
			}
		}, `spec.podGroupTemplates[0].schedulingConstraints: wanted nothing, got {"topology":[{"key":"rack"}]}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := compiled(t, withClass).Workload
			got := want.DeepCopy()
			tc.got(got)
			before := got.DeepCopy()
			diff := WorkloadDifference(want, got)
			if tc.want == "" {
				assert.Empty(t, diff)
			} else {
				assert.Contains(t, diff, tc.want)
			}
			assert.Equal(t, before, got, "nothing is changed by comparing")
		})
	}
}

func TestPodGroupDifference(t *testing.T) {
	served := func(p *schedulingv1beta1.PodGroup) { // what 1.37 fills in, with a default priority class
		p.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{Single: &schedulingv1beta1.SingleDisruptionMode{}}
		p.Spec.PriorityClassName = "default-class"
		p.Spec.Priority = new(int32(100))
		p.Spec.PreemptionPolicy = new(schedulingv1beta1.PreemptLowerPriority)
		p.Finalizers = []string{"scheduling.k8s.io/podgroup-protection"}
	}
	for _, tc := range []struct {
		name string
		got  func(*schedulingv1beta1.PodGroup)
		want string
	}{
		{"nothing", func(*schedulingv1beta1.PodGroup) {}, ""},
		{"what the server fills in", served, ""},
		{"lowered after admission", func(p *schedulingv1beta1.PodGroup) { p.Spec.SchedulingPolicy.Gang.MinCount = 1 }, ""},
		{"another disruption mode", func(p *schedulingv1beta1.PodGroup) {
			p.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}}
		}, `spec.disruptionMode: wanted nothing, got {"all":{}}`},
		{"no gang", func(p *schedulingv1beta1.PodGroup) {
			p.Spec.SchedulingPolicy = schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}}
		}, `spec.schedulingPolicy.basic: wanted nothing, got {}`},
		{"no Workload", func(p *schedulingv1beta1.PodGroup) { p.Spec.WorkloadRef = nil }, `spec.workloadRef: wanted {`},
		{"another template", func(p *schedulingv1beta1.PodGroup) { p.Spec.WorkloadRef.TemplateName = "driver" },
			`spec.workloadRef.templateName: wanted "executors", got "driver"`},
		{"a parent", func(p *schedulingv1beta1.PodGroup) { p.Spec.ParentCompositePodGroupName = new("parent") },
			`spec.parentCompositePodGroupName: wanted nothing, got "parent"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := compiled(t).PodGroup
			got := want.DeepCopy()
			tc.got(got)
			diff := PodGroupDifference(want, got)
			if tc.want == "" {
				assert.Empty(t, diff)
			} else {
				assert.Contains(t, diff, tc.want)
			}
		})
	}
	t.Run("a class that was asked for must come back", func(t *testing.T) {
		want := compiled(t, func(app *v1beta2.SparkApplication) { app.Spec.Executor.PriorityClassName = new("high") }).PodGroup
		got := want.DeepCopy()
		served(got)
		assert.Equal(t, `spec.priorityClassName: wanted "high", got "default-class"`, PodGroupDifference(want, got))
		got.Spec.PriorityClassName = "high"
		assert.Empty(t, PodGroupDifference(want, got))
	})
}

// TestDroppedFieldsAreSeen takes away, one by one, each field that Kubernetes drops in silence where a gate is off.
func TestDroppedFieldsAreSeen(t *testing.T) {
	want := compiled(t).PodGroup
	want.Spec.SchedulingConstraints = &schedulingv1beta1.PodGroupSchedulingConstraints{Topology: []schedulingv1beta1.TopologyConstraint{{Key: "rack"}}}
	want.Spec.ResourceClaims = []schedulingv1beta1.PodGroupResourceClaim{{Name: "gpu", ResourceClaimName: new("gpu")}}
	want.Spec.PreemptionPolicy = new(schedulingv1beta1.PreemptLowerPriority)
	want.Spec.ParentCompositePodGroupName = new("parent")
	for path, drop := range map[string]func(*schedulingv1beta1.PodGroup){
		"spec.schedulingConstraints":       func(p *schedulingv1beta1.PodGroup) { p.Spec.SchedulingConstraints = nil },
		"spec.resourceClaims":              func(p *schedulingv1beta1.PodGroup) { p.Spec.ResourceClaims = nil },
		"spec.preemptionPolicy":            func(p *schedulingv1beta1.PodGroup) { p.Spec.PreemptionPolicy = nil },
		"spec.parentCompositePodGroupName": func(p *schedulingv1beta1.PodGroup) { p.Spec.ParentCompositePodGroupName = nil },
	} {
		got := want.DeepCopy()
		drop(got)
		assert.Contains(t, PodGroupDifference(want, got), path+": wanted")
	}
}
