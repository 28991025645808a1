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
	"bufio"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/spark-apiserver/spark-apiserver/hack/spark-golden/pyspark"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/clustertest"
	"github.com/spark-apiserver/spark-apiserver/test/uiwalk"
)

var sparkLines = flag.String("spark-lines", "3.5,4.3", "the lines of Spark to run, with commas: 3.5,4.0,4.1,4.2,4.3 are all")

// A user with rights on log and proxy alone, and none on pods, sees the log and the UI of a driver, and nothing else.
func TestLogsAndUI(t *testing.T) {
	clustertest.SkipIfShort(t)
	c := clustertest.New(t, cluster.Options{WithoutKwok: true, WithoutSimulatedDriver: true})
	_, err := c.StartSparkAPIServer(t.Context(), cluster.ServerOptions{ExtraFlags: []string{"--allow-loopback-pod-ips"}})
	require.NoError(t, err)
	all := &tenant{Cluster: c, t: t}
	all.kube, err = kubernetes.NewForConfig(c.AdminConfig())
	require.NoError(t, err)
	all.spark, err = versioned.NewForConfig(c.AdminConfig())
	require.NoError(t, err)
	all.kubelet = startKubelet(t, all.kube, "this-machine")

	t.Run("streams", func(t *testing.T) {
		t.Parallel()
		streamsOutliveAMinute(all.in(t, "streams"))
	})
	t.Run("other pods", func(t *testing.T) {
		t.Parallel()
		otherPodsAreOutOfReach(all.in(t, "others"))
	})
	for i, line := range strings.Split(*sparkLines, ",") {
		t.Run("Spark "+line, func(t *testing.T) {
			if _, err := exec.LookPath("java"); err != nil {
				t.Skipf("Spark needs Java: %v", err)
			}
			t.Parallel()
			in, err := pyspark.Install(t.Context(), filepath.Join(c.Binaries.RepoRoot, ".cache", "pyspark"), line)
			require.NoError(t, err)
			aRealDriver(all.in(t, "spark-"+strings.ReplaceAll(line, ".", "-")), in, fmt.Sprintf("127.76.%d.1", i+1))
		})
	}
}

func aRealDriver(n *tenant, in pyspark.Installation, ip string) {
	t := n.t
	n.create("pi", in.Version, func(app *v1beta2.SparkApplication) { app.Spec.SparkConf["spark.ui.port"] = "4141" })
	pod := n.driverPod("pi")
	n.run(pod, ip)
	printed := n.startSpark(pod, ip, in)
	reader := n.user("reader", rights{"sparkapplications/log": {"get"}, "sparkapplications/proxy": {"get"}})
	killer := n.user("killer", rights{"sparkapplications/proxy": {"get", "create"}})
	nobody := n.user("nobody", nil)

	response, err := reader.get(t.Context(), n.path("pi", "log?follow=true"))
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	followed := bufio.NewScanner(response.Body)
	n.untilLine(followed, "the UI has everything")

	code, text := reader.status(n.path("pi", "log?tailLines=7&timestamps=true&limitBytes=99999&sinceSeconds=3600&previous=true"))
	assert.Equal(t, http.StatusOK, code)
	assert.Contains(t, text, "the UI has everything")
	for name, value := range map[string]string{"tailLines": "7", "timestamps": "true", "limitBytes": "99999", "sinceSeconds": "3600", "previous": "true"} {
		assert.Equal(t, value, n.kubelet.askedFor(printed).Get(name), name)
	}
	text, err = reader.printed("logs", "pi", "--tail", "3", "--since", "1500ms")
	require.NoError(t, err)
	assert.Contains(t, text, "the UI has everything")
	assert.Equal(t, "3", n.kubelet.askedFor(printed).Get("tailLines"))
	assert.Equal(t, "2", n.kubelet.askedFor(printed).Get("sinceSeconds"))

	root := n.path("pi", "proxy/")
	proxied := reader.serving(n.KubectlPath(), "proxy", "--port=0")
	under := reader.serving(n.KubectlPath(), "proxy", "--port=0", "--api-prefix=/cluster/")
	plugin := reader.serving(n.plugin(), "ui", "pi", "-n", n.namespace)
	var kills []string
	for _, way := range []struct {
		name, address string
		client        *http.Client
	}{
		{"aggregator", n.ServerURL() + root, reader.client},
		{"kubectl proxy", proxied + root, http.DefaultClient},
		{"kubectl proxy with a prefix", under + "/cluster" + root, http.DefaultClient},
		{"kubectl spark ui", plugin + "/", http.DefaultClient},
	} {
		walk := uiwalk.New(way.client, parse(t, way.address))
		walk.Start(parse(t, strings.TrimSuffix(way.address, "/")))
		for _, page := range []string{"executors/threadDump/?executorId=driver", "executors/heapHistogram/?executorId=driver"} {
			walk.Start(parse(t, way.address+page)) // linked by a script
		}
		require.NoError(t, walk.Run(t.Context()))
		assert.Empty(t, walk.Problems, way.name)
		for _, page := range []string{
			"/", "/jobs/", "/jobs/job/", "/stages/", "/stages/stage/", "/storage/", "/storage/rdd/", "/environment/", "/executors/",
			"/executors/threadDump/", "/SQL/", "/SQL/execution/", "/StreamingQuery/", "/StreamingQuery/statistics/", "/static/webui.js",
			"/api/v1/applications",
		} {
			assert.True(t, walk.Has(page), "%s: no page %s among %d", way.name, page, len(walk.Pages))
		}
		t.Logf("Spark %s, %s: %d pages, %d requests", in.Version, way.name, len(walk.Pages), walk.Requests)
		if way.name == "aggregator" {
			kills = walk.Kills
		}
	}

	// Nobody ends a job by a link, and whoever may only look doesn't by a form.
	var kill, form string
	for _, k := range kills {
		if address, hidden, _ := strings.Cut(k, "#"); strings.Contains(address, "/jobs/job/kill/") {
			kill, form = address, hidden
		}
	}
	require.NotEmpty(t, kill, kills)
	byLink := strings.TrimPrefix(kill, n.ServerURL())
	if !strings.Contains(byLink, "?") {
		byLink += "?" + form
	}
	for _, who := range []*user{reader, killer} {
		code, text := who.status(byLink)
		assert.Equal(t, http.StatusMethodNotAllowed, code, text)
	}
	assert.Equal(t, http.StatusForbidden, reader.post(kill, form))
	assert.NotContains(t, printed.String(), "the long job was killed")
	assert.Equal(t, http.StatusOK, killer.post(kill, form))
	n.untilLine(followed, "the long job was killed")

	for _, path := range []string{"log", "log?follow=true", "proxy", "proxy/", "proxy/jobs/", "proxy/jobs/job/kill/?id=1"} {
		code, text := nobody.status(n.path("pi", path))
		assert.Equal(t, http.StatusForbidden, code, "%s: %s", path, text)
	}
	_, err = nobody.printed("logs", "pi")
	require.ErrorContains(t, err, "forbidden")
	_, err = nobody.printed("ui", "pi")
	require.ErrorContains(t, err, "forbidden")
	code, _ = killer.status(n.path("pi", "log"))
	assert.Equal(t, http.StatusForbidden, code, "the right on one subresource is none on the other")
}

// untilLine reads a log until a line has some words.
func (n *tenant) untilLine(log *bufio.Scanner, words string) {
	n.t.Helper()
	for log.Scan() {
		if strings.Contains(log.Text(), words) {
			return
		}
	}
	require.FailNow(n.t, "the log ended without "+words, "%v", log.Err())
}

// beyondLimits is beyond every limit of ordinary requests: of kube-apiserver, of its aggregator, and of our server.
const beyondLimits = 70 * time.Second

// A quiet log and a slow page of a UI outlive the limits of ordinary requests.
func streamsOutliveAMinute(n *tenant) {
	t := n.t
	n.create("quiet", "4.3.0")
	pod := n.driverPod("quiet")
	listener, err := net.Listen("tcp4", "127.77.0.1:4040") //nolint:noctx // on this machine
	require.NoError(t, err)
	late := make(chan struct{})
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprintln(w, "early")
		_ = http.NewResponseController(w).Flush()
		<-late
		fmt.Fprintln(w, "late")
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	n.run(pod, "127.77.0.1")
	written := n.kubelet.container(n.namespace, pod.Name, pod.Spec.Containers[0].Name)
	user := n.user("reader", rights{"sparkapplications/log": {"get"}, "sparkapplications/proxy": {"get"}})
	streams := map[string]*bufio.Scanner{}
	for _, path := range []string{"log?follow=true", "proxy/slow"} {
		response, err := user.get(t.Context(), n.path("quiet", path))
		require.NoError(t, err)
		defer response.Body.Close()
		require.Equal(t, http.StatusOK, response.StatusCode, path)
		streams[path] = bufio.NewScanner(response.Body)
	}
	fmt.Fprintln(written, "early")
	for _, stream := range streams {
		n.untilLine(stream, "early")
	}
	<-time.After(beyondLimits)
	fmt.Fprintln(written, "late")
	close(late)
	for _, stream := range streams {
		n.untilLine(stream, "late")
	}
	// The log ends with the container.
	written.end()
	assert.False(t, streams["log?follow=true"].Scan())
	require.NoError(t, streams["log?follow=true"].Err())
}

// Neither names nor ports that a user chooses lead to other pods or to the node.
func otherPodsAreOutOfReach(n *tenant) {
	t := n.t
	ours := rights{"sparkapplications/log": {"get"}, "sparkapplications/proxy": {"get", "create"}}
	user := n.user("owner", ours)
	// Somebody's pod of the name that an application wants for its driver.
	victim := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "victim", Labels: map[string]string{"spark-role": "driver", "sparkoperator.k8s.io/app-name": "thief"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "spark-kubernetes-driver", Image: "secret", Ports: []corev1.ContainerPort{{Name: "spark-ui", ContainerPort: 4040}}}}},
	}
	victim, err := n.kube.CoreV1().Pods(n.namespace).Create(t.Context(), victim, metav1.CreateOptions{})
	require.NoError(t, err)
	n.run(victim, "127.77.0.2")
	secret := n.kubelet.container(n.namespace, "victim", "spark-kubernetes-driver")
	fmt.Fprintln(secret, "secret")
	n.create("thief", "4.3.0", func(app *v1beta2.SparkApplication) { app.Spec.Driver.PodName = new("victim") })
	n.until("the application has been looked at", func(c *assert.CollectT) {
		app, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Get(t.Context(), "thief", metav1.GetOptions{})
		if assert.NoError(c, err) {
			assert.NotEmpty(c, app.Status.AppState.State)
		}
	})
	for _, path := range []string{"log", "log?executor=1", "proxy/", "proxy/jobs/"} {
		code, text := user.status(n.path("thief", path))
		assert.Equal(t, http.StatusNotFound, code, "%s: %s", path, text)
	}
	assert.Nil(t, n.kubelet.askedFor(secret))

	// The port of the kubelet, in the network of its node.
	node, err := n.kube.CoreV1().Nodes().Get(t.Context(), n.kubelet.node, metav1.GetOptions{})
	require.NoError(t, err)
	port := fmt.Sprint(node.Status.DaemonEndpoints.KubeletEndpoint.Port)
	n.create("host", "4.3.0", func(app *v1beta2.SparkApplication) {
		app.Spec.Driver.HostNetwork = new(true)
		app.Spec.SparkConf["spark.ui.port"] = port
	})
	n.run(n.driverPod("host"), "127.0.0.1")
	code, text := user.status(n.path("host", "proxy/containerLogs/"+n.namespace+"/victim/spark-kubernetes-driver"))
	assert.Equal(t, http.StatusForbidden, code, text)
	assert.Contains(t, text, "hostNetwork")

	// An executor's log is found by the chain of its owners, and a forged one isn't.
	n.create("mine", "4.3.0")
	driver := n.driverPod("mine")
	n.run(driver, "127.77.0.3")
	n.executor("mine-1", "1", driver)
	n.executor("forged", "2", victim)
	code, text = user.status(n.path("mine", "log?executor=1"))
	assert.Equal(t, http.StatusOK, code, text)
	assert.Equal(t, "of mine-1\n", text)
	text, err = user.printed("logs", "mine", "--executor", "1")
	require.NoError(t, err)
	assert.Equal(t, "of mine-1\n", text)
	code, text = user.status(n.path("mine", "log?executor=2"))
	assert.Equal(t, http.StatusNotFound, code, text)
	code, text = user.status(n.path("mine", "log?container=none"))
	assert.Equal(t, http.StatusBadRequest, code, text)
	assert.Contains(t, text, "container none is not valid for pod mine-driver")
	code, text = user.status(n.path("mine", "proxy/"))
	assert.Equal(t, http.StatusServiceUnavailable, code, text)
}

// executor makes a pod that looks like an executor of a driver's attempt, with a log.
func (n *tenant) executor(name, id string, owner *corev1.Pod) {
	n.t.Helper()
	labels := map[string]string{"spark-role": "executor", "spark-exec-id": id}
	mine := n.driverPod("mine")
	labels["sparkoperator.k8s.io/submission-id"] = mine.Labels["sparkoperator.k8s.io/submission-id"]
	pod, err := n.kube.CoreV1().Pods(n.namespace).Create(n.t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "Pod", Name: owner.Name, UID: owner.UID, Controller: new(true)},
		}},
		Spec: corev1.PodSpec{
			Containers:  []corev1.Container{{Name: "spark-kubernetes-executor", Image: "spark"}},
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		},
	}, metav1.CreateOptions{})
	require.NoError(n.t, err)
	n.run(pod, "127.77.0.4")
	fmt.Fprintln(n.kubelet.container(n.namespace, name, "spark-kubernetes-executor"), "of "+name)
}
