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

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

var submitTime = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func TestCompileSubmission(t *testing.T) {
	app := newApplication(withScheduling(gangPolicy))
	before := app.DeepCopy()
	submission, err := CompileSubmission(app, testSubmissionID, submitTime, "")
	require.NoError(t, err)
	assert.Equal(t, before, app)
	require.NotNil(t, submission.Native)

	// The size of the gang, the number that the driver makes and the membership of what it makes are one.
	assert.Equal(t, "4", submission.Objects.Properties["spark.executor.instances"])
	assert.Equal(t, int32(4), submission.Native.PodGroup.Spec.SchedulingPolicy.Gang.MinCount)
	spec, _ := submission.Objects.ExecutorTemplate["spec"].(map[string]any)
	assert.Equal(t, map[string]any{"podGroupName": submission.Native.PodGroup.Name}, spec["schedulingGroup"])
	assert.Nil(t, submission.Objects.Driver.Spec.SchedulingGroup, "the driver never joins")
	assert.NotContains(t, spec, "priorityClassName")
}

func TestCompileSubmissionPinsThePriorityClass(t *testing.T) {
	submission, err := CompileSubmission(newApplication(withScheduling(gangPolicy)), testSubmissionID, submitTime, "default-class")
	require.NoError(t, err)
	spec, _ := submission.Objects.ExecutorTemplate["spec"].(map[string]any)
	assert.Equal(t, "default-class", spec["priorityClassName"])
	assert.Empty(t, submission.Native.PodGroup.Spec.PriorityClassName, "the group is asked for as before")
}

func TestCompileSubmissionWithoutNative(t *testing.T) {
	submission, err := CompileSubmission(newApplication(), testSubmissionID, submitTime, "")
	require.NoError(t, err)
	assert.Nil(t, submission.Native)
	spec, _ := submission.Objects.ExecutorTemplate["spec"].(map[string]any)
	assert.NotContains(t, spec, "schedulingGroup")
}

func TestCompileSubmissionFailsClosed(t *testing.T) {
	for _, tc := range []struct {
		name    string
		edit    edit
		wantErr string
	}{
		{"unknown batch scheduler", topScheduler("vulcano"), "spec.batchScheduler: Unsupported value"},
		{"two batch schedulers", func(app *v1beta2.SparkApplication) {
			topScheduler("volcano")(app)
			withScheduling(nestedVolcano)(app)
		}, "spec.batchScheduler: Invalid value"},
		{"a size given", withScheduling(gangPolicy, func(s *v1beta2.SparkSchedulingSpec) { s.SchedulingPolicy.Gang.MinCount = new(int32(2)) }), "minCount: Forbidden"},
		{"client mode", func(app *v1beta2.SparkApplication) { app.Spec.Mode = v1beta2.ClientMode }, "spec.mode"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			submission, err := CompileSubmission(newApplication(tc.edit), testSubmissionID, submitTime, "")
			require.ErrorContains(t, err, tc.wantErr)
			assert.Nil(t, submission)
		})
	}
}
