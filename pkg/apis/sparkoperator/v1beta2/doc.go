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
// +k8s:conversion-gen=github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator
// +k8s:defaulter-gen=TypeMeta
// +k8s:validation-gen=TypesWithSuffix=ApplicationSpec
// +k8s:validation-gen-scheme-registry=nil
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=io.k8s.sparkoperator.v1beta2
// +k8s:protobuf-gen=package
// +groupName=sparkoperator.k8s.io

// Package v1beta2 holds the types of sparkoperator.k8s.io/v1beta2 as they are served and stored.
package v1beta2
