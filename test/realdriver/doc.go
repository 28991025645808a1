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

// Package realdriver has no code; its tests let the driver process of Spark itself, as PyPI has it, make executors from
// what the server made for it. There is a control plane and no node: the test plays the kubelet of the driver's pod and
// runs the driver as a process on this machine, which is where the executors' pods come from. They are never run.
package realdriver
