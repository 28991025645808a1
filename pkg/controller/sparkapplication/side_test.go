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

package sparkapplication

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8stesting "k8s.io/client-go/testing"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

var (
	servicesResource  = corev1.SchemeGroupVersion.WithResource("services")
	ingressesResource = networkingv1.SchemeGroupVersion.WithResource("ingresses")
	budgetsResource   = policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets")
)

// withSide lets the world's controllers make side objects, those that are made after a restart too.
func (w *world) withSide(settings spark.SideSettings) *world {
	w.side = settings
	w.restart()
	return w
}

// sideCondition is the condition of side objects, nil without one.
func (w *world) sideCondition() *metav1.Condition {
	return findCondition(&w.app().Status, v1beta2.ConditionSideObjectsReady)
}

func (w *world) uiService() *corev1.Service {
	object, err := w.kube.Tracker().Get(servicesResource, testKey.Namespace, "pi-ui-svc")
	if err != nil {
		return nil
	}
	return object.(*corev1.Service)
}

func withSideFields(app *v1beta2.SparkApplication) {
	app.Spec.DriverPodDisruptionBudget = new(true)
	app.Spec.DriverIngressOptions = []v1beta2.DriverIngressConfiguration{{
		ServicePort: new(int32(9010)), ServicePortName: new("jmx"), IngressURLFormat: "jmx.example.com/{{$appName}}",
	}}
}

func TestSideObjectsLiveWithTheDriver(t *testing.T) {
	w := newWorld(t, newApp(withSideFields)).withSide(spark.SideSettings{UIService: true, IngressURLFormat: "{{$appName}}.example.com"})
	w.settle()
	w.runDriver()
	w.settle()
	info := w.app().Status.DriverInfo
	assert.Equal(t, "pi-ui-svc", info.WebUIServiceName)
	assert.EqualValues(t, 4040, info.WebUIPort)
	assert.Equal(t, "pi-ui-ingress", info.WebUIIngressName)
	assert.Equal(t, "http://pi.example.com", info.WebUIIngressAddress)
	assert.Nil(t, w.sideCondition(), "nothing is told where nothing is the matter")
	for resource, name := range map[string]string{"pi-driver-9010": "services", "pi-ing-9010": "ingresses", "pi-ui-ingress": "ingresses", "pi-driver": "poddisruptionbudgets"} {
		found := false
		for _, action := range w.kube.Actions() {
			if create, ok := action.(k8stesting.CreateAction); ok && action.GetResource().Resource == name {
				found = found || create.GetObject().(metav1.Object).GetName() == resource
			}
		}
		assert.True(t, found, "%s %s", name, resource)
	}

	w.endDriver(0)
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateCompleted, w.state())
	assert.Equal(t, v1beta2.DriverInfo{PodName: "pi-driver"}, w.app().Status.DriverInfo)
	assert.Nil(t, w.uiService())
	for _, resource := range []string{"pi-ui-ingress", "pi-ing-9010"} {
		_, err := w.kube.Tracker().Get(ingressesResource, testKey.Namespace, resource)
		require.Error(t, err)
	}
	_, err := w.kube.Tracker().Get(budgetsResource, testKey.Namespace, "pi-driver")
	require.Error(t, err)
}

// By default only the UI's Service is made, and costs one write.
func TestUIServiceCostsOneWrite(t *testing.T) {
	writes := func(settings spark.SideSettings) int {
		w := newWorld(t, newApp()).withSide(settings)
		w.settle()
		w.runDriver()
		w.settle()
		count := 0
		for _, action := range append(w.kube.Actions(), w.spark.Actions()...) {
			switch action.GetVerb() {
			case "create", "update", "patch", "delete":
				count++
			}
		}
		require.Equal(t, v1beta2.ApplicationStateRunning, w.state())
		return count
	}
	without := writes(spark.SideSettings{})
	assert.Equal(t, without+1, writes(spark.SideSettings{UIService: true}))
}

func TestRestartChangesNoSideObject(t *testing.T) {
	w := newWorld(t, newApp(withSideFields)).withSide(spark.SideSettings{UIService: true})
	w.settle()
	w.runDriver()
	w.settle()
	before := w.app()
	w.kube.ClearActions()
	w.spark.ClearActions()
	w.restart()
	w.settle()
	for _, action := range append(w.kube.Actions(), w.spark.Actions()...) {
		assert.Contains(t, []string{"get", "list", "watch"}, action.GetVerb(), "%v", action)
	}
	assert.Equal(t, before.Status, w.app().Status)
}

// Trouble is told, changes no state, and ends.
func TestTroubleWithSideObjectsIsToldAndNoMore(t *testing.T) {
	w := newWorld(t, newApp())
	w.onWrite = func(action k8stesting.Action) error {
		if create, ok := action.(k8stesting.CreateAction); ok && action.GetResource() == servicesResource {
			if create.GetObject().(metav1.Object).GetName() == "pi-ui-svc" {
				return errors.New("no more addresses")
			}
		}
		return nil
	}
	w.withSide(spark.SideSettings{UIService: true})
	w.settle()
	w.runDriver()
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateRunning, w.state())
	condition := w.sideCondition()
	require.NotNil(t, condition)
	assert.Equal(t, metav1.ConditionFalse, condition.Status)
	assert.Contains(t, condition.Message, "no more addresses")
	told := 0
	for _, reason := range w.eventReasons() {
		if reason == ReasonSideObjectsNotMade {
			told++
		}
	}
	assert.Equal(t, 1, told)

	w.onWrite = nil
	w.clock.Step(sideRetry)
	w.settle()
	assert.NotNil(t, w.uiService())
	assert.Equal(t, metav1.ConditionTrue, w.condition(v1beta2.ConditionSideObjectsReady).Status)
	assert.Equal(t, "pi-ui-svc", w.app().Status.DriverInfo.WebUIServiceName)
}

// What is decided of side objects, and when they are looked at again.
func TestDecideOnSideObjects(t *testing.T) {
	running := func(edits ...func(app *v1beta2.SparkApplication)) *v1beta2.SparkApplication {
		return inState(v1beta2.ApplicationStateRunning, edits...)
	}
	now := startOfTime.Add(time.Hour)
	failed := sideOutcome{key: sideKeyOf(running()), trouble: "no room", retryAt: now.Add(10 * time.Second)}
	for name, test := range map[string]struct {
		app     *v1beta2.SparkApplication
		outcome sideOutcome
		at      time.Time
		ensures bool
		clears  bool
		phase   corev1.PodPhase
	}{
		"nothing is known":          {app: running(), outcome: sideOutcome{}, at: now, ensures: true, phase: corev1.PodRunning},
		"all is made":               {app: running(), outcome: sideOutcome{key: sideKeyOf(running())}, at: now, phase: corev1.PodRunning},
		"an edit":                   {app: running(func(app *v1beta2.SparkApplication) { app.Generation = 2 }), outcome: sideOutcome{key: sideKeyOf(running())}, at: now, ensures: true, phase: corev1.PodRunning},
		"trouble, not due":          {app: running(), outcome: failed, at: now, phase: corev1.PodRunning},
		"trouble, due":              {app: running(), outcome: failed, at: failed.retryAt, ensures: true, phase: corev1.PodRunning},
		"a driver that has ended":   {app: running(), outcome: sideOutcome{}, at: now, phase: corev1.PodSucceeded},
		"an attempt that has ended": {app: inState(v1beta2.ApplicationStateSucceeding), outcome: failed, at: now, clears: true, phase: corev1.PodSucceeded},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshotOf(test.app, withDriver(test.phase), func(s *Snapshot) { s.Side = test.outcome })
			plan := Decide(s, test.at)
			assert.Equal(t, test.ensures, slices.Contains(plan.Ensure, StepSideObjects))
			assert.Equal(t, test.clears, plan.ClearSide)
			condition := findCondition(&plan.Status, v1beta2.ConditionSideObjectsReady)
			if test.outcome.trouble == "" || test.clears {
				assert.Nil(t, condition)
				return
			}
			require.NotNil(t, condition)
			assert.Equal(t, metav1.ConditionFalse, condition.Status)
			assert.Contains(t, condition.Message, "no room")
			assert.Positive(t, plan.RequeueAfter)
			assert.LessOrEqual(t, plan.RequeueAfter, 10*time.Second)
			assert.Equal(t, test.app.Status.AppState, plan.Status.AppState, "trouble changes no state")
		})
	}
}

// A Service of somebody else is not taken, and what can't be deleted doesn't hold up the end.
func TestForeignServiceUnderTheNameOfTheUI(t *testing.T) {
	w := newWorld(t, newApp())
	foreign := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: testKey.Namespace, Name: "pi-ui-svc", UID: "foreign", ResourceVersion: "1"}}
	require.NoError(t, w.kube.Tracker().Add(foreign))
	w.withSide(spark.SideSettings{UIService: true})
	w.settle()
	w.runDriver()
	w.settle()
	assert.Contains(t, w.condition(v1beta2.ConditionSideObjectsReady).Message, "does not belong to this application")
	w.endDriver(0)
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateCompleted, w.state())
	require.NotNil(t, w.uiService())
	assert.Equal(t, foreign.UID, w.uiService().UID)
	assert.Nil(t, w.sideCondition())
}

// What somebody has changed is put right at the next attempt's time or restart; what others have added stays.
func TestSideObjectsAreUpdated(t *testing.T) {
	w := newWorld(t, newApp()).withSide(spark.SideSettings{UIService: true})
	w.settle()
	service := w.uiService().DeepCopy()
	service.Spec.Ports[0].Port = 1
	service.Spec.ClusterIP = "10.0.0.7"
	service.Annotations = map[string]string{"others": "true"}
	w.put(servicesResource, service)
	w.restart()
	w.runDriver()
	w.settle()
	got := w.uiService()
	assert.EqualValues(t, 4040, got.Spec.Ports[0].Port)
	assert.Equal(t, "10.0.0.7", got.Spec.ClusterIP)
	assert.Equal(t, "true", got.Annotations["others"])
	assert.Equal(t, "10.0.0.7:4040", w.app().Status.DriverInfo.WebUIAddress)
}

// An API server that has trouble for a moment leaves no side objects behind.
func TestSideObjectsAreDeletedInTheNextTry(t *testing.T) {
	w := newWorld(t, newApp()).withSide(spark.SideSettings{UIService: true})
	w.settle()
	w.runDriver()
	w.settle()
	require.NotNil(t, w.uiService())
	failed := 0
	w.onWrite = func(action k8stesting.Action) error {
		if action.Matches("delete", "services") && failed < 2 {
			failed++
			return apierrors.NewInternalError(errInjected)
		}
		return nil
	}
	w.endDriver(0)
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateCompleted, w.state())
	assert.Equal(t, 2, failed)
	assert.Nil(t, w.uiService())
}
