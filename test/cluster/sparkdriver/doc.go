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

// Package sparkdriver plays, on simulated nodes, what a kubelet and a Spark driver do, so that applications can be run
// from submission to their end without containers. It is a simulation for tests and for the quickstart, and says so
// wherever it leaves a trace.
//
// The simulated kubelet starts pods labelled spark-role=driver or executor that are bound to nodes annotated
// kwok.x-k8s.io/node=fake. As a real one it doesn't start a pod that mounts a ConfigMap, Secret or claim which isn't
// there, or whose environment refers to one.
//
// The simulated driver begins when a driver pod runs. It reads its properties and its executor template through the
// pod's own volumes, and works with a token of the pod's own service account, bound to the pod: what that account may
// not do fails here as it would in Spark. It builds executor pods by the rules of ExecutorPodsAllocator and of the
// executor feature steps of Spark 3.5 to 4.3 (allocator "direct"), replaces those that end, waits for
// spark.scheduler.minRegisteredResourcesRatio of them, computes nothing for a while, and ends with the clean-up of
// KubernetesClusterSchedulerBackend.
//
// What the application does is chosen by annotations of the driver pod (see OutcomeAnnotation and its neighbours), by
// the application's name, or by a main class or file whose name contains "non-existent".
//
// Not simulated: networking, logs, dynamic allocation beyond its initial target, the statefulset and deployment
// allocators, decommissioning, resource profiles other than the default one.
package sparkdriver
