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

package logsandui

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
)

const (
	// patience bounds every wait. A driver takes half a minute on two cores of its own.
	patience = 10 * time.Minute
	glance   = 200 * time.Millisecond
)

// tenant is a namespace.
type tenant struct {
	*cluster.Cluster
	t         *testing.T
	kube      kubernetes.Interface
	spark     versioned.Interface
	kubelet   *kubelet
	namespace string
}

// in is a new namespace of its own for a subtest, with a service account for drivers.
func (n *tenant) in(t *testing.T, namespace string) *tenant {
	t.Helper()
	_, err := n.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = n.kube.CoreV1().ServiceAccounts(namespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "spark"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	const driver = "spark-driver"
	_, err = n.kube.RbacV1().Roles(namespace).Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: driver},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{""}, Resources: []string{"pods", "configmaps", "services", "persistentvolumeclaims"}, Verbs: []string{"*"},
		}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = n.kube.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: driver},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "spark", Namespace: namespace}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: driver},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	return &tenant{Cluster: n.Cluster, t: t, kube: n.kube, spark: n.spark, kubelet: n.kubelet, namespace: namespace}
}

func (n *tenant) until(what string, condition func(*assert.CollectT)) {
	n.t.Helper()
	require.EventuallyWithT(n.t, condition, patience, glance, what)
}

// create creates an application whose driver waits for whatever the test does to its pod.
func (n *tenant) create(name, version string, changes ...func(*v1beta2.SparkApplication)) {
	n.t.Helper()
	app := &v1beta2.SparkApplication{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: n.namespace},
		Spec: v1beta2.SparkApplicationSpec{
			Type: v1beta2.PythonApplicationType, SparkVersion: version, Image: new("spark:" + version),
			MainApplicationFile: new("local:///opt/driver.py"), SparkConf: map[string]string{},
		},
	}
	app.Spec.Driver.ServiceAccount = new("spark")
	// The node is none that a cluster would call healthy.
	app.Spec.Driver.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	for _, change := range changes {
		change(app)
	}
	_, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Create(n.t.Context(), app, metav1.CreateOptions{})
	require.NoError(n.t, err)
}

// rights are what a role allows on subresources of applications.
type rights map[string][]string

// user is somebody with some rights in the namespace and no others.
type user struct {
	n          *tenant
	kubeconfig string
	config     *rest.Config
	client     *http.Client
}

// user makes a user, whose rights are in force when it returns.
func (n *tenant) user(name string, may rights) *user {
	n.t.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for resource, verbs := range may {
		role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{"sparkoperator.k8s.io"}, Resources: []string{resource}, Verbs: verbs})
	}
	_, err := n.kube.RbacV1().Roles(n.namespace).Create(n.t.Context(), role, metav1.CreateOptions{})
	require.NoError(n.t, err)
	full := n.namespace + "-" + name
	_, err = n.kube.RbacV1().RoleBindings(n.namespace).Create(n.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: full}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
	}, metav1.CreateOptions{})
	require.NoError(n.t, err)
	u := &user{n: n}
	u.kubeconfig, err = n.KubeconfigFor(full)
	require.NoError(n.t, err)
	u.config, err = clientcmd.BuildConfigFromFlags("", u.kubeconfig)
	require.NoError(n.t, err)
	u.client, err = rest.HTTPClientFor(u.config)
	require.NoError(n.t, err)
	kube, err := kubernetes.NewForConfig(u.config)
	require.NoError(n.t, err)
	_, err = kube.CoreV1().Pods(n.namespace).List(n.t.Context(), metav1.ListOptions{})
	require.True(n.t, apierrors.IsForbidden(err), "no user of this test has rights on pods: %v", err)
	for resource := range may {
		n.until(full+" may get "+resource, func(c *assert.CollectT) {
			_, subresource, _ := strings.Cut(resource, "/")
			response, err := u.get(n.t.Context(), n.path("none", subresource))
			if assert.NoError(c, err) {
				assert.Equal(c, http.StatusNotFound, response.StatusCode)
				response.Body.Close()
			}
		})
	}
	return u
}

// path is that of a subresource of an application.
func (n *tenant) path(app, subresource string) string {
	return "/apis/sparkoperator.k8s.io/v1beta2/namespaces/" + n.namespace + "/sparkapplications/" + app + "/" + subresource
}

// get asks kube-apiserver, which asks our server.
func (u *user) get(ctx context.Context, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.n.ServerURL()+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	return u.client.Do(request)
}

// status asks, and returns the code of the answer and all of its text.
func (u *user) status(path string) (int, string) {
	u.n.t.Helper()
	response, err := u.get(u.n.t.Context(), path)
	require.NoError(u.n.t, err)
	defer response.Body.Close()
	var text strings.Builder
	_, err = bufio.NewReader(response.Body).WriteTo(&text)
	require.NoError(u.n.t, err)
	return response.StatusCode, text.String()
}

// post sends a form.
func (u *user) post(address, form string) int {
	u.n.t.Helper()
	request, err := http.NewRequestWithContext(u.n.t.Context(), http.MethodPost, address, strings.NewReader(form))
	require.NoError(u.n.t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := u.client.Do(request)
	require.NoError(u.n.t, err)
	defer response.Body.Close()
	return response.StatusCode
}

var anAddress = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// serving starts a program as this user that serves something until the test ends, and returns the address that it prints.
func (u *user) serving(program string, args ...string) string {
	u.n.t.Helper()
	cmd := exec.CommandContext(u.n.t.Context(), program, append(args, "--kubeconfig", u.kubeconfig)...)
	cmd.Env = []string{"HOME=" + u.n.t.TempDir()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	require.NoError(u.n.t, err)
	cmd.Stderr = cmd.Stdout
	require.NoError(u.n.t, cmd.Start())
	u.n.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(u.n.t, err, "%s %q: %s", program, args, line)
	address := anAddress.FindString(line)
	require.NotEmpty(u.n.t, address, line)
	return "http://" + address
}

// plugin is our plugin of kubectl.
func (n *tenant) plugin() string {
	return filepath.Join(n.Binaries.RepoRoot, "bin", "kubectl-spark")
}

// printed runs our plugin as this user and returns what it prints.
func (u *user) printed(args ...string) (string, error) {
	cmd := exec.CommandContext(u.n.t.Context(), u.n.plugin(), append(args, "--kubeconfig", u.kubeconfig, "-n", u.n.namespace)...)
	cmd.Env = []string{"HOME=" + u.n.t.TempDir()}
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // of this very call
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return string(out), err
}

func parse(t *testing.T, address string) *url.URL {
	t.Helper()
	parsed, err := url.Parse(address)
	require.NoError(t, err)
	return parsed
}
