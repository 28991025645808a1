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

// Package scheduling turns the scheduling block of a SparkApplication into the objects of scheduling.k8s.io that place
// its executors, and says what of the block can't be honoured. It is pure: it does no I/O, holds no clients and reads no
// clock, so that the registry, the controller and kubectl-spark get the same answers.
//
// An application has one Workload and, for each attempt, one PodGroup. The driver never joins it: the driver creates
// the executors, so a gang that waited for the driver's own members would wait for ever.
package scheduling
