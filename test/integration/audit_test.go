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
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
)

// auditedUser is the one user whose requests the shared server writes down.
const auditedUser = "audited-user"

func ourAuditLog(c *cluster.Cluster) string {
	return filepath.Join(c.Dir, "logs", "our-audit-of-one.log")
}

// auditFlags let our server write down the requests of auditedUser: the objects of its creates, and who asked for what in
// the others.
func auditFlags(c *cluster.Cluster) ([]string, error) {
	policy := filepath.Join(c.Dir, "our-audit-policy-of-one.yaml")
	err := os.WriteFile(policy, []byte(`apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Request, users: [`+auditedUser+`], verbs: [create]}
- {level: Metadata, users: [`+auditedUser+`]}
- {level: None}
`), 0o600)
	return []string{"--audit-policy-file=" + policy, "--audit-log-path=" + ourAuditLog(c)}, err
}

// userWith returns a user's client, after a built-in role in the tenant's namespace has come into force for it.
func (n *tenant) userWith(user, role string) versioned.Interface {
	n.t.Helper()
	config, err := n.ConfigFor(user, "analysts")
	require.NoError(n.t, err)
	client, err := versioned.NewForConfig(config)
	require.NoError(n.t, err)
	_, err = n.kube.RbacV1().RoleBindings(n.namespace).Create(n.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	}, metav1.CreateOptions{})
	require.NoError(n.t, err)
	n.until("the role is in force", func(c *assert.CollectT) {
		_, err := client.SparkoperatorV1beta2().SparkApplications(n.namespace).List(n.t.Context(), metav1.ListOptions{})
		assert.NoError(c, err)
	})
	return client
}

// Our server's own audit log says who asked, by the name and groups that kube-apiserver knows, and under the ID that
// kube-apiserver's log has for the same request.
func TestAudit(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	apps := n.userWith(auditedUser, "edit").SparkoperatorV1beta2().SparkApplications(n.namespace)
	app := n.application("pi", suspended)
	app.Spec.SparkConf = map[string]string{"spark.app.color": "green"}
	_, err := apps.Create(t.Context(), app, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, apps.Delete(t.Context(), "pi", metav1.DeleteOptions{}))
	_, err = apps.Update(t.Context(), app, metav1.UpdateOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)

	for verb, code := range map[string]int32{"create": 201, "delete": 200, "update": 404} {
		about := func(e *auditv1.Event) bool {
			return e.Verb == verb && e.ObjectRef != nil && e.ObjectRef.Namespace == n.namespace &&
				e.ObjectRef.APIGroup == v1beta2.SchemeGroupVersion.Group && e.User.Username == auditedUser
		}
		var ours []auditv1.Event
		n.until(verb+" is written down", func(c *assert.CollectT) {
			ours, err = cluster.ReadAuditLog(ourAuditLog(n.Cluster), about)
			require.NoError(t, err)
			assert.NotEmpty(c, ours)
		})
		require.Len(t, ours, 1, verb)
		event := ours[0]
		assert.Contains(t, event.User.Groups, "analysts")
		assert.Equal(t, code, event.ResponseStatus.Code, verb)
		assert.Equal(t, "sparkapplications", event.ObjectRef.Resource)
		if verb == "create" {
			assert.Contains(t, string(event.RequestObject.Raw), `"spark.app.color":"green"`)
		} else {
			assert.Nil(t, event.RequestObject, "no more than the policy says")
		}
		theirs, err := n.AuditEvents(about)
		require.NoError(t, err)
		require.Len(t, theirs, 1, verb)
		assert.Equal(t, theirs[0].AuditID, event.AuditID, "both logs tell of one request")
	}
}
