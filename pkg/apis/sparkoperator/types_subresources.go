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

package sparkoperator

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SparkApplicationLogOptions are the query parameters of the subresource log: those of a pod's log, and executor.
type SparkApplicationLogOptions struct {
	metav1.TypeMeta

	// executor is the number of the executor of the current attempt whose log is wanted, as in the label spark-exec-id of
	// its pod: 1 or more. Without it, the log is the driver's.
	Executor *int64

	// container is the container of the pod whose log is wanted. Without it, the log is that of the container in which
	// Spark runs.
	Container string

	// follow keeps the answer open and adds what is logged meanwhile, until the container ends.
	Follow bool

	// previous asks for the log of the container as it ran before its last restart.
	Previous bool

	// sinceSeconds leaves out what is older than so many seconds: 1 or more. It can't be given together with sinceTime.
	SinceSeconds *int64

	// sinceTime leaves out what is older than this time, as in RFC 3339. It can't be given together with sinceSeconds.
	SinceTime *metav1.Time

	// timestamps starts every line with the time at which it was logged, as in RFC 3339.
	Timestamps bool

	// tailLines asks for so many lines from the end of the log: 0 or more.
	TailLines *int64

	// limitBytes ends the answer after so many bytes: 1 or more.
	LimitBytes *int64
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SparkApplicationProxyOptions say which page of the Spark UI is wanted from the subresource proxy.
type SparkApplicationProxyOptions struct {
	metav1.TypeMeta

	// path is what follows proxy in the path of the request.
	Path string
}
