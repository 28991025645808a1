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
	"testing"

	"github.com/stretchr/testify/assert"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

func TestScaleFromSparkApplication(t *testing.T) {
	for name, test := range map[string]struct {
		spec sparkoperator.SparkApplicationSpec
		want int32
	}{
		"typed":                 {sparkoperator.SparkApplicationSpec{Executor: sparkoperator.ExecutorSpec{Instances: new(int32(3))}}, 3},
		"typed before property": {sparkoperator.SparkApplicationSpec{Executor: sparkoperator.ExecutorSpec{Instances: new(int32(3))}, SparkConf: map[string]string{"spark.executor.instances": "5"}}, 3},
		"property":              {sparkoperator.SparkApplicationSpec{SparkConf: map[string]string{"spark.executor.instances": " 5 "}}, 5},
		"nothing":               {sparkoperator.SparkApplicationSpec{}, 1},
		"dynamic block": {sparkoperator.SparkApplicationSpec{
			DynamicAllocation: &sparkoperator.DynamicAllocation{Enabled: true}, Executor: sparkoperator.ExecutorSpec{Instances: new(int32(3))},
		}, 0},
		"dynamic property": {sparkoperator.SparkApplicationSpec{SparkConf: map[string]string{"spark.dynamicAllocation.enabled": "True"}}, 0},
		"block off, property ignored": {sparkoperator.SparkApplicationSpec{
			DynamicAllocation: &sparkoperator.DynamicAllocation{}, SparkConf: map[string]string{"spark.dynamicAllocation.enabled": "true"},
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			scale := ScaleFromSparkApplication(&sparkoperator.SparkApplication{Spec: test.spec})
			assert.Equal(t, test.want, scale.Spec.Replicas)
		})
	}
}

func TestScaleCountsExecutorsThatLive(t *testing.T) {
	app := &sparkoperator.SparkApplication{
		ObjectMeta: metav1.ObjectMeta{Name: "pi", Namespace: "ns", UID: "u", ResourceVersion: "7", Labels: map[string]string{"a": "b"}},
	}
	scale := ScaleFromSparkApplication(app)
	assert.Equal(t, metav1.ObjectMeta{Name: "pi", Namespace: "ns", UID: "u", ResourceVersion: "7"}, scale.ObjectMeta)
	assert.Zero(t, scale.Status.Replicas)
	assert.Equal(t, labels.Set{spark.LabelAppName: "pi", spark.LabelSparkRole: spark.SparkRoleExecutor}.String(), scale.Status.Selector)

	app.Status.SubmissionID = "id"
	app.Status.ExecutorCounts = &sparkoperator.ExecutorCounts{Pending: 1, Running: 2, Completed: 4, Failed: 8, Unknown: 16}
	scale = ScaleFromSparkApplication(app)
	assert.EqualValues(t, 19, scale.Status.Replicas)
	assert.Equal(t, labels.Set{spark.LabelAppName: "pi", spark.LabelSparkRole: spark.SparkRoleExecutor, spark.LabelSubmissionID: "id"}.String(),
		scale.Status.Selector)
}

func TestSetScale(t *testing.T) {
	scaleTo := func(n int32) *autoscalingv1.Scale {
		return &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: n}}
	}
	app := func() *sparkoperator.SparkApplication {
		return &sparkoperator.SparkApplication{Spec: sparkoperator.SparkApplicationSpec{
			Executor:   sparkoperator.ExecutorSpec{Instances: new(int32(2))},
			Scheduling: &sparkoperator.SparkSchedulingSpec{SchedulingPolicy: &sparkoperator.SchedulingPolicy{Gang: &sparkoperator.GangSchedulingPolicy{}}},
		}}
	}
	scaled, want := app(), app()
	want.Spec.Executor.Instances = new(int32(5))
	assert.Empty(t, SetScale(scaled, scaleTo(5)))
	assert.Equal(t, want, scaled, "nothing but the number changes")

	for _, n := range []int32{0, -1} {
		refused := app()
		errs := SetScale(refused, scaleTo(n))
		if assert.Len(t, errs, 1) {
			assert.Equal(t, "spec.replicas", errs[0].Field)
			assert.Contains(t, errs[0].Detail, "at least 1")
		}
		assert.Equal(t, app(), refused)
	}

	// The number that a property says stays where it is as long as nobody asks for another.
	byProperty := &sparkoperator.SparkApplication{Spec: sparkoperator.SparkApplicationSpec{SparkConf: map[string]string{"spark.executor.instances": "5"}}}
	assert.Empty(t, SetScale(byProperty, scaleTo(5)))
	assert.Nil(t, byProperty.Spec.Executor.Instances)

	dynamic := app()
	dynamic.Spec.DynamicAllocation = &sparkoperator.DynamicAllocation{Enabled: true}
	assert.Empty(t, SetScale(dynamic, scaleTo(0)), "what was read can be written")
	errs := SetScale(dynamic, scaleTo(3))
	if assert.Len(t, errs, 1) {
		assert.Equal(t, "spec.replicas", errs[0].Field)
		assert.Contains(t, errs[0].Detail, "dynamic allocation")
	}
}
