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

// +k8s:deepcopy-gen=package
// +groupName=sparkoperator.k8s.io

// Package sparkoperator holds the hub types of the group sparkoperator.k8s.io: what the server works on, whatever version
// a client speaks. They are field for field equal to v1beta2, so that conversion is a change of type and costs nothing;
// a test keeps them so.
package sparkoperator
