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
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

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

func TestValidate(t *testing.T) {
	gang, basic := withScheduling(gangPolicy), withScheduling()
	instances := func(n int32) edit {
		return func(app *v1beta2.SparkApplication) { app.Spec.Executor.Instances = &n }
	}
	const sparkConf = "spec.sparkConf"
	for _, tc := range []struct {
		name  string
		edits []edit
		want  []want
	}{
		// What is accepted.
		{name: "no scheduling", edits: nil},
		{name: "basic", edits: []edit{basic}},
		{name: "gang", edits: []edit{gang}},
		{name: "gang of one", edits: []edit{gang, instances(1)}},
		{name: "the default scheduler by its name", edits: []edit{gang, func(app *v1beta2.SparkApplication) {
			app.Spec.Driver.SchedulerName, app.Spec.Executor.SchedulerName = new("default-scheduler"), new("default-scheduler")
		}}},
		{name: "another scheduler without native intent", edits: []edit{func(app *v1beta2.SparkApplication) {
			app.Spec.Executor.SchedulerName = new("my-scheduler")
		}}},
		{name: "gates of Kueue", edits: []edit{gang, withExecutorTemplate(`{"spec":{"schedulingGates":[{"name":"kueue.x-k8s.io/admission"}]}}`)}},
		{name: "limits that are large enough", edits: []edit{gang,
			withConf("spark.kubernetes.allocation.maxPendingPods", "4"),
			withConf("spark.kubernetes.allocation.maximum", " 4 "),
			withConf("spark.kubernetes.allocation.pods.allocator", "direct")}},
		{name: "dynamic allocation without native intent", edits: []edit{withConf("spark.dynamicAllocation.enabled", "true")}},
		{name: "dynamic allocation that is off", edits: []edit{gang, withConf("spark.dynamicAllocation.enabled", "false")}},
		{name: "a limit matters to gangs alone", edits: []edit{basic, withConf("spark.kubernetes.allocation.maxPendingPods", "2")}},
		{name: "one of polling and watching is enough", edits: []edit{gang, withConf("spark.kubernetes.executor.enableApiPolling", "false")}},

		// R3 and R5: batch schedulers, in both places.
		{name: "nested batch scheduler", edits: []edit{withScheduling(nestedVolcano)}},
		{name: "top-level batch scheduler", edits: []edit{topScheduler("yunikorn")}},
		{name: "top-level options alone", edits: []edit{topOptions(v1beta2.BatchSchedulerConfiguration{Queue: new("root")})}},
		{name: "an unknown batch scheduler, nested", edits: []edit{withScheduling(func(s *v1beta2.SparkSchedulingSpec) {
			s.BatchScheduler = &v1beta2.BatchSchedulerSpec{Name: "vulcano"}
		})}, want: []want{
			{field.ErrorTypeNotSupported, "spec.scheduling.batchScheduler.name", `"volcano", "yunikorn"`},
		}},
		{name: "an unknown batch scheduler, top-level", edits: []edit{topScheduler("kube-scheduler")}, want: []want{
			{field.ErrorTypeNotSupported, "spec.batchScheduler", `"volcano", "yunikorn"`},
		}},
		{name: "options that Volcano refuses", edits: []edit{topScheduler("volcano"), topOptions(v1beta2.BatchSchedulerConfiguration{
			Queue: new("root.default_queue"), PriorityClassName: new("High"),
			Resources: corev1.ResourceList{"cpu": resource.MustParse("-1"), "a b": resource.MustParse("1")},
		})}, want: []want{
			{field.ErrorTypeInvalid, "spec.batchSchedulerOptions.queue", "lowercase"},
			{field.ErrorTypeInvalid, "spec.batchSchedulerOptions.priorityClassName", "lowercase"},
			{field.ErrorTypeInvalid, "spec.batchSchedulerOptions.resources[a b]", ""},
			{field.ErrorTypeInvalid, "spec.batchSchedulerOptions.resources[cpu]", "must not be negative"},
		}},
		{name: "a queue that is no label", edits: []edit{withScheduling(func(s *v1beta2.SparkSchedulingSpec) {
			s.BatchScheduler = &v1beta2.BatchSchedulerSpec{Name: "yunikorn", Queue: new("root/default")}
		})}, want: []want{
			{field.ErrorTypeInvalid, "spec.scheduling.batchScheduler.queue", ""},
		}},
		{name: "both places", edits: []edit{withScheduling(nestedVolcano), topScheduler("volcano"), topOptions(v1beta2.BatchSchedulerConfiguration{})}, want: []want{
			{field.ErrorTypeInvalid, "spec.batchScheduler", "must not be set together with spec.scheduling.batchScheduler"},
			{field.ErrorTypeInvalid, "spec.batchSchedulerOptions", "must not be set together with spec.scheduling.batchScheduler"},
		}},
		// R8: native and top-level.
		{name: "native and top-level", edits: []edit{gang, func(app *v1beta2.SparkApplication) {
			app.Spec.BatchScheduler = new("volcano")
			app.Spec.BatchSchedulerOptions = &v1beta2.BatchSchedulerConfiguration{}
		}}, want: []want{
			{field.ErrorTypeInvalid, "spec.batchScheduler", "must not be set together with spec.scheduling.schedulingPolicy.gang"},
			{field.ErrorTypeInvalid, "spec.batchSchedulerOptions", "must not be set together with spec.scheduling.schedulingPolicy.gang"},
		}},
		// R4: native and nested.
		{name: "native and nested", edits: []edit{withScheduling(gangPolicy, nestedVolcano)}, want: []want{
			{field.ErrorTypeInvalid, "spec.scheduling", "mutually exclusive"},
		}},
		{name: "constraints and nested", edits: []edit{withScheduling(nestedVolcano, func(s *v1beta2.SparkSchedulingSpec) {
			s.SchedulingConstraints = &sparkoperator.SchedulingConstraints{}
		})}, want: []want{
			{field.ErrorTypeInvalid, "spec.scheduling", "mutually exclusive"},
			{field.ErrorTypeForbidden, "spec.scheduling.schedulingConstraints", "needs the feature gate"},
		}},
		// R10 and R11: what of the block can't be honoured.
		{name: "size of the gang", edits: []edit{withScheduling(gangPolicy, func(s *v1beta2.SparkSchedulingSpec) {
			s.SchedulingPolicy.Gang.MinCount = new(int32(4))
		})}, want: []want{
			{field.ErrorTypeForbidden, "spec.scheduling.schedulingPolicy.gang.minCount", "is computed from the number of executors"},
		}},
		{name: "constraints", edits: []edit{withScheduling(gangPolicy, func(s *v1beta2.SparkSchedulingSpec) {
			s.SchedulingConstraints = &sparkoperator.SchedulingConstraints{}
		})}, want: []want{{field.ErrorTypeForbidden, "spec.scheduling.schedulingConstraints", "needs the feature gate SparkApplicationTopology"}}},
		{name: "disruption mode", edits: []edit{withScheduling(gangPolicy, func(s *v1beta2.SparkSchedulingSpec) {
			s.DisruptionMode = &sparkoperator.DisruptionMode{}
		})}, want: []want{{field.ErrorTypeForbidden, "spec.scheduling.disruptionMode", "needs the feature gate SparkApplicationDisruptionMode"}}},
		{name: "resource claims", edits: []edit{withScheduling(gangPolicy, func(s *v1beta2.SparkSchedulingSpec) {
			s.ResourceClaims = []sparkoperator.ResourceClaim{{Name: "gpu"}}
		})}, want: []want{{field.ErrorTypeForbidden, "spec.scheduling.resourceClaims", "needs the feature gate SparkApplicationSharedResourceClaims"}}},
		{name: "priority class", edits: []edit{withScheduling(gangPolicy, func(s *v1beta2.SparkSchedulingSpec) {
			s.PriorityClassName = new("high")
		})}, want: []want{{field.ErrorTypeForbidden, "spec.scheduling.priorityClassName", "executor.priorityClassName"}}},
		{name: "deadline of a gang", edits: []edit{withScheduling(gangPolicy, func(s *v1beta2.SparkSchedulingSpec) {
			s.AdmissionDeadlineSeconds = new(int64(900))
		})}},
		{name: "deadline that is none", edits: []edit{withScheduling(gangPolicy, func(s *v1beta2.SparkSchedulingSpec) {
			s.AdmissionDeadlineSeconds = new(int64(0))
		})}, want: []want{{field.ErrorTypeInvalid, "spec.scheduling.admissionDeadlineSeconds", "at least 1 second"}}},
		{name: "deadline of what is no gang", edits: []edit{withScheduling(func(s *v1beta2.SparkSchedulingSpec) {
			s.SchedulingPolicy = &sparkoperator.SchedulingPolicy{Basic: &sparkoperator.BasicSchedulingPolicy{}}
			s.AdmissionDeadlineSeconds = new(int64(900))
		})}, want: []want{{field.ErrorTypeForbidden, "spec.scheduling.admissionDeadlineSeconds", "only a gang"}}},
		// R20: dynamic allocation.
		{name: "dynamic allocation by the block", edits: []edit{gang, func(app *v1beta2.SparkApplication) {
			app.Spec.DynamicAllocation = &v1beta2.DynamicAllocation{Enabled: true}
		}}, want: []want{{field.ErrorTypeForbidden, "spec.dynamicAllocation.enabled", "turn dynamic allocation off"}}},
		{name: "dynamic allocation by the property", edits: []edit{basic, withConf("spark.dynamicAllocation.enabled", "TRUE")}, want: []want{
			{field.ErrorTypeForbidden, sparkConf + "[spark.dynamicAllocation.enabled]", "turn dynamic allocation off"},
		}},
		// R22: schedulers, in each place that names one.
		{name: "scheduler of the driver", edits: []edit{gang, func(app *v1beta2.SparkApplication) {
			app.Spec.Driver.SchedulerName = new("mine")
		}}, want: []want{{field.ErrorTypeInvalid, "spec.driver.schedulerName", `the scheduler is "default-scheduler"`}}},
		{name: "scheduler of the executors", edits: []edit{basic, func(app *v1beta2.SparkApplication) {
			app.Spec.Executor.SchedulerName = new("volcano")
		}}, want: []want{{field.ErrorTypeInvalid, "spec.executor.schedulerName", `the scheduler is "default-scheduler"`}}},
		{name: "scheduler of both by the property", edits: []edit{gang, withConf("spark.kubernetes.scheduler.name", "mine")}, want: []want{
			{field.ErrorTypeInvalid, sparkConf + "[spark.kubernetes.scheduler.name]", `the scheduler is "default-scheduler"`},
		}},
		{name: "scheduler of the driver by the property", edits: []edit{gang, withConf("spark.kubernetes.driver.scheduler.name", "mine")}, want: []want{
			{field.ErrorTypeInvalid, sparkConf + "[spark.kubernetes.driver.scheduler.name]", `the scheduler is "default-scheduler"`},
		}},
		{name: "scheduler of the executors by the property", edits: []edit{gang, withConf("spark.kubernetes.executor.scheduler.name", "mine")}, want: []want{
			{field.ErrorTypeInvalid, sparkConf + "[spark.kubernetes.executor.scheduler.name]", `the scheduler is "default-scheduler"`},
		}},
		{name: "scheduler of the driver's template", edits: []edit{gang, withDriverTemplate(`{"spec":{"schedulerName":"mine"}}`)}, want: []want{
			{field.ErrorTypeInvalid, "spec.driver.template.spec.schedulerName", `the scheduler is "default-scheduler"`},
		}},
		{name: "scheduler of the executors' template", edits: []edit{gang, withExecutorTemplate(`{"spec":{"schedulerName":"mine"}}`)}, want: []want{
			{field.ErrorTypeInvalid, "spec.executor.template.spec.schedulerName", `the scheduler is "default-scheduler"`},
		}},
		// R23: limits of the allocator.
		{name: "pending pods", edits: []edit{gang, withConf("spark.kubernetes.allocation.maxPendingPods", "3")}, want: []want{
			{field.ErrorTypeInvalid, sparkConf + "[spark.kubernetes.allocation.maxPendingPods]", "must be at least the size of the gang, 4 (spec.executor.instances)"},
		}},
		{name: "pending pods of a profile", edits: []edit{gang, withConf("spark.kubernetes.allocation.maxPendingPodsPerRp", "3")}, want: []want{
			{field.ErrorTypeInvalid, sparkConf + "[spark.kubernetes.allocation.maxPendingPodsPerRp]", "must be at least the size of the gang, 4"},
		}},
		{name: "pods at all", edits: []edit{gang, withConf("spark.kubernetes.allocation.maximum", "3")}, want: []want{
			{field.ErrorTypeInvalid, sparkConf + "[spark.kubernetes.allocation.maximum]", "must be at least the size of the gang, 4"},
		}},
		{name: "a limit that is no number", edits: []edit{gang, withConf("spark.kubernetes.allocation.maxPendingPods", "many")}, want: []want{
			{field.ErrorTypeInvalid, sparkConf + "[spark.kubernetes.allocation.maxPendingPods]", "must be a whole number"},
		}},
		{name: "allocator", edits: []edit{basic, withConf("spark.kubernetes.allocation.pods.allocator", "statefulset")}, want: []want{
			{field.ErrorTypeInvalid, sparkConf + "[spark.kubernetes.allocation.pods.allocator]", `must be "direct"`},
		}},
		{name: "a driver that sees nothing", edits: []edit{
			gang,
			withConf("spark.kubernetes.executor.enableApiPolling", "false"),
			withConf("spark.kubernetes.executor.enableApiWatcher", "False"),
		}, want: []want{
			{field.ErrorTypeInvalid, sparkConf + "[spark.kubernetes.executor.enableApiPolling]", "the driver would never see its executors"},
		}},
		{name: "a driver without executors", edits: []edit{gang, func(app *v1beta2.SparkApplication) {
			app.Spec.Driver.KubernetesMaster = new("local[4]")
		}}, want: []want{{field.ErrorTypeInvalid, "spec.driver.kubernetesMaster", "a local master makes no executors"}}},
		// R24: membership.
		{name: "group of the executors", edits: []edit{gang, withExecutorTemplate(`{"spec":{"schedulingGroup":{"podGroupName":"theirs"}}}`)}, want: []want{
			{field.ErrorTypeForbidden, "spec.executor.template.spec.schedulingGroup", "is set for each attempt"},
		}},
		{name: "group of the driver", edits: []edit{basic, withDriverTemplate(`{"spec":{"schedulingGroup":{"podGroupName":"theirs"}}}`)}, want: []want{
			{field.ErrorTypeForbidden, "spec.driver.template.spec.schedulingGroup", "it creates the members"},
		}},
		{name: "eviction responders", edits: []edit{gang, withExecutorTemplate(`{"spec":{"evictionResponders":[{"name":"a.example/b"}]}}`)}, want: []want{
			{field.ErrorTypeForbidden, "spec.executor.template.spec.evictionResponders", "is not possible for the members of a group"},
		}},
		{name: "gates", edits: []edit{gang, withExecutorTemplate(
			`{"spec":{"schedulingGates":[{"name":"kueue.x-k8s.io/admission"},{"name":"mine"}]}}`)}, want: []want{
			{field.ErrorTypeForbidden, "spec.executor.template.spec.schedulingGates[1]", "one gated executor keeps the whole group waiting"},
		}},
		// R27: priority.
		{name: "a class of the system", edits: []edit{gang, func(app *v1beta2.SparkApplication) {
			app.Spec.Executor.PriorityClassName = new("system-cluster-critical")
		}}, want: []want{{field.ErrorTypeForbidden, "spec.executor.priorityClassName", `"system-cluster-critical"`}}},
		{name: "a class of the system in the template", edits: []edit{gang, withExecutorTemplate(
			`{"spec":{"priorityClassName":"system-node-critical"}}`)}, want: []want{
			{field.ErrorTypeForbidden, "spec.executor.template.spec.priorityClassName", `"system-node-critical"`},
		}},
		{name: "the driver's class is its own", edits: []edit{gang, func(app *v1beta2.SparkApplication) {
			app.Spec.Driver.PriorityClassName = new("system-cluster-critical")
		}}},
		// R26: the line of Spark.
		{name: "an old Spark", edits: []edit{gang, func(app *v1beta2.SparkApplication) {
			app.Spec.SparkVersion = "3.2.4"
		}}, want: []want{{field.ErrorTypeInvalid, "spec.sparkVersion", "needs Spark 3.3 or later"}}},
		{name: "the oldest Spark that is good enough", edits: []edit{gang, func(app *v1beta2.SparkApplication) { app.Spec.SparkVersion = "3.3.0" }}},
		{name: "a version that can't be read", edits: []edit{gang, func(app *v1beta2.SparkApplication) { app.Spec.SparkVersion = "nightly" }}},
		{name: "several at once", edits: []edit{gang, instances(5),
			withConf("spark.kubernetes.allocation.maximum", "1"), withConf("spark.kubernetes.scheduler.name", "mine")}, want: []want{
			{field.ErrorTypeInvalid, sparkConf + "[spark.kubernetes.scheduler.name]", ""},
			{field.ErrorTypeInvalid, sparkConf + "[spark.kubernetes.allocation.maximum]", "the gang, 5"},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			application := resolve(t, tc.edits...)
			before := application.App.DeepCopy()
			errs := Validate(application, testSpecPath, ValidateOptions{WorkloadAwareScheduling: true})
			assertErrors(t, tc.want, errs)
			assert.Equal(t, before, application.App)

			native, err := Compile(application, testSubmissionID)
			if len(errs) == 0 {
				require.NoError(t, err, "what is accepted compiles")
				assert.Equal(t, Choose(&application.App.Spec, testSpecPath).Native(), native != nil)
			}
		})
	}
}

// TestValidateMembershipProperties has rules that Resolve may have for itself, so that they are tried on the spec.
func TestValidateMembershipProperties(t *testing.T) {
	for _, tc := range []struct {
		key, value string
		want       []want
	}{
		{"spark.kubernetes.executor.podTemplateFile", "/opt/template.yaml", []want{
			{field.ErrorTypeForbidden, "spec.sparkConf[spark.kubernetes.executor.podTemplateFile]", "use that field"},
		}},
		{"spark.kubernetes.executor.label.sparkoperator.k8s.io/submission-id", "mine", []want{
			{field.ErrorTypeForbidden, "spec.sparkConf[spark.kubernetes.executor.label.sparkoperator.k8s.io/submission-id]", "is set for each attempt"},
		}},
		{"spark.kubernetes.executor.pod.featureSteps", "a.B, org.apache.spark.deploy.k8s.features.VolcanoFeatureStep", []want{
			{field.ErrorTypeInvalid, "spec.sparkConf[spark.kubernetes.executor.pod.featureSteps]", "VolcanoFeatureStep"},
		}},
		{"spark.kubernetes.driver.pod.featureSteps", "org.apache.spark.deploy.k8s.features.YuniKornFeatureStep", []want{
			{field.ErrorTypeInvalid, "spec.sparkConf[spark.kubernetes.driver.pod.featureSteps]", "YuniKornFeatureStep"},
		}},
		{"spark.kubernetes.executor.pod.featureSteps", "example.MyVolcanoFeatureStep", nil},
		{"spark.kubernetes.executor.label.team", "a", nil},
	} {
		t.Run(tc.key+"="+tc.value, func(t *testing.T) {
			native := newApplication(withScheduling(gangPolicy), withConf(tc.key, tc.value))
			assertErrors(t, tc.want, ValidateSpec(&native.Spec, testSpecPath, ValidateOptions{WorkloadAwareScheduling: true}))

			plain := newApplication(withConf(tc.key, tc.value))
			assert.Empty(t, ValidateSpec(&plain.Spec, testSpecPath, ValidateOptions{WorkloadAwareScheduling: true}), "only native intent cares")
		})
	}
}

// TestValidateGate is R17: the gate guards native intent and nothing else.
func TestValidateGate(t *testing.T) {
	gate := want{field.ErrorTypeForbidden, "spec.scheduling", "needs the feature gate SparkApplicationWorkloadAwareScheduling, which is off"}
	for _, tc := range []struct {
		name string
		edit edit
		want []want
	}{
		{"none", func(*v1beta2.SparkApplication) {}, nil},
		{"gang", withScheduling(gangPolicy), []want{gate}},
		{"basic", withScheduling(basicPolicy), []want{gate}},
		{"empty block", withScheduling(), []want{gate}},
		{"batch scheduler", withScheduling(nestedVolcano), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assertErrors(t, tc.want, Validate(resolve(t, tc.edit), testSpecPath, ValidateOptions{}))
		})
	}
}

func TestValidateGangSize(t *testing.T) {
	application := *resolve(t, withScheduling(gangPolicy))
	application.Executors.Initial = 0
	assertErrors(t, []want{{field.ErrorTypeInvalid, "spec.executor.instances", "a gang has at least 1 executor"}},
		Validate(&application, testSpecPath, ValidateOptions{WorkloadAwareScheduling: true}))
}

// TestValidatePath shows that the same rules serve a spec at another place (R15).
func TestValidatePath(t *testing.T) {
	app := newApplication(withScheduling(gangPolicy, func(s *v1beta2.SparkSchedulingSpec) { s.PriorityClassName = new("high") }))
	errs := ValidateSpec(&app.Spec, field.NewPath("spec", "template"), ValidateOptions{WorkloadAwareScheduling: true})
	assertErrors(t, []want{{field.ErrorTypeForbidden, "spec.template.scheduling.priorityClassName", "needs the feature gate SparkApplicationGroupPriorityClass"}}, errs)
}
