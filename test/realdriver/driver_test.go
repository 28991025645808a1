//go:build linux

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

package realdriver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/spark-apiserver/spark-apiserver/hack/spark-golden/pyspark"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/sparkdriver"
)

// driver is a driver's pod whose container is a process of this machine.
type driver struct {
	pod *corev1.Pod
	// ip is the pod's address, one of the many of the loopback device, so that ports of drivers don't collide.
	ip string
	// root is the folder below which the pod's volumes are.
	root string
	// properties is what the pod's spark.properties says.
	properties map[string]string
	// template is the text of the executors' template, as the driver reads it.
	template []byte
	// given are the properties that only the place of the process makes necessary. They go before those of the file.
	given map[string]string
	// output is what the process writes.
	output *tail
	// ended is closed when the process has ended.
	ended chan struct{}
}

// runDriver does for the driver's pod of an application what a kubelet would: it mounts the ConfigMap, starts what the
// container says, and reports that the pod runs.
func (n *tenant) runDriver(app, ip string, in pyspark.Installation) *driver {
	n.t.Helper()
	d := &driver{ip: ip, root: n.t.TempDir(), output: &tail{}, ended: make(chan struct{})}
	n.until("the driver's pod exists", func(c *assert.CollectT) {
		pods, err := n.kube.CoreV1().Pods(n.namespace).List(n.t.Context(), metav1.ListOptions{LabelSelector: "spark-role=driver,sparkoperator.k8s.io/app-name=" + app})
		if assert.NoError(c, err) && assert.Len(c, pods.Items, 1) {
			d.pod = &pods.Items[0]
		}
	})
	n.mount(d)
	n.setRunning(d)
	n.start(d, in)
	return d
}

// mount writes the ConfigMaps that the container mounts below the root folder.
func (n *tenant) mount(d *driver) {
	n.t.Helper()
	container := d.container()
	for _, v := range d.pod.Spec.Volumes {
		at := slices.IndexFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == v.Name })
		if at < 0 {
			continue
		}
		folder := d.path(container.VolumeMounts[at].MountPath)
		require.NoError(n.t, os.MkdirAll(folder, 0o755))
		if v.ConfigMap == nil || len(v.ConfigMap.Items) == 0 {
			continue // of the application: what is in there is of no matter to the driver
		}
		configMap, err := n.kube.CoreV1().ConfigMaps(n.namespace).Get(n.t.Context(), v.ConfigMap.Name, metav1.GetOptions{})
		require.NoError(n.t, err)
		for _, item := range v.ConfigMap.Items {
			content, ok := configMap.Data[item.Key]
			require.True(n.t, ok, "the ConfigMap has no %s", item.Key)
			require.NoError(n.t, os.WriteFile(filepath.Join(folder, item.Path), []byte(content), 0o644))
		}
	}
	content, err := os.ReadFile(d.path("/opt/spark/conf/spark.properties"))
	require.NoError(n.t, err)
	d.properties, err = sparkdriver.ParseProperties(string(content))
	require.NoError(n.t, err)
	d.template, err = os.ReadFile(d.path(d.properties["spark.kubernetes.executor.podTemplateFile"]))
	require.NoError(n.t, err)
	token, err := n.ServiceAccountToken(n.t.Context(), n.namespace, d.pod.Spec.ServiceAccountName, time.Hour)
	require.NoError(n.t, err)
	require.NoError(n.t, os.WriteFile(d.path("token"), []byte(token), 0o600))
	require.NoError(n.t, os.WriteFile(d.path("ca.crt"), n.CA(), 0o644))
}

func (n *tenant) setRunning(d *driver) {
	n.t.Helper()
	now := metav1.Now()
	status, err := json.Marshal(map[string]any{"status": corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: d.ip, PodIPs: []corev1.PodIP{{IP: d.ip}}, StartTime: &now,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: d.container().Name, Image: d.container().Image, Ready: true,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		}},
	}})
	require.NoError(n.t, err)
	_, err = n.kube.CoreV1().Pods(n.namespace).Patch(n.t.Context(), d.pod.Name, types.StrategicMergePatchType, status, metav1.PatchOptions{}, "status")
	require.NoError(n.t, err)
}

// start runs what the entrypoint of Spark's images makes of the container's arguments.
func (n *tenant) start(d *driver, in pyspark.Installation) {
	n.t.Helper()
	args := slices.Clone(d.container().Args)
	require.Equal(n.t, "driver", args[0])
	args = args[1:]
	file := slices.Index(args, "--properties-file") + 1
	args[file] = d.path(args[file])
	d.given = map[string]string{
		"spark.driver.host":                                           d.ip,
		"spark.kubernetes.driver.master":                              n.ServerURL(),
		"spark.kubernetes.authenticate.driver.mounted.caCertFile":     d.path("ca.crt"),
		"spark.kubernetes.authenticate.driver.mounted.oauthTokenFile": d.path("token"),
		"spark.kubernetes.executor.podTemplateFile":                   d.path(d.properties["spark.kubernetes.executor.podTemplateFile"]),
		// Milliseconds. Spark gives up after ten seconds, which a busy machine needs for less.
		"spark.kubernetes.driver.requestTimeout":    "120000",
		"spark.kubernetes.driver.connectionTimeout": "120000",
		// As the entrypoint has it.
		"spark.driver.bindAddress":              d.ip,
		"spark.executorEnv.SPARK_DRIVER_POD_IP": d.ip,
	}
	options := []string{"--deploy-mode", "client"}
	for key, value := range d.given {
		options = append(options, "--conf", key+"="+value)
	}
	cmd := exec.CommandContext(n.t.Context(), filepath.Join(in.Home, "bin", "spark-submit"), append(options, args...)...)
	cmd.Dir = d.root
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "SPARK_HOME=" + in.Home, "SPARK_LOCAL_IP=" + d.ip, "HOME=/nonexistent", "LANG=C.UTF-8",
		// Only to make the start of Java shorter.
		"JAVA_TOOL_OPTIONS=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx512m"}
	for _, e := range d.container().Env {
		switch {
		case e.ValueFrom == nil && strings.HasPrefix(e.Value, "/"):
			e.Value = d.path(e.Value)
		case e.ValueFrom != nil && e.ValueFrom.FieldRef != nil:
			require.Equal(n.t, "status.podIP", e.ValueFrom.FieldRef.FieldPath)
			e.Value = d.ip
		}
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	cmd.Stdout, cmd.Stderr = d.output, d.output
	// Python runs below Java: all of it is ended together, and with this process, in whatever way that ends.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	require.NoError(n.t, cmd.Start())
	go func() {
		_ = cmd.Wait() // how it ended is in its output
		close(d.ended)
	}()
	n.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-d.ended
		if n.t.Failed() {
			n.t.Logf("last lines of the driver %s:\n%s", d.pod.Name, d.output)
		}
	})
}

func (d *driver) hasEnded() bool {
	select {
	case <-d.ended:
		return true
	default:
		return false
	}
}

func (d *driver) container() *corev1.Container {
	for i := range d.pod.Spec.Containers {
		if d.pod.Spec.Containers[i].Name == "spark-kubernetes-driver" {
			return &d.pod.Spec.Containers[i]
		}
	}
	return &d.pod.Spec.Containers[0]
}

// path is where a path of the container is on this machine.
func (d *driver) path(inside string) string { return filepath.Join(d.root, inside) }

// effective asks the running driver for its properties.
func (d *driver) effective(ctx context.Context) (map[string]string, error) {
	var applications []struct{ ID string }
	api := fmt.Sprintf("http://%s:4040/api/v1/applications", d.ip)
	if err := getJSON(ctx, api, &applications); err != nil {
		return nil, err
	}
	if len(applications) != 1 {
		return nil, fmt.Errorf("the driver tells of %d applications", len(applications))
	}
	var environment struct{ SparkProperties [][2]string }
	if err := getJSON(ctx, api+"/"+applications[0].ID+"/environment", &environment); err != nil {
		return nil, err
	}
	properties := map[string]string{}
	for _, p := range environment.SparkProperties {
		properties[p[0]] = p[1]
	}
	return properties, nil
}

func getJSON(ctx context.Context, url string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, response.Status)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(content, into)
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const tailSize = 16 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Write(p)
	if extra := t.text.Len() - tailSize; extra > 0 {
		t.text.Next(extra)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}
