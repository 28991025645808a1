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
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/features"
)

var gateOn = Options{WorkloadAwareScheduling: true}

func TestValidateSparkApplication(t *testing.T) {
	ingress := func(options ...sparkoperator.DriverIngressConfiguration) edit {
		return func(app *sparkoperator.SparkApplication) { app.Spec.DriverIngressOptions = options }
	}
	template := &runtime.RawExtension{Raw: []byte(`{}`)}
	for _, tc := range []struct {
		name string
		edit edit
		want []want
	}{
		{name: "valid", edit: func(*sparkoperator.SparkApplication) {}},
		{name: "gang", edit: gang},
		{name: "empty scheduling block", edit: emptyScheduling},

		// The name.
		{name: "no name", edit: func(app *sparkoperator.SparkApplication) { app.Name = "" }, want: []want{
			{field.ErrorTypeRequired, "metadata.name", ""},
		}},
		{name: "dots", edit: func(app *sparkoperator.SparkApplication) { app.Name = "spark.pi" }, want: []want{
			{field.ErrorTypeInvalid, "metadata.name", "a DNS-1035 label"},
		}},
		{name: "a digit first", edit: func(app *sparkoperator.SparkApplication) { app.Name = "1-spark" }, want: []want{
			{field.ErrorTypeInvalid, "metadata.name", "a DNS-1035 label"},
		}},
		{name: "63 characters", edit: func(app *sparkoperator.SparkApplication) { app.Name = strings.Repeat("a", 63) }},
		{name: "64 characters", edit: func(app *sparkoperator.SparkApplication) { app.Name = strings.Repeat("a", 64) }, want: []want{
			{field.ErrorTypeInvalid, "metadata.name", "no more than 63"},
		}},

		{name: "another Python", edit: func(app *sparkoperator.SparkApplication) { app.Spec.PythonVersion = new("4") }, want: []want{
			{field.ErrorTypeNotSupported, "spec.pythonVersion", `"2", "3"`},
		}},

		// Templates and versions.
		{name: "template before Spark 3", edit: func(app *sparkoperator.SparkApplication) {
			app.Spec.SparkVersion, app.Spec.Driver.Template, app.Spec.Executor.Template = "2.4.8", template, template
		}, want: []want{
			{field.ErrorTypeForbidden, "spec.driver.template", "pod templates need Spark 3.0.0 or later, and sparkVersion is 2.4.8"},
			{field.ErrorTypeForbidden, "spec.executor.template", "pod templates need Spark 3.0.0 or later, and sparkVersion is 2.4.8"},
		}},
		{name: "template with Spark 3", edit: func(app *sparkoperator.SparkApplication) {
			app.Spec.SparkVersion, app.Spec.Driver.Template = "3.0.0-SNAPSHOT", template
		}},
		{name: "template with a version that can't be read", edit: func(app *sparkoperator.SparkApplication) {
			app.Spec.SparkVersion, app.Spec.Driver.Template = "nightly", template
		}},

		// Node selectors.
		{name: "node selectors at both levels", edit: func(app *sparkoperator.SparkApplication) {
			app.Spec.NodeSelector = map[string]string{"a": "b"}
			app.Spec.Driver.NodeSelector = map[string]string{"c": "d"}
			app.Spec.Executor.NodeSelector = map[string]string{"e": "f"}
		}, want: []want{
			{field.ErrorTypeInvalid, "spec.driver.nodeSelector", "must not be set together with spec.nodeSelector"},
			{field.ErrorTypeInvalid, "spec.executor.nodeSelector", "must not be set together with spec.nodeSelector"},
		}},
		{name: "node selectors of the roles", edit: func(app *sparkoperator.SparkApplication) {
			app.Spec.Driver.NodeSelector = map[string]string{"c": "d"}
			app.Spec.Executor.NodeSelector = map[string]string{"e": "f"}
		}},

		// Ingress options.
		{name: "ingress options", edit: ingress(
			sparkoperator.DriverIngressConfiguration{ServicePort: new(int32(8080)), IngressURLFormat: "a"},
			sparkoperator.DriverIngressConfiguration{ServicePort: new(int32(8081)), IngressURLFormat: "b"},
		)},
		{name: "incomplete ingress options", edit: ingress(sparkoperator.DriverIngressConfiguration{}), want: []want{
			{field.ErrorTypeRequired, "spec.driverIngressOptions[0].servicePort", ""},
			{field.ErrorTypeRequired, "spec.driverIngressOptions[0].ingressURLFormat", ""},
		}},
		{name: "a URL that can't be one", edit: ingress(
			sparkoperator.DriverIngressConfiguration{ServicePort: new(int32(8080)), IngressURLFormat: "{{$appName"},
		), want: []want{{field.ErrorTypeInvalid, "spec.driverIngressOptions[0].ingressURLFormat", ""}}},
		{name: "repeated ingress options", edit: ingress(
			sparkoperator.DriverIngressConfiguration{ServicePort: new(int32(8080)), IngressURLFormat: "a"},
			sparkoperator.DriverIngressConfiguration{ServicePort: new(int32(8080)), IngressURLFormat: "a"},
		), want: []want{
			{field.ErrorTypeDuplicate, "spec.driverIngressOptions[1].servicePort", ""},
			{field.ErrorTypeDuplicate, "spec.driverIngressOptions[1].ingressURLFormat", ""},
		}},
		{name: "ingress port and type", edit: ingress(sparkoperator.DriverIngressConfiguration{
			ServicePort: new(int32(70000)), ServiceType: new(corev1.ServiceType("Cluster")), IngressURLFormat: "a",
		}), want: []want{
			{field.ErrorTypeInvalid, "spec.driverIngressOptions[0].servicePort", "must be from 1 to 65535"},
			{field.ErrorTypeNotSupported, "spec.driverIngressOptions[0].serviceType", `"ClusterIP"`},
		}},
		{name: "UI port and type", edit: func(app *sparkoperator.SparkApplication) {
			app.Spec.SparkUIOptions = &sparkoperator.SparkUIConfiguration{ServicePort: new(int32(0)), ServiceType: new(corev1.ServiceType("Cluster"))}
		}, want: []want{
			{field.ErrorTypeInvalid, "spec.sparkUIOptions.servicePort", "must be from 1 to 65535"},
			{field.ErrorTypeNotSupported, "spec.sparkUIOptions.serviceType", `"ClusterIP"`},
		}},

		// What other packages refuse comes through.
		{name: "pull policy", edit: func(app *sparkoperator.SparkApplication) { app.Spec.ImagePullPolicy = new("Sometimes") }, want: []want{
			{field.ErrorTypeNotSupported, "spec.imagePullPolicy", `"IfNotPresent"`},
		}},
		{name: "grace period", edit: func(app *sparkoperator.SparkApplication) {
			app.Spec.Driver.TerminationGracePeriodSeconds = new(int64(-1))
		}, want: []want{{field.ErrorTypeInvalid, "spec.driver.terminationGracePeriodSeconds", ""}}},
		{name: "protocol of a port", edit: func(app *sparkoperator.SparkApplication) {
			app.Spec.Executor.Ports = []sparkoperator.Port{{Name: "metrics", Protocol: "http", ContainerPort: 9000}}
		}, want: []want{{field.ErrorTypeNotSupported, "spec.executor.ports[0].protocol", `"TCP"`}}},
		{name: "crossed bounds", edit: func(app *sparkoperator.SparkApplication) {
			app.Spec.Executor.Instances = nil
			app.Spec.DynamicAllocation = &sparkoperator.DynamicAllocation{Enabled: true, MinExecutors: new(int32(5)), MaxExecutors: new(int32(4))}
		}, want: []want{{field.ErrorTypeInvalid, "spec.dynamicAllocation.minExecutors", "spec.dynamicAllocation.maxExecutors"}}},
		{name: "a size", edit: func(app *sparkoperator.SparkApplication) { app.Spec.Driver.Memory = new("1.5g") }, want: []want{
			{field.ErrorTypeInvalid, "spec.driver.memory", ""},
		}},
		{name: "a denied property", edit: withConf("spark.master", "local"), want: []want{
			{field.ErrorTypeForbidden, "spec.sparkConf[spark.master]", ""},
		}},
		{name: "another namespace", edit: withConf("spark.kubernetes.namespace", "team-b"), want: []want{
			{field.ErrorTypeInvalid, "spec.sparkConf[spark.kubernetes.namespace]", ""},
		}},
		{name: "client mode", edit: func(app *sparkoperator.SparkApplication) { app.Spec.Mode = sparkoperator.ClientMode }, want: []want{
			{field.ErrorTypeForbidden, "spec.mode", ""},
		}},
		{name: "an unknown batch scheduler", edit: func(app *sparkoperator.SparkApplication) { app.Spec.BatchScheduler = new("vulcano") }, want: []want{
			{field.ErrorTypeNotSupported, "spec.batchScheduler", ""},
		}},
		{name: "a part of the block that is not supported", edit: func(app *sparkoperator.SparkApplication) {
			gang(app)
			app.Spec.Scheduling.PriorityClassName = new("high")
		}, want: []want{{field.ErrorTypeForbidden, "spec.scheduling.priorityClassName", "SparkApplicationGroupPriorityClass"}}},
		{name: "gang with dynamic allocation", edit: func(app *sparkoperator.SparkApplication) {
			gang(app)
			app.Spec.DynamicAllocation = &sparkoperator.DynamicAllocation{Enabled: true}
		}, want: []want{{field.ErrorTypeForbidden, "spec.dynamicAllocation.enabled", ""}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			app := newApplication(tc.edit)
			before := app.DeepCopy()
			assertErrors(t, tc.want, ValidateSparkApplication(app, gateOn))
			assert.Equal(t, before, app, "validation changes nothing")
		})
	}
}

func TestValidateGate(t *testing.T) {
	gate := []want{{field.ErrorTypeForbidden, "spec.scheduling", "needs the feature gate " + string(features.SparkApplicationWorkloadAwareScheduling)}}
	for _, tc := range []struct {
		name    string
		edit    edit
		on, off []want
	}{
		{"nothing", noScheduling, nil, nil},
		{"gang", gang, nil, gate},
		{"empty block", emptyScheduling, nil, gate},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assertErrors(t, tc.on, ValidateSparkApplication(newApplication(tc.edit), gateOn))
			assertErrors(t, tc.off, ValidateSparkApplication(newApplication(tc.edit), Options{}))
		})
	}
}
