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
	"strconv"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
)

// The labels by which the executors of an attempt are found. They are what package spark puts on pods, which the registry
// doesn't import; a test keeps the two equal.
const (
	labelAppName      = "sparkoperator.k8s.io/app-name"
	labelSubmissionID = "sparkoperator.k8s.io/submission-id"
	labelSparkRole    = "spark-role"
	roleExecutor      = "executor"
)

// The Spark properties that say what the typed fields leave open.
const (
	confExecutorInstances        = "spark.executor.instances"
	confDynamicAllocationEnabled = "spark.dynamicAllocation.enabled"
)

// ReplicasPaths say where the number of a Scale is kept in each served version.
var ReplicasPaths = map[string]fieldpath.Path{
	string(servedVersion): fieldpath.MakePathOrDie("spec", "executor", "instances"),
}

// ScaleFromSparkApplication returns the scale of an application: how many executors it asks for and how many live.
//
// With dynamic allocation Spark itself decides how many executors there are. The scale then says 0, which a
// HorizontalPodAutoscaler takes for "leave this one alone".
func ScaleFromSparkApplication(app *sparkoperator.SparkApplication) *autoscalingv1.Scale {
	scale := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{
			Name:              app.Name,
			Namespace:         app.Namespace,
			UID:               app.UID,
			ResourceVersion:   app.ResourceVersion,
			CreationTimestamp: app.CreationTimestamp,
		},
		Spec:   autoscalingv1.ScaleSpec{Replicas: executorInstances(&app.Spec)},
		Status: autoscalingv1.ScaleStatus{Selector: executorSelector(app)},
	}
	if counts := app.Status.ExecutorCounts; counts != nil {
		// Of those of which nothing is known, the pods are still there.
		scale.Status.Replicas = counts.Pending + counts.Running + counts.Unknown
	}
	return scale
}

// SetScale changes an application to what a scale asks for, or says why it can't be: paths are those of the scale. It
// changes the number of executors and nothing else.
func SetScale(app *sparkoperator.SparkApplication, scale *autoscalingv1.Scale) field.ErrorList {
	path := field.NewPath("spec", "replicas")
	current := executorInstances(&app.Spec)
	switch {
	case scale.Spec.Replicas == current:
		return nil
	case dynamicAllocation(&app.Spec):
		return field.ErrorList{field.Forbidden(path, "the application uses dynamic allocation, so Spark itself decides how many executors there are; "+
			"change spec.dynamicAllocation to set bounds")}
	case scale.Spec.Replicas < 1:
		return field.ErrorList{field.Invalid(path, scale.Spec.Replicas, "must be at least 1: an application without executors is one that is suspended (spec.suspend)")}
	}
	app.Spec.Executor.Instances = new(scale.Spec.Replicas)
	return nil
}

// executorInstances is how many executors a spec asks for; 0 leaves it to Spark.
func executorInstances(spec *sparkoperator.SparkApplicationSpec) int32 {
	if dynamicAllocation(spec) {
		return 0
	}
	if spec.Executor.Instances != nil {
		return *spec.Executor.Instances
	}
	// Defaulting leaves the field empty only where the property is set, and validation has checked that it is a number.
	if n, err := strconv.ParseInt(strings.TrimSpace(spec.SparkConf[confExecutorInstances]), 10, 32); err == nil {
		return int32(n)
	}
	return 1
}

// dynamicAllocation follows defaulting: the block decides where there is one, else the property.
func dynamicAllocation(spec *sparkoperator.SparkApplicationSpec) bool {
	if spec.DynamicAllocation != nil {
		return spec.DynamicAllocation.Enabled
	}
	return strings.EqualFold(strings.TrimSpace(spec.SparkConf[confDynamicAllocationEnabled]), "true")
}

// executorSelector selects the executors of the current attempt, or those of any before there is one.
func executorSelector(app *sparkoperator.SparkApplication) string {
	set := labels.Set{labelAppName: app.Name, labelSparkRole: roleExecutor}
	if id := app.Status.SubmissionID; id != "" {
		set[labelSubmissionID] = id
	}
	return set.String()
}
