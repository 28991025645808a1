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

package logsandui

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/spark-apiserver/spark-apiserver/hack/spark-golden/pyspark"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// driverPod waits for the driver's pod of an application.
func (n *tenant) driverPod(app string) *corev1.Pod {
	n.t.Helper()
	var pod *corev1.Pod
	n.until("the pod of "+app+" exists", func(c *assert.CollectT) {
		application, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Get(n.t.Context(), app, metav1.GetOptions{})
		if assert.NoError(c, err) && application.Status.AppState.State == v1beta2.ApplicationStateFailed {
			require.FailNow(n.t, "the application failed", application.Status.AppState.ErrorMessage)
		}
		list, err := n.kube.CoreV1().Pods(n.namespace).List(n.t.Context(), metav1.ListOptions{LabelSelector: "spark-role=driver,sparkoperator.k8s.io/app-name=" + app})
		if assert.NoError(c, err) && assert.Len(c, list.Items, 1) {
			pod = &list.Items[0]
		}
	})
	return pod
}

// run does to a pod what a scheduler and a kubelet do, save that no container is started.
func (n *tenant) run(pod *corev1.Pod, ip string) {
	n.t.Helper()
	require.NoError(n.t, n.kube.CoreV1().Pods(n.namespace).Bind(n.t.Context(), &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: n.namespace}, Target: corev1.ObjectReference{Kind: "Node", Name: n.kubelet.node},
	}, metav1.CreateOptions{}))
	now := metav1.Now()
	container := pod.Spec.Containers[0]
	status, err := json.Marshal(map[string]any{"status": corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}}, HostIP: "127.0.0.1", HostIPs: []corev1.HostIP{{IP: "127.0.0.1"}}, StartTime: &now,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: container.Name, Image: container.Image, Ready: true,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		}},
	}})
	require.NoError(n.t, err)
	_, err = n.kube.CoreV1().Pods(n.namespace).Patch(n.t.Context(), pod.Name, types.StrategicMergePatchType, status, metav1.PatchOptions{}, "status")
	require.NoError(n.t, err)
}

// startSpark runs a real driver as the container of a pod: with its executors inside of it, since there is no node that could
// run them, and its UI at the pod's address and the port that the pod declares. What it prints is the container's log.
func (n *tenant) startSpark(pod *corev1.Pod, ip string, in pyspark.Installation) *writer {
	n.t.Helper()
	port := int32(0)
	for _, p := range pod.Spec.Containers[0].Ports {
		if p.Name == "spark-ui" {
			port = p.ContainerPort
		}
	}
	require.NotZero(n.t, port)
	script, err := filepath.Abs(filepath.Join("testdata", "driver.py"))
	require.NoError(n.t, err)
	out := n.kubelet.container(n.namespace, pod.Name, pod.Spec.Containers[0].Name)
	cmd := exec.CommandContext(n.t.Context(), filepath.Join(in.Home, "bin", "spark-submit"), "--master", "local[2]",
		"--conf", "spark.ui.port="+strconv.Itoa(int(port)), "--conf", "spark.port.maxRetries=0",
		"--conf", "spark.driver.host="+ip, "--conf", "spark.driver.bindAddress="+ip, script)
	cmd.Dir = n.t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "SPARK_HOME=" + in.Home, "SPARK_LOCAL_IP=" + ip, "HOME=" + cmd.Dir, "LANG=C.UTF-8",
		"PYSPARK_PYTHON=python3", "SPARK_USER=spark",
		// Only to make the start of Java shorter.
		"JAVA_TOOL_OPTIONS=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx512m"}
	cmd.Stdout, cmd.Stderr = out, out
	// Python runs below Java: all of it is ended together, and with this process, in whatever way that ends.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	require.NoError(n.t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended is in its output
		out.end()
		close(ended)
	}()
	n.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
		if n.t.Failed() {
			text := out.String()
			n.t.Logf("last lines of the driver %s:\n%s", pod.Name, text[max(0, len(text)-8<<10):])
		}
	})
	n.until("the driver of Spark "+in.Version+" runs", func(c *assert.CollectT) {
		select {
		case <-ended:
			require.FailNow(n.t, "the driver has ended")
		default:
		}
		assert.Contains(c, out.String(), "the UI has everything")
	})
	connection, err := net.Dial("tcp", net.JoinHostPort(ip, strconv.Itoa(int(port)))) //nolint:noctx // on this machine
	require.NoError(n.t, err, "the UI of %s", pod.Name)
	require.NoError(n.t, connection.Close())
	return out
}
