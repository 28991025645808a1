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
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

func forbiddenPod(message string) error {
	return apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New(message))
}

func TestServiceAccountWithoutRights(t *testing.T) {
	w := newWorld(t, newApp())
	w.forbidden = []string{"create pods", "create configmaps"}
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateSubmitted, w.state(), "a role may come along with the application")
	c := w.condition(v1beta2.ConditionRunning)
	assert.Equal(t, ReasonServiceAccountForbidden, c.Reason)
	assert.Contains(t, c.Message, "service account spark may not create pods, create configmaps in namespace jobs")

	w.clock.Step(accessGrace)
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateFailed, w.state())
	assert.Equal(t, ReasonServiceAccountForbidden, w.condition(v1beta2.ConditionFailed).Reason)
	assert.Zero(t, w.count("create pods"))
}

func TestRightsThatComeInTime(t *testing.T) {
	w := newWorld(t, newApp())
	w.forbidden = []string{"watch pods"}
	w.sync()
	require.NoError(t, w.reconcile())
	w.forbidden = nil
	w.settle()
	assert.Equal(t, 1, w.count("create pods"))
}

func TestMissingServiceAccountIsNamed(t *testing.T) {
	w := newWorld(t, newApp())
	w.forbidden = []string{"get pods"}
	w.dryRun = forbiddenPod(`error looking up service account jobs/spark: serviceaccount "spark" not found`)
	w.settle()
	assert.Equal(t, ReasonServiceAccountNotFound, w.condition(v1beta2.ConditionFailed).Reason)
}

func TestRightsAreNotAskedOfDriversWithOtherCredentials(t *testing.T) {
	for name, edit := range map[string]func(app *v1beta2.SparkApplication){
		"a token": func(app *v1beta2.SparkApplication) {
			app.Spec.SparkConf = map[string]string{"spark.kubernetes.authenticate.driver.mounted.oauthTokenFile": "/token"}
		},
		"another master": func(app *v1beta2.SparkApplication) {
			app.Spec.Driver.KubernetesMaster = new("k8s://https://elsewhere")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newApp(edit))
			w.forbidden = []string{"create pods"}
			w.settle()
			assert.Equal(t, 1, w.count("create pods"))
		})
	}
}

func TestExecutorsThatTheClusterRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		message string
		reason  string
	}{
		"limit range":    {"maximum memory usage per Container is 4Gi, but limit is 9011Mi", ReasonLimitRangeExceeded},
		"pod security":   {`violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false`, ReasonPodSecurityViolated},
		"priority class": {"no PriorityClass with name nope was found", ReasonPriorityClassNotFound},
		"webhook":        {`admission webhook "w.example.com" denied the request: no`, ReasonAdmissionDenied},
		"quota":          {"exceeded quota: pods, requested: pods=1, used: pods=5, limited: pods=5", ""},
		"quota unknown":  {"status unknown for quota: pods", ""},
		"our own rights": {`pods is forbidden: User "system:serviceaccount:spark-system:spark-apiserver" cannot create`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newApp())
			w.dryRun = forbiddenPod(test.message)
			w.settle()
			if test.reason == "" {
				assert.Equal(t, 1, w.count("create pods"), "it passes, or is not the application's")
				return
			}
			assert.Equal(t, v1beta2.ApplicationStateFailed, w.state())
			assert.Equal(t, test.reason, w.condition(v1beta2.ConditionFailed).Reason)
			assert.Contains(t, w.app().Status.AppState.ErrorMessage, test.message, "in the cluster's own words")
			assert.Zero(t, w.count("create pods"))
		})
	}
}

func TestExecutorProbe(t *testing.T) {
	app := newApp(func(app *v1beta2.SparkApplication) {
		app.Spec.Executor.Image = new("executor:1")
		app.Spec.Executor.Sidecars = []corev1.Container{{Name: "sidecar", Image: "sidecar:1"}}
		app.Spec.Executor.PriorityClassName = new("batch")
	})
	s := snapshotOf(app)
	submission, err := s.Compile(testSubmission, startOfTime, "")
	require.NoError(t, err)
	pod, err := executorProbe(app, submission)
	require.NoError(t, err)
	assert.Equal(t, "batch", pod.Spec.PriorityClassName)
	require.Len(t, pod.Spec.Containers, 2)
	assert.Equal(t, "sidecar:1", pod.Spec.Containers[0].Image)
	assert.Equal(t, "executor:1", pod.Spec.Containers[1].Image)
	assert.Equal(t, spark.ExecutorContainerName, pod.Spec.Containers[1].Name)
	memory := pod.Spec.Containers[1].Resources.Limits[corev1.ResourceMemory]
	assert.Equal(t, 1, memory.Cmp(resource.MustParse("1Gi")), "with what Spark adds")
}

func TestVolumeTroubleIsReadFromEvents(t *testing.T) {
	w := newWorld(t, newApp())
	w.c.observer.settings.ContainerErrorGrace = time.Minute
	w.settle()
	driver := w.driver()
	driver.Spec.NodeName = "node"
	driver.Status.Phase = corev1.PodPending
	boundSince(w.clock.Now())(driver)
	w.put(podsResource, driver)
	w.settle()
	assert.Equal(t, ReasonDriverPending, w.condition(v1beta2.ConditionRunning).Reason)

	event := &corev1.Event{
		Type: corev1.EventTypeWarning, Reason: "FailedMount", Message: `MountVolume.SetUp failed: configmap "settings" not found`,
		InvolvedObject: corev1.ObjectReference{UID: driver.UID},
	}
	event.Namespace, event.Name = testKey.Namespace, "e"
	w.put(corev1.SchemeGroupVersion.WithResource("events"), event)
	w.clock.Step(volumePatience)
	w.settle()
	c := w.condition(v1beta2.ConditionRunning)
	assert.Equal(t, ReasonDriverVolumeError, c.Reason)
	assert.Contains(t, c.Message, `configmap "settings" not found`)
	w.clock.Step(time.Minute)
	w.settle()
	assert.Equal(t, v1beta2.ApplicationStateFailed, w.state())
	assert.Equal(t, ReasonDriverVolumeError, w.condition(v1beta2.ConditionFailed).Reason)
}
