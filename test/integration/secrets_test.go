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

package integration

import (
	"fmt"
	"os"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// secrets are values that people put into specs, and that nothing but the objects themselves may show.
type secrets struct{ values []string }

// at returns a secret for a place in a spec.
func (s *secrets) at(place string) string {
	value := "do-not-tell-" + place
	s.values = append(s.values, value)
	return value
}

func (s *secrets) everywhere(app *v1beta2.SparkApplication) {
	spec := &app.Spec
	spec.SparkConf = map[string]string{
		"spark.hadoop.fs.s3a.secret.key":     s.at("spark-conf"),
		"spark.authenticate.secret":          s.at("spark-authenticate"),
		"spark.kubernetes.driverEnv.TOKEN":   s.at("spark-conf-env"),
		"spark.driver.extraJavaOptions":      "-Dtoken=" + s.at("conf-java-options"),
		"spark.kubernetes.executor.label.xy": s.at("spark-conf-label"),
	}
	spec.HadoopConf = map[string]string{"fs.s3a.access.key": s.at("hadoop-conf")}
	spec.Arguments = []string{"--password", s.at("argument")}
	spec.Driver.Env = []corev1.EnvVar{{Name: "PASSWORD", Value: s.at("driver-env")}}
	spec.Driver.EnvVars = map[string]string{"OLD_PASSWORD": s.at("driver-env-vars")}
	spec.Driver.EnvSecretKeyRefs = map[string]v1beta2.NameKey{"REFERRED": {Name: "credentials", Key: "password"}}
	spec.Driver.JavaOptions = new("-Dpassword=" + s.at("driver-java-options"))
	spec.Driver.Annotations = map[string]string{"token": s.at("driver-annotation")}
	spec.Driver.Sidecars = []corev1.Container{{Name: "sidecar", Image: "busybox", Env: []corev1.EnvVar{{Name: "PASSWORD", Value: s.at("sidecar-env")}}}}
	spec.Executor.Env = []corev1.EnvVar{{Name: "PASSWORD", Value: s.at("executor-env")}}
	spec.Executor.JavaOptions = new("-Dpassword=" + s.at("executor-java-options"))
	spec.Monitoring = &v1beta2.MonitoringSpec{MetricsProperties: new("*.sink.graphite.password=" + s.at("metrics-properties"))}
}

// secretsStayInSpecs runs and refuses applications with secrets, and looks for these in what our server, at the highest
// verbosity, has logged, and in events.
func (n *tenant) secretsStayInSpecs() {
	s := &secrets{}
	_, err := n.kube.CoreV1().Secrets(n.namespace).Create(n.t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "credentials"}, StringData: map[string]string{"password": s.at("secret")},
	}, metav1.CreateOptions{})
	require.NoError(n.t, err)

	n.create(n.application("completes", executors(1), s.everywhere))
	n.create(n.application("fails", executors(1), s.everywhere, outcome("fail")))
	n.create(n.application("is-edited", executors(1), s.everywhere, outcome("hang")))
	n.createSchedule(n.schedule("every-second", "@every 1s", s.everywhere))
	// The cluster refuses this driver pod.
	n.create(n.application("refused-pod", s.everywhere, func(app *v1beta2.SparkApplication) {
		app.Spec.Driver.ServiceAccount = new("nobody")
		app.Spec.Driver.Template = &runtime.RawExtension{Raw: []byte(`{"spec":{"containers":[{"name":"spark-kubernetes-driver",` +
			`"env":[{"name":"HIDDEN","value":"` + s.at("template-env") + `"}]}]}}`)}
	}))

	// Whoever writes a wrong value is shown it.
	_, err = n.apps().Create(n.t.Context(), n.application("invalid", s.everywhere, func(app *v1beta2.SparkApplication) {
		app.Spec.Driver.Memory = new(s.at("driver-memory"))
		app.Spec.SparkConf["spark.executor.memory"] = s.at("executor-memory")
	}), metav1.CreateOptions{})
	require.True(n.t, apierrors.IsInvalid(err), "%v", err)
	require.ErrorContains(n.t, err, s.at("driver-memory"))
	for name, document := range map[string]string{
		"wrong type":    `{"spec":{"sparkConf":{"a":{"b":"` + s.at("wrong-type") + `"}}}}`,
		"unknown field": `{"spec":{"sparkConfs":{"a":"` + s.at("unknown-field") + `"}}}`,
		"no JSON":       `{"spec":{"sparkConf":{"a":"` + s.at("no-json"),
	} {
		_, err = n.apps().Patch(n.t.Context(), "completes", types.MergePatchType, []byte(document), metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict})
		require.Error(n.t, err, name)
	}
	n.untilState("is-edited", v1beta2.ApplicationStateRunning)
	for i, how := range []types.PatchType{types.MergePatchType, types.JSONPatchType, types.ApplyPatchType} {
		secret := s.at(fmt.Sprintf("edit-%d", i))
		document := map[types.PatchType]string{
			types.MergePatchType: `{"spec":{"arguments":["` + secret + `"]}}`,
			types.JSONPatchType:  `[{"op":"replace","path":"/spec/arguments/0","value":"` + secret + `"}]`,
			types.ApplyPatchType: `{"apiVersion":"sparkoperator.k8s.io/v1beta2","kind":"SparkApplication","spec":{"arguments":["` + secret + `"]}}`,
		}[how]
		options := metav1.PatchOptions{}
		if how == types.ApplyPatchType {
			options.FieldManager, options.Force = "test", new(true)
		}
		_, err = n.apps().Patch(n.t.Context(), "is-edited", how, []byte(document), options)
		require.NoError(n.t, err, how)
	}
	n.untilState("completes", v1beta2.ApplicationStateCompleted)
	n.untilState("fails", v1beta2.ApplicationStateFailed)
	n.untilState("refused-pod", v1beta2.ApplicationStateFailed)
	n.until("a run of the schedule", func(c *assert.CollectT) { assert.NotEmpty(c, n.scheduledRuns("every-second")) })
	require.NoError(n.t, n.spark.SparkoperatorV1beta2().ScheduledSparkApplications(n.namespace).Delete(n.t.Context(), "every-second", metav1.DeleteOptions{}))
	require.NoError(n.t, n.apps().Delete(n.t.Context(), "is-edited", metav1.DeleteOptions{}))
	n.until("it is gone", func(c *assert.CollectT) { assert.Empty(c, n.driverPods("is-edited")) })

	log, err := os.ReadFile(n.server.LogPath)
	require.NoError(n.t, err)
	assert.Contains(n.t, string(log), "Response Body", "the verbosity is the highest")
	events, err := n.kube.EventsV1().Events(n.namespace).List(n.t.Context(), metav1.ListOptions{})
	require.NoError(n.t, err)
	assert.NotEmpty(n.t, events.Items)
	for _, secret := range s.values {
		for line := range strings.Lines(string(log)) {
			if !assert.NotContains(n.t, line, secret, "a line of our server's log") {
				break
			}
		}
		for i := range events.Items {
			assert.NotContains(n.t, events.Items[i].Note, secret, "an event of %s", events.Items[i].ReportingController)
		}
	}
}
