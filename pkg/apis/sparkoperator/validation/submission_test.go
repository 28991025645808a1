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
	"math/rand"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
)

// TestWhatIsAcceptedCompiles mixes edits at random and compiles every application that validation accepts. The size of
// the gang is the number of executors that the driver is told to make, wherever it comes from.
func TestWhatIsAcceptedCompiles(t *testing.T) {
	random := rand.New(rand.NewSource(2962))
	conf := func(key string, values ...string) edit { return withConf(key, values[random.Intn(len(values))]) }
	template := func(values ...string) *runtime.RawExtension {
		return &runtime.RawExtension{Raw: []byte(values[random.Intn(len(values))])}
	}
	choices := []func() edit{
		func() edit { return gang },
		func() edit { return gang },
		func() edit { return emptyScheduling },
		func() edit {
			return func(app *sparkoperator.SparkApplication) { app.Spec.Executor.Instances = new(random.Int31n(300) + 1) }
		},
		func() edit {
			return func(app *sparkoperator.SparkApplication) {
				app.Spec.Executor.Instances = nil
				conf("spark.executor.instances", "1", "3", " 7 ", "+8", "0", "-1", "many", "")(app)
			}
		},
		func() edit { return conf("spark.dynamicAllocation.enabled", "true", "false", " TRUE", "yes", "") },
		func() edit { return conf("spark.kubernetes.allocation.maxPendingPods", "1", "10", "1000", "x") },
		func() edit { return conf("spark.kubernetes.allocation.batch.size", "1", "10", "x") },
		func() edit { return conf("spark.kubernetes.allocation.pods.allocator", "direct", "statefulset") },
		func() edit { return conf("spark.kubernetes.scheduler.name", "", "default-scheduler", "mine") },
		func() edit { return conf("spark.scheduler.maxRegisteredResourcesWaitingTime", "30s", "1h") },
		func() edit { return conf("spark.kubernetes.executor.label.team", "a", "") },
		func() edit {
			return func(app *sparkoperator.SparkApplication) {
				app.Spec.Executor.PriorityClassName = new([]string{"high", "system-node-critical"}[random.Intn(2)])
			}
		},
		func() edit {
			return func(app *sparkoperator.SparkApplication) {
				app.Spec.Executor.Template = template(`{}`, `{"spec":{"containers":[{"name":"a","image":"b"}],"priorityClassName":"low"}}`,
					`{"spec":{"schedulingGroup":{"podGroupName":"theirs"}}}`, `{"spec":{"newerField":{"a":1}}}`, `{"spec":7}`)
			}
		},
		func() edit {
			return func(app *sparkoperator.SparkApplication) {
				app.Spec.SparkVersion = []string{"3.2.0", "3.5.7", "4.0.4", "4.3.0", "5.0", "nightly"}[random.Intn(6)]
			}
		},
		func() edit {
			return func(app *sparkoperator.SparkApplication) {
				app.Spec.Executor.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
			}
		},
	}

	accepted, gangs := 0, 0
	for range 600 {
		app := newApplication(func(app *sparkoperator.SparkApplication) {
			for range random.Intn(5) {
				choices[random.Intn(len(choices))]()(app)
			}
		})
		if len(ValidateSparkApplication(app, gateOn)) > 0 {
			continue
		}
		accepted++
		submission, err := scheduling.CompileSubmission(versioned(app), "9c2a52f8-7a43-4c76-b1ad-6a5b22e4ef60", time.Unix(1, 0), "")
		require.NoError(t, err)
		assert.Equal(t, app.Spec.Scheduling != nil, submission.Native != nil)
		spec, _ := submission.Objects.ExecutorTemplate["spec"].(map[string]any)
		if submission.Native == nil {
			if app.Spec.Executor.Template == nil { // a template may join a group that its author made
				assert.NotContains(t, spec, "schedulingGroup")
			}
			continue
		}
		assert.Equal(t, map[string]any{"podGroupName": submission.Native.PodGroup.Name}, spec["schedulingGroup"])
		assert.Equal(t, strconv.Itoa(int(submission.Application.Executors.Initial)), submission.Objects.Properties["spark.executor.instances"])
		assert.Equal(t, "false", submission.Objects.Properties["spark.dynamicAllocation.enabled"])
		if submission.Native.Gang {
			gangs++
			assert.Equal(t, submission.Objects.Properties["spark.executor.instances"],
				strconv.Itoa(int(submission.Native.PodGroup.Spec.SchedulingPolicy.Gang.MinCount)))
		}
	}
	assert.Greater(t, accepted, 100, "too few to say anything")
	assert.Greater(t, gangs, 30, "too few to say anything")
}
