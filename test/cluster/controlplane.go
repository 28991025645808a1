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
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
)

// serviceCIDR has room for the Services of a benchmark.
const serviceCIDR = "10.96.0.0/16"

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// EtcdURL is where the control plane's etcd serves clients, in clear text on the loopback interface.
func (c *Cluster) EtcdURL() string { return "http://" + local(c.ports.Etcd) }

func (c *Cluster) etcdProcess() *Process {
	peer := "http://" + local(c.ports.EtcdPeer)
	return c.newProcess(Etcd, healthy(http.DefaultTransport, c.EtcdURL()+"/health"),
		"--name=default",
		"--data-dir="+filepath.Join(c.Dir, "etcd"),
		"--listen-client-urls="+c.EtcdURL(), "--advertise-client-urls="+c.EtcdURL(),
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer,
		"--quota-backend-bytes=8589934592",
		// A power cut may lose this store, and nobody minds.
		"--unsafe-no-fsync",
		"--log-level=warn",
	)
}

func (c *Cluster) apiServerProcess() (*Process, error) {
	serving, err := c.ca.serving(c.pkiDir(), "kube-apiserver",
		"127.0.0.1", "localhost", "10.96.0.1", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
	if err != nil {
		return nil, err
	}
	frontProxy, err := c.frontCA.client(c.pkiDir(), "front-proxy-client", "front-proxy-client")
	if err != nil {
		return nil, err
	}
	signingKey, verifyKey, err := newServiceAccountKey(c.pkiDir())
	if err != nil {
		return nil, err
	}
	policy := c.configPath("audit-policy.yaml")
	if err := writeFiles(map[string][]byte{policy: auditPolicy}); err != nil {
		return nil, err
	}
	args := []string{
		"--etcd-servers=" + c.EtcdURL(),
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port=" + strconv.Itoa(c.ports.KubeAPIServer),
		// The endpoint of Service default/kubernetes would be a loopback address, which isn't allowed in one.
		"--endpoint-reconciler-type=none",
		"--tls-cert-file=" + serving.CertFile, "--tls-private-key-file=" + serving.KeyFile,
		"--client-ca-file=" + c.ca.CertFile,
		"--authorization-mode=Node,RBAC",
		"--allow-privileged=true",
		"--service-cluster-ip-range=" + serviceCIDR,
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-signing-key-file=" + signingKey, "--service-account-key-file=" + verifyKey,
		"--requestheader-client-ca-file=" + c.frontCA.CertFile,
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-uid-headers=X-Remote-Uid",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + frontProxy.CertFile, "--proxy-client-key-file=" + frontProxy.KeyFile,
		"--audit-policy-file=" + policy, "--audit-log-path=" + c.auditLogPath(),
		"--audit-log-maxsize=1000", "--audit-log-maxbackup=1",
	}
	if gates := c.options.featureGates(KubeAPIServer); gates != "" {
		args = append(args, "--feature-gates="+gates)
	}
	if config := c.options.runtimeConfig(); config != "" {
		args = append(args, "--runtime-config="+config)
	}
	ready := healthy(c.trustingCA(), "https://"+local(c.ports.KubeAPIServer)+"/readyz")
	return c.newProcess(KubeAPIServer, ready, args...), nil
}

func (c *Cluster) controllerManagerProcess() (*Process, error) {
	kubeconfig, err := c.issueKubeconfig(string(KubeControllerManager), "system:kube-controller-manager")
	if err != nil {
		return nil, err
	}
	serving, err := c.ca.serving(c.pkiDir(), "kube-controller-manager-serving", "127.0.0.1", "localhost")
	if err != nil {
		return nil, err
	}
	args := []string{
		"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1", "--secure-port=" + strconv.Itoa(c.ports.KubeControllerManager),
		"--tls-cert-file=" + serving.CertFile, "--tls-private-key-file=" + serving.KeyFile,
		"--use-service-account-credentials",
		"--service-account-private-key-file=" + filepath.Join(c.pkiDir(), "service-account.key"),
		"--root-ca-file=" + c.ca.CertFile,
		// One replica: an election would only make restarts slow.
		"--leader-elect=false",
		// The defaults (20 and 30 requests a second) would make the garbage collector the slowest part of a test.
		"--kube-api-qps=400", "--kube-api-burst=800",
	}
	if gates := c.options.featureGates(KubeControllerManager); gates != "" {
		args = append(args, "--feature-gates="+gates)
	}
	ready := healthy(c.trustingCA(), "https://"+local(c.ports.KubeControllerManager)+"/healthz")
	return c.newProcess(KubeControllerManager, ready, args...), nil
}

func (c *Cluster) schedulerProcess() (*Process, error) {
	kubeconfig, err := c.issueKubeconfig(string(KubeScheduler), "system:kube-scheduler")
	if err != nil {
		return nil, err
	}
	serving, err := c.ca.serving(c.pkiDir(), "kube-scheduler-serving", "127.0.0.1", "localhost")
	if err != nil {
		return nil, err
	}
	config := c.configPath("kube-scheduler.yaml")
	if err := writeFiles(map[string][]byte{config: fmt.Appendf(nil, `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: false
clientConnection:
  kubeconfig: %s
  qps: 400
  burst: 800
%s`, kubeconfig, c.options.schedulerProfiles())}); err != nil {
		return nil, err
	}
	args := []string{
		"--config=" + config,
		"--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1", "--secure-port=" + strconv.Itoa(c.ports.KubeScheduler),
		"--tls-cert-file=" + serving.CertFile, "--tls-private-key-file=" + serving.KeyFile,
	}
	if gates := c.options.featureGates(KubeScheduler); gates != "" {
		args = append(args, "--feature-gates="+gates)
	}
	ready := healthy(c.trustingCA(), "https://"+local(c.ports.KubeScheduler)+"/readyz")
	return c.newProcess(KubeScheduler, ready, args...), nil
}

// trustingCA returns a transport that trusts what the cluster's authority signed, and presents nothing itself: health
// endpoints are open to everybody.
func (c *Cluster) trustingCA() http.RoundTripper { return trusting(c.ca) }

func trusting(a *Authority) http.RoundTripper {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(a.CertPEM)
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}
}

// healthy returns a check that is content when url answers 200.
func healthy(transport http.RoundTripper, url string) func(context.Context) error {
	client := &http.Client{Transport: transport}
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			body, _ := io.ReadAll(io.LimitReader(response.Body, 2048))
			return fmt.Errorf("%s answers %s: %s", url, response.Status, strings.TrimSpace(string(body)))
		}
		return nil
	}
}
