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

// Package bench measures what DESIGN's budgets speak of, on the real control plane of package cluster, and beside peers in
// the same run: the same kind as a CustomResourceDefinition, ConfigMaps of the same size, and the real spark-submit.
//
// Absolute figures say as much about a machine as about a program, so that every figure stands beside its peer's and the
// report is about ratios. Each round measures every peer once, in an order that moves on from round to round; a figure is the
// median of the rounds, with the smallest and the largest beside it.
//
// Nodes, kubelets and Spark drivers are simulated. Everything that answers a request is real.
package bench
