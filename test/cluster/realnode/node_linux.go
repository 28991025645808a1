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

package realnode

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/spark-apiserver/spark-apiserver/test/cluster"
)

// containerd is a program of Debian's, named here for its log.
const containerd cluster.Program = "containerd"

// Node is a control plane with one real node.
type Node struct {
	*cluster.Cluster
	// Snapshotter is how containerd keeps images: overlayfs or native.
	Snapshotter string

	progress                                io.Writer
	containerd, kubelet, kubeProxy, coreDNS *cluster.Process
}

// start starts everything within namespaces that are furnished, and waits until pods can run.
func start(ctx context.Context, dir string, progress io.Writer) (_ *Node, err error) {
	binaries, coreDNS, err := cluster.EnsureNodeBinaries(ctx, progress)
	if err != nil {
		return nil, err
	}
	data := clusterDir(dir)
	adminCert, adminKey := cluster.AdminKeyPair(data)
	c, err := cluster.Start(ctx, cluster.Options{
		DataDir: data, WithoutKwok: true, WithoutSimulatedDriver: true, Progress: progress, StartTimeout: 5 * time.Minute,
		ExtraArgs: map[cluster.Program][]string{cluster.KubeAPIServer: {
			// An address that pods reach, and that is allowed in the endpoints of Service default/kubernetes.
			"--bind-address=0.0.0.0", "--advertise-address=" + nodeAddress, "--endpoint-reconciler-type=lease",
			"--kubelet-client-certificate=" + adminCert, "--kubelet-client-key=" + adminKey,
			"--kubelet-certificate-authority=" + cluster.ClusterCAFile(data),
			"--kubelet-preferred-address-types=InternalIP",
		}},
	})
	if err != nil {
		return nil, err
	}
	n := &Node{Cluster: c, progress: progress}
	defer func() {
		if err != nil {
			n.Stop()
		}
	}()
	if err := n.describe(dir, binaries, coreDNS); err != nil {
		return nil, err
	}
	began := time.Now()
	fmt.Fprintf(progress, "test cluster: starting node %s (containerd with %s)\n", NodeName, n.Snapshotter)
	if err := n.containerd.Start(ctx); err != nil {
		return nil, err
	}
	archives, err := filepath.Glob(filepath.Join(dir, imagesDir, "*.tar"))
	if err != nil {
		return nil, err
	}
	for _, archive := range archives {
		if err := n.importImage(ctx, archive); err != nil {
			return nil, err
		}
	}
	if err := n.registerDNS(ctx); err != nil {
		return nil, err
	}
	for _, p := range []*cluster.Process{n.coreDNS, n.kubelet} {
		if err := p.Start(ctx); err != nil {
			return nil, err
		}
	}
	if err := n.waitReady(ctx); err != nil {
		return nil, err
	}
	// Not before: kube-proxy asks for the node's address at its start, and ends when that changes later.
	if err := n.kubeProxy.Start(ctx); err != nil {
		return nil, err
	}
	fmt.Fprintf(progress, "test cluster: node %s is ready after %s\n", NodeName, time.Since(began).Round(100*time.Millisecond))
	return n, nil
}

// Progress is where long steps are reported.
func (n *Node) Progress() io.Writer { return n.progress }

// describe writes the programs' configuration.
func (n *Node) describe(dir string, binaries *cluster.Binaries, coreDNS string) error {
	root := filepath.Join(dir, "containerd")
	if err := os.MkdirAll(root, 0o700); err != nil {
		return err
	}
	n.Snapshotter = snapshotter(root)
	kubeconfigs := map[string]string{}
	for user, groups := range map[string][]string{"system:node:" + NodeName: {"system:nodes"}, "system:kube-proxy": nil, dnsUser: nil} {
		path, err := n.KubeconfigFor(user, groups...)
		if err != nil {
			return err
		}
		kubeconfigs[user] = path
	}
	serving, err := n.ServingCertificate("kubelet", nodeAddress, NodeName)
	if err != nil {
		return err
	}
	config := filepath.Join(dir, "config")
	files := map[string]string{
		"containerd.toml":      containerdConfig(root, n.Snapshotter, filepath.Join(config, "cni")),
		"cni/10-pods.conflist": cniConfig,
		"resolv.conf":          "nameserver " + nodeAddress + "\n",
		"kubelet.yaml":         kubeletConfig(n.CAFile(), serving, filepath.Join(config, "resolv.conf")),
		"kube-proxy.yaml":      kubeProxyConfig(kubeconfigs["system:kube-proxy"]),
		"Corefile":             coreDNSConfig(kubeconfigs[dnsUser]),
	}
	for name, content := range files {
		path := filepath.Join(config, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return err
		}
	}
	containerdPath, err := exec.LookPath("containerd")
	if err != nil {
		return err
	}
	n.containerd = n.NewCompanion(cluster.Companion{
		Program: containerd, Path: containerdPath, Args: []string{"--config=" + filepath.Join(config, "containerd.toml")},
		Ready: func(ctx context.Context) error {
			_, err := n.ctr(ctx, "version")
			return err
		},
	})
	n.kubelet = n.NewCompanion(cluster.Companion{
		Program: cluster.Kubelet, Path: binaries.Path(cluster.Kubelet),
		Args: []string{
			"--config=" + filepath.Join(config, "kubelet.yaml"), "--kubeconfig=" + kubeconfigs["system:node:"+NodeName],
			"--root-dir=" + filepath.Join(dir, "kubelet"), "--hostname-override=" + NodeName, "--node-ip=" + nodeAddress,
		},
		Ready: answers("http://127.0.0.1:10248/healthz"),
	})
	n.kubeProxy = n.NewCompanion(cluster.Companion{
		Program: cluster.KubeProxy, Path: binaries.Path(cluster.KubeProxy),
		Args:  []string{"--config=" + filepath.Join(config, "kube-proxy.yaml")},
		Ready: answers("http://127.0.0.1:10256/livez"),
	})
	n.coreDNS = n.NewCompanion(cluster.Companion{
		Program: cluster.CoreDNS, Path: coreDNS, Args: []string{"-conf", filepath.Join(config, "Corefile")},
		Ready: answers("http://" + net.JoinHostPort(nodeAddress, "8181") + "/ready"),
	})
	return nil
}

// answers returns a check that is content when url answers 200.
func answers(url string) func(context.Context) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}}
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", url, response.Status)
		}
		return nil
	}
}

func (n *Node) waitReady(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(n.AdminConfig())
	if err != nil {
		return err
	}
	last := errors.New("it has not registered")
	err = wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, 3*time.Minute, true, func(ctx context.Context) (bool, error) {
		node, err := client.CoreV1().Nodes().Get(ctx, NodeName, metav1.GetOptions{})
		if err != nil {
			last = err
			return false, nil
		}
		if len(node.Spec.Taints) > 0 {
			last = fmt.Errorf("it has taints: %v", node.Spec.Taints)
			return false, nil
		}
		return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
			if c.Type != corev1.NodeReady {
				return false
			}
			last = fmt.Errorf("%s: %s", c.Reason, c.Message)
			return c.Status == corev1.ConditionTrue
		}), nil
	})
	if err != nil {
		return fmt.Errorf("waiting for node %s: %w (%w)\nlast lines of kubelet:\n%s", NodeName, err, last, n.kubelet.LogTail(30))
	}
	return nil
}

// Stop ends the node's programs and the control plane. Containers end with the namespaces.
func (n *Node) Stop() {
	// Nothing of it is read again, so nothing has to be brought to a clean end.
	for _, p := range append([]*cluster.Process{n.kubelet, n.kubeProxy, n.coreDNS, n.containerd}, n.Processes()...) {
		if p != nil {
			p.Kill()
		}
	}
	n.Cluster.Stop()
}
