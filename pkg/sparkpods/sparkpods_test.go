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

package sparkpods

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
)

func application() *sparkoperator.SparkApplication {
	app := &sparkoperator.SparkApplication{ObjectMeta: metav1.ObjectMeta{Name: "pi", Namespace: "team", UID: "app-uid"}}
	app.Status.SubmissionID = "attempt-2"
	app.Status.DriverInfo.PodName = "pi-driver"
	app.Status.AppState.State = sparkoperator.ApplicationStateRunning
	return app
}

func ownedBy(kind, name string, uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "v1", Kind: kind, Name: name, UID: uid, Controller: new(true)}}
}

func driver(changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "pi-driver", Namespace: "team", UID: "driver-uid",
			Labels:          map[string]string{"sparkoperator.k8s.io/submission-id": "attempt-2", "spark-role": "driver"},
			OwnerReferences: ownedBy("SparkApplication", "pi", "app-uid"),
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "sidecar", Ports: []corev1.ContainerPort{{Name: "spark-ui", ContainerPort: 1}}},
			{Name: "spark-kubernetes-driver", Ports: []corev1.ContainerPort{{Name: "blockmanager", ContainerPort: 7079}, {Name: "spark-ui", ContainerPort: 4041}}},
		}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.1.2.3", HostIP: "192.168.0.1", HostIPs: []corev1.HostIP{{IP: "192.168.0.1"}}},
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func executor(name, number string, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "team",
			Labels:          map[string]string{"sparkoperator.k8s.io/submission-id": "attempt-2", "spark-role": "executor", "spark-exec-id": number},
			OwnerReferences: ownedBy("Pod", "pi-driver", "driver-uid"),
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "spark-kubernetes-executor"}}},
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func finder(pods ...*corev1.Pod) *Finder {
	var objects []runtime.Object
	for _, pod := range pods {
		objects = append(objects, pod)
	}
	return &Finder{Client: fake.NewClientset(objects...)}
}

// answers checks that an error is an answer of a status with a message.
func answers(t *testing.T, err error, code int32, message string) {
	t.Helper()
	var status apierrors.APIStatus
	require.ErrorAs(t, err, &status)
	assert.Equal(t, code, status.Status().Code, "%v", err)
	assert.Contains(t, status.Status().Message, message)
}

func TestDriver(t *testing.T) {
	pod, err := finder(driver()).Driver(t.Context(), application())
	require.NoError(t, err)
	assert.Equal(t, types.UID("driver-uid"), pod.UID)

	fresh := application()
	fresh.Status = sparkoperator.SparkApplicationStatus{}
	_, err = finder(driver()).Driver(t.Context(), fresh)
	answers(t, err, http.StatusNotFound, `sparkapplication "pi": it has no driver yet: the application is new`)

	for name, c := range map[string]struct {
		pod     *corev1.Pod
		message string
	}{
		"another's":      {driver(func(p *corev1.Pod) { p.OwnerReferences[0].UID = "namesake" }), "isn't its own"},
		"nobody's":       {driver(func(p *corev1.Pod) { p.OwnerReferences = nil }), "isn't its own"},
		"not controlled": {driver(func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }), "isn't its own"},
		"earlier":        {driver(func(p *corev1.Pod) { p.Labels["sparkoperator.k8s.io/submission-id"] = "attempt-1" }), "left from an earlier attempt"},
		"other name":     {driver(func(p *corev1.Pod) { p.Name = "other" }), "doesn't exist: the application is RUNNING"},
		"other room":     {driver(func(p *corev1.Pod) { p.Namespace = "others" }), "doesn't exist"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := finder(c.pod).Driver(t.Context(), application())
			answers(t, err, http.StatusNotFound, c.message)
		})
	}
	_, err = (&Finder{}).Driver(t.Context(), application())
	answers(t, err, http.StatusServiceUnavailable, "without a cluster")
}

func TestExecutor(t *testing.T) {
	pods := finder(driver(), executor("x-exec-1", "1"), executor("x-exec-2", "2"),
		executor("forged", "3", func(p *corev1.Pod) { p.OwnerReferences[0].UID = "another-driver" }),
		executor("of-the-application", "4", func(p *corev1.Pod) { p.OwnerReferences = ownedBy("SparkApplication", "pi", "app-uid") }),
		executor("earlier", "5", func(p *corev1.Pod) { p.Labels["sparkoperator.k8s.io/submission-id"] = "attempt-1" }))
	pod, err := pods.Executor(t.Context(), application(), 2)
	require.NoError(t, err)
	assert.Equal(t, "x-exec-2", pod.Name)
	for _, number := range []int64{3, 4, 5, 6} {
		_, err := pods.Executor(t.Context(), application(), number)
		answers(t, err, http.StatusNotFound, "has no pod of executor")
	}
	// The owner of the executors must be the application's driver.
	_, err = finder(driver(func(p *corev1.Pod) { p.OwnerReferences[0].UID = "namesake" }), executor("x-exec-1", "1")).Executor(t.Context(), application(), 1)
	answers(t, err, http.StatusNotFound, "isn't its own")
}

func TestUI(t *testing.T) {
	address, err := finder(driver()).UI(t.Context(), application())
	require.NoError(t, err)
	assert.Equal(t, "10.1.2.3:4041", address.String(), "the port of Spark's container, not of another")

	address, err = finder(driver(func(p *corev1.Pod) { p.Status.PodIP = "fd00::7" })).UI(t.Context(), application())
	require.NoError(t, err)
	assert.Equal(t, "[fd00::7]:4041", address.String())

	for name, c := range map[string]struct {
		change  func(*corev1.Pod)
		code    int32
		message string
	}{
		"host network":  {func(p *corev1.Pod) { p.Spec.HostNetwork = true }, http.StatusForbidden, "hostNetwork"},
		"node":          {func(p *corev1.Pod) { p.Status.PodIP = "192.168.0.1" }, http.StatusForbidden, "is that of its node"},
		"node, mapped":  {func(p *corev1.Pod) { p.Status.PodIP = "::ffff:192.168.0.1" }, http.StatusForbidden, "is that of its node"},
		"loopback":      {func(p *corev1.Pod) { p.Status.PodIP = "127.0.0.1" }, http.StatusForbidden, "no address of a pod"},
		"loopback, 6":   {func(p *corev1.Pod) { p.Status.PodIP = "::1" }, http.StatusForbidden, "no address of a pod"},
		"mapped":        {func(p *corev1.Pod) { p.Status.PodIP = "::ffff:127.0.0.1" }, http.StatusForbidden, "no address of a pod"},
		"metadata":      {func(p *corev1.Pod) { p.Status.PodIP = "169.254.169.254" }, http.StatusForbidden, "no address of a pod"},
		"unspecified":   {func(p *corev1.Pod) { p.Status.PodIP = "0.0.0.0" }, http.StatusForbidden, "no address of a pod"},
		"multicast":     {func(p *corev1.Pod) { p.Status.PodIP = "224.0.0.1" }, http.StatusForbidden, "no address of a pod"},
		"no address":    {func(p *corev1.Pod) { p.Status.PodIP = "" }, http.StatusServiceUnavailable, "does not run yet"},
		"pending":       {func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }, http.StatusServiceUnavailable, "Pending"},
		"succeeded":     {func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, http.StatusNotFound, "has ended"},
		"failed":        {func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, http.StatusNotFound, "has ended"},
		"no port":       {func(p *corev1.Pod) { p.Spec.Containers[1].Ports = p.Spec.Containers[1].Ports[:1] }, http.StatusNotFound, "no port spark-ui"},
		"port too high": {func(p *corev1.Pod) { p.Spec.Containers[1].Ports[1].ContainerPort = 70000 }, http.StatusNotFound, "no port spark-ui"},
		"another's":     {func(p *corev1.Pod) { p.OwnerReferences[0].UID = "namesake" }, http.StatusNotFound, "isn't its own"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := finder(driver(c.change)).UI(t.Context(), application())
			answers(t, err, c.code, c.message)
		})
	}

	local := finder(driver(func(p *corev1.Pod) { p.Status.PodIP = "127.0.0.1" }))
	local.AllowLoopback = true
	address, err = local.UI(t.Context(), application())
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.1:4041", address.String())
}

func TestLog(t *testing.T) {
	pods := finder(driver(), executor("x-exec-1", "1"))
	var asked []*corev1.PodLogOptions
	pods.Client.(*fake.Clientset).PrependReactor("get", "pods/log", func(action clienttesting.Action) (bool, runtime.Object, error) {
		asked = append(asked, action.(clienttesting.GenericAction).GetValue().(*corev1.PodLogOptions))
		return false, nil, nil
	})
	for _, c := range []struct {
		executor *int64
		options  corev1.PodLogOptions
		want     corev1.PodLogOptions
	}{
		{nil, corev1.PodLogOptions{Follow: true}, corev1.PodLogOptions{Follow: true, Container: "spark-kubernetes-driver"}},
		{nil, corev1.PodLogOptions{Container: "sidecar"}, corev1.PodLogOptions{Container: "sidecar"}},
		{new(int64(1)), corev1.PodLogOptions{TailLines: new(int64(3))}, corev1.PodLogOptions{TailLines: new(int64(3)), Container: "spark-kubernetes-executor"}},
	} {
		stream, err := pods.Log(t.Context(), application(), c.executor, &c.options)
		require.NoError(t, err)
		text, err := io.ReadAll(stream)
		require.NoError(t, err)
		assert.NotEmpty(t, text)
		require.NotEmpty(t, asked)
		assert.Equal(t, &c.want, asked[len(asked)-1])
	}
	_, err := pods.Log(t.Context(), application(), new(int64(2)), &corev1.PodLogOptions{})
	answers(t, err, http.StatusNotFound, "executor 2")
}

func TestSparkContainer(t *testing.T) {
	named := driver(func(p *corev1.Pod) {
		p.Spec.Containers[1].Name = "mine"
		p.Annotations = map[string]string{"kubectl.kubernetes.io/default-container": "mine"}
	})
	assert.Equal(t, "mine", SparkContainer(named), "a template names it")
	assert.Equal(t, "spark-kubernetes-driver", SparkContainer(driver(func(p *corev1.Pod) {
		p.Annotations = map[string]string{"kubectl.kubernetes.io/default-container": "sidecar"}
	})))
	assert.Equal(t, "spark-kubernetes-executor", SparkContainer(executor("e", "1")))
	assert.Equal(t, "sidecar", SparkContainer(driver(func(p *corev1.Pod) { p.Spec.Containers = p.Spec.Containers[:1] })))
}
