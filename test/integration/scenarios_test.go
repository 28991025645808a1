//go:build faultpoints

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
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/sparkdriver"
)

// scenario is a kind of life: what the user does, and how it ends.
type scenario struct {
	name    string
	changes []change
	// prepare is what there is before the application.
	prepare func(context.Context, *life) error
	acts    []act
	// end says whether everything has happened. It may ask the witness only.
	end func(*life) bool
	// only selects the fault points that are tried. Nil: all that the life passes.
	only func(pass) bool
	// whole says that the beginning of this life is tried too. Others begin as the first one does.
	whole bool
	// deleted says that the user deletes the application: a disturbed life may do so earlier.
	deleted bool
}

// act is something that the user does as soon as the life is ready for it.
type act struct {
	when  string
	ready func(*life) bool
	do    func(context.Context, *life) error
}

func (s *scenario) application(l *life) *v1beta2.SparkApplication {
	return smallApplication(l.namespace, lifeName, lifePool, s.changes...)
}

// withClaim lets the driver have a volume that is claimed for the attempt.
func withClaim(app *v1beta2.SparkApplication) {
	const scratch = "spark.kubernetes.driver.volumes.persistentVolumeClaim.scratch."
	app.Spec.SparkConf = map[string]string{
		scratch + "mount.path":           "/scratch",
		scratch + "options.claimName":    "OnDemand",
		scratch + "options.storageClass": "simulated",
		scratch + "options.sizeLimit":    "1Gi",
	}
}

// held lets the driver compute until the user lets it go: nothing that belongs to the run can be missed.
func held(app *v1beta2.SparkApplication) {
	if app.Spec.Driver.Annotations == nil {
		app.Spec.Driver.Annotations = map[string]string{}
	}
	app.Spec.Driver.Annotations[sparkdriver.HoldAnnotation] = "true"
}

func timeToLive(seconds int64) change {
	return func(app *v1beta2.SparkApplication) { app.Spec.TimeToLiveSeconds = new(seconds) }
}

func failuresRetried(n int32) change {
	return func(app *v1beta2.SparkApplication) {
		app.Spec.RestartPolicy = v1beta2.RestartPolicy{
			Type: v1beta2.RestartPolicyOnFailure, OnFailureRetries: new(n), OnFailureRetryInterval: new(int64(1)),
		}
	}
}

// gangOfTwo are the changes that let a life make everything that the controller can make.
func gangOfTwo(more ...change) []change {
	return append([]change{gang, executors(2), withClaim, held}, more...)
}

var (
	suspendAct = act{"the gang runs", (*life).gangRuns, edit(`{"spec":{"suspend":true}}`)}
	releaseAct = act{"the gang runs and may end", (*life).gangRuns, release}
)

// resumeAct resumes the application, with other changes of its spec.
func resumeAct(more string) act {
	return act{"the application is suspended", func(l *life) bool { return l.inState(v1beta2.ApplicationStateSuspended) },
		edit(`{"spec":{"suspend":false` + more + `}}`)}
}

// scenarios are the lives in which every fault point is tried.
var scenarios = []*scenario{
	{name: "create-to-complete", changes: gangOfTwo(withSideObjects), acts: []act{releaseAct}, end: (*life).completed, whole: true},
	{
		name: "plain", changes: []change{executors(2), held}, only: anyOf("driver"), whole: true,
		acts: []act{{"two executors run and the driver may end", (*life).executorsRun, release}},
		end:  (*life).completed,
	},
	{
		name: "suspend-and-resume", changes: gangOfTwo(withSideObjects),
		acts: []act{suspendAct, resumeAct(""), releaseAct},
		end:  (*life).completed,
	},
	{
		name: "delete", changes: gangOfTwo(), deleted: true, whole: true,
		acts: []act{{"the gang runs", (*life).gangRuns, func(ctx context.Context, l *life) error { return l.deleteApplication(ctx) }}},
		end:  (*life).nothingLeft,
	},
	{
		// Two attempts, and nothing of the first in the way of the second.
		name: "fail-and-retry", changes: gangOfTwo(outcome("fail"), failuresRetried(1)),
		acts: []act{releaseAct, releaseAct},
		end:  func(l *life) bool { return l.ended(v1beta2.ApplicationStateFailed, 2) },
	},
	{
		name: "edit", changes: gangOfTwo(),
		acts: []act{{"the gang runs", (*life).gangRuns, edit(`{"spec":{"arguments":["1000"]}}`)}, releaseAct},
		end:  (*life).completed,
	},
	{
		name: "expire", changes: []change{executors(1), timeToLive(1)}, end: (*life).nothingLeft, only: anyOf("application-delete"), whole: true,
	},
	{
		// Another number of executors for the next attempt: the Workload is changed.
		name: "resize-while-suspended", changes: gangOfTwo(), only: anyOf("workload"),
		acts: []act{suspendAct, resumeAct(`,"executor":{"instances":3}`), releaseAct},
		end:  (*life).completed,
	},
	{
		// Another priority class for the next attempt: the Workload is made again.
		name: "another-priority-while-suspended", changes: gangOfTwo(), only: anyOf("workload"),
		acts: []act{suspendAct, resumeAct(`,"executor":{"priorityClassName":"` + lifePriorityClass + `"}`), releaseAct},
		end:  (*life).completed,
	},
	{
		// The PodGroup of another batch scheduler is made for an attempt that can't have its driver yet, is taken over by the next
		// one after an edit, and goes at the end.
		name: "volcano", changes: []change{executors(1), batchScheduler("volcano", ""), held}, only: anyOf("batch"), whole: true,
		prepare: occupyDriverName,
		acts: []act{
			{"the attempt waits for the name", (*life).waitsForName, edit(`{"spec":{"executor":{"instances":2}}}`)},
			{"the PodGroup is as large as the new gang", (*life).batchGroupHasGrown, freeDriverName},
			{"two executors run and the driver may end", (*life).executorsRun, release},
		},
		end: (*life).completed,
	},
	{
		// Somebody removes what the driver mounts: it is made again.
		name: "configmap-removed-by-hand", changes: gangOfTwo(), only: anyOf("configmap"),
		acts: []act{{"the gang runs", (*life).gangRuns, func(ctx context.Context, l *life) error { return l.removeConfigMap(ctx) }}},
		end:  func(l *life) bool { return l.gangRuns() && l.configMapIsBack() },
	},
	{
		// Somebody removes the PodGroup of a running gang: it is made again.
		name: "group-removed-by-hand", changes: gangOfTwo(), only: anyOf("podgroup"),
		acts: []act{{"the gang runs", (*life).gangRuns, func(ctx context.Context, l *life) error { return l.removeGroup(ctx) }}},
		end: func(l *life) bool {
			groups := l.witness.groups(l.namespace)
			return l.gangRuns() && len(groups) == 1 && string(groups[0].UID) != l.removedGroup
		},
	},
}

// lifePriorityClass is a priority class that executors may have.
const lifePriorityClass = "life-priority"

func makeLifePriorityClass(ctx context.Context, l *lives) error {
	_, err := l.kube.SchedulingV1().PriorityClasses().Create(ctx, &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: lifePriorityClass}, Value: 10,
	}, metav1.CreateOptions{})
	return err
}

// anyOf selects the fault points around writes whose names begin with one of the given words.
func anyOf(words ...string) func(pass) bool {
	return func(p pass) bool {
		_, write, _ := strings.Cut(string(p.point), "-")
		return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(write, word) })
	}
}

// edit patches the application. One that is gone by now stays so.
func edit(patch string) func(context.Context, *life) error {
	return func(ctx context.Context, l *life) error {
		l.passAttempt()
		_, err := l.spark.SparkoperatorV1beta2().SparkApplications(l.namespace).Patch(ctx, lifeName, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	}
}

// release lets the driver of the attempt that runs come to its end.
func release(ctx context.Context, l *life) error {
	l.passAttempt()
	_, err := l.kube.CoreV1().Pods(l.namespace).Patch(ctx, lifeName+"-driver", types.MergePatchType,
		fmt.Appendf(nil, `{"metadata":{"annotations":{%q:null}}}`, sparkdriver.HoldAnnotation), metav1.PatchOptions{})
	return err
}

// passAttempt says that the user is done with the present attempt: the next act is for the one after it.
func (l *life) passAttempt() {
	if app := l.app(); app != nil {
		l.passedAttempt = app.Status.SubmissionID
	}
}

// occupyDriverName makes a pod of the driver's name that a deleted application of the same name seems to have left, and that
// can't be removed.
func occupyDriverName(ctx context.Context, l *life) error {
	_, err := l.kube.CoreV1().Pods(l.namespace).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: lifeName + "-driver", Finalizers: []string{"test.spark-apiserver.io/stays"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1beta2.SchemeGroupVersion.String(), Kind: "SparkApplication", Name: lifeName, UID: "gone", Controller: new(true),
			}},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none"}}, SchedulerName: "nobody"},
	}, metav1.CreateOptions{})
	return err
}

func freeDriverName(ctx context.Context, l *life) error {
	pods := l.kube.CoreV1().Pods(l.namespace)
	pod, err := pods.Get(ctx, lifeName+"-driver", metav1.GetOptions{})
	if err != nil || len(pod.Finalizers) == 0 {
		return passed(err)
	}
	_, err = pods.Patch(ctx, pod.Name, types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"uid":%q,"finalizers":null}}`, pod.UID), metav1.PatchOptions{})
	if err != nil {
		return passed(err)
	}
	return passed(pods.Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64(0)), Preconditions: &metav1.Preconditions{UID: &pod.UID},
	}))
}

func (l *life) waitsForName() bool {
	app := l.app()
	if app == nil {
		return false
	}
	condition := meta.FindStatusCondition(app.Status.Conditions, v1beta2.ConditionRunning)
	return condition != nil && strings.Contains(condition.Message, "of a deleted SparkApplication of the same name")
}

// batchGroupHasGrown says that the PodGroup is that of the attempt with two executors.
func (l *life) batchGroupHasGrown() bool {
	app := l.app()
	for _, object := range inNamespace(l.witness.objects["PodGroup of Volcano"], l.namespace) {
		group, ok := object.(*unstructured.Unstructured)
		if ok && app != nil && group.GetLabels()[labelSubmission] == app.Status.SubmissionID && app.Status.ObservedGeneration == app.Generation && app.Generation > 1 {
			return true
		}
	}
	return false
}

func (l *life) deleteApplication(ctx context.Context) error {
	err := l.spark.SparkoperatorV1beta2().SparkApplications(l.namespace).Delete(ctx, lifeName, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	l.mu.Lock()
	l.userDeleted = true
	l.mu.Unlock()
	return nil
}

func (l *life) wasDeleted() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.userDeleted
}

// removeGroup removes the PodGroup under its members, which takes an administrator who also removes its protection.
func (l *life) removeGroup(ctx context.Context) error {
	groups := l.witness.groups(l.namespace)
	if len(groups) == 0 {
		return nil
	}
	l.removedGroup = string(groups[0].UID)
	client := l.kube.SchedulingV1beta1().PodGroups(l.namespace)
	byUID := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &groups[0].UID}}
	if err := client.Delete(ctx, groups[0].Name, byUID); err != nil {
		return passed(err)
	}
	unprotected := fmt.Appendf(nil, `{"metadata":{"uid":%q,"finalizers":null}}`, groups[0].UID)
	_, err := client.Patch(ctx, groups[0].Name, types.MergePatchType, unprotected, metav1.PatchOptions{})
	return passed(err)
}

// passed passes over the errors that say that the very object is gone already.
func passed(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// configMap returns the ConfigMap that the application has made, or nil.
func (l *life) configMap() *corev1.ConfigMap {
	for _, object := range inNamespace(l.witness.objects["ConfigMap"], l.namespace) {
		if configMap, ok := object.(*corev1.ConfigMap); ok {
			if owner := metav1.GetControllerOf(configMap); owner != nil && owner.Kind == "SparkApplication" {
				return configMap
			}
		}
	}
	return nil
}

func (l *life) removeConfigMap(ctx context.Context) error {
	configMap := l.configMap()
	if configMap == nil {
		return nil
	}
	l.removedConfigMap = string(configMap.UID)
	return passed(l.kube.CoreV1().ConfigMaps(l.namespace).Delete(ctx, configMap.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &configMap.UID}}))
}

func (l *life) configMapIsBack() bool {
	configMap := l.configMap()
	return configMap != nil && string(configMap.UID) != l.removedConfigMap
}

// gangRuns says that the gang was admitted, that its minCount was lowered and that the executors run; or that the
// application was deleted before.
func (l *life) gangRuns() bool {
	app := l.app()
	if app == nil {
		return l.wasDeleted()
	}
	groups := l.witness.groups(l.namespace)
	return l.executorsRun() && meta.IsStatusConditionTrue(app.Status.Conditions, v1beta2.ConditionWorkloadSchedulingReady) &&
		len(groups) == 1 && groups[0].Spec.SchedulingPolicy.Gang != nil && groups[0].Spec.SchedulingPolicy.Gang.MinCount == 1
}

// executorsRun says that an attempt with which the user is not done runs with all its executors, and that the status says so.
func (l *life) executorsRun() bool {
	app := l.app()
	if app == nil || app.Status.AppState.State != v1beta2.ApplicationStateRunning || app.Status.SubmissionID == l.passedAttempt ||
		app.Status.ObservedGeneration != app.Generation || app.Status.DriverInfo.WebUIAddress == "" {
		return false
	}
	running := 0
	for _, pod := range l.witness.pods(l.namespace, "executor") {
		if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil && pod.Labels[labelSubmission] == app.Status.SubmissionID {
			running++
		}
	}
	counts := app.Status.ExecutorCounts
	return running == int(*app.Spec.Executor.Instances) && counts != nil && int(counts.Running) == running
}

// completed says that the application has completed and that nothing of it runs or gathers any more.
func (l *life) completed() bool { return l.ended(v1beta2.ApplicationStateCompleted, 1) }

// ended says that the application has ended after so many runs at least, that all of its executors are accounted for and
// gone, and that nothing but the driver pod is kept.
func (l *life) ended(in v1beta2.ApplicationStateType, runs int32) bool {
	app := l.app()
	if app == nil || app.Status.AppState.State != in || app.Status.ExecutorCounts == nil || app.Status.ExecutionAttempts < runs {
		return false
	}
	counts := app.Status.ExecutorCounts
	return counts.Pending+counts.Running+counts.Unknown == 0 && l.executorsAreGone() && len(l.witness.groups(l.namespace)) == 0 &&
		l.configMap() == nil
}

func (l *life) executorsAreGone() bool { return len(l.witness.pods(l.namespace, "executor")) == 0 }

// nothingLeft says that the application is gone, and with it all that it had made.
func (l *life) nothingLeft() bool {
	if l.app() != nil || len(l.witness.statesOf(l.namespace)) == 0 && !l.wasDeleted() {
		return false
	}
	for kind, indexer := range l.witness.objects {
		for _, object := range inNamespace(indexer, l.namespace) {
			if describeObject(kind, object, nil) != "" {
				return false
			}
		}
	}
	return true
}
