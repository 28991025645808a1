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
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func executorContainer(fields string) func(*v1beta2.SparkApplication) {
	return executorTemplateOf(`{"spec":{"containers":[{"name":"spark-kubernetes-executor",` + fields + `}]}}`)
}

// The property by which the driver decides on privileges of executors says what the application says.
func TestPrivilegeEscalationOfExecutors(t *testing.T) {
	const key, general = "spark.kubernetes.executor.securityContext.allowPrivilegeEscalation", "spark.kubernetes.securityContext.allowPrivilegeEscalation"
	typed := func(c corev1.SecurityContext) func(*v1beta2.SparkApplication) {
		return edit(func(s *v1beta2.SparkApplicationSpec) { s.Executor.SecurityContext = &c })
	}
	all := func(edits ...func(*v1beta2.SparkApplication)) []func(*v1beta2.SparkApplication) { return edits }
	sysAdmin := corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"CAP_SYS_ADMIN"}}}
	for name, c := range map[string]struct {
		edits []func(*v1beta2.SparkApplication)
		want  string
		warns string
	}{
		"nothing":                      {nil, "", ""},
		"other fields":                 {all(typed(corev1.SecurityContext{RunAsUser: new(int64(1))})), "", ""},
		"the field":                    {all(typed(corev1.SecurityContext{AllowPrivilegeEscalation: new(true)})), "true", ""},
		"the field, false":             {all(typed(corev1.SecurityContext{AllowPrivilegeEscalation: new(false)})), "false", ""},
		"the field over the property":  {all(typed(corev1.SecurityContext{AllowPrivilegeEscalation: new(true)}), withConf(key, "false")), "true", "spec.sparkConf[" + key + "]"},
		"the field over the general":   {all(typed(corev1.SecurityContext{AllowPrivilegeEscalation: new(true)}), withConf(general, "false")), "true", ""},
		"the template":                 {all(executorContainer(`"securityContext":{"allowPrivilegeEscalation":true}`)), "true", ""},
		"the template, false":          {all(executorContainer(`"securityContext":{"allowPrivilegeEscalation":false}`), withConf(general, "true")), "", ""},
		"a property over the template": {all(executorContainer(`"securityContext":{"allowPrivilegeEscalation":true}`), withConf(key, "false")), "false", ""},
		"the field, not the template": {all(typed(corev1.SecurityContext{AllowPrivilegeEscalation: new(false)}),
			executorContainer(`"securityContext":{"allowPrivilegeEscalation":true}`)), "false", ""},
		"privileged":               {all(typed(corev1.SecurityContext{Privileged: new(true)})), "true", ""},
		"privileged, not allowed":  {all(typed(corev1.SecurityContext{Privileged: new(true)}), withConf(key, "false")), "true", "spec.sparkConf[" + key + "]"},
		"not privileged":           {all(typed(corev1.SecurityContext{Privileged: new(false)})), "", ""},
		"administers the system":   {all(typed(sysAdmin)), "true", ""},
		"privileged, the template": {all(executorContainer(`"securityContext":{"privileged":true}`)), "true", ""},
		"of another container": {all(executorTemplateOf(`{"spec":{"containers":[{"name":"other","image":"x","securityContext":{"privileged":true}},` +
			`{"name":"spark-kubernetes-executor"}]}}`)), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := built(t, append(c.edits, version("4.3.0"))...)
			value, _, _ := a.Conf(key)
			assert.Equal(t, c.want, value)
			assert.Equal(t, c.warns != "", strings.Contains(strings.Join(a.Warnings(), "\n"), "["+key+"]: "), a.Warnings())
			earlier, _ := built(t, append(c.edits, version("4.2.0"))...)
			value, _, _ = earlier.Conf(key)
			free := earlier.App.Spec.SparkConf[key]
			assert.Equal(t, free, value, "earlier lines know no such property")
		})
	}
}

func TestGracePeriodOfExecutors(t *testing.T) {
	const key = "spark.kubernetes.executor.terminationGracePeriodSeconds"
	template := executorTemplateOf(`{"spec":{"terminationGracePeriodSeconds":99}}`)
	field := edit(func(s *v1beta2.SparkApplicationSpec) { s.Executor.TerminationGracePeriodSeconds = new(int64(77)) })
	for name, c := range map[string]struct {
		edits []func(*v1beta2.SparkApplication)
		want  string
	}{
		"nothing":                      {nil, ""},
		"the field":                    {[]func(*v1beta2.SparkApplication){field, template, withConf(key, "5s")}, "77s"},
		"the property":                 {[]func(*v1beta2.SparkApplication){template, withConf(key, "5s")}, "5s"},
		"the template":                 {[]func(*v1beta2.SparkApplication){template}, "99s"},
		"a template without the field": {[]func(*v1beta2.SparkApplication){executorTemplateOf(`{"spec":{}}`)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := built(t, append(c.edits, version("4.1.0"))...)
			value, _, _ := a.Conf(key)
			assert.Equal(t, c.want, value)
		})
	}
	a, _ := built(t, template, version("4.0.1"))
	_, _, set := a.Conf(key)
	assert.False(t, set, "4.0 keeps what the template says")
}

func TestWarningsOfWhatSparkOverrides(t *testing.T) {
	const executor = "spec.executor.template.spec.containers[0]."
	for name, c := range map[string]struct {
		edit func(*v1beta2.SparkApplication)
		want []string
	}{
		"nothing": {executorContainer(`"env":[{"name":"A","value":"b"}]`), nil},
		"the same": {executorContainer(`"image":"example.com/spark:4.0.1","imagePullPolicy":"IfNotPresent",
			"resources":{"requests":{"cpu":1,"memory":"1408Mi"},"limits":{"memory":"1408Mi","cpu":"3"}}`), nil},
		"other values": {executorContainer(`"image":"other","imagePullPolicy":"Never",
			"resources":{"requests":{"cpu":"2","memory":"1Gi"},"limits":{"memory":"2Gi"}}`), []string{
			executor + `image: "other" has no effect: Spark runs "example.com/spark:4.0.1"; set spec.executor.image`,
			executor + `imagePullPolicy: "Never" has no effect: Spark's is "IfNotPresent"; set spec.imagePullPolicy`,
			executor + `resources.requests.cpu: "2" has no effect: Spark makes it 1; use spec.executor.coreRequest`,
			executor + `resources.requests.memory: "1Gi" has no effect: Spark makes it 1408Mi; use spec.executor.memory`,
			executor + `resources.limits.memory: "2Gi" has no effect: Spark makes it 1408Mi; use spec.executor.memory`,
		}},
		"a label": {executorTemplateOf(`{"metadata":{"labels":{"spark-role":"pilot","mine":"x"}}}`), []string{
			`spec.executor.template.metadata.labels[spark-role]: "pilot" has no effect: Spark sets this label itself`,
		}},
		"the pod": {executorTemplateOf(`{"spec":{"restartPolicy":"Always","hostname":"h"}}`), []string{
			`spec.executor.template.spec.restartPolicy: "Always" has no effect: Spark's pods are never restarted in place`,
			`spec.executor.template.spec.hostname: "h" has no effect: Spark names executors after their pods`,
		}},
		"the driver's pod": {driverTemplate(`{"spec":{"restartPolicy":"OnFailure","hostname":"h","containers":[{"name":"spark-kubernetes-driver","image":"other"}]}}`), []string{
			`spec.driver.template.spec.restartPolicy: "OnFailure" has no effect: Spark's pods are never restarted in place`,
			`spec.driver.template.spec.containers[0].image: "other" has no effect: Spark runs "example.com/spark:4.0.1"; set spec.driver.image`,
		}},
		"a hook": {func(app *v1beta2.SparkApplication) {
			executorContainer(`"lifecycle":{"preStop":{"exec":{"command":["true"]}}}`)(app)
			withConf("spark.decommission.enabled", "true")(app)
		}, []string{executor + "lifecycle: has no effect, because spark.decommission.enabled is on: Spark sets a hook of its own then"}},
	} {
		t.Run(name, func(t *testing.T) {
			a, errs := Resolve(newApp(c.edit), testSpecPath)
			require.Empty(t, errs)
			assert.ElementsMatch(t, c.want, a.Warnings())
		})
	}
}
