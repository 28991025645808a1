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
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/clustertest"
)

// garbageCollector is the identity of the real garbage collector.
const garbageCollector = "system:serviceaccount:kube-system:generic-garbage-collector"

// collectorAsked returns the answers that the garbage collector got for an application, by their codes.
func (n *tenant) collectorAsked(name string) map[int32]int {
	n.t.Helper()
	events, err := n.AuditEvents(func(e *auditv1.Event) bool {
		return e.User.Username == garbageCollector && e.Verb == "get" && e.ObjectRef != nil && e.ObjectRef.Resource == "sparkapplications" &&
			e.ObjectRef.Namespace == n.namespace && e.ObjectRef.Name == name && e.Stage == auditv1.StageResponseComplete && e.ResponseStatus != nil
	})
	require.NoError(n.t, err)
	answers := map[int32]int{}
	for _, e := range events {
		answers[e.ResponseStatus.Code]++
	}
	return answers
}

// ghost makes a pod that an application owns which has never been.
func (n *tenant) ghost(name string) {
	n.t.Helper()
	_, err := n.kube.CoreV1().Pods(n.namespace).Create(n.t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1beta2.SchemeGroupVersion.String(), Kind: "SparkApplication", Name: name, UID: types.UID("00000000-0000-0000-0000-" + "0000000000aa"),
			Controller: new(true), BlockOwnerDeletion: new(true),
		}}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "busybox"}}, NodeSelector: map[string]string{"nowhere": "true"}},
	}, metav1.CreateOptions{})
	require.NoError(n.t, err)
}

func (n *tenant) untilGone(pod string) {
	n.t.Helper()
	n.until(pod+" is collected", func(c *assert.CollectT) {
		_, err := n.kube.CoreV1().Pods(n.namespace).Get(n.t.Context(), pod, metav1.GetOptions{})
		assert.True(c, apierrors.IsNotFound(err), "%v", err)
	})
}

// A server that comes up with an empty store says "ask later" and never "not found", so that the real garbage collector
// leaves drivers alone. That it did look, and that it does collect what is really gone, is seen in what it asks.
func TestGarbageCollectorSparesDriversOfALostStore(t *testing.T) {
	c := clustertest.New(t, cluster.Options{})
	right := cluster.ServerOptions{Name: "right", DataDir: filepath.Join(c.Dir, "right-store")}
	server, err := c.StartSparkAPIServer(t.Context(), right)
	require.NoError(t, err)
	e, err := newEnvironment(c, server)
	require.NoError(t, err)
	n := e.tenant(t)
	n.addNode("4")
	n.create(n.application("pi", outcome("hang")))
	n.untilState("pi", v1beta2.ApplicationStateRunning)
	driver := n.driverPods("pi")[0]
	server.Stop()

	// An empty store in its place. The collector starts anew, and knows no application of before.
	wrong := cluster.ServerOptions{Name: "wrong", DataDir: filepath.Join(c.Dir, "wrong-store"), NeverReady: true}
	server, err = c.StartSparkAPIServer(t.Context(), wrong)
	require.NoError(t, err)
	require.NoError(t, c.KubeControllerManager.Restart(t.Context()))
	n.ghost("ghost")
	for _, name := range []string{"pi", "ghost"} {
		n.until("the collector has asked for the owner "+name, func(c *assert.CollectT) {
			assert.Positive(c, n.collectorAsked(name)[503], "answers: %v", n.collectorAsked(name))
		})
	}
	// What has no owner any more in a built-in kind is collected all the same: the collector works.
	_, err = n.kube.CoreV1().ConfigMaps(n.namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: "canary", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "00000000-0000-0000-0000-0000000000bb"}},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	n.until("the canary is collected", func(c *assert.CollectT) {
		_, err := n.kube.CoreV1().ConfigMaps(n.namespace).Get(t.Context(), "canary", metav1.GetOptions{})
		assert.True(c, apierrors.IsNotFound(err), "%v", err)
	})
	assert.Zero(t, n.collectorAsked("pi")[404])
	assert.Zero(t, n.collectorAsked("ghost")[404])
	for _, pod := range []string{driver.Name, "ghost"} {
		got, err := n.kube.CoreV1().Pods(n.namespace).Get(t.Context(), pod, metav1.GetOptions{})
		require.NoError(t, err)
		assert.Nil(t, got.DeletionTimestamp, pod)
	}
	server.Stop()

	// The right store is back: what is really gone is collected now, and the application runs on.
	right.Name = "right-again"
	server, err = c.StartSparkAPIServer(t.Context(), right)
	require.NoError(t, err)
	n.untilGone("ghost")
	still := n.get("pi")
	assert.Equal(t, v1beta2.ApplicationStateRunning, still.Status.AppState.State)
	drivers := n.driverPods("pi")
	require.Len(t, drivers, 1)
	assert.Equal(t, driver.UID, drivers[0].UID)
	assert.Nil(t, drivers[0].DeletionTimestamp)
	server.Stop()

	// The danger is real: without the guard the same swap costs the driver its life.
	unguarded := cluster.ServerOptions{Name: "unguarded", DataDir: filepath.Join(c.Dir, "unguarded-store"), ExtraFlags: []string{"--store-identity-configmap="}}
	_, err = c.StartSparkAPIServer(t.Context(), unguarded)
	require.NoError(t, err)
	require.NoError(t, c.KubeControllerManager.Restart(t.Context()))
	n.untilGone(driver.Name)
}
