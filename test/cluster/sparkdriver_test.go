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
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/spark-apiserver/spark-apiserver/test/cluster/sparkdriver"
)

// driverRules are what Spark's documentation leaves to the reader: the rights that its client's calls need.
var driverRules = []rbacv1.PolicyRule{
	{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list", "watch", "create", "delete", "deletecollection", "patch"}},
	{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create", "deletecollection"}},
	{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: []string{"deletecollection"}},
	{APIGroups: []string{""}, Resources: []string{"persistentvolumeclaims"}, Verbs: []string{"create", "deletecollection"}},
}

// application is a hand-made driver pod with its ConfigMap, in a namespace of its own.
type application struct {
	client    kubernetes.Interface
	namespace string
	pod       *corev1.Pod
	configMap *corev1.ConfigMap
}

// newApplication prepares an application of two executors; edit it before submit.
func newApplication(t *testing.T, properties map[string]string) *application {
	t.Helper()
	client, namespace := newNamespace(t, shared)
	a := &application{client: client, namespace: namespace}
	a.grant(t, driverRules)
	all := map[string]string{
		"spark.app.id": "spark-1", "spark.app.name": "hand-made", "spark.kubernetes.driver.pod.name": "driver",
		"spark.kubernetes.container.image": "spark:simulated", "spark.kubernetes.executor.podNamePrefix": "hand-made",
		"spark.kubernetes.authenticate.driver.serviceAccountName": "spark", "spark.driver.host": "svc.ns.svc",
		"spark.kubernetes.executor.podTemplateFile": "/opt/spark/templates/executor.yaml",
		"spark.executor.cores":                      "1", "spark.executor.memory": "512m",
	}
	maps.Copy(all, properties)
	var text strings.Builder
	for k, v := range all {
		fmt.Fprintf(&text, "%s=%s\n", k, strings.ReplaceAll(v, ":", `\:`))
	}
	a.configMap = &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "conf"},
		Data:       map[string]string{"spark.properties": text.String(), "template": "spec: {}\n"},
	}
	fromConfigMap := func(key, path string) corev1.VolumeSource {
		return corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "conf"}, Items: []corev1.KeyToPath{{Key: key, Path: path}},
		}}
	}
	a.pod = &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "driver",
			Labels:      map[string]string{"spark-role": "driver", "spark-app-selector": "spark-1", "spark-version": "4.0.1"},
			Annotations: map[string]string{sparkdriver.RunSecondsAnnotation: "0.2"},
		},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, ServiceAccountName: "spark",
			Volumes: []corev1.Volume{{Name: "conf", VolumeSource: fromConfigMap("spark.properties", "spark.properties")}, {Name: "template", VolumeSource: fromConfigMap("template", "executor.yaml")}},
			Containers: []corev1.Container{{
				Name: "spark-kubernetes-driver", Image: "spark:simulated",
				Args:         []string{"driver", "--properties-file", "/opt/spark/conf/spark.properties", "--class", "org.example.Main", "local:///app.jar"},
				VolumeMounts: []corev1.VolumeMount{{Name: "conf", MountPath: "/opt/spark/conf"}, {Name: "template", MountPath: "/opt/spark/templates"}},
			}},
		},
	}
	return a
}

func (a *application) grant(t *testing.T, rules []rbacv1.PolicyRule) {
	t.Helper()
	_, err := a.client.CoreV1().ServiceAccounts(a.namespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "spark"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = a.client.RbacV1().Roles(a.namespace).Create(t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "spark"}, Rules: rules}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = a.client.RbacV1().RoleBindings(a.namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "spark"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "spark"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "spark", Namespace: a.namespace}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

func (a *application) submit(t *testing.T) {
	t.Helper()
	_, err := a.client.CoreV1().ConfigMaps(a.namespace).Create(t.Context(), a.configMap, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = a.client.CoreV1().Pods(a.namespace).Create(t.Context(), a.pod, metav1.CreateOptions{})
	require.NoError(t, err)
}

func (a *application) executors(t *testing.T) []corev1.Pod {
	t.Helper()
	pods, err := a.client.CoreV1().Pods(a.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "spark-role=executor"})
	require.NoError(t, err)
	return pods.Items
}

func (a *application) waitPhase(t *testing.T, phase corev1.PodPhase) *corev1.Pod {
	t.Helper()
	eventually(t, "the driver to be "+string(phase), func() bool { return getPod(t, a.client, a.namespace, "driver").Status.Phase == phase })
	return getPod(t, a.client, a.namespace, "driver")
}

func (a *application) waitRunning(t *testing.T, executors int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d executors to run", executors), func() bool {
		running := 0
		for _, e := range a.executors(t) {
			if e.Status.Phase == corev1.PodRunning && e.DeletionTimestamp == nil {
				running++
			}
		}
		return running == executors
	})
}

func TestSimulatedDriverSucceeds(t *testing.T) {
	a := newApplication(t, map[string]string{"spark.executor.instances": "3", "spark.kubernetes.allocation.batch.size": "2"})
	a.submit(t)
	driver := a.waitPhase(t, corev1.PodSucceeded)
	terminated := driver.Status.ContainerStatuses[0].State.Terminated
	require.NotNil(t, terminated)
	assert.Zero(t, terminated.ExitCode)
	eventually(t, "the executors to be cleaned up", func() bool { return len(a.executors(t)) == 0 })

	const account = ":spark"
	events, err := shared.AuditEvents(func(e *auditv1.Event) bool {
		return e.ObjectRef != nil && e.ObjectRef.Namespace == a.namespace && e.User.Username == "system:serviceaccount:"+a.namespace+account
	})
	require.NoError(t, err)
	counts := map[string]int{}
	for i := range events {
		counts[events[i].Verb+" "+events[i].ObjectRef.Resource]++
		assert.EqualValues(t, 2, events[i].ResponseStatus.Code/100, "%s %s", events[i].Verb, events[i].RequestURI)
	}
	assert.Equal(t, map[string]int{
		"create pods": 3, "create configmaps": 1, "deletecollection pods": 1, "deletecollection configmaps": 1, "deletecollection services": 1,
	}, counts, "the driver writes with its own account, and no more than Spark does")
}

func TestSimulatedDriverEndings(t *testing.T) {
	for name, tc := range map[string]struct {
		edit     func(*application)
		exitCode int32
		message  string
	}{
		"told to fail": {func(a *application) { a.pod.Annotations[sparkdriver.OutcomeAnnotation] = "fail" }, 1, "told to fail"},
		"told a code":  {func(a *application) { a.pod.Annotations[sparkdriver.OutcomeAnnotation] = "42" }, 42, "told to fail"},
		"absent class": {func(a *application) { a.pod.Spec.Containers[0].Args[4] = "non-existent" }, 101, "failed to load class"},
		"absent file":  {func(a *application) { a.pod.Spec.Containers[0].Args[5] = "local:///non-existent.jar" }, 101, "no such file"},
		"no token":     {func(a *application) { a.pod.Spec.AutomountServiceAccountToken = new(false) }, 1, "no service account token"},
		"no rights":    {func(a *application) { a.pod.Spec.ServiceAccountName = "default" }, 1, "forbidden"},
		"wrong pod name": {func(a *application) {
			a.pod.Name = "driver"
			a.configMap.Data["spark.properties"] += "spark.kubernetes.driver.pod.name=other\n"
		}, 1, "no pod was found named other"},
		"bad template": {func(a *application) { a.configMap.Data["template"] = "kind: Deployment" }, 1, "template"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApplication(t, nil)
			tc.edit(a)
			a.submit(t)
			driver := a.waitPhase(t, corev1.PodFailed)
			terminated := driver.Status.ContainerStatuses[0].State.Terminated
			require.NotNil(t, terminated)
			assert.Equal(t, tc.exitCode, terminated.ExitCode)
			assert.Contains(t, terminated.Message, tc.message)
			assert.True(t, strings.HasPrefix(terminated.Message, "simulated: "))
		})
	}
}

func TestSimulatedDriverReplacesExecutors(t *testing.T) {
	a := newApplication(t, nil)
	a.pod.Annotations[sparkdriver.OutcomeAnnotation] = "hang"
	a.submit(t)
	a.waitRunning(t, 2)
	require.NoError(t, a.client.CoreV1().Pods(a.namespace).Delete(t.Context(), "hand-made-exec-1", metav1.DeleteOptions{}))
	eventually(t, "a deleted executor to be replaced", func() bool {
		_, err := a.client.CoreV1().Pods(a.namespace).Get(t.Context(), "hand-made-exec-3", metav1.GetOptions{})
		return err == nil
	})
	a.waitRunning(t, 2)
	failed := getPod(t, a.client, a.namespace, "hand-made-exec-2")
	failed.Status.Phase = corev1.PodFailed
	_, err := a.client.CoreV1().Pods(a.namespace).UpdateStatus(t.Context(), failed, metav1.UpdateOptions{})
	require.NoError(t, err)
	eventually(t, "a failed executor to be replaced and its pod deleted", func() bool {
		names := map[string]bool{}
		for _, e := range a.executors(t) {
			names[e.Name] = true
		}
		return names["hand-made-exec-4"] && !names["hand-made-exec-2"]
	})
	require.NoError(t, a.client.CoreV1().Pods(a.namespace).Delete(t.Context(), "driver", metav1.DeleteOptions{}))
	eventually(t, "the garbage collector to take the executors", func() bool { return len(a.executors(t)) == 0 })
}

func TestSimulatedDriverGivesUpAfterTooManyFailures(t *testing.T) {
	a := newApplication(t, map[string]string{"spark.executor.instances": "1", "spark.executor.maxNumFailures": "1"})
	a.pod.Annotations[sparkdriver.OutcomeAnnotation] = "hang"
	a.submit(t)
	for id := 1; id <= 2; id++ {
		name := "hand-made-exec-" + strconv.Itoa(id)
		eventually(t, name+" to fail", func() bool {
			pod, err := a.client.CoreV1().Pods(a.namespace).Get(t.Context(), name, metav1.GetOptions{})
			if err != nil || pod.Status.Phase != corev1.PodRunning {
				return false
			}
			pod.Status.Phase = corev1.PodFailed
			_, err = a.client.CoreV1().Pods(a.namespace).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
			return err == nil
		})
	}
	driver := a.waitPhase(t, corev1.PodFailed)
	assert.EqualValues(t, 11, driver.Status.ContainerStatuses[0].State.Terminated.ExitCode)
}

// As long as something that it mounts is absent, a pod isn't started.
func TestSimulatedKubeletWaitsForMounts(t *testing.T) {
	a := newApplication(t, nil)
	a.pod.Spec.Volumes = append(a.pod.Spec.Volumes, corev1.Volume{Name: "late", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "late"}}})
	a.pod.Spec.Containers[0].VolumeMounts = append(a.pod.Spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "late", MountPath: "/late"})
	a.submit(t)
	eventually(t, "the kubelet to say what is missing", func() bool {
		pod := getPod(t, a.client, a.namespace, "driver")
		return len(pod.Status.ContainerStatuses) == 1 && pod.Status.ContainerStatuses[0].State.Waiting != nil &&
			strings.Contains(pod.Status.ContainerStatuses[0].State.Waiting.Message, `secret "late" not found`)
	})
	assert.Equal(t, corev1.PodPending, getPod(t, a.client, a.namespace, "driver").Status.Phase)
	eventually(t, "an event of it", func() bool {
		events, err := a.client.CoreV1().Events(a.namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "reason=FailedMount"})
		return err == nil && len(events.Items) > 0
	})
	_, err := a.client.CoreV1().Secrets(a.namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "late"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	a.waitPhase(t, corev1.PodSucceeded)
}

func TestSimulatedDriverKeepsSidecarsAndExecutors(t *testing.T) {
	a := newApplication(t, map[string]string{"spark.kubernetes.executor.deleteOnTermination": "false"})
	a.pod.Annotations[sparkdriver.SidecarsAnnotation] = "keep-running"
	a.pod.Spec.Containers = append(a.pod.Spec.Containers, corev1.Container{Name: "sidecar", Image: "none"})
	a.submit(t)
	eventually(t, "the driver's container to end", func() bool {
		for _, c := range getPod(t, a.client, a.namespace, "driver").Status.ContainerStatuses {
			if c.Name == "spark-kubernetes-driver" && c.State.Terminated != nil {
				return true
			}
		}
		return false
	})
	assert.Equal(t, corev1.PodRunning, getPod(t, a.client, a.namespace, "driver").Status.Phase)
	eventually(t, "executors to end with their driver and stay", func() bool {
		executors := a.executors(t)
		return len(executors) == 2 && executors[0].Status.Phase == corev1.PodSucceeded && executors[1].Status.Phase == corev1.PodSucceeded
	})
}

func TestSimulatedDriverUsesOnDemandClaims(t *testing.T) {
	const volume = "spark.kubernetes.executor.volumes.persistentVolumeClaim.spark-local-dir-1."
	a := newApplication(t, map[string]string{
		volume + "mount.path": "/data", volume + "options.claimName": "OnDemand",
		volume + "options.storageClass": sparkdriver.StorageClassName, volume + "options.sizeLimit": "1Gi",
	})
	a.submit(t)
	a.waitPhase(t, corev1.PodSucceeded)
	eventually(t, "claims and volumes to be cleaned up", func() bool {
		claims, err := a.client.CoreV1().PersistentVolumeClaims(a.namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		volumes, err := a.client.CoreV1().PersistentVolumes().List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		return len(claims.Items) == 0 && len(volumes.Items) == 0
	})
}

// The executors are a gang by what the template says, and only by that.
func TestSimulatedDriverJoinsGang(t *testing.T) {
	for name, tc := range map[string]struct {
		misbehaviour string
		member       bool
	}{
		"faithful": {"", true},
		"drops it": {"drop-scheduling-group", false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newApplication(t, nil)
			_, err := a.client.SchedulingV1beta1().PodGroups(a.namespace).Create(t.Context(), &schedulingv1beta1.PodGroup{
				ObjectMeta: metav1.ObjectMeta{Name: "gang"},
				Spec: schedulingv1beta1.PodGroupSpec{SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{
					Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 2},
				}},
			}, metav1.CreateOptions{})
			require.NoError(t, err)
			a.configMap.Data["template"] = "spec:\n  schedulingGroup: {podGroupName: gang}\n"
			a.pod.Annotations[sparkdriver.OutcomeAnnotation] = "hang"
			a.pod.Annotations[sparkdriver.MisbehaviourAnnotation] = tc.misbehaviour
			a.submit(t)
			a.waitRunning(t, 2)
			for _, e := range a.executors(t) {
				assert.Equal(t, tc.member, e.Spec.SchedulingGroup != nil, e.Name)
				assert.Equal(t, "spark", e.Spec.ServiceAccountName)
				assert.Equal(t, "896Mi", e.Spec.Containers[0].Resources.Limits.Memory().String())
			}
		})
	}
}
