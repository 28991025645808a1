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

// Package realnode adds to a test cluster one node on which containers really run: containerd, kubelet, kube-proxy and
// CoreDNS, on Linux and as root.
//
// The whole cluster, its control plane and the test included, lives in mount, network, process, host name and IPC
// namespaces of its own. Run enters them: it runs this very program a second time, as first process of new namespaces,
// which reaps what is orphaned there, and a third time as its child, which does the work. When the first process ends,
// the kernel ends everything else and takes mounts, links and packet filter rules with it. Run lists those of the host
// before and after, and fails if they differ.
//
// What comes from Debian's archive (containerd, runc, network plugins, iptables) is installed when it is missing;
// everything else is built from Go modules. Images come as archives: no registry is asked.
package realnode
