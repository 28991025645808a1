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
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
)

const (
	runningWarning   = "spec: the edit ends the current attempt (RUNNING) and starts another one"
	completedWarning = "spec: the application has ended (COMPLETED); the edit runs it again"
)

func onFailure(app *sparkoperator.SparkApplication) {
	app.Spec.RestartPolicy.Type = sparkoperator.RestartPolicyOnFailure
}

func TestWarningsOnCreate(t *testing.T) {
	for _, tc := range []struct {
		name string
		edit edit
		want []string
	}{
		{"none", noScheduling, nil},
		{"gang", gang, nil},
		{"OnFailure", onFailure, nil},
		{"of scheduling", func(app *sparkoperator.SparkApplication) {
			gang(app)
			withConf("spark.kubernetes.allocation.maximum", "5")(app)
		}, []string{`spec.sparkConf[spark.kubernetes.allocation.maximum]: "5" is less than twice the size of the gang, 4; each replacement of an executor counts, and the driver fails when they are used up`}},
		{"deprecated fields", func(app *sparkoperator.SparkApplication) { app.Spec.BatchScheduler = new("volcano") },
			[]string{"spec.batchScheduler is deprecated; use spec.scheduling.batchScheduler.name"}},
		{"deprecated fields of what can't be resolved", func(app *sparkoperator.SparkApplication) {
			app.Spec.BatchScheduler, app.Spec.Mode = new("volcano"), sparkoperator.ClientMode
		}, []string{"spec.batchScheduler is deprecated; use spec.scheduling.batchScheduler.name"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			app := newApplication(tc.edit)
			got := WarningsForSparkApplication(app, nil)
			assert.Equal(t, tc.want, got)
			assert.Equal(t, got, WarningsForSparkApplication(app, nil), "always in the same order")
		})
	}
}

// TestWarningsOfResolve passes on what an application's resolution warns about.
func TestWarningsOfResolve(t *testing.T) {
	got := WarningsForSparkApplication(newApplication(func(app *sparkoperator.SparkApplication) { app.Spec.SparkVersion = "nightly" }), nil)
	if assert.Len(t, got, 1) {
		assert.Contains(t, got[0], `spec.sparkVersion: "nightly"`)
	}
}

func TestWarningsOnUpdate(t *testing.T) {
	arguments := func(app *sparkoperator.SparkApplication) { app.Spec.Arguments = []string{"1000"} }
	for _, tc := range []struct {
		name     string
		old, new edit
		want     []string
	}{
		{"nothing", onFailure, noScheduling, nil},
		{"metadata", onFailure, func(app *sparkoperator.SparkApplication) { app.Labels = map[string]string{"a": "b"} }, nil},
		{"the restart policy of a running application", withState(sparkoperator.ApplicationStateRunning), onFailure, nil},
		{"of an application that is being suspended", withState(sparkoperator.ApplicationStateSuspending), arguments, nil},
		{"before the first attempt", noScheduling, arguments, nil},
		{"of a running application", withState(sparkoperator.ApplicationStateRunning), arguments, []string{runningWarning}},
		{"of a suspended application", withState(sparkoperator.ApplicationStateSuspended), arguments, nil},
		{"suspending it", withState(sparkoperator.ApplicationStateRunning), func(app *sparkoperator.SparkApplication) { app.Spec.Suspend = new(true) }, nil},
		{"its time to live", withState(sparkoperator.ApplicationStateRunning), func(app *sparkoperator.SparkApplication) { app.Spec.TimeToLiveSeconds = new(int64(1)) }, nil},
		{"of an ended application", withState(sparkoperator.ApplicationStateCompleted), arguments, []string{completedWarning}},
		{"while it is being deleted", withState(sparkoperator.ApplicationStateRunning), func(app *sparkoperator.SparkApplication) {
			arguments(app)
			app.DeletionTimestamp = &metav1.Time{}
		}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			old := newApplication(tc.old)
			assert.Equal(t, tc.want, WarningsForSparkApplication(edited(old, tc.new), old))
		})
	}
}
