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
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
)

func TestScale(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("6")
	before := n.create(n.application("pi", gang, executors(2), outcome("hang")))
	n.untilCondition("pi", v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionTrue, "GangAdmitted")

	applications := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace)
	n.until("the scale counts the executors that live", func(c *assert.CollectT) {
		scale, err := applications.GetScale(t.Context(), "pi", metav1.GetOptions{})
		require.NoError(t, err)
		assert.EqualValues(c, 2, scale.Spec.Replicas)
		assert.EqualValues(c, 2, scale.Status.Replicas)
		// As an autoscaler finds the pods whose load it looks at.
		selector, err := labels.Parse(scale.Status.Selector)
		require.NoError(t, err)
		assert.Len(c, n.pods(selector.String()), 2)
	})

	out := n.mustKubectl("", "scale", "sparkapp/pi", "--replicas=3")
	assert.Contains(t, out, "scaled")
	app := n.get("pi")
	assert.EqualValues(t, 3, *app.Spec.Executor.Instances)
	assert.Equal(t, before.Generation+1, app.Generation)
	assert.Equal(t, before.Spec.Scheduling, app.Spec.Scheduling)
	_, errOut, err := n.kubectl("", "scale", "sparkapp/pi", "--replicas=0")
	require.Error(t, err)
	assert.Contains(t, errOut, "spec.replicas")
	_, errOut, err = n.kubectl("", "scale", "sparkapp/pi", "--replicas=5", "--current-replicas=2")
	require.Error(t, err, "kubectl's own precondition")
	assert.Contains(t, errOut, "3")
}

// The right to scale is one of its own.
func TestScaleIsAuthorizedAsItself(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.create(n.application("pi", suspended))
	_, err := n.kube.RbacV1().Roles(n.namespace).Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "scaler"},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"sparkoperator.k8s.io"}, Resources: []string{"sparkapplications/scale"}, Verbs: []string{"get", "update"},
		}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = n.kube.RbacV1().RoleBindings(n.namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "scaler"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "scaler"}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "scaler"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	config := rest.CopyConfig(n.AdminConfig())
	config.Impersonate = rest.ImpersonationConfig{UserName: "scaler"}
	client, err := versioned.NewForConfig(config)
	require.NoError(t, err)
	applications := client.SparkoperatorV1beta2().SparkApplications(n.namespace)
	n.until("the binding is in force", func(c *assert.CollectT) {
		scale, err := applications.GetScale(t.Context(), "pi", metav1.GetOptions{})
		if assert.NoError(c, err) {
			scale.Spec.Replicas = 4
			_, err = applications.UpdateScale(t.Context(), "pi", scale, metav1.UpdateOptions{})
			assert.NoError(c, err)
		}
	})
	assert.EqualValues(t, 4, *n.get("pi").Spec.Executor.Instances)
	_, err = applications.Get(t.Context(), "pi", metav1.GetOptions{})
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
	_, err = applications.Update(t.Context(), n.get("pi"), metav1.UpdateOptions{})
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
}
