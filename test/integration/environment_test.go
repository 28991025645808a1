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
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/kubernetes"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
)

// nativeScheduling are the feature gates with which most tests run the server.
var nativeScheduling = map[string]bool{"SparkApplicationWorkloadAwareScheduling": true}

const (
	// patience bounds every wait for something that should happen. Two cores may be busy with other work.
	patience = 2 * time.Minute
	// glance is how often a wait looks.
	glance = 100 * time.Millisecond

	labelApp        = "sparkoperator.k8s.io/app-name"
	labelSubmission = "sparkoperator.k8s.io/submission-id"
	labelRole       = "spark-role"

	// reserved keeps everybody but the test that added a node off that node.
	reserved = "test.spark-apiserver.io/reserved"
)

// environment is a control plane with our server.
type environment struct {
	*cluster.Cluster
	server *cluster.SparkServer
	kube   kubernetes.Interface
	spark  versioned.Interface
}

func newEnvironment(c *cluster.Cluster, server *cluster.SparkServer) (*environment, error) {
	kube, err := kubernetes.NewForConfig(c.AdminConfig())
	if err != nil {
		return nil, err
	}
	spark, err := versioned.NewForConfig(c.AdminConfig())
	if err != nil {
		return nil, err
	}
	return &environment{Cluster: c, server: server, kube: kube, spark: spark}, nil
}

// tenant is a namespace in which applications can run, with nodes that nobody else uses.
type tenant struct {
	*environment
	t         *testing.T
	namespace string
}

// tenant makes a namespace with the service account "spark" that drivers need.
func (e *environment) tenant(t *testing.T) *tenant {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	if len(name) > 40 {
		name = name[:40]
	}
	n := &tenant{environment: e, t: t, namespace: strings.Trim(name, "-") + "-" + rand.String(5)}
	_, err := e.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n.namespace}}, metav1.CreateOptions{})
	require.NoError(t, err)
	e.driverAccount(t, n.namespace, "spark")
	t.Cleanup(func() {
		if t.Failed() {
			n.dump()
		}
		// The room that a test took is given back; what is left behind is the business of the tests of deletion.
		_ = e.kube.CoreV1().Namespaces().Delete(context.Background(), n.namespace, metav1.DeleteOptions{})
	})
	return n
}

// driverAccount makes a service account with what a Spark driver does (spark-submit's documentation calls it "edit").
func (e *environment) driverAccount(t *testing.T, namespace, name string) {
	t.Helper()
	require.NoError(t, e.makeDriverAccount(t.Context(), namespace, name))
}

func (e *environment) makeDriverAccount(ctx context.Context, namespace, name string) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := e.kube.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}); unlessExists(err) != nil {
		return err
	}
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "spark-driver-" + name},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{""},
			Resources: []string{"pods", "configmaps", "services", "persistentvolumeclaims"},
			Verbs:     []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"},
		}},
	}
	if _, err := e.kube.RbacV1().Roles(namespace).Create(ctx, role, metav1.CreateOptions{}); unlessExists(err) != nil {
		return err
	}
	_, err := e.kube.RbacV1().RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "spark-driver-" + name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: name, Namespace: namespace}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
	}, metav1.CreateOptions{})
	return unlessExists(err)
}

// unlessExists passes over the error of a create that was made before.
func unlessExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// addNode adds a simulated node for this tenant alone.
func (n *tenant) addNode(cpu string) string {
	n.t.Helper()
	name := n.namespace + "-" + rand.String(4)
	require.NoError(n.t, n.AddNodeWith(n.t.Context(), name, corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(cpu),
		corev1.ResourceMemory: resource.MustParse("64Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}, map[string]string{reserved: n.namespace}))
	node, err := n.kube.CoreV1().Nodes().Get(n.t.Context(), name, metav1.GetOptions{})
	require.NoError(n.t, err)
	patch := fmt.Appendf(nil, `{"spec":{"taints":[{"key":%q,"value":%q,"effect":"NoSchedule"}]}}`, reserved, n.namespace)
	_, err = n.kube.CoreV1().Nodes().Patch(n.t.Context(), node.Name, "application/merge-patch+json", patch, metav1.PatchOptions{})
	require.NoError(n.t, err)
	n.t.Cleanup(func() { _ = n.RemoveNode(context.Background(), name) })
	return name
}

type change func(*v1beta2.SparkApplication)

func executors(count int32) change {
	return func(app *v1beta2.SparkApplication) { app.Spec.Executor.Instances = new(count) }
}

func gang(app *v1beta2.SparkApplication) {
	app.Spec.Scheduling = &v1beta2.SparkSchedulingSpec{
		SchedulingPolicy: &sparkoperator.SchedulingPolicy{Gang: &sparkoperator.GangSchedulingPolicy{}},
	}
}

func basic(app *v1beta2.SparkApplication) {
	app.Spec.Scheduling = &v1beta2.SparkSchedulingSpec{}
}

// outcome chooses how the simulated driver ends: succeed, fail, hang or an exit code.
func outcome(how string) change {
	return func(app *v1beta2.SparkApplication) {
		if app.Spec.Driver.Annotations == nil {
			app.Spec.Driver.Annotations = map[string]string{}
		}
		app.Spec.Driver.Annotations["simulated.spark-apiserver.io/outcome"] = how
	}
}

// application is a small application whose pods go to the tenant's own nodes.
func (n *tenant) application(name string, changes ...change) *v1beta2.SparkApplication {
	return smallApplication(n.namespace, name, n.namespace, changes...)
}

// smallApplication is an application whose pods go to the nodes that are reserved for pool.
func smallApplication(namespace, name, pool string, changes ...change) *v1beta2.SparkApplication {
	onOurNodes := []corev1.Toleration{{Key: reserved, Operator: corev1.TolerationOpEqual, Value: pool, Effect: corev1.TaintEffectNoSchedule}}
	app := &v1beta2.SparkApplication{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: v1beta2.SparkApplicationSpec{
			Type: v1beta2.ScalaApplicationType, SparkVersion: "4.0.1",
			Image:               new("apache/spark:4.0.1"),
			MainClass:           new("org.apache.spark.examples.SparkPi"),
			MainApplicationFile: new("local:///opt/spark/examples/jars/spark-examples.jar"),
			NodeSelector:        map[string]string{reserved: pool},
		},
	}
	app.Spec.Driver.ServiceAccount = new("spark")
	app.Spec.Driver.Tolerations = onOurNodes
	app.Spec.Executor.Tolerations = onOurNodes
	for _, c := range changes {
		c(app)
	}
	return app
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

// until waits for a condition, and says what was seen last when it does not come.
func (n *tenant) until(what string, condition func(*assert.CollectT)) {
	n.t.Helper()
	require.EventuallyWithT(n.t, condition, patience, glance, what)
}

// untilState waits until an application has a state; a terminal state that was not asked for ends the wait at once.
func (n *tenant) untilState(name string, want v1beta2.ApplicationStateType) *v1beta2.SparkApplication {
	n.t.Helper()
	var app *v1beta2.SparkApplication
	n.until(fmt.Sprintf("%s becomes %s", name, want), func(c *assert.CollectT) {
		app = n.get(name)
		state := app.Status.AppState
		if state.State != want && terminal(state.State) {
			require.FailNow(n.t, "the application ended otherwise", "%s is %s (%s), not %s", name, state.State, state.ErrorMessage, want)
		}
		assert.Equal(c, want, state.State)
	})
	return app
}

func terminal(state v1beta2.ApplicationStateType) bool {
	return state == v1beta2.ApplicationStateCompleted || state == v1beta2.ApplicationStateFailed
}

// untilCondition waits until a condition has a status and a reason ("" = any).
func (n *tenant) untilCondition(name, conditionType string, status metav1.ConditionStatus, reason string) *metav1.Condition {
	n.t.Helper()
	var found *metav1.Condition
	n.until(fmt.Sprintf("%s has %s=%s %s", name, conditionType, status, reason), func(c *assert.CollectT) {
		found = meta.FindStatusCondition(n.get(name).Status.Conditions, conditionType)
		if assert.NotNil(c, found, "no such condition yet") {
			assert.Equal(c, status, found.Status, found.Message)
			if reason != "" {
				assert.Equal(c, reason, found.Reason, found.Message)
			}
		}
	})
	return found
}

func (n *tenant) pods(selector string) []corev1.Pod {
	n.t.Helper()
	list, err := n.kube.CoreV1().Pods(n.namespace).List(n.t.Context(), metav1.ListOptions{LabelSelector: selector})
	require.NoError(n.t, err)
	return list.Items
}

func (n *tenant) executorPods(app string) []corev1.Pod {
	n.t.Helper()
	return n.pods(labelApp + "=" + app + "," + labelRole + "=executor")
}

func (n *tenant) driverPods(app string) []corev1.Pod {
	n.t.Helper()
	return n.pods(labelApp + "=" + app + "," + labelRole + "=driver")
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

// dump logs what a person would look at first.
func (n *tenant) dump() {
	for _, args := range [][]string{
		{"get", "sparkapps,pods,workloads.scheduling.k8s.io,podgroups.scheduling.k8s.io,configmaps,services", "-o", "wide"},
		{"get", "sparkapps", "-o", "yaml"},
		{"get", "events", "--sort-by=.lastTimestamp"},
	} {
		out, errOut, _ := n.Kubectl(context.Background(), "", append([]string{"-n", n.namespace}, args...)...)
		n.t.Logf("kubectl %s\n%s%s", strings.Join(args, " "), out, errOut)
	}
	n.t.Logf("last lines of our server:\n%s", n.server.LogTail(60))
}

// silence is how long a test watches for something that must not happen.
const silence = 5 * time.Second

// never watches for a while for something that must not happen. It looks in the test's own goroutine, so that nothing
// looks any more when the test has ended.
func (n *tenant) never(what string, happened func() bool) {
	n.t.Helper()
	for deadline := time.Now().Add(silence); time.Now().Before(deadline); time.Sleep(glance) {
		require.False(n.t, happened(), what)
	}
}
