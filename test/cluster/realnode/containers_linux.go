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
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ctr runs containerd's client in the namespace of Kubernetes.
func (n *Node) ctr(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "ctr", append([]string{"--address", containerdSocket, "--namespace", "k8s.io"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("ctr %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

func (n *Node) importImage(ctx context.Context, archive string) error {
	began := time.Now()
	if _, err := n.ctr(ctx, "images", "import", "--snapshotter", n.Snapshotter, archive); err != nil {
		return err
	}
	fmt.Fprintf(n.progress, "test cluster: imported image %s in %s\n", strings.TrimSuffix(filepath.Base(archive), ".tar"), time.Since(began).Round(100*time.Millisecond))
	return nil
}

// Running lists the ids of the containers of a namespace's pods that run on the node, those that keep the pods' namespaces
// included, as containerd has them.
func (n *Node) Running(ctx context.Context, namespace string) ([]string, error) {
	running, err := n.ctr(ctx, "tasks", "list", "--quiet")
	if err != nil {
		return nil, err
	}
	// kubelet names in labels the pod that a container belongs to.
	known, err := n.ctr(ctx, "containers", "list", "--quiet", fmt.Sprintf("labels.%q==%s", "io.kubernetes.pod.namespace", namespace))
	if err != nil {
		return nil, err
	}
	all := strings.Fields(running)
	return slices.DeleteFunc(strings.Fields(known), func(id string) bool { return !slices.Contains(all, id) }), nil
}

func (n *Node) registerDNS(ctx context.Context) error {
	if _, _, err := n.Kubectl(ctx, dnsManifest, "apply", "--server-side", "-f", "-"); err != nil {
		return fmt.Errorf("registering the cluster's DNS: %w", err)
	}
	return nil
}
