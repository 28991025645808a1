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
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

func TestCompileGang(t *testing.T) {
	native, err := Compile(resolve(t, withScheduling(gangPolicy), func(app *v1beta2.SparkApplication) {
		app.Spec.Executor.PriorityClassName = new("high")
	}), testSubmissionID)
	require.NoError(t, err)

	owner := []metav1.OwnerReference{{
		APIVersion:         "sparkoperator.k8s.io/v1beta2",
		Kind:               "SparkApplication",
		Name:               "spark-pi",
		UID:                "0b7ac02c-5a8b-4a57-8f7c-2f6f0c3b5d11",
		Controller:         new(true),
		BlockOwnerDeletion: new(true),
	}}
	policy := schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 4}}
	workload := &schedulingv1beta1.Workload{
		TypeMeta: metav1.TypeMeta{APIVersion: "scheduling.k8s.io/v1beta1", Kind: "Workload"},
		ObjectMeta: metav1.ObjectMeta{
			Name:      "spark-pi-57cd5b698f",
			Namespace: "team-a",
			Labels: map[string]string{
				"sparkoperator.k8s.io/app-name":                   "spark-pi",
				"sparkoperator.k8s.io/launched-by-spark-operator": "true",
			},
			OwnerReferences: owner,
		},
		Spec: schedulingv1beta1.WorkloadSpec{
			ControllerRef: &schedulingv1beta1.TypedLocalObjectReference{
				APIGroup: "sparkoperator.k8s.io", Kind: "SparkApplication", Name: "spark-pi",
			},
			PodGroupTemplates: []schedulingv1beta1.PodGroupTemplate{{
				Name: "executors", SchedulingPolicy: policy, PriorityClassName: "high",
			}},
		},
	}
	podGroup := &schedulingv1beta1.PodGroup{
		TypeMeta: metav1.TypeMeta{APIVersion: "scheduling.k8s.io/v1beta1", Kind: "PodGroup"},
		ObjectMeta: metav1.ObjectMeta{
			Name:      PodGroupName("spark-pi-57cd5b698f", "executors", testSubmissionID),
			Namespace: "team-a",
			Labels: map[string]string{
				"sparkoperator.k8s.io/app-name":                   "spark-pi",
				"sparkoperator.k8s.io/launched-by-spark-operator": "true",
				"sparkoperator.k8s.io/submission-id":              testSubmissionID,
			},
			OwnerReferences: owner,
		},
		Spec: schedulingv1beta1.PodGroupSpec{
			WorkloadRef:       &schedulingv1beta1.WorkloadReference{WorkloadName: "spark-pi-57cd5b698f", TemplateName: "executors"},
			SchedulingPolicy:  policy,
			PriorityClassName: "high",
		},
	}
	assert.Equal(t, workload, native.Workload)
	assert.Equal(t, podGroup, native.PodGroup)
	assert.True(t, native.Gang)
	assert.Equal(t, int32(4), native.MinCount)
}

func TestCompileBasic(t *testing.T) {
	native, err := Compile(resolve(t, withScheduling()), testSubmissionID)
	require.NoError(t, err)
	want := schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}}
	require.Len(t, native.Workload.Spec.PodGroupTemplates, 1)
	assert.Equal(t, want, native.Workload.Spec.PodGroupTemplates[0].SchedulingPolicy)
	assert.Equal(t, want, native.PodGroup.Spec.SchedulingPolicy)
	assert.False(t, native.Gang)
	assert.Zero(t, native.MinCount)
}

func TestCompileNothing(t *testing.T) {
	native, err := Compile(resolve(t), testSubmissionID)
	require.NoError(t, err)
	assert.Nil(t, native)
	assert.Nil(t, native.Group("high"), "no objects, no membership")
}

// TestCompileCountsExecutors shows where the size of the gang may come from.
func TestCompileCountsExecutors(t *testing.T) {
	for _, tc := range []struct {
		name string
		edit edit
		want int32
	}{
		{"typed", func(app *v1beta2.SparkApplication) { app.Spec.Executor.Instances = new(int32(7)) }, 7},
		{"property", func(app *v1beta2.SparkApplication) {
			app.Spec.Executor.Instances = nil
			app.Spec.SparkConf = map[string]string{"spark.executor.instances": "9"}
		}, 9},
		{"default", func(app *v1beta2.SparkApplication) { app.Spec.Executor.Instances = nil }, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			application := resolve(t, tc.edit, withScheduling(gangPolicy))
			native, err := Compile(application, testSubmissionID)
			require.NoError(t, err)
			assert.Equal(t, tc.want, native.MinCount)
			assert.Equal(t, tc.want, native.PodGroup.Spec.SchedulingPolicy.Gang.MinCount)
			assert.Equal(t, tc.want, native.Workload.Spec.PodGroupTemplates[0].SchedulingPolicy.Gang.MinCount)
			assert.Equal(t, tc.want, application.Executors.Initial)
			assert.Equal(t, tc.want, native.Group("").MinCount)
		})
	}
}

// TestCompileFailsClosed compiles objects that this release would not have accepted but may find stored.
func TestCompileFailsClosed(t *testing.T) {
	for _, tc := range []struct {
		name    string
		edit    func(*v1beta2.SparkSchedulingSpec)
		wantErr string
	}{
		{"size of the gang", func(s *v1beta2.SparkSchedulingSpec) { s.SchedulingPolicy.Gang.MinCount = new(int32(2)) }, "spec.scheduling.schedulingPolicy.gang.minCount"},
		{"two topology keys", func(s *v1beta2.SparkSchedulingSpec) {
			s.SchedulingConstraints = &sparkoperator.SchedulingConstraints{Topology: []sparkoperator.TopologyConstraint{{Key: "rack"}, {Key: "row"}}}
		}, "spec.scheduling.schedulingConstraints.topology"},
		{"disruption mode", func(s *v1beta2.SparkSchedulingSpec) { s.DisruptionMode = &sparkoperator.DisruptionMode{} }, "spec.scheduling.disruptionMode"},
		{"claims", func(s *v1beta2.SparkSchedulingSpec) { s.ResourceClaims = make([]sparkoperator.ResourceClaim, 1) }, "spec.scheduling.resourceClaims"},
		{"both policies", func(s *v1beta2.SparkSchedulingSpec) {
			s.SchedulingPolicy.Basic = &sparkoperator.BasicSchedulingPolicy{}
		}, "must specify exactly one of"},
		{"batch scheduler", nestedVolcano, "mutually exclusive"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			native, err := Compile(resolve(t, withScheduling(gangPolicy, tc.edit)), testSubmissionID)
			require.ErrorContains(t, err, tc.wantErr)
			assert.Nil(t, native)
		})
	}
	t.Run("no attempt", func(t *testing.T) {
		_, err := Compile(resolve(t, withScheduling(gangPolicy)), "")
		require.ErrorContains(t, err, "submission ID")
	})
	t.Run("no executors", func(t *testing.T) {
		application := *resolve(t, withScheduling(gangPolicy))
		application.Executors.Initial = 0
		_, err := Compile(&application, testSubmissionID)
		require.ErrorContains(t, err, "a gang has at least 1 executor")
	})
}

func TestCompileIsPure(t *testing.T) {
	application := resolve(t, withScheduling(gangPolicy))
	before := application.App.DeepCopy()
	first, err := Compile(application, testSubmissionID)
	require.NoError(t, err)
	second, err := Compile(application, testSubmissionID)
	require.NoError(t, err)
	assert.Equal(t, first, second)
	assert.Equal(t, before, application.App, "the stored object is left alone")

	// Nothing of a result is shared, not even between Workload and PodGroup.
	first.Workload.OwnerReferences[0].Name = "changed"
	first.Workload.Spec.PodGroupTemplates[0].SchedulingPolicy.Gang.MinCount = 99
	first.Workload.Labels["changed"] = "true"
	assert.Equal(t, second.PodGroup, first.PodGroup)
	third, err := Compile(application, testSubmissionID)
	require.NoError(t, err)
	assert.Equal(t, second, third)
}

// TestAttemptsShareTheWorkload keeps attempts apart in everything but the Workload.
func TestAttemptsShareTheWorkload(t *testing.T) {
	application := resolve(t, withScheduling(gangPolicy))
	first, err := Compile(application, testSubmissionID)
	require.NoError(t, err)
	second, err := Compile(application, "9c2a52f8-7a43-4c76-b1ad-6a5b22e4ef61")
	require.NoError(t, err)
	assert.Equal(t, first.Workload, second.Workload)
	assert.NotEqual(t, first.PodGroup.Name, second.PodGroup.Name)

	namesake, err := Compile(resolve(t, withScheduling(gangPolicy), func(app *v1beta2.SparkApplication) { app.UID = "another" }), testSubmissionID)
	require.NoError(t, err)
	assert.NotEqual(t, first.Workload.Name, namesake.Workload.Name)
	assert.NotEqual(t, first.PodGroup.Name, namesake.PodGroup.Name)
}

func TestNamesOfLongApplications(t *testing.T) {
	native, err := Compile(resolve(t, withScheduling(gangPolicy), func(app *v1beta2.SparkApplication) {
		app.Name, app.UID = strings.Repeat("a", 63), types.UID("0b7ac02c-5a8b-4a57-8f7c-2f6f0c3b5d11")
	}), testSubmissionID)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(native.Workload.Name), 253)
	assert.LessOrEqual(t, len(native.PodGroup.Name), 253)
}

func TestGroup(t *testing.T) {
	native, err := Compile(resolve(t, withScheduling(gangPolicy), func(app *v1beta2.SparkApplication) {
		app.Spec.Executor.PriorityClassName = new("high")
	}), testSubmissionID)
	require.NoError(t, err)
	want := &spark.Group{PodGroupName: native.PodGroup.Name, Gang: true, MinCount: 4, PriorityClassName: "high"}
	assert.Equal(t, want, native.Group(""))

	want.PriorityClassName = "read-back"
	assert.Equal(t, want, native.Group("read-back"))
}
