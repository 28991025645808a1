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
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/controller/faultpoint"
	"github.com/spark-apiserver/spark-apiserver/pkg/features"
	sparkfake "github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

var (
	startOfTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	testKey     = types.NamespacedName{Namespace: "jobs", Name: "pi"}

	applicationsResource = v1beta2.SchemeGroupVersion.WithResource("sparkapplications")
	podsResource         = corev1.SchemeGroupVersion.WithResource("pods")
	configMapsResource   = corev1.SchemeGroupVersion.WithResource("configmaps")
	podGroupsResource    = schedulingv1beta1.SchemeGroupVersion.WithResource("podgroups")
	workloadsResource    = schedulingv1beta1.SchemeGroupVersion.WithResource("workloads")
)

// world is two API servers made of fakes, with resource versions, UIDs and preconditions, and a controller whose caches
// show what they hold whenever sync is called. Nothing runs by itself.
type world struct {
	t     *testing.T
	ctx   context.Context
	spark *sparkfake.Clientset
	kube  *kubefake.Clientset
	clock *testingclock.FakeClock
	c     *Controller

	recorder *events.FakeRecorder
	// capability is what the cluster can do.
	capability Capability
	gate       featuregate.FeatureGate
	// forbidden is what the service account of drivers may not do, as "verb resource".
	forbidden []string
	// dryRun is the answer to dry runs.
	dryRun error
	// drop takes away from an object of a dry run what the cluster doesn't keep.
	drop func(object runtime.Object)
	// side are the settings of every controller of this world for side objects.
	side spark.SideSettings
	// fault is handed to every controller of this world.
	fault faultpoint.Hook

	mu      sync.Mutex
	version int
	// writes are the writes that were answered, as "verb resource".
	writes []string
	// onWrite, if set, is asked before a write; an error is the answer, after the write if it is an afterwards.
	onWrite func(action k8stesting.Action) error
}

// afterwards is an error that is answered although the write was done: a time-out.
type afterwards struct{ error }

func newWorld(t *testing.T, objects ...*v1beta2.SparkApplication) *world {
	t.Helper()
	gate := features.NewFeatureGate()
	require.NoError(t, gate.SetFromMap(map[string]bool{string(features.SparkApplicationWorkloadAwareScheduling): true}))
	w := &world{
		t:          t,
		ctx:        klog.NewContext(t.Context(), klog.Logger{}),
		spark:      sparkfake.NewSimpleClientset(),
		kube:       kubefake.NewSimpleClientset(),
		clock:      testingclock.NewFakeClock(startOfTime),
		recorder:   events.NewFakeRecorder(10000),
		capability: Capability{State: CapabilityReady},
		gate:       gate,
		version:    100,
	}
	w.serve(&w.spark.Fake, w.spark.Tracker())
	w.serve(&w.kube.Fake, w.kube.Tracker())
	for _, app := range objects {
		w.version++
		app.ResourceVersion = strconv.Itoa(w.version)
		require.NoError(t, w.spark.Tracker().Add(app))
	}
	w.restart()
	return w
}

// serve makes a fake behave like an API server where the controller depends on it.
func (w *world) serve(fake *k8stesting.Fake, tracker k8stesting.ObjectTracker) {
	react := k8stesting.ObjectReaction(tracker)
	fake.PrependReactor("*", "*", func(action k8stesting.Action) (bool, runtime.Object, error) {
		switch action.GetVerb() {
		case "create", "update", "patch", "delete":
		default:
			return false, nil, nil
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if create, ok := action.(k8stesting.CreateActionImpl); ok {
			if review, ok := create.Object.(*authorizationv1.SubjectAccessReview); ok {
				review = review.DeepCopy()
				review.Status.Allowed = !slices.Contains(w.forbidden, review.Spec.ResourceAttributes.Verb+" "+review.Spec.ResourceAttributes.Resource)
				return true, review, nil
			}
			if len(create.CreateOptions.DryRun) > 0 {
				object := create.Object.DeepCopyObject()
				if w.drop != nil {
					w.drop(object)
				}
				return true, object, w.dryRun
			}
		}
		if w.onWrite != nil {
			err := w.onWrite(action)
			if late, ok := err.(afterwards); ok { //nolint:errorlint // made above, never wrapped
				if _, _, err := w.answer(tracker, react, action); err != nil {
					return true, nil, err
				}
				return true, nil, late.error
			}
			if err != nil {
				return true, nil, err
			}
		}
		return w.answer(tracker, react, action)
	})
}

func (w *world) answer(tracker k8stesting.ObjectTracker, react k8stesting.ReactionFunc, action k8stesting.Action) (bool, runtime.Object, error) {
	gvr, namespace := action.GetResource(), action.GetNamespace()
	w.version++
	version := strconv.Itoa(w.version)
	switch a := action.(type) {
	case k8stesting.CreateActionImpl:
		object, _ := meta.Accessor(a.Object)
		if object.GetUID() == "" {
			object.SetUID(types.UID("uid-" + version))
			object.SetCreationTimestamp(metav1.NewTime(w.clock.Now()))
		}
		object.SetResourceVersion(version)
	case k8stesting.UpdateActionImpl:
		object, _ := meta.Accessor(a.Object)
		live, err := tracker.Get(gvr, namespace, object.GetName())
		if err != nil {
			return true, nil, err
		}
		if stored, _ := meta.Accessor(live); stored.GetResourceVersion() != object.GetResourceVersion() {
			return true, nil, apierrors.NewConflict(gvr.GroupResource(), object.GetName(), fmt.Errorf("stale"))
		}
		a.Object = a.Object.DeepCopyObject()
		changed, _ := meta.Accessor(a.Object)
		changed.SetResourceVersion(version)
		action = a
	case k8stesting.DeleteActionImpl:
		live, err := tracker.Get(gvr, namespace, a.Name)
		if err != nil {
			return true, nil, err
		}
		stored, _ := meta.Accessor(live)
		if p := a.DeleteOptions.Preconditions; p == nil || p.UID == nil || *p.UID != stored.GetUID() {
			return true, nil, apierrors.NewConflict(gvr.GroupResource(), a.Name, fmt.Errorf("precondition"))
		}
	}
	handled, object, err := react(action)
	if err == nil {
		w.writes = append(w.writes, action.GetVerb()+" "+strings.TrimSuffix(gvr.Resource+"/"+action.GetSubresource(), "/"))
	}
	return handled, object, err
}

// restart replaces the controller by one that knows nothing.
func (w *world) restart() {
	w.t.Helper()
	c, err := New(w.ctx, Options{SparkClient: w.spark, KubeClient: w.kube, FeatureGate: w.gate, Clock: w.clock, Side: w.side})
	require.NoError(w.t, err)
	c.applier.recorder = w.recorder
	c.applier.fault = w.fault
	c.observer.capability = func(context.Context, string) Capability { return w.capability }
	c.observer.podGroups = w
	w.c = c
	w.sync()
}

// of implements podGroupSource.
func (w *world) of(key types.NamespacedName) ([]*schedulingv1beta1.PodGroup, bool, error) {
	list, err := w.kube.Tracker().List(podGroupsResource, schedulingv1beta1.SchemeGroupVersion.WithKind("PodGroup"), key.Namespace)
	if err != nil {
		return nil, false, err
	}
	var groups []*schedulingv1beta1.PodGroup
	items := list.(*schedulingv1beta1.PodGroupList).Items
	for i := range items {
		if items[i].Labels[spark.LabelAppName] == key.Name {
			groups = append(groups, &items[i])
		}
	}
	return groups, true, nil
}

// sync makes the caches show what the API servers hold.
func (w *world) sync() {
	w.t.Helper()
	apps, err := w.spark.Tracker().List(applicationsResource, v1beta2.SchemeGroupVersion.WithKind("SparkApplication"), metav1.NamespaceAll)
	require.NoError(w.t, err)
	cached := []any{}
	for i := range apps.(*v1beta2.SparkApplicationList).Items {
		cached = append(cached, &apps.(*v1beta2.SparkApplicationList).Items[i])
	}
	require.NoError(w.t, w.c.observer.applicationInformer.GetIndexer().Replace(cached, ""))
	cached = []any{}
	for _, pod := range w.pods() {
		trimmed, err := trimPod(pod)
		require.NoError(w.t, err)
		cached = append(cached, trimmed)
	}
	require.NoError(w.t, w.c.observer.pods.GetIndexer().Replace(cached, ""))
}

func (w *world) pods() []*corev1.Pod {
	w.t.Helper()
	list, err := w.kube.Tracker().List(podsResource, corev1.SchemeGroupVersion.WithKind("Pod"), metav1.NamespaceAll)
	require.NoError(w.t, err)
	var pods []*corev1.Pod
	for i := range list.(*corev1.PodList).Items {
		pods = append(pods, &list.(*corev1.PodList).Items[i])
	}
	return pods
}

func (w *world) reconcile() error {
	_, err := w.c.reconcile(w.ctx, testKey)
	return err
}

// settle lets the controller work until it writes nothing any more. Errors are tried again, as by the queue.
func (w *world) settle() {
	w.t.Helper()
	var err error
	for quiet, rounds := 0, 0; quiet < 2; rounds++ {
		require.Less(w.t, rounds, 60, "the application does not settle; last error: %v; writes: %v", err, w.writes)
		w.sync()
		before := len(w.writes)
		err = w.reconcile()
		w.clock.Step(1100 * time.Millisecond)
		if err == nil && len(w.writes) == before {
			quiet++
		} else {
			quiet = 0
		}
	}
}

func (w *world) app() *v1beta2.SparkApplication {
	w.t.Helper()
	object, err := w.spark.Tracker().Get(applicationsResource, testKey.Namespace, testKey.Name)
	require.NoError(w.t, err)
	return object.(*v1beta2.SparkApplication).DeepCopy()
}

func (w *world) state() v1beta2.ApplicationStateType { return w.app().Status.AppState.State }

func (w *world) condition(kind string) *metav1.Condition {
	w.t.Helper()
	status := w.app().Status
	c := findCondition(&status, kind)
	require.NotNil(w.t, c, "condition %s", kind)
	return c
}

func (w *world) driver() *corev1.Pod {
	for _, pod := range w.pods() {
		if pod.Labels[spark.LabelSparkRole] == spark.SparkRoleDriver {
			return pod
		}
	}
	return nil
}

func (w *world) podGroups() []*schedulingv1beta1.PodGroup {
	w.t.Helper()
	groups, _, err := w.of(testKey)
	require.NoError(w.t, err)
	return groups
}

// editApp changes the application as a user would: it raises the generation.
func (w *world) editApp(edit func(app *v1beta2.SparkApplication)) {
	w.t.Helper()
	app := w.app()
	edit(app)
	app.Generation++
	w.putApp(app)
}

func (w *world) putApp(app *v1beta2.SparkApplication) {
	w.t.Helper()
	w.version++
	app.ResourceVersion = strconv.Itoa(w.version)
	require.NoError(w.t, w.spark.Tracker().Update(applicationsResource, app, app.Namespace))
}

func (w *world) put(gvr schema.GroupVersionResource, object runtime.Object) {
	w.t.Helper()
	accessor, err := meta.Accessor(object)
	require.NoError(w.t, err)
	w.version++
	accessor.SetResourceVersion(strconv.Itoa(w.version))
	if accessor.GetUID() == "" {
		accessor.SetUID(types.UID("uid-" + strconv.Itoa(w.version)))
		accessor.SetCreationTimestamp(metav1.NewTime(w.clock.Now()))
	}
	if _, err := w.kube.Tracker().Get(gvr, accessor.GetNamespace(), accessor.GetName()); err != nil {
		require.NoError(w.t, w.kube.Tracker().Create(gvr, object, accessor.GetNamespace()))
		return
	}
	require.NoError(w.t, w.kube.Tracker().Update(gvr, object, accessor.GetNamespace()))
}

func (w *world) remove(gvr schema.GroupVersionResource, name string) {
	w.t.Helper()
	require.NoError(w.t, w.kube.Tracker().Delete(gvr, testKey.Namespace, name))
}

// runDriver makes the kubelet's report of a driver that runs.
func (w *world) runDriver() {
	w.t.Helper()
	driver := w.driver()
	require.NotNil(w.t, driver)
	driver.Spec.NodeName = "node"
	driver.Status.Phase = corev1.PodRunning
	driver.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name:  spark.DriverContainerName,
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(w.clock.Now())}},
	}}
	w.put(podsResource, driver)
}

func (w *world) endDriver(exitCode int32) {
	w.t.Helper()
	driver := w.driver()
	require.NotNil(w.t, driver)
	driver.Status = endedDriverStatus(exitCode)
	w.put(podsResource, driver)
}

func endedDriverStatus(exitCode int32) corev1.PodStatus {
	phase, reason := corev1.PodSucceeded, "Completed"
	if exitCode != 0 {
		phase, reason = corev1.PodFailed, "Error"
	}
	return corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{
		Name:  spark.DriverContainerName,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exitCode, Reason: reason}},
	}}}
}

// putExecutors makes executors as the driver would, members of the group.
func (w *world) putExecutors(n int, podGroup string, phase corev1.PodPhase, node string) {
	w.t.Helper()
	for id := range n {
		w.put(podsResource, executorPod(w.app(), id+1, podGroup, phase, node))
	}
}

func executorPod(app *v1beta2.SparkApplication, id int, podGroup string, phase corev1.PodPhase, node string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: app.Namespace,
			Name:      fmt.Sprintf("pi-exec-%d", id),
			Labels: map[string]string{
				spark.LabelAppName:      app.Name,
				spark.LabelSubmissionID: app.Status.SubmissionID,
				spark.LabelSparkRole:    spark.SparkRoleExecutor,
				spark.LabelLaunchedBy:   spark.LabelTrue,
			},
		},
		Spec:   corev1.PodSpec{NodeName: node},
		Status: corev1.PodStatus{Phase: phase},
	}
	if podGroup != "" {
		pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new(podGroup)}
	}
	return pod
}

// reportGroup makes the scheduler's report on the attempt's PodGroup.
func (w *world) reportGroup(status metav1.ConditionStatus, reason, message string) {
	w.t.Helper()
	groups := w.podGroups()
	require.Len(w.t, groups, 1)
	groups[0].Status.Conditions = []metav1.Condition{{
		Type: schedulingv1beta1.PodGroupInitiallyScheduled, Status: status, Reason: reason, Message: message,
		LastTransitionTime: metav1.NewTime(w.clock.Now()),
	}}
	w.put(podGroupsResource, groups[0])
}

func (w *world) count(write string) int {
	return len(slices.DeleteFunc(slices.Clone(w.writes), func(s string) bool { return s != write }))
}

// eventReasons are the reasons of all events, in order.
func (w *world) eventReasons() []string {
	var reasons []string
	for {
		select {
		case event := <-w.recorder.Events:
			reasons = append(reasons, strings.Fields(event)[1])
		default:
			return reasons
		}
	}
}

// newApp is an application as it is read from the server.
func newApp(edits ...func(app *v1beta2.SparkApplication)) *v1beta2.SparkApplication {
	app := &v1beta2.SparkApplication{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: testKey.Namespace, Name: testKey.Name, UID: "app-uid", Generation: 1,
			CreationTimestamp: metav1.NewTime(startOfTime),
		},
		Spec: v1beta2.SparkApplicationSpec{
			Type:                v1beta2.ScalaApplicationType,
			Mode:                v1beta2.ClusterMode,
			SparkVersion:        "4.0.1",
			Image:               new("apache/spark:4.0.1"),
			MainClass:           new("org.apache.spark.examples.SparkPi"),
			MainApplicationFile: new("local:///opt/spark/examples/jars/spark-examples.jar"),
			Driver:              v1beta2.DriverSpec{SparkPodSpec: v1beta2.SparkPodSpec{ServiceAccount: new("spark")}},
			Executor:            v1beta2.ExecutorSpec{Instances: new(int32(2))},
		},
	}
	for _, edit := range edits {
		edit(app)
	}
	v1beta2.SetDefaults_SparkApplicationSpec(&app.Spec)
	return app
}

func withGang(app *v1beta2.SparkApplication) {
	app.Spec.Scheduling = &v1beta2.SparkSchedulingSpec{SchedulingPolicy: &sparkoperator.SchedulingPolicy{Gang: &sparkoperator.GangSchedulingPolicy{}}}
}

func withBasic(app *v1beta2.SparkApplication) {
	app.Spec.Scheduling = &v1beta2.SparkSchedulingSpec{SchedulingPolicy: &sparkoperator.SchedulingPolicy{Basic: &sparkoperator.BasicSchedulingPolicy{}}}
}

func withSuspend(app *v1beta2.SparkApplication) { app.Spec.Suspend = new(true) }
