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
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	sigsyaml "sigs.k8s.io/yaml"
)

// The identity of our server as the manifests in artifacts/base name it.
const (
	serverNamespace      = "spark-system"
	serverName           = "spark-apiserver"
	serverServiceAccount = "spark-apiserver"
)

// ServerIdentity is the user name that our server's requests carry.
const ServerIdentity = "system:serviceaccount:" + serverNamespace + ":" + serverServiceAccount

// ServerOptions say how to run our server beside a cluster. The zero value runs bin/spark-apiserver of the checkout with
// its embedded store.
type ServerOptions struct {
	// Binary is the program. Default: bin/spark-apiserver in the checkout.
	Binary string
	// Name tells several servers of one cluster apart in file names. Default: spark-apiserver.
	Name string
	// DataDir is the embedded store's place. Default: a folder in the cluster's data directory. Start a second server
	// with the DataDir of a stopped one to continue its store.
	DataDir string
	// EtcdServers are the URLs of an external store; the embedded one isn't used then. Cluster.EtcdURL will do.
	EtcdServers []string
	// FeatureGates of our server.
	FeatureGates map[string]bool
	// ExtraFlags are appended to the command line.
	ExtraFlags []string
	// Audited lets the server write down who asks it for what. Cluster.OwnRequests reads it.
	Audited bool
	// Env is added to the environment, as KEY=VALUE.
	Env []string
	// Manifests is the kustomization that holds the server's identity and rights. Default: artifacts/base.
	Manifests string
	// WithoutRegistration leaves out the APIService, for a second replica.
	WithoutRegistration bool
	// NeverReady is for a server that is right not to become ready: its start is over when it lives.
	NeverReady bool
}

// SparkServer is our server as a process on this machine. Its Process can be stopped, killed and started again with the
// same port, identity and store.
type SparkServer struct {
	*Process
	// Port on 127.0.0.1.
	Port int
	// KubeconfigPath is what the server reaches the cluster with.
	KubeconfigPath string
	// DataDir is the embedded store's place.
	DataDir string

	// auditLog is empty if the server isn't audited.
	auditLog string

	ca    *Authority
	lease *portLease
}

// URL is the address of the server itself, not through kube-apiserver.
func (s *SparkServer) URL() string { return "https://" + local(s.Port) }

// CA is the certificate of the authority that signed the server's certificate, PEM encoded.
func (s *SparkServer) CA() []byte { return s.ca.CertPEM }

// StartSparkAPIServer applies the identity and rights in artifacts/base, runs our server as exactly that identity,
// waits until it is ready, and registers it as APIService. The server is stopped with the cluster.
func (c *Cluster) StartSparkAPIServer(ctx context.Context, o ServerOptions) (_ *SparkServer, err error) {
	if o.Binary == "" {
		o.Binary = filepath.Join(c.Binaries.RepoRoot, "bin", serverName)
	}
	if o.Name == "" {
		o.Name = serverName
	}
	if o.DataDir == "" {
		o.DataDir = filepath.Join(c.Dir, o.Name)
	}
	if o.Manifests == "" {
		o.Manifests = filepath.Join(c.Binaries.RepoRoot, "artifacts", "base")
	}
	if _, err := os.Stat(o.Binary); err != nil {
		return nil, fmt.Errorf("our server must be built first (make build): %w", err)
	}
	step := newStep(c.options.Progress, "starting "+o.Name)
	defer func() { step.done(err) }()
	if err := c.applyIdentity(ctx, o.Manifests); err != nil {
		return nil, err
	}
	s, err := c.describeServer(ctx, o)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.servers = append(c.servers, s)
	c.mu.Unlock()
	if err := s.Start(ctx); err != nil {
		return nil, err
	}
	if !o.WithoutRegistration {
		if err := c.RegisterAPIService(ctx, APIServiceRegistration{Port: s.Port, CABundle: s.ca.CertPEM}); err != nil {
			return nil, errors.Join(err, fmt.Errorf("last lines of %s:\n%s", s.LogPath, s.LogTail(20)))
		}
	}
	return s, c.saveState()
}

func (c *Cluster) describeServer(ctx context.Context, o ServerOptions) (*SparkServer, error) {
	// An authority apart from the cluster's: nothing may work only because everybody trusts everybody.
	ca, err := newAuthority(c.pkiDir(), serverName)
	if err != nil {
		return nil, err
	}
	serving, err := ca.serving(c.pkiDir(), o.Name+"-serving", serverName+"."+serverNamespace+".svc", "localhost", "127.0.0.1")
	if err != nil {
		return nil, err
	}
	life := 24 * time.Hour
	if c.options.Detached {
		life = 30 * 24 * time.Hour
	}
	token, err := c.ServiceAccountToken(ctx, serverNamespace, serverServiceAccount, life)
	if err != nil {
		return nil, err
	}
	kubeconfig := c.configPath(o.Name + ".kubeconfig")
	if err := c.writeKubeconfig(kubeconfig, serverServiceAccount, &clientcmdapi.AuthInfo{Token: token}); err != nil {
		return nil, err
	}
	lease, err := leasePort()
	if err != nil {
		return nil, err
	}
	args := []string{
		"--bind-address=127.0.0.1", "--secure-port=" + strconv.Itoa(lease.port),
		"--tls-cert-file=" + serving.CertFile, "--tls-private-key-file=" + serving.KeyFile,
		"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
	}
	if len(o.EtcdServers) > 0 {
		args = append(args, "--etcd-servers="+strings.Join(o.EtcdServers, ","))
	} else {
		args = append(args, "--data-dir="+o.DataDir)
	}
	if len(o.FeatureGates) > 0 {
		args = append(args, "--feature-gates="+joinBools(o.FeatureGates))
	}
	auditLog := ""
	if o.Audited {
		policy := c.configPath(o.Name + "-audit-policy.yaml")
		if err := os.WriteFile(policy, []byte(everyRequest), 0o600); err != nil {
			return nil, err
		}
		auditLog = filepath.Join(c.Dir, "logs", o.Name+"-audit.log")
		args = append(args, "--audit-policy-file="+policy, "--audit-log-path="+auditLog)
	}
	check := "/readyz"
	if o.NeverReady {
		check = "/livez"
	}
	return &SparkServer{
		Process: &Process{
			Name: SparkAPIServer, LogPath: filepath.Join(c.Dir, "logs", o.Name+".log"), path: o.Binary,
			args: slices.Concat(args, o.ExtraFlags), env: slices.Concat([]string{"HOME=" + c.Dir}, o.Env),
			detached: c.options.Detached, timeout: c.options.StartTimeout,
			ready: healthy(trusting(ca), "https://"+local(lease.port)+check),
		},
		Port: lease.port, KubeconfigPath: kubeconfig, DataDir: o.DataDir, auditLog: auditLog, ca: ca, lease: lease,
	}, nil
}

// Stop ends the server for good.
func (s *SparkServer) Stop() {
	s.Process.Stop()
	if s.lease != nil && !s.Running() {
		s.lease.release()
	}
}

// notOnThisMachine are the kinds of artifacts/base that describe how the server runs in a cluster. Here it is a process,
// and its Service and APIService point to this machine.
var notOnThisMachine = []string{
	"APIService", "Service", "Deployment", "StatefulSet", "PersistentVolumeClaim", "PodDisruptionBudget", "NetworkPolicy", "Secret",
}

// applyIdentity applies what a kustomization says about the server's identity and everybody's rights.
func (c *Cluster) applyIdentity(ctx context.Context, kustomization string) error {
	rendered, _, err := c.Kubectl(ctx, "", "kustomize", kustomization)
	if err != nil {
		return fmt.Errorf("rendering the server's manifests: %w", err)
	}
	documents, err := withoutKinds(rendered, notOnThisMachine)
	if err != nil {
		return err
	}
	if _, _, err := c.Kubectl(ctx, documents, "apply", "--server-side", "--field-manager=spark-test-cluster", "-f", "-"); err != nil {
		return fmt.Errorf("applying the server's identity and rights: %w", err)
	}
	return nil
}

// withoutKinds leaves objects of some kinds out of a stream of YAML documents.
func withoutKinds(stream string, kinds []string) (string, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(stream), 4096)
	var kept strings.Builder
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return kept.String(), nil
		}
		if err != nil {
			return "", fmt.Errorf("reading manifests: %w", err)
		}
		if len(object.Object) == 0 || slices.Contains(kinds, object.GetKind()) {
			continue
		}
		document, err := sigsyaml.Marshal(object.Object)
		if err != nil {
			return "", err
		}
		kept.WriteString("---\n")
		kept.Write(document)
	}
}
