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

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/yaml"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/realnode"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/realnode/deploy"
)

const (
	// patience bounds every wait for something that should happen: real Spark, on two cores that others may use.
	patience = 6 * time.Minute
	glance   = 250 * time.Millisecond

	labelApp  = "sparkoperator.k8s.io/app-name"
	labelRole = "spark-role"

	driverContainer   = "spark-kubernetes-driver"
	executorContainer = "spark-kubernetes-executor"
)

// tenant is a namespace in which applications can run.
type tenant struct {
	*environment
	t         *testing.T
	namespace string
}

// newTenant makes a namespace with the service account "spark" of artifacts/spark-driver. Tests run one after the other:
// Spark uses the machine's cores as it is.
func newTenant(t *testing.T) *tenant {
	t.Helper()
	realnode.Skip(t)
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-", ".", "-", "=", "-").Replace(t.Name()))
	if len(name) > 40 {
		name = name[:40]
	}
	n := &tenant{environment: shared, t: t, namespace: strings.Trim(name, "-") + "-" + rand.String(5)}
	_, err := n.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n.namespace}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, deploy.DriverAccount(t.Context(), n.Node, n.namespace))
	t.Cleanup(func() {
		if t.Failed() {
			n.dump()
		}
		// The next test gets the node for itself.
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		_ = n.kube.CoreV1().Pods(n.namespace).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}, metav1.ListOptions{})
		assert.Eventually(t, func() bool { return len(n.pods("")) == 0 }, patience, glance, "pods of the test are left")
		_ = n.kube.CoreV1().Namespaces().Delete(ctx, n.namespace, metav1.DeleteOptions{})
	})
	return n
}

type change func(*v1beta2.SparkApplication)

func arguments(args ...string) change {
	return func(app *v1beta2.SparkApplication) { app.Spec.Arguments = args }
}

// manifest applies what else a file of testdata holds, and returns its application for a line of Spark.
func (n *tenant) manifest(file, line string, changes ...change) *v1beta2.SparkApplication {
	n.t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(n.t, err)
	documents := strings.Split(string(content), "\n---\n")
	for _, other := range documents[:len(documents)-1] {
		_, _, err := n.Kubectl(n.t.Context(), other, "-n", n.namespace, "apply", "-f", "-")
		require.NoError(n.t, err)
	}
	app := &v1beta2.SparkApplication{}
	text := strings.ReplaceAll(documents[len(documents)-1], "image: SET-BY-THE-TEST", "image: "+deploy.SparkImage(line))
	require.NoError(n.t, yaml.UnmarshalStrict([]byte(text), app))
	app.Spec.SparkVersion = line + ".0"
	for _, c := range changes {
		c(app)
	}
	return app
}

// pi makes an application in one of the languages (jvm, python), with what it needs.
func (n *tenant) pi(language, line string, changes ...change) *v1beta2.SparkApplication {
	n.t.Helper()
	if language == "jvm" {
		_, err := n.kube.CoreV1().ConfigMaps(n.namespace).Create(n.t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "pi"}, BinaryData: map[string][]byte{"pi.jar": n.jars[line]},
		}, metav1.CreateOptions{})
		require.NoError(n.t, err)
	}
	return n.manifest("pi-"+language+".yaml", line, changes...)
}

func (n *tenant) create(app *v1beta2.SparkApplication) *v1beta2.SparkApplication {
	n.t.Helper()
	created, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Create(n.t.Context(), app, metav1.CreateOptions{})
	require.NoError(n.t, err)
	return created
}

func (n *tenant) get(name string) *v1beta2.SparkApplication {
	n.t.Helper()
	app, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Get(n.t.Context(), name, metav1.GetOptions{})
	require.NoError(n.t, err)
	return app
}

// attempt is one look at what is waited for; it keeps what asserts complain of.
type attempt struct{ complaints []string }

// Errorf implements assert.TestingT.
func (a *attempt) Errorf(format string, args ...any) {
	a.complaints = append(a.complaints, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// until waits for a condition, and says what was seen last when it does not come. The condition is looked at in the test's
// own goroutine, so that it can end the test.
func (n *tenant) until(what string, condition func(*attempt)) {
	n.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(glance) {
		last := &attempt{}
		condition(last)
		if len(last.complaints) == 0 {
			return
		}
		if time.Now().After(deadline) {
			require.FailNow(n.t, "did not happen: "+what, strings.Join(last.complaints, "\n"))
		}
	}
}

// untilState waits until an application has a state; an end that was not asked for ends the wait at once.
func (n *tenant) untilState(name string, want v1beta2.ApplicationStateType) *v1beta2.SparkApplication {
	n.t.Helper()
	var app *v1beta2.SparkApplication
	n.until(fmt.Sprintf("%s becomes %s", name, want), func(c *attempt) {
		app = n.get(name)
		state := app.Status.AppState
		if state.State != want && (state.State == v1beta2.ApplicationStateCompleted || state.State == v1beta2.ApplicationStateFailed) {
			require.FailNow(n.t, "the application ended otherwise", "%s is %s (%s), not %s", name, state.State, state.ErrorMessage, want)
		}
		assert.Equal(c, want, state.State)
	})
	return app
}

// untilScheduling waits until the condition about the gang has a status and a reason.
func (n *tenant) untilScheduling(name string, status metav1.ConditionStatus, reason string) *metav1.Condition {
	n.t.Helper()
	var found *metav1.Condition
	n.until(fmt.Sprintf("%s is %s", name, reason), func(c *attempt) {
		found = meta.FindStatusCondition(n.get(name).Status.Conditions, v1beta2.ConditionWorkloadSchedulingReady)
		if assert.NotNil(c, found, "no such condition yet") {
			assert.Equal(c, status, found.Status, found.Message)
			assert.Equal(c, reason, found.Reason, found.Message)
		}
	})
	return found
}

func (n *tenant) pods(selector string) []corev1.Pod {
	n.t.Helper()
	// Also at the end of a test, when its context has ended.
	list, err := n.kube.CoreV1().Pods(n.namespace).List(context.Background(), metav1.ListOptions{LabelSelector: selector})
	require.NoError(n.t, err)
	return list.Items
}

func (n *tenant) executors(app string) []corev1.Pod {
	n.t.Helper()
	return n.pods(labelApp + "=" + app + "," + labelRole + "=executor")
}

func (n *tenant) driver(app string) *corev1.Pod {
	n.t.Helper()
	pods := n.pods(labelApp + "=" + app + "," + labelRole + "=driver")
	require.Len(n.t, pods, 1)
	return &pods[0]
}

// untilExecutorsRun waits until so many executors run Spark and the job's tasks have begun.
func (n *tenant) untilExecutorsRun(app string, count int) []corev1.Pod {
	n.t.Helper()
	var pods []corev1.Pod
	n.until(fmt.Sprintf("%d executors of %s run", count, app), func(c *attempt) {
		pods = n.executors(app)
		running := 0
		for i := range pods {
			if pods[i].Status.Phase == corev1.PodRunning {
				running++
			}
		}
		assert.Equal(c, count, running)
	})
	n.until("tasks have begun", func(c *attempt) {
		assert.Contains(c, n.driverLog(app), "Starting task ")
	})
	return pods
}

// driverLog is what the driver's container has written so far.
func (n *tenant) driverLog(app string) string {
	n.t.Helper()
	log, err := n.kube.CoreV1().Pods(n.namespace).GetLogs(n.driver(app).Name, &corev1.PodLogOptions{Container: driverContainer}).DoRaw(n.t.Context())
	require.NoError(n.t, err)
	return string(log)
}

// bound counts the pods that have a node.
func bound(pods []corev1.Pod) int {
	count := 0
	for i := range pods {
		if pods[i].Spec.NodeName != "" {
			count++
		}
	}
	return count
}

// killJava ends Spark's process in a container as a lack of memory would: at once, and unasked.
func (n *tenant) killJava(pod, container string) {
	n.t.Helper()
	const script = `for p in /proc/[0-9]*; do if [ "$(cat $p/comm 2>/dev/null)" = java ]; then kill -9 "${p#/proc/}"; fi; done`
	_, _, err := n.Kubectl(n.t.Context(), "", "-n", n.namespace, "exec", pod, "-c", container, "--", "sh", "-c", script)
	require.NoError(n.t, err)
}

// dump logs what a person would look at first.
func (n *tenant) dump() {
	for _, args := range [][]string{
		{"get", "sparkapps,pods,workloads.scheduling.k8s.io,podgroups.scheduling.k8s.io,configmaps,services", "-o", "wide"},
		{"get", "sparkapps", "-o", "yaml"},
		{"get", "events", "--sort-by=.lastTimestamp"},
		{"logs", "--all-containers", "--tail=80", "-l", labelRole + "=driver"},
		{"logs", "--all-containers", "--tail=40", "-l", labelRole + "=executor"},
	} {
		out, errOut, _ := n.Kubectl(context.Background(), "", append([]string{"-n", n.namespace}, args...)...)
		n.t.Logf("kubectl %s\n%s%s", strings.Join(args, " "), out, errOut)
	}
	out, _, _ := n.Kubectl(context.Background(), "", "-n", "spark-system", "logs", "deployment/spark-apiserver", "--tail=60")
	n.t.Logf("last lines of our server:\n%s", out)
}
