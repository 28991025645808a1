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
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/spark-apiserver/spark-apiserver/hack/spark-golden/pyspark"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/clustertest"
)

var sparkLines = flag.String("spark-lines", "3.5,4.3", "the lines of Spark to run, with commas: 3.5,4.0,4.1,4.2,4.3 are all")

const (
	// patience bounds every wait. A driver makes its first pods after half a minute on two cores of its own.
	patience = 10 * time.Minute
	glance   = 200 * time.Millisecond
)

// tenant is a namespace in which one application runs.
type tenant struct {
	*cluster.Cluster
	t         *testing.T
	kube      kubernetes.Interface
	spark     versioned.Interface
	namespace string
}

func (n *tenant) until(what string, condition func(*assert.CollectT)) {
	n.t.Helper()
	require.EventuallyWithT(n.t, condition, patience, glance, what)
}

// What the driver of Spark makes of our ConfigMap is what we meant, in each line of Spark.
func TestRealDriver(t *testing.T) {
	clustertest.SkipIfShort(t)
	if _, err := exec.LookPath("java"); err != nil {
		t.Skipf("Spark needs Java: %v", err)
	}
	c := clustertest.New(t, cluster.Options{WithoutKwok: true, WithoutSimulatedDriver: true})
	_, err := c.StartSparkAPIServer(t.Context(), cluster.ServerOptions{FeatureGates: map[string]bool{"SparkApplicationWorkloadAwareScheduling": true}})
	require.NoError(t, err)
	kube, err := kubernetes.NewForConfig(c.AdminConfig())
	require.NoError(t, err)
	spark, err := versioned.NewForConfig(c.AdminConfig())
	require.NoError(t, err)
	_, err = kube.SchedulingV1().PriorityClasses().Create(t.Context(), &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = kube.NodeV1().RuntimeClasses().Create(t.Context(), &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "of-the-template"}, Handler: "none"}, metav1.CreateOptions{})
	require.NoError(t, err)

	for i, line := range strings.Split(*sparkLines, ",") {
		fmt.Fprintf(os.Stderr, "test cluster: Spark %s, from PyPI where it isn't here yet\n", line)
		in, err := pyspark.Install(t.Context(), filepath.Join(c.Binaries.RepoRoot, ".cache", "pyspark"), line)
		require.NoError(t, err)
		for j, name := range []string{"fields", "overridden"} {
			t.Run(line+"/"+name, func(t *testing.T) {
				n := &tenant{Cluster: c, t: t, kube: kube, spark: spark, namespace: name + "-" + strings.ReplaceAll(line, ".", "-")}
				n.prepare()
				app := n.create(name, in)
				d := n.runDriver(name, fmt.Sprintf("127.73.%d.%d", i+1, j+1), in)
				executors := n.executors(app, d)
				n.checkMembership(app, executors)
				checkTemplate(t, d, executors)
				checkRows(t, name, line, executors)
				n.checkProperties(d)
			})
		}
	}
}

// prepare makes what the applications name and a cluster would check.
func (n *tenant) prepare() {
	n.t.Helper()
	manifests := filepath.Join(n.Binaries.RepoRoot, "artifacts", "spark-driver")
	_, err := n.kube.CoreV1().Namespaces().Create(n.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n.namespace}}, metav1.CreateOptions{})
	require.NoError(n.t, err)
	rights, _, err := n.Kubectl(n.t.Context(), "", "kustomize", manifests)
	require.NoError(n.t, err)
	// The rights that our docs say a driver needs, and no more.
	rights = strings.ReplaceAll(rights, "namespace: default", "namespace: "+n.namespace)
	_, _, err = n.Kubectl(n.t.Context(), rights, "apply", "--namespace", n.namespace, "-f", "-")
	require.NoError(n.t, err)
	for _, account := range []string{"executor", "of-the-template"} {
		_, err := n.kube.CoreV1().ServiceAccounts(n.namespace).Create(n.t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}}, metav1.CreateOptions{})
		require.NoError(n.t, err)
	}
}

// create creates an application of testdata for an installed Spark, whose example it runs: that waits for executors.
func (n *tenant) create(name string, in pyspark.Installation) *v1beta2.SparkApplication {
	n.t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
	require.NoError(n.t, err)
	app := &v1beta2.SparkApplication{}
	require.NoError(n.t, yaml.UnmarshalStrict(content, app))
	home, err := filepath.Abs(in.Home)
	require.NoError(n.t, err)
	app.Spec.SparkVersion = in.Version
	app.Spec.MainApplicationFile = new("local://" + filepath.Join(home, "examples", "src", "main", "python", "pi.py"))
	app, err = n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Create(n.t.Context(), app, metav1.CreateOptions{})
	require.NoError(n.t, err)
	return app
}

// executors waits until the driver has made as many executors as the application asks for.
func (n *tenant) executors(app *v1beta2.SparkApplication, d *driver) []map[string]any {
	n.t.Helper()
	var list *corev1.PodList
	n.until("all executors exist", func(c *assert.CollectT) {
		if d.hasEnded() {
			return // said below
		}
		var err error
		list, err = n.kube.CoreV1().Pods(n.namespace).List(n.t.Context(), metav1.ListOptions{LabelSelector: "spark-role=executor,sparkoperator.k8s.io/app-name=" + app.Name})
		if assert.NoError(c, err) {
			assert.Len(c, list.Items, int(*app.Spec.Executor.Instances))
		}
	})
	require.False(n.t, d.hasEnded(), "the driver has ended")
	var pods []map[string]any
	for i := range list.Items {
		pod := &list.Items[i]
		assert.Equal(n.t, corev1.PodPending, pod.Status.Phase, "there is no node")
		assert.Empty(n.t, pod.Spec.NodeName)
		assert.True(n.t, strings.HasPrefix(pod.Name, d.properties["spark.kubernetes.executor.podNamePrefix"]+"-exec-"), pod.Name)
		if assert.Len(n.t, pod.OwnerReferences, 1) {
			assert.Equal(n.t, d.pod.UID, pod.OwnerReferences[0].UID)
		}
		// Of the server's own answer: no field is lost on the way to a type of ours.
		raw, _, err := n.Kubectl(n.t.Context(), "", "get", "pod", "--namespace", n.namespace, pod.Name, "--output", "json")
		require.NoError(n.t, err)
		var object map[string]any
		require.NoError(n.t, json.Unmarshal([]byte(raw), &object))
		pods = append(pods, object)
	}
	return pods
}

// checkMembership compares each executor's group with the one that the application's status names.
func (n *tenant) checkMembership(app *v1beta2.SparkApplication, executors []map[string]any) {
	n.t.Helper()
	group := ""
	if app.Spec.Scheduling != nil {
		current, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Get(n.t.Context(), app.Name, metav1.GetOptions{})
		require.NoError(n.t, err)
		require.NotNil(n.t, current.Status.WorkloadScheduling)
		require.Len(n.t, current.Status.WorkloadScheduling.PodGroups, 1)
		group = current.Status.WorkloadScheduling.PodGroups[0].PodGroupName
		require.NotEmpty(n.t, group)
		assert.Equal(n.t, *app.Spec.Executor.Instances, *current.Status.WorkloadScheduling.PodGroups[0].MinCount)
	}
	for _, pod := range executors {
		var want any
		if group != "" {
			want = map[string]any{"podGroupName": group}
		}
		assert.Equal(n.t, want, pod["spec"].(map[string]any)["schedulingGroup"])
	}
}

// overwritten are the fields of the template of "overridden" that Spark sets; the rows say to what.
var overwritten = []string{
	"pod.metadata.labels.spark-role", "pod.spec.hostname", "pod.spec.restartPolicy",
	"pod.spec.containers[spark-kubernetes-executor].image:", "pod.spec.containers[spark-kubernetes-executor].imagePullPolicy",
	"pod.spec.containers[spark-kubernetes-executor].resources.requests.cpu", "pod.spec.containers[spark-kubernetes-executor].resources.requests.memory",
	"pod.spec.containers[spark-kubernetes-executor].resources.limits.memory", "pod.spec.containers[spark-kubernetes-executor].lifecycle.",
	"pod.spec.containers[spark-kubernetes-executor].env[BOTH]", "pod.spec.schedulerName",
}

// checkTemplate shows that executors have every field of the template that the driver read.
func checkTemplate(t *testing.T, d *driver, executors []map[string]any) {
	t.Helper()
	want := map[string]any{}
	require.NoError(t, yaml.Unmarshal(d.template, &want))
	for _, pod := range executors {
		lost := slices.DeleteFunc(missing("pod", want, pod), func(problem string) bool {
			return d.pod.Labels["sparkoperator.k8s.io/app-name"] == "overridden" &&
				slices.ContainsFunc(overwritten, func(prefix string) bool { return strings.HasPrefix(problem, prefix) })
		})
		assert.Empty(t, lost, "fields of the template that executors don't have")
	}
}

// checkRows shows that the rows of the docs are true.
func checkRows(t *testing.T, app, line string, executors []map[string]any) {
	t.Helper()
	for i := range rows {
		r := &rows[i]
		if r.app != app || !r.in(line) {
			continue
		}
		pod, container := map[string]any{}, map[string]any{}
		require.NoError(t, yaml.Unmarshal([]byte(r.pod), &pod), r.pod)
		require.NoError(t, yaml.Unmarshal([]byte(r.container), &container), r.container)
		for _, executor := range executors {
			containers := executor["spec"].(map[string]any)["containers"].([]any)
			last := containers[len(containers)-1].(map[string]any)
			assert.Equal(t, "spark-kubernetes-executor", last["name"])
			assert.Empty(t, append(missing("pod", pod, executor), missing("container", container, last)...), r.field)
		}
	}
}

// ofTheProcess are properties of which the process that runs has its own opinion.
var ofTheProcess = map[string]string{
	"spark.submit.deployMode": "the driver itself runs in client mode",
	"spark.app.submitTime":    "the driver sets it anew",
	"spark.app.name":          "the example calls itself PythonPi",
}

// checkProperties compares what is in force in the running driver with what we wrote for it.
func (n *tenant) checkProperties(d *driver) {
	n.t.Helper()
	var effective map[string]string
	n.until("the driver tells its properties", func(c *assert.CollectT) {
		var err error
		effective, err = d.effective(n.t.Context())
		assert.NoError(c, err)
	})
	compared := 0
	for key, value := range d.properties {
		if _, ok := ofTheProcess[key]; ok {
			continue
		}
		if given, ok := d.given[key]; ok {
			value = given
		}
		got, ok := effective[key]
		if strings.Contains(got, "redacted") {
			assert.True(n.t, ok, key) // Spark shows no values of properties whose names speak of secrets
			continue
		}
		if strings.HasSuffix(key, ".extraJavaOptions") {
			// Spark puts options of its own before those that are given (JavaModuleOptions).
			got = strings.TrimPrefix(got[max(0, len(got)-len(value)-1):], " ")
		}
		if assert.Equal(n.t, value, got, key) {
			compared++
		}
	}
	assert.Greater(n.t, compared, 30, "properties that could be compared")
	n.t.Logf("%d properties are in force as they were written", compared)
}
