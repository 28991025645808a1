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

package v1beta2_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func validSpec(edits ...func(*v1beta2.SparkApplicationSpec)) *v1beta2.SparkApplication {
	app := &v1beta2.SparkApplication{
		ObjectMeta: metav1.ObjectMeta{Name: "spark-pi", Namespace: "team-a"},
		Spec: v1beta2.SparkApplicationSpec{
			SparkVersion:        "4.0.4",
			MainApplicationFile: new("local:///opt/spark/examples/jars/spark-examples.jar"),
		},
	}
	for _, edit := range edits {
		edit(&app.Spec)
	}
	newScheme().Default(app)
	return app
}

// TestDeclarativeRules has a row for each rule that is written as a tag beside a field.
func TestDeclarativeRules(t *testing.T) {
	scheme := newScheme()
	type want struct {
		Type  field.ErrorType
		Field string
	}
	for _, tc := range []struct {
		name string
		edit func(*v1beta2.SparkApplicationSpec)
		want []want
	}{
		{"valid", func(*v1beta2.SparkApplicationSpec) {}, nil},
		{"type", func(s *v1beta2.SparkApplicationSpec) { s.Type = "Go" }, []want{{field.ErrorTypeNotSupported, "spec.type"}}},
		{"sparkVersion", func(s *v1beta2.SparkApplicationSpec) { s.SparkVersion = "" }, []want{{field.ErrorTypeRequired, "spec.sparkVersion"}}},
		{"mode", func(s *v1beta2.SparkApplicationSpec) { s.Mode = "local" }, []want{{field.ErrorTypeNotSupported, "spec.mode"}}},
		{"mainApplicationFile", func(s *v1beta2.SparkApplicationSpec) { s.MainApplicationFile = nil }, []want{{field.ErrorTypeRequired, "spec.mainApplicationFile"}}},
		{"restartPolicy", func(s *v1beta2.SparkApplicationSpec) {
			s.RestartPolicy = v1beta2.RestartPolicy{
				Type: "Sometimes", OnFailureRetries: new(int32(-1)), OnSubmissionFailureRetries: new(int32(-1)),
				OnFailureRetryInterval: new(int64(0)), OnSubmissionFailureRetryInterval: new(int64(0)),
			}
		}, []want{
			{field.ErrorTypeNotSupported, "spec.restartPolicy.type"},
			{field.ErrorTypeInvalid, "spec.restartPolicy.onSubmissionFailureRetries"},
			{field.ErrorTypeInvalid, "spec.restartPolicy.onFailureRetries"},
			{field.ErrorTypeInvalid, "spec.restartPolicy.onSubmissionFailureRetryInterval"},
			{field.ErrorTypeInvalid, "spec.restartPolicy.onFailureRetryInterval"},
		}},
		{"cores", func(s *v1beta2.SparkApplicationSpec) { s.Driver.Cores, s.Executor.Cores = new(int32(0)), new(int32(0)) }, []want{
			{field.ErrorTypeInvalid, "spec.driver.cores"}, {field.ErrorTypeInvalid, "spec.executor.cores"},
		}},
		{"instances", func(s *v1beta2.SparkApplicationSpec) { s.Executor.Instances = new(int32(0)) }, []want{{field.ErrorTypeInvalid, "spec.executor.instances"}}},
		{"gpu", func(s *v1beta2.SparkApplicationSpec) { s.Driver.GPU = &v1beta2.GPUSpec{} }, []want{{field.ErrorTypeRequired, "spec.driver.gpu.name"}}},
		{"configMaps", func(s *v1beta2.SparkApplicationSpec) { s.Driver.ConfigMaps = make([]v1beta2.NamePath, 1) }, []want{
			{field.ErrorTypeRequired, "spec.driver.configMaps[0].name"}, {field.ErrorTypeRequired, "spec.driver.configMaps[0].path"},
		}},
		{"secrets", func(s *v1beta2.SparkApplicationSpec) { s.Executor.Secrets = make([]v1beta2.SecretInfo, 1) }, []want{
			{field.ErrorTypeRequired, "spec.executor.secrets[0].name"}, {field.ErrorTypeRequired, "spec.executor.secrets[0].path"},
		}},
		{"envSecretKeyRefs", func(s *v1beta2.SparkApplicationSpec) {
			s.Driver.EnvSecretKeyRefs = map[string]v1beta2.NameKey{"A": {}}
		}, []want{
			{field.ErrorTypeRequired, "spec.driver.envSecretKeyRefs[A].name"}, {field.ErrorTypeRequired, "spec.driver.envSecretKeyRefs[A].key"},
		}},
		{"ports", func(s *v1beta2.SparkApplicationSpec) { s.Driver.Ports = make([]v1beta2.Port, 1) }, []want{
			{field.ErrorTypeRequired, "spec.driver.ports[0].name"}, {field.ErrorTypeRequired, "spec.driver.ports[0].protocol"},
		}},
		{"prometheus", func(s *v1beta2.SparkApplicationSpec) {
			s.Monitoring = &v1beta2.MonitoringSpec{Prometheus: &v1beta2.PrometheusSpec{Port: new(int32(80))}}
		}, []want{
			{field.ErrorTypeRequired, "spec.monitoring.prometheus.jmxExporterJar"}, {field.ErrorTypeInvalid, "spec.monitoring.prometheus.port"},
		}},
		{"prometheus, above the ports of services", func(s *v1beta2.SparkApplicationSpec) {
			s.Monitoring = &v1beta2.MonitoringSpec{Prometheus: &v1beta2.PrometheusSpec{JmxExporterJar: "a.jar", Port: new(int32(49152))}}
		}, []want{{field.ErrorTypeInvalid, "spec.monitoring.prometheus.port"}}},
		{"no policy", func(s *v1beta2.SparkApplicationSpec) {
			s.Scheduling = &v1beta2.SparkSchedulingSpec{SchedulingPolicy: &sparkoperator.SchedulingPolicy{}}
		}, []want{{field.ErrorTypeInvalid, "spec.scheduling.schedulingPolicy"}}},
		{"two policies", func(s *v1beta2.SparkApplicationSpec) {
			s.Scheduling = &v1beta2.SparkSchedulingSpec{SchedulingPolicy: gang()}
			s.Scheduling.SchedulingPolicy.Basic = basic().Basic
		}, []want{{field.ErrorTypeInvalid, "spec.scheduling.schedulingPolicy"}}},
		{"size of the gang", func(s *v1beta2.SparkApplicationSpec) {
			s.Scheduling = &v1beta2.SparkSchedulingSpec{SchedulingPolicy: gang()}
			s.Scheduling.SchedulingPolicy.Gang.MinCount = new(int32(0))
		}, []want{{field.ErrorTypeInvalid, "spec.scheduling.schedulingPolicy.gang.minCount"}}},
		{"name of the batch scheduler", func(s *v1beta2.SparkApplicationSpec) {
			s.Scheduling = &v1beta2.SparkSchedulingSpec{BatchScheduler: &v1beta2.BatchSchedulerSpec{}}
		}, []want{{field.ErrorTypeRequired, "spec.scheduling.batchScheduler.name"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			app := validSpec(tc.edit)
			var got []want
			for _, err := range scheme.Validate(t.Context(), nil, app) {
				got = append(got, want{err.Type, err.Field})
			}
			assert.ElementsMatch(t, tc.want, got)

			// What was stored like that stays updatable, and a subresource doesn't look at the spec.
			changed := app.DeepCopy()
			changed.Labels = map[string]string{"a": "b"}
			assert.Empty(t, scheme.ValidateUpdate(t.Context(), nil, changed, app))
			assert.Empty(t, scheme.Validate(t.Context(), nil, app, "status"))
		})
	}
}
