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
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
)

// as returns a client of a user who has one of the built-in roles in the tenant's namespace ("" = none).
func (n *tenant) as(role string) versioned.Interface {
	n.t.Helper()
	user := "user-" + role
	if role != "" {
		_, err := n.kube.RbacV1().RoleBindings(n.namespace).Create(n.t.Context(), &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		}, metav1.CreateOptions{})
		require.NoError(n.t, err)
	}
	config, err := n.ConfigFor(user)
	require.NoError(n.t, err)
	client, err := versioned.NewForConfig(config)
	require.NoError(n.t, err)
	return client
}

func TestRightsOfUsers(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.create(n.application("existing"))
	forbidden := func(t *testing.T, err error) {
		t.Helper()
		require.Error(t, err)
		assert.True(t, apierrors.IsForbidden(err), "%v", err)
	}
	allowed := func(t *testing.T, err error) {
		t.Helper()
		require.NoError(t, err)
	}
	for _, user := range []struct {
		role        string
		read, write func(*testing.T, error)
	}{
		{role: "", read: forbidden, write: forbidden},
		{role: "view", read: allowed, write: forbidden},
		{role: "edit", read: allowed, write: allowed},
		{role: "admin", read: allowed, write: allowed},
	} {
		t.Run("role="+user.role, func(t *testing.T) {
			in := &tenant{environment: shared, t: t, namespace: n.namespace}
			apps := in.as(user.role).SparkoperatorV1beta2().SparkApplications(n.namespace)
			name := "by-" + user.role + "x"
			// A new role takes a moment to reach the aggregated ClusterRoles and the authorizers' caches.
			in.until("the role is in force", func(c *assert.CollectT) {
				_, err := apps.Get(t.Context(), "existing", metav1.GetOptions{})
				assert.Equal(c, user.role == "", apierrors.IsForbidden(err), "%v", err)
			})
			_, err := apps.List(t.Context(), metav1.ListOptions{})
			user.read(t, err)
			watch, err := apps.Watch(t.Context(), metav1.ListOptions{TimeoutSeconds: new(int64(1))})
			user.read(t, err)
			if watch != nil {
				watch.Stop()
			}
			_, err = apps.Create(t.Context(), n.application(name), metav1.CreateOptions{})
			user.write(t, err)
			_, err = apps.Patch(t.Context(), "existing", types.MergePatchType, []byte(`{"metadata":{"labels":{"touched-by":"`+user.role+`"}}}`), metav1.PatchOptions{})
			user.write(t, err)
			_, err = apps.Patch(t.Context(), "existing", types.MergePatchType, []byte(`{"status":{"submissionID":"x"}}`), metav1.PatchOptions{}, "status")
			forbidden(t, err) // the status is the controller's
			err = apps.Delete(t.Context(), name, metav1.DeleteOptions{})
			user.write(t, err)
			err = apps.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "none=such"})
			user.write(t, err)
		})
	}
}

// serverIsNeverRefused looks, after all tests have used the shared control plane for everything that they test, whether
// our server asked for something that its manifests don't give it, or logged as much.
func serverIsNeverRefused() error {
	refused, err := shared.AuditEvents(func(e *auditv1.Event) bool {
		return e.User.Username == cluster.ServerIdentity && e.ResponseStatus != nil && e.ResponseStatus.Code == 403 && lacksRight(e.ResponseStatus.Message)
	})
	if err != nil {
		return err
	}
	var problems []error
	for _, e := range refused {
		problems = append(problems, fmt.Errorf("our server was refused %s %s: %s", e.Verb, e.RequestURI, e.ResponseStatus.Message))
	}
	log, err := os.ReadFile(shared.server.LogPath)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(log)) {
		serverRefused := strings.Contains(line, "forbidden: User \"system:serviceaccount:spark-system") || strings.Contains(line, `forbidden: User \"system:serviceaccount:spark-system`)
		if serverRefused || strings.HasPrefix(line, "panic") || strings.Contains(line, "Observed a panic") {
			problems = append(problems, fmt.Errorf("our server logs that it lacks a right, or worse: %s", line))
		}
	}
	return errors.Join(problems...)
}

// lacksRight tells the refusals of RBAC, and of admission plugins that ask RBAC, from those that tests provoke: quotas, limits,
// service accounts and priority classes that don't exist, namespaces that are being deleted.
func lacksRight(message string) bool { return strings.Contains(message, " cannot ") }
