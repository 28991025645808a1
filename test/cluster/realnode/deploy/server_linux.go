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

package deploy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spark-apiserver/spark-apiserver/test/cluster/realnode"
)

const apiService = "v1beta2.sparkoperator.k8s.io"

// Server installs our server as docs/operations.md says: a certificate by hack/serving-cert.sh, and "kubectl apply -k" of
// artifacts/overlays/self-signed with workload-aware scheduling. It waits until the API is served. The claim for the store
// is met by a local volume of the node.
func Server(ctx context.Context, n *realnode.Node) error {
	began := time.Now()
	fmt.Fprintln(n.Progress(), "test cluster: installing spark-apiserver from artifacts/")
	root := filepath.Join(n.Dir, "install")
	// A copy: certificates are written beside the manifests.
	for _, name := range []string{"artifacts", "hack/serving-cert.sh"} {
		target := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		if err := run(ctx, n.Binaries.RepoRoot, nil, nil, "cp", "-r", name, target); err != nil {
			return err
		}
	}
	if err := run(ctx, root, nil, nil, filepath.Join(root, "hack", "serving-cert.sh")); err != nil {
		return err
	}
	volume := filepath.Join(n.Dir, "volumes", "spark-apiserver")
	if err := os.MkdirAll(volume, 0o700); err != nil {
		return err
	}
	if _, _, err := n.Kubectl(ctx, fmt.Sprintf(storage, volume, realnode.NodeName), "apply", "-f", "-"); err != nil {
		return err
	}
	const kustomization = `resources: [../artifacts/overlays/self-signed]
components: [../artifacts/components/workload-aware-scheduling]
images:
- {name: spark-apiserver, newName: localhost/spark-apiserver, newTag: test}
`
	if err := os.MkdirAll(filepath.Join(root, "app"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, "app", "kustomization.yaml"), []byte(kustomization), 0o600); err != nil {
		return err
	}
	if _, _, err := n.Kubectl(ctx, "", "apply", "-k", filepath.Join(root, "app")); err != nil {
		return err
	}
	if _, _, err := n.Kubectl(ctx, "", "-n", "spark-system", "rollout", "status", "deployment/spark-apiserver", "--timeout=300s"); err != nil {
		pods, _, _ := n.Kubectl(ctx, "", "-n", "spark-system", "describe", "pods,persistentvolumeclaims")
		return fmt.Errorf("%w\n%s", err, pods)
	}
	if err := n.WaitAPIServiceAvailable(ctx, apiService); err != nil {
		return err
	}
	fmt.Fprintf(n.Progress(), "test cluster: spark-apiserver serves, from a pod, after %s\n", time.Since(began).Round(100*time.Millisecond))
	return nil
}

// DriverAccount gives a namespace, which it creates if need be, the service account "spark" with the rights in
// artifacts/spark-driver.
func DriverAccount(ctx context.Context, n *realnode.Node, namespace string) error {
	folder, err := os.MkdirTemp(filepath.Join(n.Dir, "install"), "driver-")
	if err != nil {
		return err
	}
	content := fmt.Sprintf("namespace: %s\nresources: [../artifacts/spark-driver]\n", namespace)
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(content), 0o600); err != nil {
		return err
	}
	_, _, err = n.Kubectl(ctx, "", "apply", "-k", folder)
	return err
}

// storage is a local volume of the node, for the first claim that asks for none of a class.
const storage = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: local
  annotations: {storageclass.kubernetes.io/is-default-class: "true"}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: spark-apiserver}
spec:
  capacity: {storage: 20Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: local
  local: {path: %q}
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [%q]}]
`
