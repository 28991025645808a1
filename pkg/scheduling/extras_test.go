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
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-base/featuregate"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/features"
)

var everything = ValidateOptions{WorkloadAwareScheduling: true, Enabled: func(string) bool { return true }}

func rack(s *v1beta2.SparkSchedulingSpec) {
	s.SchedulingConstraints = &sparkoperator.SchedulingConstraints{Topology: []sparkoperator.TopologyConstraint{{Key: "example.com/rack"}}}
}

func together(s *v1beta2.SparkSchedulingSpec) {
	s.DisruptionMode = &sparkoperator.DisruptionMode{All: &sparkoperator.AllDisruptionMode{}}
}

func device(s *v1beta2.SparkSchedulingSpec) {
	s.ResourceClaims = []sparkoperator.ResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("shared-gpu")}}
}

func class(name string) func(*v1beta2.SparkSchedulingSpec) {
	return func(s *v1beta2.SparkSchedulingSpec) { s.PriorityClassName = &name }
}

func dynamic(low, initial int32) edit {
	return func(app *v1beta2.SparkApplication) {
		app.Spec.Executor.Instances = nil
		app.Spec.DynamicAllocation = &v1beta2.DynamicAllocation{Enabled: true, MinExecutors: new(low), MaxExecutors: new(int32(8))}
		if initial > 0 {
			app.Spec.DynamicAllocation.InitialExecutors = new(initial)
		}
	}
}

func TestValidateExtras(t *testing.T) {
	for name, tc := range map[string]struct {
		edits []edit
		want  []want
	}{
		"all of them": {edits: []edit{withScheduling(gangPolicy, rack, together, device, class("batch")), dynamic(2, 0)}},
		"a disruption mode without a gang": {edits: []edit{withScheduling(basicPolicy, together)}, want: []want{
			{field.ErrorTypeInvalid, "spec.scheduling.disruptionMode", ""},
		}},
		"a claim twice": {edits: []edit{withScheduling(gangPolicy, device, func(s *v1beta2.SparkSchedulingSpec) {
			s.ResourceClaims = append(s.ResourceClaims, s.ResourceClaims[0])
		})}, want: []want{{field.ErrorTypeDuplicate, "spec.scheduling.resourceClaims[1].name", ""}}},
		"a class of the system": {edits: []edit{withScheduling(gangPolicy, class("system-node-critical"))}, want: []want{
			{field.ErrorTypeForbidden, "spec.scheduling.priorityClassName", "system"},
		}},
		"executors of another class": {edits: []edit{withScheduling(gangPolicy, class("batch")), func(app *v1beta2.SparkApplication) {
			app.Spec.Executor.PriorityClassName = new("high")
		}}, want: []want{{field.ErrorTypeInvalid, "spec.scheduling.priorityClassName", `"high"`}}},
		"executors of the same class": {edits: []edit{withScheduling(gangPolicy, class("batch")), func(app *v1beta2.SparkApplication) {
			app.Spec.Executor.PriorityClassName = new("batch")
		}}},
		"a gang that nothing keeps": {edits: []edit{withScheduling(gangPolicy), dynamic(0, 2)}, want: []want{
			{field.ErrorTypeRequired, "spec.dynamicAllocation.minExecutors", "at least 1"},
		}},
		"more at the start than stay": {edits: []edit{withScheduling(gangPolicy), dynamic(2, 3)}, want: []want{
			{field.ErrorTypeInvalid, "spec.dynamicAllocation.initialExecutors", "the size of the gang, 2"},
		}},
		"as many at the start as stay": {edits: []edit{withScheduling(gangPolicy), dynamic(2, 2)}},
		"no gang, no bounds":           {edits: []edit{withScheduling(basicPolicy), dynamic(0, 3)}},
	} {
		t.Run(name, func(t *testing.T) {
			assertErrors(t, tc.want, Validate(resolve(t, tc.edits...), testSpecPath, everything))
		})
	}
}

// Each extra has a gate of its own, and the gates that are named are gates.
func TestExtrasHaveGates(t *testing.T) {
	app := resolve(t, withScheduling(gangPolicy, rack, together, device, class("batch")), dynamic(2, 0))
	extras := Extras(&app.App.Spec, testSpecPath)
	require.Len(t, extras, 5)
	known := features.NewFeatureGate().GetAll()
	for _, off := range extras {
		assert.Contains(t, known, featuregate.Feature(off.Gate))
		errs := Validate(app, testSpecPath, ValidateOptions{WorkloadAwareScheduling: true, Enabled: func(gate string) bool { return gate != off.Gate }})
		assertErrors(t, []want{{field.ErrorTypeForbidden, off.Path.String(), off.Gate}}, errs)
	}
	assert.Empty(t, Extras(&resolve(t, dynamic(2, 0)).App.Spec, testSpecPath), "without a group nothing is asked for")
}

func TestCompileExtras(t *testing.T) {
	app := newApplication(withScheduling(gangPolicy, rack, together, device, class("batch")), dynamic(2, 0))
	submission, err := CompileSubmission(app, testSubmissionID, time.Unix(0, 0), "")
	require.NoError(t, err)

	spec := submission.Native.PodGroup.Spec
	assert.EqualValues(t, 2, spec.SchedulingPolicy.Gang.MinCount)
	assert.Equal(t, "example.com/rack", spec.SchedulingConstraints.Topology[0].Key)
	assert.NotNil(t, spec.DisruptionMode.All)
	assert.Equal(t, "batch", spec.PriorityClassName)
	assert.Equal(t, []schedulingv1beta1.PodGroupResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("shared-gpu")}}, spec.ResourceClaims)

	var pod corev1.Pod
	require.NoError(t, unstructuredTo(submission.Objects.ExecutorTemplate, &pod))
	assert.Equal(t, "batch", pod.Spec.PriorityClassName)
	assert.Equal(t, []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("shared-gpu")}}, pod.Spec.ResourceClaims)
	assert.Equal(t, []corev1.ResourceClaim{{Name: "gpu"}}, pod.Spec.Containers[0].Resources.Claims)
	assert.Empty(t, submission.Objects.Driver.Spec.PriorityClassName, "the driver is no member")

	properties := submission.Objects.Properties
	assert.Equal(t, "true", properties["spark.dynamicAllocation.enabled"])
	assert.Equal(t, "2", properties["spark.dynamicAllocation.initialExecutors"])
	assert.Equal(t, "2", properties["spark.dynamicAllocation.minExecutors"])
	assert.NotContains(t, properties, "spark.executor.instances")
	assert.Equal(t, "40", properties["spark.executor.maxNumFailures"])
}

// A pod that is told twice of a claim has it once.
func TestClaimsOfTheTemplateAreKept(t *testing.T) {
	app := newApplication(withScheduling(gangPolicy, device), withExecutorTemplate(
		`{"spec":{"resourceClaims":[{"name":"gpu","resourceClaimTemplateName":"shared-gpu"}],"containers":[{"name":"spark-kubernetes-executor","resources":{"claims":[{"name":"gpu","request":"one"}]}}]}}`))
	submission, err := CompileSubmission(app, testSubmissionID, time.Unix(0, 0), "")
	require.NoError(t, err)
	claims, _, err := unstructured.NestedSlice(submission.Objects.ExecutorTemplate, "spec", "resourceClaims")
	require.NoError(t, err)
	assert.Len(t, claims, 1)
	var pod corev1.Pod
	require.NoError(t, unstructuredTo(submission.Objects.ExecutorTemplate, &pod))
	assert.Equal(t, []corev1.ResourceClaim{{Name: "gpu", Request: "one"}}, pod.Spec.Containers[0].Resources.Claims)
}

func TestGateOfDifference(t *testing.T) {
	wanted := &schedulingv1beta1.PodGroup{Spec: schedulingv1beta1.PodGroupSpec{
		SchedulingConstraints: &schedulingv1beta1.PodGroupSchedulingConstraints{Topology: []schedulingv1beta1.TopologyConstraint{{Key: "rack"}}},
	}}
	difference := PodGroupDifference(wanted, &schedulingv1beta1.PodGroup{})
	assert.Contains(t, GateOfDifference(difference), "TopologyAwareWorkloadScheduling")
	assert.Empty(t, GateOfDifference("spec.disruptionMode: wanted {}, got nothing"))
	assert.Empty(t, GateOfDifference("spec.resourceClaims[0].name: wanted \"a\", got \"b\""))
}

func unstructuredTo(object map[string]any, into *corev1.Pod) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(object, into)
}
