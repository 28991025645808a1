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

// Package spark turns a SparkApplication into what Spark needs to run it in cluster mode on Kubernetes: the driver's
// pod, its headless Service, its configuration and the pod template of its executors, as spark-submit does it, without
// a JVM. Where a rule is Spark's, the class that it comes from is named beside it.
//
// The package is pure: it does no input or output, holds no clients and reads no clock. Resolve finds everything that
// is wrong with an application; Build can't fail after it.
package spark
