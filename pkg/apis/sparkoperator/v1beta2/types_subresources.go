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

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:conversion-gen:explicit-from=net/url.Values
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SparkApplicationLogOptions are the query parameters of the subresource log: those of a pod's log, and executor.
type SparkApplicationLogOptions struct {
	metav1.TypeMeta `json:""`

	// executor is the number of the executor of the current attempt whose log is wanted, as in the label spark-exec-id of
	// its pod: 1 or more. Without it, the log is the driver's.
	// +optional
	Executor *int64 `json:"executor,omitempty" protobuf:"varint,1,opt,name=executor"`

	// container is the container of the pod whose log is wanted. Without it, the log is that of the container in which
	// Spark runs.
	// +optional
	Container string `json:"container,omitempty" protobuf:"bytes,2,opt,name=container"`

	// follow keeps the answer open and adds what is logged meanwhile, until the container ends.
	// +optional
	Follow bool `json:"follow,omitempty" protobuf:"varint,3,opt,name=follow"`

	// previous asks for the log of the container as it ran before its last restart.
	// +optional
	Previous bool `json:"previous,omitempty" protobuf:"varint,4,opt,name=previous"`

	// sinceSeconds leaves out what is older than so many seconds: 1 or more. It can't be given together with sinceTime.
	// +optional
	SinceSeconds *int64 `json:"sinceSeconds,omitempty" protobuf:"varint,5,opt,name=sinceSeconds"`

	// sinceTime leaves out what is older than this time, as in RFC 3339. It can't be given together with sinceSeconds.
	// +optional
	SinceTime *metav1.Time `json:"sinceTime,omitempty" protobuf:"bytes,6,opt,name=sinceTime"`

	// timestamps starts every line with the time at which it was logged, as in RFC 3339.
	// +optional
	Timestamps bool `json:"timestamps,omitempty" protobuf:"varint,7,opt,name=timestamps"`

	// tailLines asks for so many lines from the end of the log: 0 or more.
	// +optional
	TailLines *int64 `json:"tailLines,omitempty" protobuf:"varint,8,opt,name=tailLines"`

	// limitBytes ends the answer after so many bytes: 1 or more.
	// +optional
	LimitBytes *int64 `json:"limitBytes,omitempty" protobuf:"varint,9,opt,name=limitBytes"`
}

// SwaggerDoc returns what OpenAPI says of the query parameters.
func (SparkApplicationLogOptions) SwaggerDoc() map[string]string {
	return map[string]string{
		"executor":     "The number of the executor of the current attempt whose log is wanted, as in the label spark-exec-id of its pod: 1 or more. Without it, the log is the driver's.",
		"container":    "The container of the pod whose log is wanted. Without it, the log is that of the container in which Spark runs.",
		"follow":       "Keeps the answer open and adds what is logged meanwhile, until the container ends.",
		"previous":     "Asks for the log of the container as it ran before its last restart.",
		"sinceSeconds": "Leaves out what is older than so many seconds: 1 or more. It can't be given together with sinceTime.",
		"sinceTime":    "Leaves out what is older than this time, as in RFC 3339. It can't be given together with sinceSeconds.",
		"timestamps":   "Starts every line with the time at which it was logged, as in RFC 3339.",
		"tailLines":    "Asks for so many lines from the end of the log: 0 or more.",
		"limitBytes":   "Ends the answer after so many bytes: 1 or more.",
	}
}

// +k8s:conversion-gen:explicit-from=net/url.Values
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SparkApplicationProxyOptions say which page of the Spark UI is wanted from the subresource proxy.
type SparkApplicationProxyOptions struct {
	metav1.TypeMeta `json:""`

	// path is what follows proxy in the path of the request.
	// +optional
	Path string `json:"path,omitempty" protobuf:"bytes,1,opt,name=path"`
}

// SwaggerDoc returns what OpenAPI says of the query parameters.
func (SparkApplicationProxyOptions) SwaggerDoc() map[string]string {
	return map[string]string{
		"path": "The page of the Spark UI that is wanted. It is part of the path of the request, after proxy, and has no effect as a query parameter.",
	}
}
