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
		{name: "options without a batch scheduler", edits: []edit{topOptions(v1beta2.BatchSchedulerConfiguration{})}, want: []string{
			"spec.batchSchedulerOptions: is only for the batch scheduler that the server chooses by default, if it does; name one with spec.scheduling.batchScheduler.name",
		}},
		{name: "options that have no effect", edits: []edit{withScheduling(func(s *v1beta2.SparkSchedulingSpec) {
			s.BatchScheduler = &v1beta2.BatchSchedulerSpec{Name: "kube-scheduler", Queue: new("root"), Resources: corev1.ResourceList{"cpu": resource.MustParse("3")}}
		})}, want: []string{
			`spec.scheduling.batchScheduler.queue: root has no effect with the batch scheduler "kube-scheduler"; remove the field`,
			`spec.scheduling.batchScheduler.resources: map[cpu:3] has no effect with the batch scheduler "kube-scheduler"; remove the field`,
		}},
		{name: "another scheduler", edits: []edit{withScheduling(nestedVolcano), withConf("spark.kubernetes.scheduler.name", "mine"), func(app *v1beta2.SparkApplication) {
			app.Spec.Driver.SchedulerName = new("volcano")
		}}, want: []string{
			`spec.sparkConf[spark.kubernetes.scheduler.name]: "mine" has no effect, because spec.scheduling.batchScheduler gives the pods to "volcano"; remove one of them`,
		}},
		{name: "a PodGroup of one's own", edits: []edit{withScheduling(nestedVolcano), func(app *v1beta2.SparkApplication) {
			app.Spec.Driver.Annotations = map[string]string{"scheduling.k8s.io/group-name": "mine"}
		}}, want: []string{
			`spec.driver.annotations[scheduling.k8s.io/group-name]: "mine" is taken for a PodGroup of yours: none is made, and the executors are left as they are`,
		}},
		{name: "marks that are needed otherwise", edits: []edit{withScheduling(func(s *v1beta2.SparkSchedulingSpec) {
			s.BatchScheduler = &v1beta2.BatchSchedulerSpec{Name: "yunikorn", Queue: new("root.a")}
		}), withExecutorTemplate(`{"metadata":{"annotations":{"yunikorn.apache.org/task-group-name":"mine"}}}`), func(app *v1beta2.SparkApplication) {
			app.Spec.Driver.Labels = map[string]string{"queue": "root.b"}
		}}, want: []string{
			`spec.driver.labels[queue]: "root.b" has no effect, because the batch scheduler "yunikorn" needs the value "root.a"; remove it`,
			`spec.executor.template.metadata.annotations[yunikorn.apache.org/task-group-name]: "mine" has no effect, because the batch scheduler "yunikorn" needs the value "spark-executor"; remove it`,
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
