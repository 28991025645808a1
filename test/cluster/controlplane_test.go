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

package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/spark-apiserver/spark-apiserver/test/cluster"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/clustertest"
)

func plainPod(name, group string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			NodeSelector:   map[string]string{"pool": group},
			InitContainers: []corev1.Container{{Name: "init", Image: "none"}, {Name: "sidecar", Image: "none", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}},
			Containers: []corev1.Container{{Name: "main", Image: "none", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
			}}},
		},
	}
	pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new(group)}
	return pod
}

func addPoolNode(t *testing.T, c *cluster.Cluster, name, pool string) {
	t.Helper()
	capacity := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("3"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("20"),
	}
	require.NoError(t, c.AddNodeWith(t.Context(), name, capacity, map[string]string{"pool": pool}))
	t.Cleanup(func() { assert.NoError(t, c.RemoveNode(context.WithoutCancel(t.Context()), name)) })
}

// A gang of four with room for three stays pending as a whole and runs as a whole when a node is added.
func TestGangWaitsForRoom(t *testing.T) {
	client, namespace := newNamespace(t, shared)
	const group = "gang"
	addPoolNode(t, shared, "gang-1", group)
	groups := client.SchedulingV1beta1().PodGroups(namespace)
	_, err := groups.Create(t.Context(), &schedulingv1beta1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: group},
		Spec: schedulingv1beta1.PodGroupSpec{SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{
			Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 4},
		}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	for i := range 4 {
		_, err := client.CoreV1().Pods(namespace).Create(t.Context(), plainPod(fmt.Sprintf("member-%d", i), group), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	scheduled := func() *metav1.Condition {
		podGroup, err := groups.Get(t.Context(), group, metav1.GetOptions{})
		require.NoError(t, err)
		return meta.FindStatusCondition(podGroup.Status.Conditions, "PodGroupInitiallyScheduled")
	}
	bound := func() int {
		pods, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		n := 0
		for i := range pods.Items {
			if pods.Items[i].Spec.NodeName != "" {
				n++
			}
		}
		return n
	}
	eventually(t, "the group to be reported unschedulable", func() bool {
		c := scheduled()
		return c != nil && c.Status == metav1.ConditionFalse && c.Reason == "Unschedulable"
	})
	assert.Zero(t, bound(), "no member may be bound before all can be")

	addPoolNode(t, shared, "gang-2", group)
	eventually(t, "all members to run", func() bool {
		pods, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		running := 0
		for i := range pods.Items {
			if pods.Items[i].Status.Phase == corev1.PodRunning && pods.Items[i].Status.PodIP != "" {
				running++
			}
		}
		return running == 4
	})
	eventually(t, "the group to be reported scheduled", func() bool { c := scheduled(); return c != nil && c.Status == metav1.ConditionTrue })

	pod := getPod(t, client, namespace, "member-0")
	for _, c := range pod.Status.Conditions {
		assert.Equal(t, corev1.ConditionTrue, c.Status, c.Type)
	}
	assert.NotNil(t, pod.Status.InitContainerStatuses[0].State.Terminated, "an init container has ended")
	assert.NotNil(t, pod.Status.InitContainerStatuses[1].State.Running, "a sidecar runs on")

	require.NoError(t, client.CoreV1().Namespaces().Delete(t.Context(), namespace, metav1.DeleteOptions{}))
	eventually(t, "the namespace to go with all that is in it", func() bool {
		_, err := client.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
		return err != nil
	})
	events, err := shared.AuditEvents(func(e *auditv1.Event) bool {
		return e.ObjectRef != nil && e.ObjectRef.Namespace == namespace && e.ObjectRef.Resource == "podgroups" && e.Verb == "create"
	})
	require.NoError(t, err)
	assert.Len(t, events, 1, "requests can be counted in the audit log")
}

// Two clusters run beside each other, and one of them knows nothing of workload-aware scheduling.
func TestWithoutGenericWorkload(t *testing.T) {
	c := clustertest.New(t, cluster.Options{WithoutGenericWorkload: true, WithoutKwok: true, WithoutSimulatedDriver: true})
	client, namespace := newNamespace(t, c)
	_, err := client.Discovery().ServerResourcesForGroupVersion("scheduling.k8s.io/v1beta1")
	require.Error(t, err, "the API of pod groups must not be served")
	pod, err := client.CoreV1().Pods(namespace).Create(t.Context(), plainPod("p", "g"), metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Nil(t, pod.Spec.SchedulingGroup, "kube-apiserver drops the field without a word")
	assert.ErrorContains(t, c.AddNode(t.Context(), "n", "1", "1Gi"), "kwok")
}

func TestProgramsCanBeDisturbed(t *testing.T) {
	client, namespace := newNamespace(t, shared)
	shared.KubeScheduler.Kill()
	assert.False(t, shared.KubeScheduler.Running())
	_, err := client.CoreV1().Pods(namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, shared.KubeScheduler.Start(t.Context()))
	eventually(t, "the pod to run after the scheduler came back", func() bool {
		return getPod(t, client, namespace, "p").Status.Phase == corev1.PodRunning
	})

	require.NoError(t, shared.Etcd.Pause())
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err = client.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, metav1.CreateOptions{})
	require.Error(t, err, "nothing can be written while etcd is frozen")
	require.NoError(t, shared.Etcd.Resume())
	eventually(t, "writes to work again", func() bool {
		_, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "c-"}}, metav1.CreateOptions{})
		return err == nil
	})
}

func TestUsersHaveOnlyTheirRights(t *testing.T) {
	_, namespace := newNamespace(t, shared)
	kubeconfig, err := shared.KubeconfigFor("jane", "readers")
	require.NoError(t, err)
	_, _, err = shared.KubectlAs(t.Context(), kubeconfig, "", "get", "pods", "-n", namespace)
	require.ErrorContains(t, err, `User "jane" cannot list resource "pods"`)
	_, _, err = shared.Kubectl(t.Context(), "", "create", "rolebinding", "readers", "-n", namespace, "--clusterrole=view", "--group=readers")
	require.NoError(t, err)
	eventually(t, "the binding to count", func() bool {
		_, _, err := shared.KubectlAs(t.Context(), kubeconfig, "", "get", "pods", "-n", namespace)
		return err == nil
	})
	config, err := shared.ServiceAccountConfig(t.Context(), namespace, "default")
	require.NoError(t, err)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	_, err = client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	assert.ErrorContains(t, err, "system:serviceaccount:"+namespace+":default")
}

// A server on this machine is reached through kube-apiserver, which trusts it for its certificate alone.
func TestRegisterAPIService(t *testing.T) {
	clustertest.SkipIfShort(t)
	const group, version = "simulated.spark-apiserver.io", "v1"
	var seen string
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var answer any
		switch r.URL.Path {
		case "/apis/" + group + "/" + version:
			answer = metav1.APIResourceList{
				TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: group + "/" + version,
				APIResources: []metav1.APIResource{{Name: "things", Kind: "Thing", Verbs: metav1.Verbs{"get"}}},
			}
		case "/apis/" + group + "/" + version + "/things/x":
			seen = r.Header.Get("X-Remote-User")
			answer = map[string]any{"apiVersion": group + "/" + version, "kind": "Thing"}
		default:
			http.NotFound(w, r)
			return
		}
		assert.NoError(t, json.NewEncoder(w).Encode(answer))
	})
	server, ca, port := serveTLS(t, shared, handler, "things.elsewhere.svc")
	defer server.Close()
	require.NoError(t, shared.RegisterAPIService(t.Context(), cluster.APIServiceRegistration{
		Group: group, Version: version, Namespace: "elsewhere", Service: "things", Port: port, CABundle: ca,
	}))
	defer func() {
		_, _, err := shared.Kubectl(t.Context(), "", "delete", "apiservice", version+"."+group)
		assert.NoError(t, err)
	}()
	eventually(t, "the request to arrive", func() bool {
		_, _, err := shared.Kubectl(t.Context(), "", "get", "--raw", "/apis/"+group+"/"+version+"/things/x")
		return err == nil
	})
	assert.Equal(t, "kubernetes-admin", seen)
}

// serveTLS serves on 127.0.0.1 with a certificate for a name.
func serveTLS(t *testing.T, c *cluster.Cluster, h http.Handler, host string) (server *httptest.Server, ca []byte, port int) {
	t.Helper()
	certificate, ca, err := c.IssueServingCertificate("test-"+strings.ReplaceAll(host, ".", "-"), host)
	require.NoError(t, err)
	server = httptest.NewUnstartedServer(h)
	server.TLS = certificate
	server.StartTLS()
	_, err = fmt.Sscanf(server.URL, "https://127.0.0.1:%d", &port)
	require.NoError(t, err)
	return server, ca, port
}
