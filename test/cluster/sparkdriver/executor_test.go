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

package sparkdriver

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

const fullTemplate = `
apiVersion: v1
kind: Pod
metadata:
  name: replaced
  namespace: replaced
  labels: {team: a, spark-role: wrong}
spec:
  schedulingGroup: {podGroupName: gang}
  someFieldOfTheFuture: {deep: [1, 2.5, {x: true}]}
  priorityClassName: high
  restartPolicy: Always
  hostname: replaced
  tolerations: [{key: k, operator: Exists}]
  terminationGracePeriodSeconds: 7
  nodeSelector: {disk: ssd}
  containers:
  - name: sidecar
    image: sidecar:1
  - name: mine
    image: replaced
    anotherFutureField: kept
    args: [first]
    env: [{name: FROM_TEMPLATE, value: "1"}]
    resources:
      requests: {cpu: "9", ephemeral-storage: 1Gi}
      limits: {cpu: "9"}
`

func testSource(t *testing.T, template string, conf Conf) *executorSource {
	t.Helper()
	parsed, err := parseTemplate(template)
	require.NoError(t, err)
	all := Conf{
		"spark.app.id": "spark-1", "spark.app.name": "Spark Pi!", "spark.kubernetes.container.image": "spark:4",
		"spark.driver.host": "svc.ns.svc", "spark.kubernetes.authenticate.driver.serviceAccountName": "driver-account",
		"spark.kubernetes.executor.podTemplateContainerName": "mine",
	}
	maps.Copy(all, conf)
	driver := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "d", UID: "uid-1", Labels: map[string]string{labelVersion: "4.0.1"}}}
	return &executorSource{conf: all, driver: driver, template: parsed, prefix: "p", configMap: "cm", localDir: "x"}
}

func field(t *testing.T, pod *unstructured.Unstructured, path ...string) any {
	t.Helper()
	v, _, err := unstructured.NestedFieldNoCopy(pod.Object, path...)
	require.NoError(t, err)
	return v
}

func sparkContainer(t *testing.T, pod *unstructured.Unstructured) map[string]any {
	t.Helper()
	containers, _, err := unstructured.NestedSlice(pod.Object, "spec", "containers")
	require.NoError(t, err)
	require.NotEmpty(t, containers)
	c, ok := containers[len(containers)-1].(map[string]any)
	require.True(t, ok)
	return c
}

func TestExecutorMergesTemplate(t *testing.T) {
	s := testSource(t, fullTemplate, Conf{
		"spark.kubernetes.executor.label.own":           "{{APP_ID}}-{{EXECUTOR_ID}}",
		"spark.kubernetes.executor.annotation.a":        "b",
		"spark.kubernetes.node.selector.zone":           "z",
		"spark.kubernetes.executor.secrets.s":           "/etc/s",
		"spark.kubernetes.executor.secretKeyRef.PASS":   "s:key",
		"spark.executorEnv.CUSTOM":                      "c",
		"spark.executor.extraJavaOptions":               "-Da=1 -Db=2",
		"spark.kubernetes.executor.hadoopConfigMapName": "hadoop",
	})
	pod, err := s.build(3)
	require.NoError(t, err)

	assert.Equal(t, "p-exec-3", pod.GetName())
	assert.Empty(t, pod.GetNamespace())
	assert.Equal(t, map[string]string{
		"team": "a", "own": "spark-1-3", labelRole: roleExecutor, labelAppSelector: "spark-1", labelAppName: "spark-pi",
		labelExecutorID: "3", labelResourceProfileID: "0", labelVersion: "4.0.1",
	}, pod.GetLabels())
	assert.Equal(t, map[string]string{"a": "b"}, pod.GetAnnotations())
	owner := pod.GetOwnerReferences()
	require.Len(t, owner, 1)
	assert.True(t, *owner[0].Controller)
	assert.EqualValues(t, "uid-1", owner[0].UID)

	assert.Equal(t, map[string]any{"podGroupName": "gang"}, field(t, pod, "spec", "schedulingGroup"))
	assert.Equal(t, []any{int64(1), 2.5, map[string]any{"x": true}}, field(t, pod, "spec", "someFieldOfTheFuture", "deep"))
	assert.Equal(t, "high", field(t, pod, "spec", "priorityClassName"))
	assert.Equal(t, "Never", field(t, pod, "spec", "restartPolicy"))
	assert.Equal(t, "p-exec-3", field(t, pod, "spec", "hostname"))
	assert.Equal(t, int64(7), field(t, pod, "spec", "terminationGracePeriodSeconds"))
	assert.Equal(t, map[string]any{"disk": "ssd", "zone": "z"}, field(t, pod, "spec", "nodeSelector"))

	c := sparkContainer(t, pod)
	assert.Equal(t, "mine", c["name"])
	assert.Equal(t, "spark:4", c["image"])
	assert.Equal(t, "kept", c["anotherFutureField"])
	assert.Equal(t, []any{"first", "executor"}, c["args"])
	assert.Equal(t, map[string]any{
		"requests": map[string]any{"cpu": "1", "memory": "1408Mi", "ephemeral-storage": "1Gi"},
		"limits":   map[string]any{"cpu": "9", "memory": "1408Mi"},
	}, c["resources"])

	// It must also be what the API server understands.
	typed := &corev1.Pod{}
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(pod.Object, typed))
	require.NotNil(t, typed.Spec.SchedulingGroup)
	spark := typed.Spec.Containers[1]
	env := map[string]string{}
	for _, e := range spark.Env {
		env[e.Name] = e.Value
	}
	for name, want := range map[string]string{
		"FROM_TEMPLATE": "1", "CUSTOM": "c", "SPARK_EXECUTOR_ID": "3", "SPARK_EXECUTOR_MEMORY": "1024m", "SPARK_JAVA_OPT_1": "-Db=2",
		"SPARK_DRIVER_URL": "spark://CoarseGrainedScheduler@svc.ns.svc:7078", "HADOOP_CONF_DIR": "/opt/hadoop/conf", "SPARK_LOCAL_DIRS": "/var/data/spark-x",
	} {
		assert.Equal(t, want, env[name], name)
	}
	var volumes []string
	for _, v := range typed.Spec.Volumes {
		volumes = append(volumes, v.Name)
	}
	assert.Equal(t, []string{"spark-conf-volume-exec", "s-volume", "hadoop-properties", "spark-local-dir-1"}, volumes)

	again, err := s.build(4)
	require.NoError(t, err)
	assert.Len(t, again.GetOwnerReferences(), 1, "the template must not be changed by building from it")
}

func TestExecutorServiceAccount(t *testing.T) {
	for name, tc := range map[string]struct {
		spec     string
		conf     Conf
		account  any
		nameOnly any
	}{
		"driver's by default":                      {"{}", nil, "driver-account", "driver-account"},
		"executor's property":                      {"{}", Conf{"spark.kubernetes.authenticate.executor.serviceAccountName": "e"}, "e", "e"},
		"the trap: serviceAccountName alone":       {"{serviceAccountName: mine}", nil, "driver-account", "driver-account"},
		"both fields of the template are kept":     {"{serviceAccountName: mine, serviceAccount: mine}", nil, "mine", "mine"},
		"the deprecated field alone keeps as well": {"{serviceAccount: mine}", nil, "mine", nil},
	} {
		t.Run(name, func(t *testing.T) {
			pod, err := testSource(t, "spec: "+tc.spec, tc.conf).build(1)
			require.NoError(t, err)
			assert.Equal(t, tc.account, field(t, pod, "spec", "serviceAccount"))
			assert.Equal(t, tc.nameOnly, field(t, pod, "spec", "serviceAccountName"))
		})
	}
}

func TestExecutorOfLaterLines(t *testing.T) {
	s := testSource(t, "spec: {terminationGracePeriodSeconds: 7}", nil)
	s.driver.Labels[labelVersion] = "4.1.2"
	pod, err := s.build(1)
	require.NoError(t, err)
	assert.Equal(t, int64(30), field(t, pod, "spec", "terminationGracePeriodSeconds"), "from 4.1 on the property decides")
}

func TestExecutorVolumes(t *testing.T) {
	s := testSource(t, "", Conf{
		"spark.kubernetes.executor.volumes.persistentVolumeClaim.spark-local-dir-1.mount.path":           "/data",
		"spark.kubernetes.executor.volumes.persistentVolumeClaim.spark-local-dir-1.options.claimName":    "OnDemand",
		"spark.kubernetes.executor.volumes.persistentVolumeClaim.spark-local-dir-1.options.sizeLimit":    "1Gi",
		"spark.kubernetes.executor.volumes.persistentVolumeClaim.spark-local-dir-1.options.storageClass": "simulated",
		"spark.kubernetes.executor.volumes.hostPath.h.mount.path":                                        "/h",
		"spark.kubernetes.executor.volumes.hostPath.h.mount.readOnly":                                    "true",
		"spark.kubernetes.executor.volumes.hostPath.h.options.path":                                      "/on/host",
	})
	pod, err := s.build(2)
	require.NoError(t, err)
	assert.Equal(t, []any{
		map[string]any{"name": "spark-conf-volume-exec", "configMap": map[string]any{"name": "cm"}},
		map[string]any{"name": "h", "hostPath": map[string]any{"path": "/on/host"}},
		map[string]any{"name": "spark-local-dir-1", "persistentVolumeClaim": map[string]any{"claimName": "p-exec-2-pvc-1"}},
	}, field(t, pod, "spec", "volumes"))
	claims, err := s.claims(2)
	require.NoError(t, err)
	require.Len(t, claims, 1)
	assert.Equal(t, "p-exec-2-pvc-1", claims[0].GetName())
	assert.Equal(t, []any{"ReadWriteOncePod"}, field(t, claims[0], "spec", "accessModes"))

	_, err = testSource(t, "", Conf{"spark.kubernetes.executor.volumes.hostPath.h.options.path": "/x"}).build(1)
	assert.ErrorContains(t, err, "mount.path")
}

func TestExecutorPrefix(t *testing.T) {
	for _, tc := range []struct{ name, property, want string }{
		{"Spark Pi", "", "spark-pi-0f"},
		{"123 app", "", "x23-app-0f"},
		{"_a__b", "", "a-b-0f"},
		{"anything", "given", "given"},
	} {
		conf := Conf{"spark.app.name": tc.name}
		if tc.property != "" {
			conf["spark.kubernetes.executor.podNamePrefix"] = tc.property
		}
		assert.Equal(t, tc.want, executorPrefix(conf, "0f"), tc.name)
	}
}

func TestParseTemplate(t *testing.T) {
	fromJSON, err := parseTemplate(`{"spec": {"schedulingGroup": {"podGroupName": "g"}}}`)
	require.NoError(t, err)
	fromYAML, err := parseTemplate("spec:\n  schedulingGroup: {podGroupName: g}\n")
	require.NoError(t, err)
	assert.Equal(t, fromJSON, fromYAML)
	for _, bad := range []string{"kind: Deployment", "[1]", "a: b: c"} {
		_, err := parseTemplate(bad)
		assert.Error(t, err, bad)
	}
}
