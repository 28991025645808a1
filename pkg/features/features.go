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

// Package features names the feature gates of spark-apiserver.
package features

import (
	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-base/featuregate"
)

const (
	// SparkApplicationWorkloadAwareScheduling lets a SparkApplication ask, in spec.scheduling, for the workload-aware
	// scheduling of Kubernetes: a Workload and a PodGroup that its executors join (KEP-2962).
	//
	// alpha: 0.1
	SparkApplicationWorkloadAwareScheduling featuregate.Feature = "SparkApplicationWorkloadAwareScheduling"
)

// firstVersion is the version of spark-apiserver in which the oldest gate appeared. A gate of ours is versioned by our
// releases and not by those of Kubernetes.
const firstVersion = "0.1"

// gates says at which version each gate came, whether it is on by default, and how stable it is.
var gates = map[featuregate.Feature]featuregate.VersionedSpecs{
	SparkApplicationWorkloadAwareScheduling: {
		{Version: version.MustParse(firstVersion), Default: false, PreRelease: featuregate.Alpha},
	},
}

// AddTo registers our gates with a gate that others may have registered theirs with. Its emulation version must be one
// of ours. Adding twice is no error, adding something else under the same name is.
func AddTo(gate featuregate.MutableVersionedFeatureGate) error {
	return gate.AddVersioned(gates)
}

// NewFeatureGate returns a gate that knows our features alone, each with its default.
func NewFeatureGate() featuregate.MutableVersionedFeatureGate {
	gate := featuregate.NewVersionedFeatureGate(version.MustParse(firstVersion))
	runtime.Must(AddTo(gate))
	return gate
}
