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

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/install"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

const testSubmissionID = "9c2a52f8-7a43-4c76-b1ad-6a5b22e4ef60"

type edit = func(*v1beta2.SparkApplication)

var testSpecPath = field.NewPath("spec")

func newApplication(edits ...edit) *v1beta2.SparkApplication {
	app := &v1beta2.SparkApplication{
		ObjectMeta: metav1.ObjectMeta{Name: "spark-pi", Namespace: "team-a", UID: "0b7ac02c-5a8b-4a57-8f7c-2f6f0c3b5d11"},
		Spec: v1beta2.SparkApplicationSpec{
			Type:                v1beta2.ScalaApplicationType,
			SparkVersion:        "4.0.4",
			Image:               new("apache/spark:4.0.4"),
			MainClass:           new("org.apache.spark.examples.SparkPi"),
			MainApplicationFile: new("local:///opt/spark/examples/jars/spark-examples.jar"),
			Driver:              v1beta2.DriverSpec{SparkPodSpec: v1beta2.SparkPodSpec{ServiceAccount: new("spark")}},
			Executor:            v1beta2.ExecutorSpec{Instances: new(int32(4))},
		},
	}
	for _, edit := range edits {
		edit(app)
	}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	scheme.Default(app)
	return app
}

func resolve(t *testing.T, edits ...edit) *spark.Application {
	t.Helper()
	application, errs := spark.Resolve(newApplication(edits...), testSpecPath)
	require.Empty(t, errs)
	return application
}

func withScheduling(edits ...func(*v1beta2.SparkSchedulingSpec)) edit {
	return func(app *v1beta2.SparkApplication) {
		if app.Spec.Scheduling == nil {
			app.Spec.Scheduling = &v1beta2.SparkSchedulingSpec{}
		}
		for _, edit := range edits {
			edit(app.Spec.Scheduling)
		}
	}
}

func gangPolicy(s *v1beta2.SparkSchedulingSpec) {
	s.SchedulingPolicy = &sparkoperator.SchedulingPolicy{Gang: &sparkoperator.GangSchedulingPolicy{}}
}

func basicPolicy(s *v1beta2.SparkSchedulingSpec) {
	s.SchedulingPolicy = &sparkoperator.SchedulingPolicy{Basic: &sparkoperator.BasicSchedulingPolicy{}}
}

func nestedVolcano(s *v1beta2.SparkSchedulingSpec) {
	s.BatchScheduler = &v1beta2.BatchSchedulerSpec{Name: "volcano"}
}

func topScheduler(name string) edit {
	return func(app *v1beta2.SparkApplication) { app.Spec.BatchScheduler = &name }
}

func topOptions(options v1beta2.BatchSchedulerConfiguration) edit {
	return func(app *v1beta2.SparkApplication) { app.Spec.BatchSchedulerOptions = &options }
}

func withConf(key, value string) edit {
	return func(app *v1beta2.SparkApplication) {
		if app.Spec.SparkConf == nil {
			app.Spec.SparkConf = map[string]string{}
		}
		app.Spec.SparkConf[key] = value
	}
}

func withExecutorTemplate(json string) edit {
	return func(app *v1beta2.SparkApplication) {
		app.Spec.Executor.Template = &runtime.RawExtension{Raw: []byte(json)}
	}
}

func withDriverTemplate(json string) edit {
	return func(app *v1beta2.SparkApplication) {
		app.Spec.Driver.Template = &runtime.RawExtension{Raw: []byte(json)}
	}
}
