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

// Package cluster starts a real Kubernetes control plane on this machine, for tests and for the quickstart: unmodified
// etcd, kube-apiserver, kube-controller-manager and kube-scheduler, built from their own modules (see the nested module
// in binaries/), as ordinary processes on 127.0.0.1, without root and without a container runtime.
//
// What isn't real is said to be simulated: nodes are kwok's, pods on them have no processes, and Spark drivers are
// played by package sparkdriver. What those do to the API is what kubelets and Spark do to it.
//
// Several clusters may run at the same time, in one process or in many. Nothing but the processes that a cluster has
// started is ever signalled.
//
// Product code must not import this package. Tests use package clustertest, which ties a cluster to a test's life.
package cluster
