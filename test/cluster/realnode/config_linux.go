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
	"fmt"
	"path/filepath"

	"github.com/spark-apiserver/spark-apiserver/test/cluster"
)

const (
	containerdSocket = "/run/containerd/containerd.sock"
	// PauseImage is the image of a program that does nothing: it keeps the namespaces of pods.
	PauseImage = "localhost/pause:1"
	dnsUser    = "real-node:dns"
)

func containerdConfig(root, snapshotter, cni string) string {
	return fmt.Sprintf(`version = 2
root = %q
state = "/run/containerd"

[grpc]
  address = %q

# Else it makes a folder /opt/containerd.
[plugins."io.containerd.internal.v1.opt"]
  path = %q

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %q
  # Without the capability CAP_SYS_RESOURCE a score can't be lowered, and runc would end.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = %q
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = %q
    conf_dir = %q
`, root, containerdSocket, filepath.Join(root, "opt"), PauseImage, snapshotter, cniPlugins, cni)
}

// cniConfig gives each pod a link of its own to the node. Unlike on a bridge, traffic between pods passes the packet
// filter and with it Services also where the kernel can't filter bridges.
const cniConfig = `{
  "cniVersion": "0.4.0",
  "name": "pods",
  "plugins": [{
    "type": "ptp",
    "ipam": {
      "type": "host-local",
      "ranges": [[{"subnet": "` + podNetwork + `"}]],
      "routes": [{"dst": "0.0.0.0/0"}],
      "dataDir": "/run/cni"
    }
  }]
}
`

// kubeletConfig leaves out whatever needs the machine for itself: it reserves nothing, arranges no groups by quality of
// service, and removes neither pods nor images because a disk is full that others fill.
func kubeletConfig(caFile string, serving *cluster.KeyPair, resolvConf string) string {
	return fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: %q}
authorization: {mode: Webhook}
tlsCertFile: %q
tlsPrivateKeyFile: %q
containerRuntimeEndpoint: unix://%s
cgroupDriver: cgroupfs
failCgroupV1: false
cgroupsPerQOS: false
enforceNodeAllocatable: []
failSwapOn: false
makeIPTablesUtilChains: false
clusterDNS: [%s]
clusterDomain: cluster.local
resolvConf: %q
evictionHard: {memory.available: 100Mi, nodefs.available: 0%%, nodefs.inodesFree: 0%%, imagefs.available: 0%%, imagefs.inodesFree: 0%%}
imageGCHighThresholdPercent: 100
`, caFile, serving.CertFile, serving.KeyFile, containerdSocket, dnsService, resolvConf)
}

func kubeProxyConfig(kubeconfig string) string {
	return fmt.Sprintf(`apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clientConnection: {kubeconfig: %q}
mode: iptables
clusterCIDR: %s
hostnameOverride: %s
# The size of the kernel's table of connections is the host's.
conntrack: {maxPerCore: 0, min: 0}
`, kubeconfig, podNetwork, NodeName)
}

func coreDNSConfig(kubeconfig string) string {
	return fmt.Sprintf(`. {
  bind %[1]s
  errors
  ready %[1]s:8181
  kubernetes cluster.local in-addr.arpa {
    kubeconfig %[2]s
  }
}
`, nodeAddress, kubeconfig)
}

// dnsManifest is CoreDNS's right to look at what it answers from, and the Service behind which pods find it.
const dnsManifest = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "real-node:dns"}
rules:
- apiGroups: [""]
  resources: [services, namespaces]
  verbs: [list, watch]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [list, watch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: "real-node:dns"}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "real-node:dns"}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: "` + dnsUser + `"}]
---
apiVersion: v1
kind: Service
metadata: {name: kube-dns, namespace: kube-system}
spec:
  clusterIP: ` + dnsService + `
  ports:
  - {name: dns, protocol: UDP, port: 53}
  - {name: dns-tcp, protocol: TCP, port: 53}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: kube-dns-1
  namespace: kube-system
  labels: {kubernetes.io/service-name: kube-dns}
addressType: IPv4
endpoints: [{addresses: ["` + nodeAddress + `"]}]
ports:
- {name: dns, protocol: UDP, port: 53}
- {name: dns-tcp, protocol: TCP, port: 53}
`
