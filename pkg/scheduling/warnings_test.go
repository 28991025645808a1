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

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func TestWarnings(t *testing.T) {
	gang, basic := withScheduling(gangPolicy), withScheduling()
	for _, tc := range []struct {
		name  string
		edits []edit
		want  []string
	}{
		{name: "none"},
		{name: "gang", edits: []edit{gang}},
		{name: "a named scheduler is not deprecated", edits: []edit{func(app *v1beta2.SparkApplication) {
			app.Spec.Executor.SchedulerName = new("mine")
		}}},
		{name: "nested batch scheduler", edits: []edit{withScheduling(nestedVolcano)}},
		{name: "deprecated fields", edits: []edit{func(app *v1beta2.SparkApplication) {
			app.Spec.BatchScheduler = new("volcano")
			app.Spec.BatchSchedulerOptions = &v1beta2.BatchSchedulerConfiguration{
				Queue:             new("root"),
				PriorityClassName: new("high"),
				Resources:         corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
			}
		}}, want: []string{
			"spec.batchScheduler is deprecated; use spec.scheduling.batchScheduler.name",
			"spec.batchSchedulerOptions.queue is deprecated; use spec.scheduling.batchScheduler.queue",
			"spec.batchSchedulerOptions.priorityClassName is deprecated; use spec.scheduling.batchScheduler.priorityClassName",
			"spec.batchSchedulerOptions.resources is deprecated; use spec.scheduling.batchScheduler.resources",
		}},
		{name: "few replacements", edits: []edit{gang, withConf("spark.kubernetes.allocation.maximum", "7")}, want: []string{
			`spec.sparkConf[spark.kubernetes.allocation.maximum]: "7" is less than twice the size of the gang, 4; each replacement of an executor counts, and the driver fails when they are used up`,
		}},
		{name: "enough replacements", edits: []edit{gang, withConf("spark.kubernetes.allocation.maximum", "8")}},
		{name: "waiting time", edits: []edit{gang, withConf("spark.scheduler.maxRegisteredResourcesWaitingTime", "30s")}, want: []string{
			`spec.sparkConf[spark.scheduler.maxRegisteredResourcesWaitingTime]: "30s" is kept; a gang may wait longer than that, and the application's code then runs without executors; remove the property to wait for the gang`,
		}},
		{name: "ratio", edits: []edit{gang, withConf("spark.scheduler.minRegisteredResourcesRatio", "1.0")}, want: []string{
			`spec.sparkConf[spark.scheduler.minRegisteredResourcesRatio]: "1.0" is kept; the application's code starts when this share of the gang has registered; Spark's default on Kubernetes is 0.8`,
		}},
		{name: "only gangs wait", edits: []edit{basic, withConf("spark.scheduler.maxRegisteredResourcesWaitingTime", "30s")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			application := resolve(t, tc.edits...)
			got := Warnings(application, testSpecPath)
			if len(tc.want) == 0 {
				assert.Empty(t, got)
			} else {
				assert.Equal(t, tc.want, got)
			}
			assert.Equal(t, got, Warnings(application, testSpecPath))
		})
	}
}
