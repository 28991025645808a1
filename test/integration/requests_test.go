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
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/clustertest"
)

var (
	idleWindow = flag.Duration("idle-window", 40*time.Second, "how long idle applications are watched; more than the controller's safety net of 30 seconds")
	burst      = flag.Int("burst", 300, "how many applications one namespace creates at once")
)

// audited is a control plane whose two servers both write down what they are asked.
type audited struct {
	*environment
}

func newAudited(t *testing.T, flags ...string) *audited {
	t.Helper()
	c := clustertest.New(t, cluster.Options{})
	server, err := c.StartSparkAPIServer(t.Context(), cluster.ServerOptions{FeatureGates: nativeScheduling, ExtraFlags: flags, Audited: true})
	require.NoError(t, err)
	e, err := newEnvironment(c, server)
	require.NoError(t, err)
	return &audited{environment: e}
}

// requests returns what our server has asked both servers in a namespace: kube-apiserver, and itself over loopback.
func (a *audited) requests(t *testing.T, namespace string) []auditv1.Event {
	t.Helper()
	requests, err := a.OwnRequests(a.server, func(e *auditv1.Event) bool {
		return e.ObjectRef != nil && e.ObjectRef.Namespace == namespace && e.Verb != "watch"
	})
	require.NoError(t, err)
	return requests
}

// summary counts requests by what was asked, for people to read.
func summary(events []auditv1.Event) string {
	counts := map[string]int{}
	for i := range events {
		what := events[i].Verb + " " + strings.TrimSuffix(events[i].ObjectRef.Resource+"/"+events[i].ObjectRef.Subresource, "/")
		if cluster.IsDryRun(&events[i]) {
			what += " (dry run)"
		}
		counts[what]++
	}
	lines := make([]string, 0, len(counts))
	for what, n := range counts {
		lines = append(lines, fmt.Sprintf("%4d %s", n, what))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func count(events []auditv1.Event, keep func(*auditv1.Event) bool) int {
	n := 0
	for i := range events {
		if keep(&events[i]) {
			n++
		}
	}
	return n
}

// Applications to which nothing happens cost nothing: neither of the two servers is asked to write, and questions stay
// below one for an application, though the controller looks at each of them again meanwhile.
func TestIdleApplicationsCauseNoRequests(t *testing.T) {
	t.Parallel()
	a := newAudited(t)
	n := a.tenant(t)
	n.addNode("32")
	const each = 10
	for i := range each {
		n.create(n.application(fmt.Sprintf("runs-%d", i), gang, executors(1), outcome("hang")))
		n.create(n.application(fmt.Sprintf("done-%d", i), gang, executors(1)))
		n.create(n.application(fmt.Sprintf("failed-%d", i), outcome("fail")))
		n.create(n.application(fmt.Sprintf("suspended-%d", i), gang, func(app *v1beta2.SparkApplication) { app.Spec.Suspend = new(true) }))
	}
	for i := range each {
		n.untilCondition(fmt.Sprintf("runs-%d", i), v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionTrue, "GangAdmitted")
		n.untilState(fmt.Sprintf("done-%d", i), v1beta2.ApplicationStateCompleted)
		n.untilState(fmt.Sprintf("failed-%d", i), v1beta2.ApplicationStateFailed)
		n.untilState(fmt.Sprintf("suspended-%d", i), v1beta2.ApplicationStateSuspended)
	}
	n.until("all executors are accounted for", func(c *assert.CollectT) {
		list, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		for i := range list.Items {
			app := &list.Items[i]
			counts := app.Status.ExecutorCounts
			if counts == nil {
				assert.Equal(c, v1beta2.ApplicationStateSuspended, app.Status.AppState.State, app.Name)
				continue
			}
			assert.Zero(c, counts.Pending+counts.Unknown, app.Name)
			assert.Equal(c, app.Status.AppState.State == v1beta2.ApplicationStateRunning, counts.Running == 1, app.Name)
		}
	})
	n.quiet()
	before := len(a.requests(t, n.namespace))
	// What must not happen has to be waited for.
	time.Sleep(*idleWindow)
	asked := a.requests(t, n.namespace)[before:]
	t.Logf("requests for %d idle applications in %s:\n%s", 4*each, *idleWindow, summary(asked))
	assert.Zero(t, count(asked, cluster.IsWrite), "writes for idle applications:\n%s", summary(asked))
	assert.LessOrEqual(t, len(asked), 4*each*int(1+*idleWindow/(30*time.Second)), "questions for idle applications:\n%s", summary(asked))
}

// An application that fails again and again costs a number of requests that depends on its attempts alone; and what fails
// within an attempt is tried again after pauses that double.
func TestFailingApplicationsAreNoHotLoop(t *testing.T) {
	t.Parallel()
	a := newAudited(t)
	const attempts = 3
	retried := func(app *v1beta2.SparkApplication) {
		app.Spec.RestartPolicy = v1beta2.RestartPolicy{
			Type:             v1beta2.RestartPolicyOnFailure,
			OnFailureRetries: new(int32(attempts - 1)), OnFailureRetryInterval: new(int64(1)),
			OnSubmissionFailureRetries: new(int32(attempts - 1)), OnSubmissionFailureRetryInterval: new(int64(1)),
		}
	}
	t.Run("the run fails", func(t *testing.T) {
		n := a.tenant(t)
		n.addNode("8")
		n.create(n.application("pi", gang, executors(2), outcome("fail"), retried))
		app := n.untilState("pi", v1beta2.ApplicationStateFailed)
		assert.EqualValues(t, attempts, app.Status.ExecutionAttempts)
		a.requireBounded(t, n.namespace, attempts)
	})
	t.Run("the cluster refuses the driver", func(t *testing.T) {
		n := a.tenant(t)
		n.forbidPods()
		n.create(n.application("pi", gang, executors(2), retried))
		n.untilState("pi", v1beta2.ApplicationStateFailed)
		a.requireBounded(t, n.namespace, attempts)
	})
	t.Run("the cluster can't answer", func(t *testing.T) {
		n := a.tenant(t)
		n.breakPodCreation()
		n.create(n.application("pi", executors(2)))
		const tries = 8
		var failed []auditv1.Event
		n.until("the driver pod was tried several times", func(c *assert.CollectT) {
			failed = slices.DeleteFunc(a.requests(t, n.namespace), func(e auditv1.Event) bool {
				return e.Verb != "create" || e.ObjectRef.Resource != "pods" || cluster.IsDryRun(&e)
			})
			assert.GreaterOrEqual(c, len(failed), tries)
		})
		// What the application has made tells of itself, which makes for some tries more in the beginning. However long the last
		// pause took, it can't have been shorter than half of what as many failures ask for.
		last, before := failed[len(failed)-1].RequestReceivedTimestamp, failed[len(failed)-2].RequestReceivedTimestamp
		assert.GreaterOrEqual(t, last.Sub(before.Time), 50*time.Millisecond<<(len(failed)-3), "%d tries:\n%s", len(failed), summary(failed))
		assert.Equal(t, v1beta2.ApplicationStateSubmitted, n.get("pi").Status.AppState.State, "what passes by is no failure")
	})
}

// requireBounded requires that the requests for an application are those of its attempts.
func (a *audited) requireBounded(t *testing.T, namespace string, attempts int) {
	t.Helper()
	const (
		writesAnAttempt    = 24 // DESIGN allows 16 to the end, and an attempt that is followed by another is cleaned up
		questionsAnAttempt = 24
	)
	asked := a.requests(t, namespace)
	writes := count(asked, cluster.IsWrite)
	t.Logf("requests for %d attempts:\n%s", attempts, summary(asked))
	assert.LessOrEqual(t, writes, attempts*writesAnAttempt, summary(asked))
	assert.LessOrEqual(t, len(asked)-writes, attempts*questionsAnAttempt, summary(asked))
}

// forbidPods sets a quota that allows no pod, and waits until it is in force.
func (n *tenant) forbidPods() {
	n.t.Helper()
	quotas := n.kube.CoreV1().ResourceQuotas(n.namespace)
	_, err := quotas.Create(n.t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "no-pods"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
	}, metav1.CreateOptions{})
	require.NoError(n.t, err)
	n.until("the quota is in force", func(c *assert.CollectT) {
		quota, err := quotas.Get(n.t.Context(), "no-pods", metav1.GetOptions{})
		require.NoError(n.t, err)
		assert.NotEmpty(c, quota.Status.Hard)
	})
}

// breakPodCreation lets every creation of a pod in the tenant's namespace fail with an internal error.
func (n *tenant) breakPodCreation() {
	n.t.Helper()
	_, err := n.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(n.t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: n.namespace},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "nobody.listens.example.com", AdmissionReviewVersions: []string{"v1"},
			SideEffects: new(admissionregistrationv1.SideEffectClassNone), FailurePolicy: new(admissionregistrationv1.Fail),
			ClientConfig:      admissionregistrationv1.WebhookClientConfig{URL: new("https://127.0.0.1:1/")},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: n.namespace}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
		}},
	}, metav1.CreateOptions{})
	require.NoError(n.t, err)
	n.until("the webhook is asked", func(c *assert.CollectT) {
		_, err := n.kube.CoreV1().Pods(n.namespace).Create(n.t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "probe-"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "busybox"}}},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		assert.ErrorContains(c, err, "webhook")
	})
}

// Whoever creates thousands of applications waits for them alone. What counts is the order in which driver pods are made.
func TestOneNamespaceDoesNotDelayAnother(t *testing.T) {
	t.Parallel()
	c := clustertest.New(t, cluster.Options{})
	store := filepath.Join(c.Dir, "store")
	const workers = 16
	start := func(name string, flags ...string) *environment {
		server, err := c.StartSparkAPIServer(t.Context(), cluster.ServerOptions{Name: name, DataDir: store, ExtraFlags: flags})
		require.NoError(t, err)
		e, err := newEnvironment(c, server)
		require.NoError(t, err)
		return e
	}
	e := start("without-controllers", "--controllers=-*")
	many, early := e.tenant(t), e.tenant(t)
	for i := range *burst {
		many.create(many.application(fmt.Sprintf("many-%05d", i)))
	}
	early.create(early.application("first"))
	e.server.Stop()

	// All are waiting when the controller begins.
	e = start("again", fmt.Sprintf("--workers=%d", workers))
	late := e.tenant(t)
	late.until("it has begun", func(c *assert.CollectT) { assert.NotEmpty(c, e.driversInOrder(t)) })
	// This one comes while it works through them.
	late.create(late.application("first"))
	late.until("both others have their drivers", func(c *assert.CollectT) {
		assert.Subset(c, e.driversInOrder(t), []string{early.namespace, late.namespace})
	})
	order := e.driversInOrder(t)
	// A worker has one application of each namespace in hand at most, and one that it took before.
	assert.Less(t, slices.Index(order, early.namespace), 3*workers, "drivers that were made before the first of the other namespace")
	created, found := e.creationOf(t, late.namespace)
	require.True(t, found)
	overtaken := slices.Index(order, late.namespace) - created
	t.Logf("of %d drivers of one namespace, %d were made before the first of another that waited as long, and %d between the creation of a third one's first application and its driver",
		*burst, slices.Index(order, early.namespace), overtaken)
	assert.Less(t, overtaken, 3*workers, "drivers that were made between the creation of the other namespace's first application and its driver")
}

// driversInOrder returns the namespaces of the driver pods in the order in which they were made.
func (e *environment) driversInOrder(t *testing.T) []string {
	t.Helper()
	events, err := e.AuditEvents(isDriverCreation)
	require.NoError(t, err)
	namespaces := make([]string, 0, len(events))
	for i := range events {
		namespaces = append(namespaces, events[i].ObjectRef.Namespace)
	}
	return namespaces
}

// creationOf says how many drivers had been made when a namespace's first application was created.
func (e *environment) creationOf(t *testing.T, namespace string) (drivers int, found bool) {
	t.Helper()
	_, err := e.AuditEvents(func(event *auditv1.Event) bool {
		switch {
		case found:
		case isDriverCreation(event):
			drivers++
		case event.Verb == "create" && event.ObjectRef != nil && event.ObjectRef.Resource == "sparkapplications" && event.ObjectRef.Namespace == namespace:
			found = true
		}
		return false
	})
	require.NoError(t, err)
	return drivers, found
}

func isDriverCreation(e *auditv1.Event) bool {
	return e.Verb == "create" && e.ObjectRef != nil && e.ObjectRef.Resource == "pods" && e.ObjectRef.Subresource == "" &&
		e.User.Username == cluster.ServerIdentity && e.ResponseStatus != nil && e.ResponseStatus.Code == 201 && !cluster.IsDryRun(e)
}
