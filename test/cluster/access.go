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

package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// adminUser is a member of system:masters.
const adminUser = "kubernetes-admin"

// AdminConfig returns a configuration that may do everything, with no limit on the rate of requests.
func (c *Cluster) AdminConfig() *rest.Config { return rest.CopyConfig(c.admin) }

// Kubeconfig returns the path of the administrator's kubeconfig.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.Dir, "admin.kubeconfig") }

// ServerURL is kube-apiserver's address.
func (c *Cluster) ServerURL() string { return "https://" + local(c.ports.KubeAPIServer) }

// CA is the certificate of the authority that signed kube-apiserver's certificate, PEM encoded.
func (c *Cluster) CA() []byte { return c.ca.CertPEM }

// ConfigFor returns a configuration that authenticates as a user, a member of the given groups, by a client certificate.
func (c *Cluster) ConfigFor(user string, groups ...string) (*rest.Config, error) {
	path, err := c.KubeconfigFor(user, groups...)
	if err != nil {
		return nil, err
	}
	return loadConfig(path)
}

// KubeconfigFor writes a kubeconfig like the configuration of ConfigFor and returns its path.
func (c *Cluster) KubeconfigFor(user string, groups ...string) (string, error) {
	c.mu.Lock()
	c.issuedByName[user]++
	name := fmt.Sprintf("user-%s-%d", fileName(user), c.issuedByName[user])
	c.mu.Unlock()
	return c.issueKubeconfig(name, user, groups...)
}

// ServiceAccountToken returns a token of a service account that must exist.
func (c *Cluster) ServiceAccountToken(ctx context.Context, namespace, name string, life time.Duration) (string, error) {
	client, err := kubernetes.NewForConfig(c.AdminConfig())
	if err != nil {
		return "", err
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(life.Seconds()))}}
	request, err = client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("requesting a token of service account %s/%s: %w", namespace, name, err)
	}
	return request.Status.Token, nil
}

// ServiceAccountConfig returns a configuration that authenticates as a service account.
func (c *Cluster) ServiceAccountConfig(ctx context.Context, namespace, name string) (*rest.Config, error) {
	token, err := c.ServiceAccountToken(ctx, namespace, name, 24*time.Hour)
	if err != nil {
		return nil, err
	}
	config := rest.AnonymousClientConfig(c.admin)
	config.BearerToken = token
	config.QPS = -1
	return config, nil
}

// KubectlPath returns the kubectl that was built with the control plane.
func (c *Cluster) KubectlPath() string { return c.Binaries.Path(Kubectl) }

// Kubectl runs kubectl as the administrator. The error of a non-zero exit holds what kubectl wrote to standard error.
func (c *Cluster) Kubectl(ctx context.Context, stdin string, args ...string) (stdout, stderr string, err error) {
	return c.KubectlAs(ctx, c.Kubeconfig(), stdin, args...)
}

// KubectlAs runs kubectl with a kubeconfig of, for instance, KubeconfigFor.
func (c *Cluster) KubectlAs(ctx context.Context, kubeconfig, stdin string, args ...string) (stdout, stderr string, err error) {
	cmd := exec.CommandContext(ctx, c.KubectlPath(), args...)
	// Discovery caches of other clusters, plugins' folders and the caller's preferences must not reach a test.
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "HOME="+c.Dir, "KUBECACHEDIR="+filepath.Join(c.Dir, "kubectl-cache"), "KUBERC=off")
	cmd.Stdin = bytes.NewBufferString(stdin)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		return out.String(), errOut.String(), fmt.Errorf("kubectl %q: %w: %s", args, err, errOut.String())
	}
	return out.String(), errOut.String(), nil
}

func (c *Cluster) loadAdmin(create bool) error {
	if create {
		pair, err := c.ca.client(c.pkiDir(), "admin", adminUser, "system:masters")
		if err != nil {
			return err
		}
		if err := c.writeKubeconfig(c.Kubeconfig(), adminUser, certificateOf(pair)); err != nil {
			return err
		}
	}
	config, err := loadConfig(c.Kubeconfig())
	if err != nil {
		return err
	}
	c.admin = config
	return nil
}

// issueKubeconfig makes a client certificate and a kubeconfig NAME.kubeconfig that holds it.
func (c *Cluster) issueKubeconfig(name, user string, groups ...string) (string, error) {
	pair, err := c.ca.client(c.pkiDir(), name, user, groups...)
	if err != nil {
		return "", err
	}
	path := c.configPath(name + ".kubeconfig")
	return path, c.writeKubeconfig(path, user, certificateOf(pair))
}

func certificateOf(pair *KeyPair) *clientcmdapi.AuthInfo {
	return &clientcmdapi.AuthInfo{ClientCertificateData: pair.CertPEM, ClientKeyData: pair.KeyPEM}
}

func (c *Cluster) writeKubeconfig(path, user string, auth *clientcmdapi.AuthInfo) error {
	const name = "spark-test-cluster"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: c.ServerURL(), CertificateAuthorityData: c.ca.CertPEM}
	config.AuthInfos[user] = auth
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: user}
	config.CurrentContext = name
	return clientcmd.WriteToFile(*config, path)
}

func loadConfig(path string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
}

// fileName makes a user's name, which may hold anything, fit for a file.
func fileName(s string) string {
	b := []byte(s)
	for i, ch := range b {
		switch {
		case ch >= 'a' && ch <= 'z', ch >= 'A' && ch <= 'Z', ch >= '0' && ch <= '9', ch == '-', ch == '.':
		default:
			b[i] = '_'
		}
	}
	return string(b)
}
