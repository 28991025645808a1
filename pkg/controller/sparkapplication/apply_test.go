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
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	k8stesting "k8s.io/client-go/testing"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/controller/faultpoint"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

var errInjected = errors.New("injected")

// liveGang takes an application with a gang of two from its creation to its end.
func liveGang(w *world, settle func()) {
	settle()
	w.runDriver()
	settle()
	group := w.podGroups()[0].Name
	w.putExecutors(2, group, corev1.PodPending, "")
	w.reportGroup(metav1.ConditionFalse, schedulingv1beta1.PodGroupReasonUnschedulable, "no room")
	settle()
	w.putExecutors(2, group, corev1.PodRunning, "node")
	w.reportGroup(metav1.ConditionTrue, "Scheduled", "")
	settle()
	w.endDriver(0)
	settle()
}

func TestGangFromCreationToEnd(t *testing.T) {
	w := newWorld(t, newApp(withGang))
	require.NoError(t, w.reconcile())
	assert.Equal(t, []string{
		"update sparkapplications/status", "create workloads", "create podgroups", "create configmaps", "create services", "create pods",
	}, w.writes[:6], "the identity of the attempt comes first, the driver last")
	assert.Equal(t, v1beta2.ApplicationStateSubmitted, w.state())
	status := w.app().Status
	require.NotNil(t, status.WorkloadScheduling)
	assert.Equal(t, int32(2), *status.WorkloadScheduling.PodGroups[0].MinCount)
	assert.Equal(t, int32(2), w.podGroups()[0].Spec.SchedulingPolicy.Gang.MinCount)
	assert.Equal(t, w.podGroups()[0].Name, status.WorkloadScheduling.PodGroups[0].PodGroupName)
	assert.Equal(t, status.SubmissionID, w.driver().Labels[spark.LabelSubmissionID])
	assert.Equal(t, w.driver().Name, status.DriverInfo.PodName)
	assert.Equal(t, int32(1), status.SubmissionAttempts)
	assert.Equal(t, int32(1), status.ExecutionAttempts)
	assert.Equal(t, int64(1), status.ObservedGeneration)
	assert.True(t, strings.HasPrefix(status.RestartHash, "v1:"))

	w.sync()
	w.runDriver()
	w.sync()
	require.NoError(t, w.reconcile())
	assert.Equal(t, v1beta2.ApplicationStateRunning, w.state())
	assert.LessOrEqual(t, len(w.writes)+1, 10, "writes from create to running driver, the user's own included: %v", w.writes)
	assert.Equal(t, ReasonWaitingForExecutors, w.condition(v1beta2.ConditionWorkloadSchedulingReady).Reason)

	group := w.podGroups()[0].Name
	w.putExecutors(2, group, corev1.PodPending, "")
	w.reportGroup(metav1.ConditionFalse, schedulingv1beta1.PodGroupReasonUnschedulable, "0 of 3 nodes fit")
	w.settle()
	ready := w.condition(v1beta2.ConditionWorkloadSchedulingReady)
	assert.Equal(t, ReasonGangUnschedulable, ready.Reason)
	assert.Equal(t, "0 of 3 nodes fit", ready.Message)

	w.putExecutors(2, group, corev1.PodRunning, "node")
	w.reportGroup(metav1.ConditionTrue, "Scheduled", "")
	w.settle()
	ready = w.condition(v1beta2.ConditionWorkloadSchedulingReady)
	assert.Equal(t, metav1.ConditionTrue, ready.Status)
	assert.Equal(t, ReasonGangAdmitted, ready.Reason)
	assert.Contains(t, ready.Message, "bound 2 of 2")
	assert.Equal(t, int32(1), w.podGroups()[0].Spec.SchedulingPolicy.Gang.MinCount, "minCount is lowered after admission")
	assert.Equal(t, int32(2), *w.app().Status.WorkloadScheduling.PodGroups[0].MinCount, "the record keeps the size")

	w.endDriver(0)
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateCompleted, w.state())
	assert.Empty(t, w.podGroups())
	pods := w.pods()
	require.Len(t, pods, 1, "the driver is kept for its log, executors are not")
	assert.Equal(t, spark.SparkRoleDriver, pods[0].Labels[spark.LabelSparkRole])
	_, err := w.kube.Tracker().Get(workloadsResource, testKey.Namespace, w.app().Status.WorkloadScheduling.WorkloadName)
	require.NoError(t, err, "the Workload is kept")
	assert.Equal(t, map[string]v1beta2.ExecutorState{"pi-exec-1": v1beta2.ExecutorStateCompleted, "pi-exec-2": v1beta2.ExecutorStateCompleted}, w.app().Status.ExecutorState)
	assert.Equal(t, metav1.ConditionTrue, w.condition(v1beta2.ConditionComplete).Status)

	reasons := w.eventReasons()
	for _, reason := range []string{
		eventReasonApplicationAdded, eventReasonWorkloadCreated, eventReasonPodGroupCreated, eventReasonApplicationSubmitted,
		eventReasonDriverRunning, eventReasonGangAdmitted, eventReasonDriverCompleted, eventReasonApplicationCompleted,
	} {
		assert.Len(t, slices.DeleteFunc(slices.Clone(reasons), func(r string) bool { return r != reason }), 1, "event %s in %v", reason, reasons)
	}

	before := len(w.writes)
	w.clock.Step(time.Hour)
	w.settle()
	assert.Len(t, w.writes, before, "an ended application causes no writes")
}

func TestPlainApplicationAsksNothingOfScheduling(t *testing.T) {
	w := newWorld(t, newApp())
	w.settle()
	w.runDriver()
	w.putExecutors(2, "", corev1.PodRunning, "node")
	w.settle()
	w.endDriver(0)
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateCompleted, w.state())
	for _, action := range w.kube.Actions() {
		assert.NotEqual(t, schedulingv1beta1.GroupName, action.GetResource().Group, "%s", action)
	}
	assert.Nil(t, findCondition(&w.app().Status, v1beta2.ConditionWorkloadSchedulingReady))
}

// TestAnyCrashEndsTheSame stops the controller at every fault point of a life, starts another, and expects the end of an
// undisturbed life.
func TestAnyCrashEndsTheSame(t *testing.T) {
	var points []faultpoint.Point
	w := newWorld(t, newApp(withGang))
	w.fault = func(point faultpoint.Point) error { points = append(points, point); return nil }
	w.restart()
	liveGang(w, w.settle)
	require.Equal(t, v1beta2.ApplicationStateCompleted, w.state())
	require.Greater(t, len(points), 20)
	t.Logf("%d fault points", len(points))

	for n := range points {
		t.Run(fmt.Sprintf("%02d-%s", n, points[n]), func(t *testing.T) {
			w := newWorld(t, newApp(withGang))
			passed := 0
			w.fault = func(faultpoint.Point) error {
				if passed++; passed == n+1 {
					return errInjected
				}
				return nil
			}
			w.restart()
			settle := func() {
				w.sync()
				if err := w.reconcile(); errors.Is(err, errInjected) {
					w.restart()
				}
				w.settleAfterCrash()
			}
			liveGang(w, settle)
			assert.Greater(t, passed, n)
			assert.Equal(t, v1beta2.ApplicationStateCompleted, w.state())
			assert.Equal(t, 1, w.count("create pods"), "drivers: %v", w.writes)
			assert.Equal(t, 1, w.count("create workloads"))
			assert.Equal(t, 1, w.count("create podgroups"))
			assert.Equal(t, 1, w.count("create configmaps"))
			assert.Equal(t, 1, w.count("create services"))
			assert.Empty(t, w.podGroups())
			assert.Len(t, w.pods(), 1)
			assert.Equal(t, int32(1), w.app().Status.ExecutionAttempts)
			assert.Equal(t, int32(1), w.app().Status.SubmissionAttempts)
		})
	}
}

// settleAfterCrash settles, with a new controller after every crash.
func (w *world) settleAfterCrash() {
	for quiet := 0; quiet < 2; {
		w.sync()
		before := len(w.writes)
		err := w.reconcile()
		if errors.Is(err, errInjected) {
			w.restart()
			quiet = 0
			continue
		}
		require.NoError(w.t, err)
		w.clock.Step(1100 * time.Millisecond)
		quiet++
		if len(w.writes) != before {
			quiet = 0
		}
	}
}

// TestNoDriverWithoutMembership injects every kind of error into every write of a submission. Whatever happens, a driver
// is only created when the PodGroup is there, as large as the driver's settings say, and the executors' template names
// it.
func TestNoDriverWithoutMembership(t *testing.T) {
	timeout := apierrors.NewTimeoutError("slow", 1)
	for name, injected := range map[string]error{
		"internal error":      apierrors.NewInternalError(errInjected),
		"too many requests":   apierrors.NewTooManyRequests("wait", 1),
		"forbidden":           apierrors.NewForbidden(schema.GroupResource{Resource: "x"}, "x", errInjected),
		"not found":           apierrors.NewNotFound(schema.GroupResource{Resource: "x"}, "x"),
		"already exists":      apierrors.NewAlreadyExists(schema.GroupResource{Resource: "x"}, "x"),
		"connection refused":  errInjected,
		"timeout":             timeout,
		"timeout after write": afterwards{timeout},
	} {
		for n := range 9 {
			for _, repeated := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%d/%t", name, n, repeated), func(t *testing.T) {
					w := newWorld(t, newApp(withGang))
					writes := 0
					w.onWrite = func(action k8stesting.Action) error {
						w.requireMembership(action)
						defer func() { writes++ }()
						if writes == n || repeated && writes > n && writes < n+12 {
							return injected
						}
						return nil
					}
					for range 40 {
						w.sync()
						_ = w.reconcile()
						w.clock.Step(11 * time.Second)
					}
					assert.LessOrEqual(t, w.count("create pods"), 1)
					switch w.state() {
					case v1beta2.ApplicationStateSubmitted:
						require.NotNil(t, w.driver(), "the submission is stuck; writes: %v", w.writes)
					case v1beta2.ApplicationStateFailed:
						assert.Contains(t, []string{"forbidden", "not found"}, name, "a passing error must not fail the application: %s", w.app().Status.AppState.ErrorMessage)
						assert.Nil(t, w.driver())
						assert.Empty(t, w.podGroups())
						assert.NotEmpty(t, w.app().Status.AppState.ErrorMessage)
						assert.Equal(t, metav1.ConditionFalse, w.condition(v1beta2.ConditionWorkloadSchedulingReady).Status)
					default:
						assert.Equal(t, "not found", name, "state %q", w.state())
					}
				})
			}
		}
	}
}

// requireMembership fails the test if a driver is about to be created without its PodGroup.
func (w *world) requireMembership(action k8stesting.Action) {
	create, ok := action.(k8stesting.CreateActionImpl)
	if !ok || create.GetResource().Resource != "pods" {
		return
	}
	driver := create.GetObject().(*corev1.Pod)
	id := driver.Labels[spark.LabelSubmissionID]
	groups := w.podGroups()
	i := slices.IndexFunc(groups, func(g *schedulingv1beta1.PodGroup) bool { return g.Labels[spark.LabelSubmissionID] == id })
	require.GreaterOrEqual(w.t, i, 0, "a driver without a PodGroup")
	list, err := w.kube.Tracker().List(configMapsResource, corev1.SchemeGroupVersion.WithKind("ConfigMap"), testKey.Namespace)
	require.NoError(w.t, err)
	for _, cm := range list.(*corev1.ConfigMapList).Items {
		if cm.Labels[spark.LabelSubmissionID] != id {
			continue
		}
		var content strings.Builder
		for _, value := range cm.Data {
			content.WriteString(value)
		}
		assert.Contains(w.t, content.String(), groups[i].Name)
		assert.Contains(w.t, content.String(), fmt.Sprintf("spark.executor.instances=%d", groups[i].Spec.SchedulingPolicy.Gang.MinCount))
		return
	}
	require.Fail(w.t, "a driver without its ConfigMap")
}

func TestSubmissionRefused(t *testing.T) {
	w := newWorld(t, newApp())
	w.onWrite = func(action k8stesting.Action) error {
		if action.Matches("create", "pods") {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "pi-driver", errors.New(`error looking up service account jobs/missing: serviceaccount "missing" not found`))
		}
		return nil
	}
	w.settle()
	status := w.app().Status
	assert.Equal(t, v1beta2.ApplicationStateFailed, status.AppState.State)
	assert.Contains(t, status.AppState.ErrorMessage, `serviceaccount "missing" not found`)
	assert.Equal(t, int32(1), status.SubmissionAttempts)
	assert.Zero(t, status.ExecutionAttempts)
	assert.False(t, status.TerminationTime.IsZero())
	assert.Equal(t, ReasonServiceAccountNotFound, w.condition(v1beta2.ConditionFailed).Reason)
	assert.Equal(t, []string{eventReasonApplicationAdded, eventReasonSubmissionFailed, eventReasonApplicationFailed}, w.eventReasons())
	list, err := w.kube.Tracker().List(configMapsResource, corev1.SchemeGroupVersion.WithKind("ConfigMap"), testKey.Namespace)
	require.NoError(t, err)
	assert.Empty(t, list.(*corev1.ConfigMapList).Items, "what was made for the attempt is removed")
}

func TestWhatTheClusterCannotDo(t *testing.T) {
	for name, test := range map[string]struct {
		capability Capability
		gateOff    bool
		reason     string
	}{
		"not served":     {capability: Capability{State: CapabilityNotServed, Message: "not served"}, reason: ReasonWorkloadAPINotServed},
		"fields dropped": {capability: Capability{State: CapabilityFieldsDropped, Message: "dropped"}, reason: ReasonSchedulingFieldsDropped},
		"gate off":       {capability: Capability{State: CapabilityReady}, gateOff: true, reason: ReasonFeatureGateDisabled},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newApp(withGang))
			w.capability = test.capability
			if test.gateOff {
				require.NoError(t, w.gate.(interface{ SetFromMap(map[string]bool) error }).SetFromMap(map[string]bool{"SparkApplicationWorkloadAwareScheduling": false}))
			}
			w.settle()
			assert.Equal(t, v1beta2.ApplicationStateFailed, w.state())
			ready := w.condition(v1beta2.ConditionWorkloadSchedulingReady)
			assert.Equal(t, metav1.ConditionFalse, ready.Status)
			assert.Equal(t, test.reason, ready.Reason)
			assert.Empty(t, w.pods())
			assert.Equal(t, len(w.writes), w.count("update sparkapplications/status"), "nothing is created: %v", w.writes)
		})
	}
}

func TestUnknownCapabilityWaits(t *testing.T) {
	w := newWorld(t, newApp(withGang))
	w.capability = Capability{State: CapabilityUnknown}
	w.settle()
	assert.Empty(t, w.writes)
	w.capability = Capability{State: CapabilityReady}
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateSubmitted, w.state())
}

// TestDroppedFieldsFailClosed lets the API server drop the policy of a PodGroup without a word.
func TestDroppedFieldsFailClosed(t *testing.T) {
	w := newWorld(t, newApp(withGang))
	w.onWrite = func(action k8stesting.Action) error {
		if action.Matches("create", "podgroups") {
			group := action.(k8stesting.CreateActionImpl).GetObject().(*schedulingv1beta1.PodGroup)
			group.Spec.SchedulingPolicy = schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}}
		}
		return nil
	}
	// The fake answers with the object that it was given; keep what was asked for apart from it.
	w.c.observer.compile = scheduling.CompileSubmission
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateFailed, w.state())
	assert.Equal(t, ReasonSchedulingFieldsDropped, w.condition(v1beta2.ConditionWorkloadSchedulingReady).Reason)
	assert.Empty(t, w.pods())
	assert.Empty(t, w.podGroups())
	assert.Contains(t, w.eventReasons(), eventReasonFailedPodGroupCreate)
}

func TestPriorityClassOfThePodGroupIsPinned(t *testing.T) {
	w := newWorld(t, newApp(withGang))
	w.onWrite = func(action k8stesting.Action) error {
		if action.Matches("create", "podgroups") {
			group := action.(k8stesting.CreateActionImpl).GetObject().(*schedulingv1beta1.PodGroup)
			group.Spec.PriorityClassName, group.Spec.Priority = "global-default", new(int32(7))
		}
		return nil
	}
	var pinned []string
	compile := w.c.observer.compile
	w.c.observer.compile = func(app *v1beta2.SparkApplication, id string, at time.Time, class string) (*scheduling.Submission, error) {
		pinned = append(pinned, class)
		return compile(app, id, at, class)
	}
	w.settle()
	assert.Contains(t, pinned, "global-default")
	w.runDriver()
	w.settle()
	assert.Equal(t, "global-default", w.app().Status.WorkloadScheduling.PodGroups[0].PriorityClassName)
}

func TestDriverNameTaken(t *testing.T) {
	owner := func(name string, uid types.UID) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: v1beta2.SchemeGroupVersion.String(), Kind: "SparkApplication", Name: name, UID: uid, Controller: new(true)}}
	}
	for name, test := range map[string]struct {
		owners []metav1.OwnerReference
		labels map[string]string
		want   v1beta2.ApplicationStateType
		reason string
	}{
		"by a stranger": {want: v1beta2.ApplicationStateFailed, reason: ReasonObjectConflict},
		"by a deleted namesake": {
			owners: owner("pi", "older-uid"), want: v1beta2.ApplicationStateSubmitted, reason: ReasonWaitingForCleanup,
			labels: map[string]string{spark.LabelAppName: "pi", spark.LabelSparkRole: spark.SparkRoleDriver},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newApp())
			w.put(podsResource, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Namespace: testKey.Namespace, Name: "pi-driver", UID: "pod-uid", OwnerReferences: test.owners, Labels: test.labels,
			}})
			w.settle()
			assert.Equal(t, test.want, w.state())
			assert.Equal(t, test.reason, w.condition(v1beta2.ConditionRunning).Reason)
			assert.Equal(t, types.UID("pod-uid"), w.pods()[0].UID, "nothing of others is touched")
			if test.want == v1beta2.ApplicationStateFailed {
				assert.Contains(t, w.app().Status.AppState.ErrorMessage, "does not belong to this application")
				return
			}
			w.remove(podsResource, "pi-driver")
			w.settle()
			require.NotNil(t, w.driver())
			assert.True(t, metav1.IsControlledBy(w.driver(), w.app()))
		})
	}
}

func TestForeignSchedulingObjects(t *testing.T) {
	for _, resource := range []string{"workloads", "podgroups"} {
		t.Run(resource, func(t *testing.T) {
			w := newWorld(t, newApp(withGang))
			w.onWrite = func(action k8stesting.Action) error {
				if !action.Matches("create", resource) {
					return nil
				}
				// A stranger was faster.
				switch object := action.(k8stesting.CreateActionImpl).GetObject().(type) {
				case *schedulingv1beta1.Workload:
					w.put(workloadsResource, &schedulingv1beta1.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: testKey.Namespace, Name: object.Name, UID: "foreign"}})
				case *schedulingv1beta1.PodGroup:
					w.put(podGroupsResource, &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: testKey.Namespace, Name: object.Name, UID: "foreign"}})
				}
				return nil
			}
			w.settle()
			assert.Equal(t, v1beta2.ApplicationStateFailed, w.state())
			assert.Equal(t, ReasonObjectConflict, w.condition(v1beta2.ConditionWorkloadSchedulingReady).Reason)
			assert.Empty(t, w.pods())
			assert.Zero(t, w.count("delete "+resource), "what belongs to others stays")
		})
	}
}

// TestEditBetweenIntentAndDriver edits the number of executors after the PodGroup was made and before the driver is.
func TestEditBetweenIntentAndDriver(t *testing.T) {
	w := newWorld(t, newApp(withGang))
	w.onWrite = func(action k8stesting.Action) error {
		w.requireMembership(action)
		if action.Matches("create", "pods") {
			return apierrors.NewInternalError(errInjected)
		}
		return nil
	}
	require.Error(t, w.reconcile())
	first := w.app().Status.SubmissionID
	require.Len(t, w.podGroups(), 1)

	w.editApp(func(app *v1beta2.SparkApplication) { app.Spec.Executor.Instances = new(int32(5)) })
	w.onWrite = func(action k8stesting.Action) error { w.requireMembership(action); return nil }
	w.restart()
	w.settle()
	status := w.app().Status
	require.NotNil(t, w.driver())
	assert.NotEqual(t, first, status.SubmissionID)
	assert.Equal(t, int64(2), status.ObservedGeneration)
	assert.Equal(t, int32(1), status.SubmissionAttempts)
	require.Len(t, w.podGroups(), 1, "the group of the abandoned identity is removed")
	assert.Equal(t, int32(5), w.podGroups()[0].Spec.SchedulingPolicy.Gang.MinCount)
	assert.Equal(t, int32(5), *status.WorkloadScheduling.PodGroups[0].MinCount)
	assert.Equal(t, status.SubmissionID, w.driver().Labels[spark.LabelSubmissionID])
	workload, err := w.kube.Tracker().Get(workloadsResource, testKey.Namespace, status.WorkloadScheduling.WorkloadName)
	require.NoError(t, err)
	assert.Equal(t, int32(5), workload.(*schedulingv1beta1.Workload).Spec.PodGroupTemplates[0].SchedulingPolicy.Gang.MinCount)
}

// TestAnotherReleaseBetweenIntentAndDriver resumes a submission with a release that counts executors differently.
func TestAnotherReleaseBetweenIntentAndDriver(t *testing.T) {
	w := newWorld(t, newApp(withGang))
	w.onWrite = func(action k8stesting.Action) error {
		if action.Matches("create", "pods") {
			return apierrors.NewInternalError(errInjected)
		}
		return nil
	}
	require.Error(t, w.reconcile())
	first := w.app().Status.SubmissionID
	w.onWrite = func(action k8stesting.Action) error { w.requireMembership(action); return nil }
	w.restart()
	w.c.observer.compile = func(app *v1beta2.SparkApplication, id string, at time.Time, class string) (*scheduling.Submission, error) {
		other := app.DeepCopy()
		other.Spec.Executor.Instances = new(int32(5))
		return scheduling.CompileSubmission(other, id, at, class)
	}
	w.settle()
	require.NotNil(t, w.driver())
	assert.NotEqual(t, first, w.app().Status.SubmissionID)
	assert.Equal(t, int32(5), *w.app().Status.WorkloadScheduling.PodGroups[0].MinCount)
	require.Len(t, w.podGroups(), 1)
	assert.Equal(t, int32(5), w.podGroups()[0].Spec.SchedulingPolicy.Gang.MinCount)
}

func TestEditOfARunningApplicationRestartsItOnce(t *testing.T) {
	w := newWorld(t, newApp(withGang))
	w.settle()
	w.runDriver()
	w.putExecutors(2, w.podGroups()[0].Name, corev1.PodRunning, "node")
	w.settle()
	old := w.app().Status.SubmissionID
	oldGroup := w.podGroups()[0].Name
	w.editApp(func(app *v1beta2.SparkApplication) { app.Spec.Executor.Instances = new(int32(5)) })
	w.settle()
	status := w.app().Status
	assert.NotEqual(t, old, status.SubmissionID)
	assert.Equal(t, int64(2), status.ObservedGeneration)
	assert.Equal(t, v1beta2.ApplicationStateSubmitted, status.AppState.State)
	assert.Equal(t, int32(1), status.ExecutionAttempts, "an edit begins to count anew")
	assert.Equal(t, 2, w.count("create pods"))
	groups := w.podGroups()
	require.Len(t, groups, 1)
	assert.NotEqual(t, oldGroup, groups[0].Name, "a group's name is never used again")
	assert.Equal(t, int32(5), groups[0].Spec.SchedulingPolicy.Gang.MinCount)
	assert.Contains(t, w.eventReasons(), eventReasonInvalidating)
	w.settle()
	assert.Equal(t, 2, w.count("create pods"), "one edit is one restart")

	w = newWorld(t, newApp())
	w.settle()
	w.editApp(func(app *v1beta2.SparkApplication) { app.Spec.TimeToLiveSeconds = new(int64(5)) })
	w.settle()
	assert.Equal(t, int64(2), w.app().Status.ObservedGeneration, "the time to live acts in place")
	assert.Equal(t, 1, w.count("create pods"))
}

func TestLostDriver(t *testing.T) {
	t.Run("pending", func(t *testing.T) {
		w := newWorld(t, newApp())
		w.settle()
		w.remove(podsResource, "pi-driver")
		w.settle()
		assert.Equal(t, v1beta2.ApplicationStateFailed, w.state())
		assert.Equal(t, messageDriverNotFound, w.app().Status.AppState.ErrorMessage)
		assert.Equal(t, 1, w.count("create pods"), "a driver is never made twice for one attempt")
	})
	t.Run("only unknown to the cache", func(t *testing.T) {
		w := newWorld(t, newApp())
		w.settle()
		w.runDriver()
		w.settle()
		require.NoError(t, w.c.observer.pods.GetIndexer().Replace(nil, ""))
		require.NoError(t, w.reconcile())
		assert.Equal(t, v1beta2.ApplicationStateRunning, w.state())
	})
	t.Run("not yet known to the cache", func(t *testing.T) {
		w := newWorld(t, newApp())
		require.NoError(t, w.reconcile())
		require.NoError(t, w.reconcile())
		require.NoError(t, w.reconcile())
		assert.Equal(t, v1beta2.ApplicationStateSubmitted, w.state())
		assert.Equal(t, 1, w.count("create pods"))
		for _, action := range w.kube.Actions() {
			assert.False(t, action.Matches("get", "pods"), "our own create is trusted")
		}
	})
	t.Run("known, with a status that was lost", func(t *testing.T) {
		w := newWorld(t, newApp(withGang))
		w.settle()
		w.runDriver()
		w.settle()
		id := w.app().Status.SubmissionID
		app := w.app()
		app.Status = v1beta2.SparkApplicationStatus{}
		w.putApp(app)
		w.restart()
		w.settle()
		assert.Equal(t, id, w.app().Status.SubmissionID, "the attempt is taken up again")
		assert.Equal(t, v1beta2.ApplicationStateRunning, w.state())
		assert.Equal(t, 1, w.count("create pods"))
	})
}

func TestFailedDriver(t *testing.T) {
	w := newWorld(t, newApp(withGang, func(app *v1beta2.SparkApplication) {
		app.Spec.RestartPolicy = v1beta2.RestartPolicy{Type: v1beta2.RestartPolicyOnFailure}
	}))
	w.settle()
	w.runDriver()
	w.putExecutors(2, w.podGroups()[0].Name, corev1.PodRunning, "node")
	w.settle()
	w.endDriver(101)
	w.settle()
	status := w.app().Status
	assert.Equal(t, v1beta2.ApplicationStateFailed, status.AppState.State)
	assert.Equal(t, "driver container failed with ExitCode: 101, Reason: Error", status.AppState.ErrorMessage)
	assert.Equal(t, int32(1), status.ExecutionAttempts)
	assert.Empty(t, w.podGroups())
	assert.Len(t, w.pods(), 1, "the driver is kept, its executors are not")
	assert.Equal(t, int32(2), status.ExecutorCounts.Failed)
	assert.Equal(t, ReasonDriverFailed, w.condition(v1beta2.ConditionFailed).Reason)
}

func TestExecutorWithoutMembershipEndsTheAttempt(t *testing.T) {
	w := newWorld(t, newApp(withGang))
	w.settle()
	w.runDriver()
	w.settle()
	w.putExecutors(1, "", corev1.PodRunning, "node")
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateFailed, w.state())
	assert.Equal(t, ReasonExecutorMembershipMissing, w.condition(v1beta2.ConditionWorkloadSchedulingReady).Reason)
	assert.Empty(t, w.pods(), "neither driver nor executor goes on")
	assert.Empty(t, w.podGroups())
	podDeletes := slices.Index(w.writes, "delete pods")
	groupDelete := slices.Index(w.writes, "delete podgroups")
	assert.Less(t, podDeletes, groupDelete)
}

func TestSuspendAtCreationAndRelease(t *testing.T) {
	w := newWorld(t, newApp(withGang, withSuspend))
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateSuspended, w.state())
	assert.Empty(t, w.app().Status.SubmissionID)
	assert.Equal(t, metav1.ConditionTrue, w.condition(v1beta2.ConditionSuspended).Status)
	assert.Equal(t, len(w.writes), w.count("update sparkapplications/status"))
	assert.Equal(t, []string{eventReasonApplicationAdded, eventReasonSuspending, eventReasonSuspended}, w.eventReasons())

	w.editApp(func(app *v1beta2.SparkApplication) { app.Spec.Suspend = new(false) })
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateSubmitted, w.state())
	require.NotNil(t, w.driver())
	assert.Equal(t, metav1.ConditionFalse, w.condition(v1beta2.ConditionSuspended).Status)
	assert.Equal(t, int64(2), w.app().Status.ObservedGeneration)
}

func TestSuspendOfARunningApplicationAndResume(t *testing.T) {
	w := newWorld(t, newApp(withGang))
	w.settle()
	first := w.app().Status.SubmissionID
	w.runDriver()
	w.putExecutors(2, w.podGroups()[0].Name, corev1.PodRunning, "node")
	w.reportGroup(metav1.ConditionTrue, "Scheduled", "")
	w.settle()

	w.editApp(func(app *v1beta2.SparkApplication) { app.Spec.Suspend = new(true) })
	w.writes = nil
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateSuspended, w.state())
	assert.Empty(t, w.pods())
	assert.Empty(t, w.podGroups())
	assert.Nil(t, w.app().Status.WorkloadScheduling)
	assert.Equal(t, []string{
		"update sparkapplications/status", "delete pods", "delete pods", "delete pods", "delete podgroups",
		"delete configmaps", "delete services", "update sparkapplications/status",
	}, w.writes)
	w.settle()

	w.editApp(func(app *v1beta2.SparkApplication) { app.Spec.Suspend = new(false) })
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateSubmitted, w.state())
	assert.NotEqual(t, first, w.app().Status.SubmissionID)
	assert.Equal(t, int32(2), w.app().Status.SubmissionAttempts)
	require.Len(t, w.podGroups(), 1)
	assert.Equal(t, w.app().Status.SubmissionID, w.podGroups()[0].Labels[spark.LabelSubmissionID])
}

func TestTimeToLive(t *testing.T) {
	w := newWorld(t, newApp(func(app *v1beta2.SparkApplication) { app.Spec.TimeToLiveSeconds = new(int64(60)) }))
	w.settle()
	w.runDriver()
	w.settle()
	w.endDriver(0)
	w.sync()
	require.NoError(t, w.reconcile())
	assert.Equal(t, v1beta2.ApplicationStateCompleted, w.state())
	rest, err := w.c.reconcile(w.ctx, testKey)
	require.NoError(t, err)
	assert.InDelta(t, time.Minute, rest, float64(5*time.Second))
	w.clock.Step(61 * time.Second)
	w.sync()
	require.NoError(t, w.reconcile())
	_, err = w.spark.Tracker().Get(applicationsResource, testKey.Namespace, testKey.Name)
	assert.True(t, apierrors.IsNotFound(err))
}

func TestNothingIsCreatedWhileDeleting(t *testing.T) {
	w := newWorld(t, newApp(withGang, func(app *v1beta2.SparkApplication) {
		app.DeletionTimestamp = new(metav1.NewTime(startOfTime))
		app.Finalizers = []string{metav1.FinalizerDeleteDependents}
	}))
	w.settle()
	assert.Empty(t, w.writes)
}

// TestStaleGroupIsJudgedByALiveRead shows a controller whose cache is one attempt behind: by its cache the live group
// is one of another attempt.
func TestStaleGroupIsJudgedByALiveRead(t *testing.T) {
	w := newWorld(t, newApp(withGang))
	w.settle()
	app := w.app()
	stale := w.podGroups()[0].DeepCopy()
	stale.Name, stale.UID, stale.Labels = "older", "", map[string]string{spark.LabelAppName: "pi", spark.LabelSubmissionID: "older"}
	w.put(podGroupsResource, stale)
	w.settle()
	require.Len(t, w.podGroups(), 1, "a group of an earlier attempt is removed")
	assert.Contains(t, w.eventReasons(), eventReasonStalePodGroupDeleted)

	behind := app.DeepCopy()
	behind.Status.SubmissionID = "older"
	require.NoError(t, w.c.applier.deleteAll(w.ctx, &memory{}, &Snapshot{Application: behind}, []Deletion{podGroupDeletion(w.podGroups()[0], true)}))
	assert.Len(t, w.podGroups(), 1)
}

func TestRemovedPodGroupOfARunningAttempt(t *testing.T) {
	w := newWorld(t, newApp(withGang))
	w.settle()
	w.runDriver()
	group := w.podGroups()[0].Name
	w.putExecutors(2, group, corev1.PodRunning, "node")
	w.reportGroup(metav1.ConditionTrue, "Scheduled", "")
	w.settle()
	w.clock.Step(cacheLag)
	w.remove(podGroupsResource, group)
	w.settle()
	require.Len(t, w.podGroups(), 1)
	assert.Equal(t, group, w.podGroups()[0].Name)
	assert.Equal(t, int32(1), w.podGroups()[0].Spec.SchedulingPolicy.Gang.MinCount, "an admitted gang is not gathered again")
	assert.Equal(t, v1beta2.ApplicationStateRunning, w.state())
}

func TestRaisedMinCountIsLoweredAgain(t *testing.T) {
	w := newWorld(t, newApp(withGang))
	w.settle()
	w.runDriver()
	w.putExecutors(2, w.podGroups()[0].Name, corev1.PodRunning, "node")
	w.reportGroup(metav1.ConditionTrue, "Scheduled", "")
	w.settle()
	group := w.podGroups()[0]
	group.Spec.SchedulingPolicy.Gang.MinCount = 2
	w.put(podGroupsResource, group)
	w.settle()
	assert.Equal(t, int32(1), w.podGroups()[0].Spec.SchedulingPolicy.Gang.MinCount)
}

func TestExecutorNoiseIsCoalesced(t *testing.T) {
	w := newWorld(t, newApp())
	w.settle()
	w.runDriver()
	w.settle()
	w.writes = nil
	for id := range 50 {
		w.put(podsResource, executorPod(w.app(), id+1, "", corev1.PodRunning, "node"))
		w.sync()
		rest, err := w.c.reconcile(w.ctx, testKey)
		require.NoError(t, err)
		if len(w.writes) > 0 && id > 0 {
			assert.Positive(t, rest, "what is held back is written later")
		}
		w.clock.Step(10 * time.Millisecond)
	}
	assert.Len(t, w.writes, 1)
	w.settle()
	assert.Len(t, w.app().Status.ExecutorState, 50)
	assert.Equal(t, int32(50), w.app().Status.ExecutorCounts.Running)
}

func TestRecordAndCompilationMustAgree(t *testing.T) {
	app := newApp(withGang)
	submission, err := scheduling.CompileSubmission(app, testSubmission, startOfTime, "")
	require.NoError(t, err)
	for name, test := range map[string]struct {
		edit  func(status *v1beta2.SparkApplicationStatus)
		agree bool
	}{
		"the same":                  {func(*v1beta2.SparkApplicationStatus) {}, true},
		"no record":                 {func(s *v1beta2.SparkApplicationStatus) { s.WorkloadScheduling = nil }, false},
		"record of another attempt": {func(s *v1beta2.SparkApplicationStatus) { s.WorkloadScheduling.SubmissionID = freshSubmission }, false},
		"another group":             {func(s *v1beta2.SparkApplicationStatus) { s.WorkloadScheduling.PodGroups[0].PodGroupName = "x" }, false},
		"another number":            {func(s *v1beta2.SparkApplicationStatus) { s.WorkloadScheduling.PodGroups[0].MinCount = new(int32(3)) }, false},
		"no number":                 {func(s *v1beta2.SparkApplicationStatus) { s.WorkloadScheduling.PodGroups[0].MinCount = nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			status := &v1beta2.SparkApplicationStatus{SubmissionID: testSubmission, WorkloadScheduling: attemptRecord(submission.Native, testSubmission)}
			test.edit(status)
			err := agree(status, submission.Native)
			if test.agree {
				require.NoError(t, err)
				return
			}
			obstacle, other := asObstacle(err)
			require.NoError(t, other)
			assert.Equal(t, ObstacleStaleIdentity, obstacle.Kind)
		})
	}
	require.NoError(t, agree(&v1beta2.SparkApplicationStatus{}, nil))
	require.Error(t, agree(&v1beta2.SparkApplicationStatus{SubmissionID: testSubmission, WorkloadScheduling: attemptRecord(submission.Native, testSubmission)}, nil))
}

func TestClassify(t *testing.T) {
	resource := schema.GroupResource{Resource: "pods"}
	for name, test := range map[string]struct {
		err     error
		refused bool
	}{
		"forbidden":   {apierrors.NewForbidden(resource, "x", errInjected), true},
		"invalid":     {apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "x", nil), true},
		"bad request": {apierrors.NewBadRequest("x"), true},
		"not found":   {apierrors.NewNotFound(resource, "x"), true},
		"too large":   {apierrors.NewRequestEntityTooLargeError("x"), true},
		"conflict":    {apierrors.NewConflict(resource, "x", errInjected), false},
		"throttled":   {apierrors.NewTooManyRequests("x", 1), false},
		"internal":    {apierrors.NewInternalError(errInjected), false},
		"unavailable": {apierrors.NewServiceUnavailable("x"), false},
		"timeout":     {apierrors.NewTimeoutError("x", 1), false},
		"network":     {errInjected, false},
		"gateway":     {&apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusBadGateway}}, false},
		"credentials": {apierrors.NewUnauthorized("x"), false},
	} {
		t.Run(name, func(t *testing.T) {
			obstacle, err := asObstacle(classify("create pod x", test.err))
			if !test.refused {
				require.ErrorIs(t, err, test.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, ObstacleRefused, obstacle.Kind)
			assert.Contains(t, obstacle.Message, "create pod x")
		})
	}
	terminating := apierrors.NewForbidden(resource, "x", errInjected)
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	obstacle, err := asObstacle(classify("create pod x", terminating))
	require.NoError(t, err)
	assert.Equal(t, ObstacleWaiting, obstacle.Kind)
}
