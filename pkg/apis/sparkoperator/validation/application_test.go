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
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/install"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

type edit = func(*sparkoperator.SparkApplication)

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return scheme
}

var scheme = newScheme()

// newApplication returns a valid application after the edits and after defaulting, as a strategy gets it.
func newApplication(edits ...edit) *sparkoperator.SparkApplication {
	app := &sparkoperator.SparkApplication{
		ObjectMeta: metav1.ObjectMeta{
			Name: "spark-pi", Namespace: "team-a", UID: "0b7ac02c-5a8b-4a57-8f7c-2f6f0c3b5d11", ResourceVersion: "7", Generation: 1,
		},
		Spec: sparkoperator.SparkApplicationSpec{
			Type:                sparkoperator.ScalaApplicationType,
			SparkVersion:        "4.0.4",
			Image:               new("apache/spark:4.0.4"),
			MainClass:           new("org.apache.spark.examples.SparkPi"),
			MainApplicationFile: new("local:///opt/spark/examples/jars/spark-examples.jar"),
			Driver:              sparkoperator.DriverSpec{SparkPodSpec: sparkoperator.SparkPodSpec{ServiceAccount: new("spark")}},
			Executor:            sparkoperator.ExecutorSpec{Instances: new(int32(4))},
		},
	}
	return edited(app, edits...)
}

// edited returns a copy of an application after edits and after defaulting.
func edited(app *sparkoperator.SparkApplication, edits ...edit) *sparkoperator.SparkApplication {
	app = app.DeepCopy()
	for _, edit := range edits {
		edit(app)
	}
	out := &v1beta2.SparkApplication{}
	if err := scheme.Convert(app, out, nil); err != nil {
		panic(err)
	}
	scheme.Default(out)
	hub := &sparkoperator.SparkApplication{}
	if err := scheme.Convert(out, hub, nil); err != nil {
		panic(err)
	}
	return hub
}

func gang(app *sparkoperator.SparkApplication) {
	app.Spec.Scheduling = &sparkoperator.SparkSchedulingSpec{
		SchedulingPolicy: &sparkoperator.SchedulingPolicy{Gang: &sparkoperator.GangSchedulingPolicy{}},
	}
}

func emptyScheduling(app *sparkoperator.SparkApplication) {
	app.Spec.Scheduling = &sparkoperator.SparkSchedulingSpec{}
}

func noScheduling(app *sparkoperator.SparkApplication) { app.Spec.Scheduling = nil }

func withConf(key, value string) edit {
	return func(app *sparkoperator.SparkApplication) {
		if app.Spec.SparkConf == nil {
			app.Spec.SparkConf = map[string]string{}
		}
		app.Spec.SparkConf[key] = value
	}
}

func withState(state sparkoperator.ApplicationStateType) edit {
	return func(app *sparkoperator.SparkApplication) {
		app.Status.AppState.State = state
		app.Status.SubmissionID = "first"
	}
}

// want is one expected error: its type, its field and a part of its text.
type want struct {
	Type   field.ErrorType
	Field  string
	Detail string
}

func assertErrors(t *testing.T, wants []want, errs field.ErrorList) {
	t.Helper()
	got := make([]want, len(errs))
	for i, err := range errs {
		got[i] = want{err.Type, err.Field, err.Detail}
		if i < len(wants) && strings.Contains(err.Detail, wants[i].Detail) {
			got[i].Detail = wants[i].Detail
		}
	}
	if len(wants) == 0 {
		assert.Empty(t, got)
		return
	}
	assert.Equal(t, wants, got)
}
