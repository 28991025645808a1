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

// Package artifacts has no code; its test reads the manifests as a cluster would.
package artifacts

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/yaml"
)

// notKubernetes are manifests of other programs' kinds, and of kinds that the tests of kubectl-spark read.
var notKubernetes = []string{"kustomization.yaml", "certificates.yaml", "apiservice-ca-injection.yaml", "no-claim.yaml", "deployment-patch.yaml", "namespace-patch.yaml"}

// objects decodes every document of a file, and fails on unknown fields.
func objects(t *testing.T, file string) []runtime.Object {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, apiregistrationv1.AddToScheme(scheme))
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var decoded []runtime.Object
	for document := range strings.SplitSeq(string(data), "\n---\n") {
		object, _, err := decoder.Decode([]byte(document), nil, nil)
		require.NoError(t, err, file)
		decoded = append(decoded, object)
	}
	return decoded
}

func manifests(t *testing.T) []string {
	t.Helper()
	var files []string
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path == "examples" {
			return filepath.SkipDir
		}
		if err == nil && filepath.Ext(path) == ".yaml" && !slices.Contains(notKubernetes, filepath.Base(path)) {
			files = append(files, path)
		}
		return err
	}))
	require.NotEmpty(t, files)
	return files
}

func all[T runtime.Object](t *testing.T) []T {
	t.Helper()
	var found []T
	for _, file := range manifests(t) {
		for _, object := range objects(t, file) {
			if typed, ok := object.(T); ok {
				found = append(found, typed)
			}
		}
	}
	require.NotEmpty(t, found)
	return found
}

func TestKustomizationsNameFilesThatExist(t *testing.T) {
	files, err := filepath.Glob("*/kustomization.yaml")
	require.NoError(t, err)
	overlays, err := filepath.Glob("overlays/*/kustomization.yaml")
	require.NoError(t, err)
	files = append(files, overlays...)
	require.GreaterOrEqual(t, len(files), 6)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var kustomization struct {
			Resources []string
			Patches   []struct{ Path string }
		}
		require.NoError(t, yaml.Unmarshal(data, &kustomization), file)
		named := kustomization.Resources
		for _, patch := range kustomization.Patches {
			// Made by hack/serving-cert.sh, and never in version control.
			if patch.Path != "apiservice-ca.yaml" {
				named = append(named, patch.Path)
			}
		}
		for _, name := range named {
			assert.FileExists(t, resourceFile(filepath.Join(filepath.Dir(file), name)), file)
		}
		if filepath.Dir(file) == "base" {
			onDisk, err := filepath.Glob("base/*.yaml")
			require.NoError(t, err)
			assert.Len(t, onDisk, len(kustomization.Resources)+1, "every manifest of the base is part of it")
		}
	}
}

func resourceFile(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return filepath.Join(path, "kustomization.yaml")
	}
	return path
}

func TestRightsAreNamedOneByOne(t *testing.T) {
	check := func(name string, rules []rbacv1.PolicyRule) {
		for _, rule := range rules {
			for what, values := range map[string][]string{"verb": rule.Verbs, "group": rule.APIGroups, "resource": rule.Resources} {
				assert.NotEmpty(t, values, "%s: a rule without any %s", name, what)
				assert.NotContains(t, values, "*", "%s: any %s", name, what)
			}
			assert.Empty(t, rule.NonResourceURLs, name)
			for _, resource := range rule.Resources {
				assert.NotEqual(t, "secrets", resource, "%s: nobody here needs to read secrets", name)
			}
			for _, verb := range []string{"impersonate", "escalate", "bind"} {
				assert.NotContains(t, rule.Verbs, verb, name)
			}
		}
	}
	for _, role := range all[*rbacv1.ClusterRole](t) {
		check(role.Name, role.Rules)
	}
	for _, role := range all[*rbacv1.Role](t) {
		check(role.Name, role.Rules)
	}
	for _, binding := range all[*rbacv1.ClusterRoleBinding](t) {
		assert.NotEqual(t, "cluster-admin", binding.RoleRef.Name)
	}
}

// A right without a reason can't be reviewed, and is never taken away again.
func TestEveryRuleHasItsReason(t *testing.T) {
	rules := 0
	for _, file := range manifests(t) {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		lines := strings.Split(string(data), "\n")
		for i, line := range lines {
			if strings.HasPrefix(line, "- apiGroups:") {
				rules++
				assert.True(t, strings.HasPrefix(lines[i-1], "# "), "%s:%d: no comment above the rule", file, i+1)
			}
		}
	}
	assert.Greater(t, rules, 10)
}

// As with built-in kinds: view only reads, edit does not write a status, and neither can do more than that.
func TestRightsOfUsers(t *testing.T) {
	verbs := map[string]map[string][]string{}
	for _, object := range objects(t, "base/rbac-users.yaml") {
		role, ok := object.(*rbacv1.ClusterRole)
		require.True(t, ok)
		for _, audience := range []string{"view", "edit", "admin"} {
			if role.Labels["rbac.authorization.k8s.io/aggregate-to-"+audience] != "true" {
				continue
			}
			if verbs[audience] == nil {
				verbs[audience] = map[string][]string{}
			}
			for _, rule := range role.Rules {
				assert.Equal(t, []string{"sparkoperator.k8s.io"}, rule.APIGroups)
				for _, resource := range rule.Resources {
					verbs[audience][resource] = append(verbs[audience][resource], rule.Verbs...)
				}
			}
		}
	}
	read := []string{"get", "list", "watch"}
	write := []string{"create", "update", "patch", "delete", "deletecollection"}
	both := func(verbs, scale []string) map[string][]string {
		return map[string][]string{
			"sparkapplications": verbs, "sparkapplications/status": {"get"}, "sparkapplications/scale": scale, "sparkapplications/log": {"get"},
			"scheduledsparkapplications": verbs, "scheduledsparkapplications/status": {"get"},
		}
	}
	view, edit := both(read, []string{"get"}), both(slices.Concat(read, write), []string{"get", "update", "patch"})
	edit["sparkapplications/proxy"] = []string{"get", "create"}
	assert.Equal(t, map[string]map[string][]string{
		"view": view, "edit": edit, "admin": edit,
	}, verbs)
}

func TestCertificatesAreVerified(t *testing.T) {
	for _, service := range all[*apiregistrationv1.APIService](t) {
		assert.False(t, service.Spec.InsecureSkipTLSVerify, service.Name)
	}
	require.NoError(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		data, err := os.ReadFile(path)
		assert.NotContains(t, string(data), "insecureSkipTLSVerify", path)
		return err
	}))
}

// The names that have to agree over several files: nothing else would tell before the server is up.
func TestNamesAgree(t *testing.T) {
	deployment := objects(t, "base/deployment.yaml")[0].(*appsv1.Deployment)
	service := objects(t, "base/service.yaml")[0].(*corev1.Service)
	apiService := objects(t, "base/apiservice.yaml")[0].(*apiregistrationv1.APIService)
	account := objects(t, "base/serviceaccount.yaml")[0].(*corev1.ServiceAccount)

	assert.Equal(t, service.Name, apiService.Spec.Service.Name)
	assert.Equal(t, service.Namespace, apiService.Spec.Service.Namespace)
	assert.Equal(t, service.Spec.Ports[0].Port, *apiService.Spec.Service.Port)
	assert.Equal(t, account.Name, deployment.Spec.Template.Spec.ServiceAccountName)
	for key, value := range service.Spec.Selector {
		assert.Equal(t, value, deployment.Spec.Template.Labels[key])
	}
	container := deployment.Spec.Template.Spec.Containers[0]
	assert.Equal(t, service.Spec.Ports[0].TargetPort.StrVal, container.Ports[0].Name)
	assert.Contains(t, container.Args, "--secure-port=8443")
	assert.Equal(t, int32(8443), container.Ports[0].ContainerPort)
	for _, binding := range all[*rbacv1.ClusterRoleBinding](t) {
		for _, subject := range binding.Subjects {
			assert.Equal(t, account.Name, subject.Name)
			assert.Equal(t, account.Namespace, subject.Namespace)
		}
	}

	script, err := os.ReadFile("../hack/serving-cert.sh")
	require.NoError(t, err)
	certificates, err := os.ReadFile("overlays/cert-manager/certificates.yaml")
	require.NoError(t, err)
	serverName := service.Name + "." + service.Namespace + ".svc"
	assert.Contains(t, string(script), "name="+serverName)
	assert.Contains(t, string(certificates), "  - "+serverName)

	patch, err := os.ReadFile("overlays/external-etcd/deployment-patch.yaml")
	require.NoError(t, err)
	type operation struct {
		Op, Path string
		Value    any
	}
	var operations []operation
	require.NoError(t, yaml.Unmarshal(patch, &operations))
	operations = slices.DeleteFunc(operations, func(o operation) bool { return !strings.Contains(o.Path, "/args/") })
	require.Equal(t, "test", operations[0].Op)
	assert.Equal(t, "/spec/template/spec/containers/0/args/3", operations[0].Path)
	assert.Equal(t, container.Args[3], operations[0].Value, "the patch finds its argument by position")
}

// The embedded store belongs to one process: never two pods at once.
func TestOneServerAtATime(t *testing.T) {
	for _, deployment := range all[*appsv1.Deployment](t) {
		assert.Equal(t, int32(1), *deployment.Spec.Replicas)
		assert.Equal(t, appsv1.RecreateDeploymentStrategyType, deployment.Spec.Strategy.Type)
		pod := deployment.Spec.Template.Spec
		assert.True(t, *pod.SecurityContext.RunAsNonRoot)
		for _, container := range pod.Containers {
			assert.True(t, *container.SecurityContext.ReadOnlyRootFilesystem)
			assert.False(t, *container.SecurityContext.AllowPrivilegeEscalation)
		}
	}
}

// With a store of their own outside, replicas don't end together: not by an upgrade, not by a drain, not with a node.
func TestReplicasDontEndTogether(t *testing.T) {
	patch, err := os.ReadFile("overlays/external-etcd/deployment-patch.yaml")
	require.NoError(t, err)
	var operations []struct {
		Path  string
		Value any
	}
	require.NoError(t, yaml.Unmarshal(patch, &operations))
	values := map[string]any{}
	for _, operation := range operations {
		values[operation.Path] = operation.Value
	}
	assert.InDelta(t, 2, values["/spec/replicas"], 0)
	strategy, ok := values["/spec/strategy"].(map[string]any)
	require.True(t, ok)
	assert.Equal(t, "RollingUpdate", strategy["type"])
	assert.InDelta(t, 0, strategy["rollingUpdate"].(map[string]any)["maxUnavailable"], 0)
	deployment := objects(t, "base/deployment.yaml")[0].(*appsv1.Deployment)
	budget := objects(t, "overlays/external-etcd/poddisruptionbudget.yaml")[0].(*policyv1.PodDisruptionBudget)
	assert.Equal(t, deployment.Namespace, budget.Namespace)
	assert.Equal(t, deployment.Spec.Selector, budget.Spec.Selector)
	assert.Equal(t, int32(1), budget.Spec.MaxUnavailable.IntVal)
	affinity, err := yaml.Marshal(values["/spec/template/spec/affinity"])
	require.NoError(t, err)
	assert.Contains(t, string(affinity), "podAntiAffinity")
	for key, value := range deployment.Spec.Template.Labels {
		assert.Contains(t, string(affinity), key+": "+value)
	}
}
