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
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

var update = flag.Bool("update", false, "write the golden files anew")

// testSchedulers are those of most tests.
var testSchedulers = Schedulers{KubeSchedulers: []string{DefaultKubeSchedulerName}}

// spelledBothWays returns an application that names a batch scheduler in the one and in the other place.
func spelledBothWays(name string, options v1beta2.BatchSchedulerConfiguration, edits ...edit) map[string]*v1beta2.SparkApplication {
	nested := withScheduling(func(s *v1beta2.SparkSchedulingSpec) {
		s.BatchScheduler = &v1beta2.BatchSchedulerSpec{
			Name: name, Queue: options.Queue, PriorityClassName: options.PriorityClassName, Resources: options.Resources,
		}
	})
	return map[string]*v1beta2.SparkApplication{
		"nested":    newApplication(append(edits, nested)...),
		"top-level": newApplication(append(edits, topScheduler(name), topOptions(options))...),
	}
}

func submissionOf(t *testing.T, s Schedulers, app *v1beta2.SparkApplication) *Submission {
	t.Helper()
	submission, err := s.CompileSubmission(app, testSubmissionID, submitTime, "", spark.SideSettings{})
	require.NoError(t, err)
	return submission
}

// demanding has sizes from every place that counts.
func demanding(app *v1beta2.SparkApplication) {
	app.Spec.MainApplicationFile = new("local:///opt/app.py")
	app.Spec.MainClass = nil
	app.Spec.NodeSelector = map[string]string{"pool": "spark"}
	app.Spec.Driver.CoreRequest, app.Spec.Driver.Memory = new("500m"), new("512m")
	app.Spec.Executor.Memory = nil
	app.Spec.SparkConf = map[string]string{
		"spark.executor.memory": "2g", "spark.executor.pyspark.memory": "100",
		"spark.executor.resource.gpu.amount": "1", "spark.executor.resource.gpu.vendor": "nvidia.com",
	}
	app.Spec.Executor.Instances = new(int32(3))
	app.Spec.Executor.Tolerations = []corev1.Toleration{{Key: "spark", Operator: corev1.TolerationOpExists}}
	app.Spec.Executor.Labels = map[string]string{"team": "a"}
	app.Spec.Executor.Sidecars = []corev1.Container{{Name: "shipper", Image: "example.com/shipper", Resources: corev1.ResourceRequirements{
		Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("100M")},
	}}}
}

// The artefacts of each batch scheduler are those that were reviewed, and the same from both spellings.
func TestBatchSchedulersGolden(t *testing.T) {
	options := v1beta2.BatchSchedulerConfiguration{Queue: new("root.spark"), PriorityClassName: new("high")}
	resources := v1beta2.BatchSchedulerConfiguration{Resources: corev1.ResourceList{"cpu": resource.MustParse("7"), "memory": resource.MustParse("9Gi")}}
	for _, tc := range []struct {
		golden, name string
		options      v1beta2.BatchSchedulerConfiguration
		edits        []edit
	}{
		{"volcano", "volcano", v1beta2.BatchSchedulerConfiguration{}, nil},
		{"volcano-demanding", "volcano", options, []edit{demanding}},
		{"volcano-resources", "volcano", resources, nil},
		{"volcano-own-group", "volcano", options, []edit{func(app *v1beta2.SparkApplication) {
			app.Spec.Driver.Annotations = map[string]string{"scheduling.k8s.io/group-name": "mine"}
		}}},
		{"yunikorn", "yunikorn", v1beta2.BatchSchedulerConfiguration{}, nil},
		{"yunikorn-demanding", "yunikorn", options, []edit{demanding}},
		{"yunikorn-no-executors", "yunikorn", options, []edit{withConf("spark.dynamicAllocation.enabled", "true"), func(app *v1beta2.SparkApplication) {
			app.Spec.Executor.Instances = nil
		}}},
		{"kube-scheduler", "kube-scheduler", v1beta2.BatchSchedulerConfiguration{}, nil},
		{"kube-scheduler-demanding", "kube-scheduler", options, []edit{demanding}},
	} {
		t.Run(tc.golden, func(t *testing.T) {
			file := filepath.Join("testdata", "batch", tc.golden+".yaml")
			for spelling, app := range spelledBothWays(tc.name, tc.options, tc.edits...) {
				before := app.DeepCopy()
				batch := submissionOf(t, testSchedulers, app).Batch
				assert.Equal(t, before, app)
				got := describe(t, batch)
				if *update {
					require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
					require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				}
				want, err := os.ReadFile(file)
				require.NoError(t, err)
				assert.Equal(t, string(want), got, "%s, %s: if the difference is wanted, run the test with -update", file, spelling)
			}
		})
	}
}

// describe writes down what a batch scheduler needs. Annotations that hold JSON are taken apart, for readers.
func describe(t *testing.T, b *Batch) string {
	t.Helper()
	marks := func(m spark.Marks) map[string]any {
		annotations := map[string]any{}
		for key, value := range m.Annotations {
			annotations[key] = value
			var decoded any
			if strings.HasPrefix(value, "[") {
				require.NoError(t, json.Unmarshal([]byte(value), &decoded))
				annotations[key+" (JSON)"] = decoded
				delete(annotations, key)
			}
		}
		return map[string]any{"labels": m.Labels, "annotations": annotations}
	}
	out := map[string]any{
		"schedulerName": b.Placement.SchedulerName, "driver": marks(b.Placement.Driver), "executor": marks(b.Placement.Executor),
	}
	if b.PodGroup != nil {
		out["podGroup"], out["resource"] = b.PodGroup.Object, b.Resource.String()
	}
	text, err := yaml.Marshal(out)
	require.NoError(t, err)
	return string(text)
}

// What a batch scheduler needs is on the driver's pod, and in the properties from which Spark makes executors; nothing
// that the application says elsewhere wins over it.
func TestBatchSchedulerMarksThePods(t *testing.T) {
	contrary := func(app *v1beta2.SparkApplication) {
		app.Spec.Driver.SchedulerName, app.Spec.Executor.SchedulerName = new("one"), new("two")
		app.Spec.SparkConf = map[string]string{
			"spark.kubernetes.scheduler.name":         "three",
			"spark.kubernetes.executor.label.queue":   "four",
			"spark.kubernetes.driver.annotation.kept": "yes",
		}
		app.Spec.Driver.Labels = map[string]string{"queue": "five", "scheduling.x-k8s.io/pod-group": "six"}
		withDriverTemplate(`{"spec":{"schedulerName":"seven"}}`)(app)
		withExecutorTemplate(`{"spec":{"schedulerName":"eight"}}`)(app)
	}
	for _, name := range testSchedulers.Names() {
		for _, edits := range [][]edit{nil, {contrary}} {
			for spelling, app := range spelledBothWays(name, v1beta2.BatchSchedulerConfiguration{Queue: new("q")}, edits...) {
				t.Run(name+" "+spelling, func(t *testing.T) {
					submission := submissionOf(t, testSchedulers, app)
					assert.Nil(t, submission.Native)
					driver, properties := submission.Objects.Driver, submission.Objects.Properties
					assert.Equal(t, name, driver.Spec.SchedulerName)
					template, _, _ := unstructured.NestedString(submission.Objects.ExecutorTemplate, "spec", "schedulerName")
					assert.Equal(t, name, template)
					for _, key := range []string{"spark.kubernetes.scheduler.name", "spark.kubernetes.driver.scheduler.name", "spark.kubernetes.executor.scheduler.name"} {
						assert.Equal(t, name, properties[key], key)
					}
					p := submission.Batch.Placement
					assert.NotEmpty(t, len(p.Driver.Labels)+len(p.Driver.Annotations))
					for key, value := range p.Driver.Labels {
						assert.Equal(t, value, driver.Labels[key], key)
					}
					for key, value := range p.Driver.Annotations {
						assert.Equal(t, value, driver.Annotations[key], key)
					}
					for key, value := range p.Executor.Labels {
						assert.Equal(t, value, properties["spark.kubernetes.executor.label."+key], key)
					}
					for key, value := range p.Executor.Annotations {
						assert.Equal(t, value, properties["spark.kubernetes.executor.annotation."+key], key)
					}
					if len(edits) > 0 {
						assert.Equal(t, "yes", driver.Annotations["kept"])
					}
				})
			}
		}
	}
}

// A PodGroup belongs to its application, and its name is the same in every attempt.
func TestBatchPodGroupIdentity(t *testing.T) {
	for _, name := range []string{"volcano", "kube-scheduler"} {
		app := newApplication(topScheduler(name))
		group := submissionOf(t, testSchedulers, app).Batch.PodGroup
		require.NotNil(t, group)
		assert.True(t, metav1.IsControlledBy(group, app))
		assert.Equal(t, testSubmissionID, group.GetLabels()[spark.LabelSubmissionID])
		other, err := testSchedulers.CompileSubmission(app, "1e0bd8f9-96a5-4a5c-8e52-1a4c9e0e2a11", submitTime, "", spark.SideSettings{})
		require.NoError(t, err)
		assert.Equal(t, group.GetName(), other.Batch.PodGroup.GetName())
		got, ok := PodGroupResource(name)
		assert.True(t, ok)
		assert.Equal(t, submissionOf(t, testSchedulers, app).Batch.Resource, got)
	}
	_, ok := PodGroupResource("yunikorn")
	assert.False(t, ok)
}

func TestBatchPodGroupNamesFit(t *testing.T) {
	long, longer := strings.Repeat("a", 63), strings.Repeat("a", 62)+"b"
	names := map[string]string{}
	for _, app := range []string{"spark-pi", long, longer} {
		name := fitted("", app, "-pg", validation.LabelValueMaxLength)
		assert.Empty(t, validation.IsValidLabelValue(name))
		assert.Empty(t, validation.IsDNS1123Subdomain(name))
		assert.Empty(t, names[name], "two applications share %s", name)
		names[name] = app
	}
	assert.Equal(t, "spark-pi-pg", fitted("", "spark-pi", "-pg", validation.LabelValueMaxLength))
	assert.Equal(t, "spark-"+long+"-pg", fitted("spark-", long, "-pg", validation.DNS1123SubdomainMaxLength))
}

// An attempt keeps to the batch scheduler that it was begun with. A changed default acts on the next one.
func TestBatchSchedulerOfAnAttemptIsKept(t *testing.T) {
	byDefault := func(name string) Schedulers {
		return Schedulers{Default: name, KubeSchedulers: []string{"kube-scheduler"}}
	}
	begun := func(record *v1beta2.BatchSchedulingStatus) *v1beta2.SparkApplication {
		app := newApplication()
		app.Status.SubmissionID, app.Status.BatchScheduling = testSubmissionID, record
		return app
	}
	for _, tc := range []struct {
		name       string
		app        *v1beta2.SparkApplication
		schedulers Schedulers
		want       string
	}{
		{"a first attempt", newApplication(), byDefault("yunikorn"), "yunikorn"},
		{"begun with Volcano", begun(&v1beta2.BatchSchedulingStatus{Name: "volcano"}), byDefault("yunikorn"), "volcano"},
		{"begun with Volcano, no default now", begun(&v1beta2.BatchSchedulingStatus{Name: "volcano"}), byDefault(""), "volcano"},
		{"begun without", begun(nil), byDefault("yunikorn"), ""},
		{"begun with a scheduler that is known no more", begun(&v1beta2.BatchSchedulingStatus{Name: "co"}), byDefault("volcano"), "co"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			submission := submissionOf(t, tc.schedulers, tc.app)
			if tc.want == "" {
				assert.Nil(t, submission.Batch)
				assert.Empty(t, submission.Objects.Driver.Spec.SchedulerName)
			} else {
				require.NotNil(t, submission.Batch)
				assert.Equal(t, tc.want, submission.Batch.Name)
				assert.Equal(t, tc.want, submission.Objects.Driver.Spec.SchedulerName)
			}
			next, err := tc.schedulers.CompileSubmission(tc.app, "1e0bd8f9-96a5-4a5c-8e52-1a4c9e0e2a11", submitTime, "", spark.SideSettings{})
			require.NoError(t, err)
			if tc.schedulers.Default == "" {
				assert.Nil(t, next.Batch)
			} else {
				assert.Equal(t, tc.schedulers.Default, next.Batch.Name)
			}
		})
	}
}

// The default has the options that are given without a name.
func TestDefaultBatchSchedulerHasOptions(t *testing.T) {
	app := newApplication(topOptions(v1beta2.BatchSchedulerConfiguration{Queue: new("team-a")}))
	batch := submissionOf(t, Schedulers{Default: "volcano"}, app).Batch
	queue, _, _ := unstructured.NestedString(batch.PodGroup.Object, "spec", "queue")
	assert.Equal(t, "team-a", queue)

	_, err := Schedulers{Default: "vulcano"}.CompileSubmission(newApplication(), testSubmissionID, submitTime, "", spark.SideSettings{})
	require.ErrorContains(t, err, "vulcano", "a default that nobody knows places nothing")
}
