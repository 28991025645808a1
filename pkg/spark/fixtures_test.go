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

package spark

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/test/corpus"
)

const testSubmissionID = "0f8fad5b-d9cb-469f-a165-70867728950e"

var (
	testSpecPath = field.NewPath("spec")
	testTime     = time.Date(2026, 11, 30, 20, 20, 56, 123e6, time.UTC)
	testAttempt  = Attempt{SubmissionID: testSubmissionID, SubmitTime: testTime}
)

// newApp makes the smallest application, defaulted, after edits.
func newApp(edits ...func(*v1beta2.SparkApplication)) *v1beta2.SparkApplication {
	app := &v1beta2.SparkApplication{
		ObjectMeta: metav1.ObjectMeta{Name: "spark-pi", Namespace: "jobs", UID: "8c1a2d34-0000-4000-8000-0123456789ab"},
		Spec: v1beta2.SparkApplicationSpec{
			SparkVersion: "4.0.1", Image: new("example.com/spark:4.0.1"), MainClass: new("org.example.Pi"),
			MainApplicationFile: new("local:///opt/app.jar"),
		},
	}
	for _, edit := range edits {
		edit(app)
	}
	v1beta2.SetDefaults_SparkApplicationSpec(&app.Spec)
	return app
}

func withConf(pairs ...string) func(*v1beta2.SparkApplication) {
	return func(app *v1beta2.SparkApplication) {
		if app.Spec.SparkConf == nil {
			app.Spec.SparkConf = map[string]string{}
		}
		for i := 0; i < len(pairs); i += 2 {
			app.Spec.SparkConf[pairs[i]] = pairs[i+1]
		}
	}
}

func driverTemplate(text string) func(*v1beta2.SparkApplication) {
	return func(app *v1beta2.SparkApplication) { app.Spec.Driver.Template = rawJSON(text) }
}

func executorTemplateOf(text string) func(*v1beta2.SparkApplication) {
	return func(app *v1beta2.SparkApplication) { app.Spec.Executor.Template = rawJSON(text) }
}

func rawJSON(text string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(text)} }

// built resolves and builds an application that must be without errors.
func built(t *testing.T, edits ...func(*v1beta2.SparkApplication)) (*Application, *Objects) {
	t.Helper()
	return builtWith(t, testAttempt, edits...)
}

func builtWith(t *testing.T, at Attempt, edits ...func(*v1beta2.SparkApplication)) (*Application, *Objects) {
	t.Helper()
	a, errs := Resolve(newApp(edits...), testSpecPath)
	require.Empty(t, errs.ToAggregate())
	objects, err := Build(a, at)
	require.NoError(t, err)
	return a, objects
}

// fieldApplications returns the SparkApplications of manifests from the field, by file.
func fieldApplications(t *testing.T) map[string][]*v1beta2.SparkApplication {
	t.Helper()
	found := map[string][]*v1beta2.SparkApplication{}
	for _, file := range corpus.Files(t) {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
		for {
			var app v1beta2.SparkApplication
			err := decoder.Decode(&app)
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, file)
			if app.Kind == "SparkApplication" {
				v1beta2.SetDefaults_SparkApplicationSpec(&app.Spec)
				if app.Namespace == "" {
					app.Namespace = "default"
				}
				found[corpus.Name(file)] = append(found[corpus.Name(file)], &app)
			}
		}
	}
	require.NotEmpty(t, found)
	return found
}
