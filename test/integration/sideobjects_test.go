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
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func withSideObjects(app *v1beta2.SparkApplication) {
	app.Spec.DriverPodDisruptionBudget = new(true)
	app.Spec.SparkUIOptions = &v1beta2.SparkUIConfiguration{ServicePort: new(int32(80)), ServiceLabels: map[string]string{"team": "a"}}
	app.Spec.DriverIngressOptions = []v1beta2.DriverIngressConfiguration{{
		ServicePort: new(int32(9010)), ServicePortName: new("jmx"), IngressURLFormat: "jmx.example.com/{{$appNamespace}}/{{$appName}}",
	}}
	app.Spec.Monitoring = &v1beta2.MonitoringSpec{
		ExposeDriverMetrics: true, ExposeExecutorMetrics: true, Prometheus: &v1beta2.PrometheusSpec{JmxExporterJar: "/opt/agent.jar"},
	}
}

// sideObjects names what stands beside the drivers of the tenant.
func (n *tenant) sideObjects() []string {
	n.t.Helper()
	return strings.Fields(n.mustKubectl("", "get", "services,ingresses,poddisruptionbudgets", "-l", "sparkoperator.k8s.io/side-object=true", "-o", "name"))
}

func TestSideObjects(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("4")
	n.create(n.application("pi", executors(1), outcome("hang"), withSideObjects))
	n.untilState("pi", v1beta2.ApplicationStateRunning)
	n.until("the side objects are there and told", func(c *assert.CollectT) {
		assert.ElementsMatch(c, []string{
			"service/pi-ui-svc", "service/pi-driver-9010", "ingress.networking.k8s.io/pi-ing-9010", "poddisruptionbudget.policy/pi-driver",
		}, n.sideObjects())
		assert.NotEmpty(c, n.get("pi").Status.DriverInfo.WebUIAddress)
	})
	service, err := n.kube.CoreV1().Services(n.namespace).Get(t.Context(), "pi-ui-svc", metav1.GetOptions{})
	require.NoError(t, err)
	info := n.get("pi").Status.DriverInfo
	assert.Equal(t, "pi-ui-svc", info.WebUIServiceName)
	assert.Equal(t, service.Spec.ClusterIP+":80", info.WebUIAddress)
	assert.Equal(t, "a", service.Labels["team"])

	// The pods have what monitoring asks for, the executor by the template that the driver read.
	for _, pod := range append(n.driverPods("pi"), n.executorPods("pi")...) {
		assert.Equal(t, "true", pod.Annotations["prometheus.io/scrape"], pod.Name)
		assert.Contains(t, pod.Spec.Containers[0].Ports, corev1.ContainerPort{Name: "jmx-exporter", ContainerPort: 8090, Protocol: corev1.ProtocolTCP})
	}

	n.mustKubectl("", "patch", "sparkapp", "pi", "--type=merge", "-p", `{"spec":{"suspend":true}}`)
	n.untilState("pi", v1beta2.ApplicationStateSuspended)
	assert.Empty(t, n.sideObjects(), "they end with the driver")
	assert.Empty(t, n.get("pi").Status.DriverInfo.WebUIServiceName)
}

// The side objects of an application that has ended are gone, and trouble with them has not kept it from ending.
func TestTroubleWithSideObjectsEndsWithTheApplication(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("4")
	_, err := n.kube.CoreV1().Services(n.namespace).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "pi-ui-svc"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	n.create(n.application("pi", executors(1), outcome("hang")))
	n.untilCondition("pi", v1beta2.ConditionSideObjectsReady, metav1.ConditionFalse, "SideObjectsNotMade")
	n.until("an event tells of it", func(c *assert.CollectT) {
		assert.Contains(c, n.mustKubectl("", "get", "events.events.k8s.io"), "SideObjectsNotMade")
	})
	n.untilState("pi", v1beta2.ApplicationStateRunning)
	for _, driver := range n.driverPods("pi") {
		require.NoError(t, n.kube.CoreV1().Pods(n.namespace).Delete(t.Context(), driver.Name, metav1.DeleteOptions{}))
	}
	n.untilState("pi", v1beta2.ApplicationStateFailed)
	service, err := n.kube.CoreV1().Services(n.namespace).Get(t.Context(), "pi-ui-svc", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, int32(1), service.Spec.Ports[0].Port, "it is somebody else's")
}
