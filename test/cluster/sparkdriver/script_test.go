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
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestScriptOf(t *testing.T) {
	for name, tc := range map[string]struct {
		annotations map[string]string
		app         string
		want        script
	}{
		"default":               {nil, "spark-pi", script{runTime: time.Second}},
		"fail":                  {map[string]string{OutcomeAnnotation: "fail"}, "", script{exitCode: 1, runTime: time.Second}},
		"exit code":             {map[string]string{OutcomeAnnotation: "137"}, "", script{exitCode: 137, runTime: time.Second}},
		"no outcome at all":     {map[string]string{OutcomeAnnotation: "what"}, "", script{exitCode: 1, runTime: time.Second}},
		"hang":                  {map[string]string{OutcomeAnnotation: "hang"}, "", script{hangs: true, runTime: time.Second}},
		"by name":               {nil, "etl-simulated-exit-3", script{exitCode: 3, runTime: time.Second}},
		"annotation beats name": {map[string]string{OutcomeAnnotation: "succeed"}, "etl-simulated-hang", script{runTime: time.Second}},
		"run time":              {map[string]string{RunSecondsAnnotation: "0.25"}, "", script{runTime: 250 * time.Millisecond}},
		"misbehaviour":          {map[string]string{MisbehaviourAnnotation: "other, drop-scheduling-group"}, "", script{runTime: time.Second, dropsGroup: true}},
		"sidecars":              {map[string]string{SidecarsAnnotation: "keep-running"}, "", script{runTime: time.Second, sidecarsKeepOnRuns: true}},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: tc.annotations}}
			assert.Equal(t, tc.want, scriptOf(pod, tc.app, time.Second))
		})
	}
}

func TestParseCommand(t *testing.T) {
	c, err := parseCommand([]string{"from-template", "driver", "--proxy-user", "u", "--properties-file", "/p", "--class", "a.B", "local:///x.jar", "--class", "not-mine"})
	require.NoError(t, err)
	assert.Equal(t, command{propertiesFile: "/p", mainClass: "a.B", resource: "local:///x.jar", appArgs: []string{"--class", "not-mine"}}, c)
	_, missing := c.notFound()
	assert.False(t, missing)

	c.mainClass = "non-existent"
	_, missing = c.notFound()
	assert.True(t, missing)

	for _, bad := range [][]string{nil, {"executor"}, {"driver", "--class"}, {"driver", "--class", "a.B"}} {
		_, err := parseCommand(bad)
		assert.Error(t, err, bad)
	}
}

func TestTerminatedStatus(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{UID: "u", Labels: map[string]string{labelRole: roleDriver}},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "init"}, {Name: "native-sidecar", RestartPolicy: &always}},
			Containers:     []corev1.Container{{Name: "sidecar"}, {Name: driverContainerName}},
		},
	}
	pod.Status = *runningStatus(pod, metav1.Now())
	require.NotNil(t, pod.Status.InitContainerStatuses[0].State.Terminated)
	require.NotNil(t, pod.Status.InitContainerStatuses[1].State.Running)
	assert.False(t, driverEnded(pod))

	ended := terminatedStatus(pod, ending{exitCode: 3, message: "boom"}, false, metav1.Now())
	assert.Equal(t, corev1.PodFailed, ended.Phase)
	assert.EqualValues(t, 0, ended.ContainerStatuses[0].State.Terminated.ExitCode)
	assert.EqualValues(t, 3, ended.ContainerStatuses[1].State.Terminated.ExitCode)
	assert.Equal(t, "simulated: boom", ended.ContainerStatuses[1].State.Terminated.Message)
	assert.NotNil(t, ended.InitContainerStatuses[1].State.Terminated)

	goesOn := terminatedStatus(pod, ending{}, true, metav1.Now())
	assert.Equal(t, corev1.PodRunning, goesOn.Phase)
	assert.NotNil(t, goesOn.ContainerStatuses[0].State.Running)
	assert.NotNil(t, goesOn.ContainerStatuses[1].State.Terminated)
	pod.Status = *goesOn
	assert.True(t, driverEnded(pod))
}

func TestMountOf(t *testing.T) {
	c := &corev1.Container{VolumeMounts: []corev1.VolumeMount{
		{Name: "root", MountPath: "/opt"}, {Name: "conf", MountPath: "/opt/spark/conf/"}, {Name: "near", MountPath: "/opt/spark/co"},
		{Name: "file", MountPath: "/etc/file", SubPath: "key"},
	}}
	for path, want := range map[string]string{"/opt/spark/conf/spark.properties": "conf", "/opt/x": "root", "/etc/file": "file"} {
		m := mountOf(c, path)
		require.NotNil(t, m, path)
		assert.Equal(t, want, m.Name, path)
	}
	assert.Nil(t, mountOf(c, "/var/x"))
	assert.False(t, mountsToken(c))
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "t", MountPath: tokenDir})
	assert.True(t, mountsToken(c))
}
