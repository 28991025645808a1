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
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	countApplications = corev1.ResourceName("count/sparkapplications.sparkoperator.k8s.io")
	countSchedules    = corev1.ResourceName("count/scheduledsparkapplications.sparkoperator.k8s.io")
)

// limit sets a quota and waits until the cluster's quota controller has counted what there is. It learns of a served kind
// within half a minute, and looks again at quotas that it met before only every few minutes; so they are made anew.
func (n *tenant) limit(hard corev1.ResourceList) {
	n.t.Helper()
	quotas := n.kube.CoreV1().ResourceQuotas(n.namespace)
	require.EventuallyWithT(n.t, func(c *assert.CollectT) {
		quota, err := quotas.Get(n.t.Context(), "applications", metav1.GetOptions{})
		if err == nil && len(quota.Status.Hard) == len(hard) && len(quota.Status.Used) < len(hard) {
			err = quotas.Delete(n.t.Context(), "applications", metav1.DeleteOptions{})
			quota = &corev1.ResourceQuota{}
		}
		if apierrors.IsNotFound(err) {
			_, err = quotas.Create(n.t.Context(), &corev1.ResourceQuota{
				ObjectMeta: metav1.ObjectMeta{Name: "applications"}, Spec: corev1.ResourceQuotaSpec{Hard: hard},
			}, metav1.CreateOptions{})
		}
		require.NoError(n.t, err)
		assert.Len(c, quota.Status.Used, len(hard))
	}, patience, time.Second, "the quota controller has counted")
}

func (n *tenant) quota() *corev1.ResourceQuota {
	n.t.Helper()
	quota, err := n.kube.CoreV1().ResourceQuotas(n.namespace).Get(n.t.Context(), "applications", metav1.GetOptions{})
	require.NoError(n.t, err)
	return quota
}

func (n *tenant) used(name corev1.ResourceName) int64 {
	n.t.Helper()
	used := n.quota().Status.Used[name]
	return used.Value()
}

// A quota on the number of applications holds as it does for built-in kinds: for whatever was there before, for creates at
// the same time, and for whoever creates.
func TestQuota(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	const allowed = 5
	n.create(n.application("before", suspended))
	n.limit(corev1.ResourceList{countApplications: *resource.NewQuantity(allowed, resource.DecimalSI), countSchedules: resource.MustParse("1")})
	assert.EqualValues(t, 1, n.used(countApplications), "what was there before is counted")

	apps := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace)
	t.Run("creates at the same time", func(t *testing.T) {
		var wait sync.WaitGroup
		var created atomic.Int32
		for i := range 4 * allowed {
			wait.Go(func() {
				_, err := apps.Create(t.Context(), n.application(fmt.Sprintf("app-%d", i), suspended), metav1.CreateOptions{})
				if err == nil {
					created.Add(1)
					return
				}
				assert.True(t, apierrors.IsForbidden(err), "%v", err)
				assert.ErrorContains(t, err, "exceeded quota: applications, requested: count/sparkapplications.sparkoperator.k8s.io=1")
			})
		}
		wait.Wait()
		assert.EqualValues(t, allowed-1, created.Load())
		list, err := apps.List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.Len(t, list.Items, allowed)
		assert.EqualValues(t, allowed, n.used(countApplications), "it is booked before the answer comes")
	})
	t.Run("edits and subresources are free", func(t *testing.T) {
		_, err := apps.Patch(t.Context(), "before", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		in(n, t).mustKubectl("", "scale", "sparkapp/before", "--replicas=3")
		assert.EqualValues(t, allowed, n.used(countApplications))
	})
	t.Run("kubectl says why", func(t *testing.T) {
		_, errOut, err := in(n, t).kubectl(manifest(t, n.application("kubectl", suspended)), "apply", "-f", "-")
		require.Error(t, err)
		assert.Contains(t, errOut, "exceeded quota")
	})
	t.Run("a deletion makes room", func(t *testing.T) {
		n := in(n, t)
		require.NoError(t, apps.Delete(t.Context(), "before", metav1.DeleteOptions{}))
		n.until("the quota controller has seen the deletion", func(c *assert.CollectT) {
			assert.EqualValues(c, allowed-1, n.used(countApplications))
		})
		n.create(n.application("after", suspended))
		assert.EqualValues(t, allowed, n.used(countApplications))
	})
	t.Run("what is not stored is not booked", func(t *testing.T) {
		n := in(n, t)
		require.NoError(t, apps.Delete(t.Context(), "after", metav1.DeleteOptions{}))
		n.until("there is room", func(c *assert.CollectT) { assert.EqualValues(c, allowed-1, n.used(countApplications)) })
		_, err := apps.Create(t.Context(), n.application("invalid", suspended, executors(-1)), metav1.CreateOptions{})
		require.True(t, apierrors.IsInvalid(err), "%v", err)
		_, err = apps.Create(t.Context(), n.application("dry", suspended), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		require.NoError(t, err)
		assert.EqualValues(t, allowed-1, n.used(countApplications))
	})
	t.Run("schedules", func(t *testing.T) {
		n := in(n, t)
		yearly := n.schedule("yearly", "0 0 1 1 *")
		n.createSchedule(yearly)
		second := yearly.DeepCopy()
		second.Name = "second"
		_, err := n.spark.SparkoperatorV1beta2().ScheduledSparkApplications(n.namespace).Create(t.Context(), second, metav1.CreateOptions{})
		require.True(t, apierrors.IsForbidden(err), "%v", err)
		assert.ErrorContains(t, err, "count/scheduledsparkapplications.sparkoperator.k8s.io=1")
	})
}
