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

	// SparkApplicationGroupPriorityClass lets spec.scheduling.priorityClassName name the priority class of the executors and
	// their PodGroup.
	//
	// alpha: 0.1
	SparkApplicationGroupPriorityClass featuregate.Feature = "SparkApplicationGroupPriorityClass"

	// SparkApplicationDisruptionMode lets spec.scheduling.disruptionMode say that executors are preempted all together.
	//
	// alpha: 0.1
	SparkApplicationDisruptionMode featuregate.Feature = "SparkApplicationDisruptionMode"

	// SparkApplicationTopology lets spec.scheduling.schedulingConstraints keep executors in one domain of the topology. The
	// cluster needs its alpha feature gate TopologyAwareWorkloadScheduling (kube-apiserver, kube-scheduler).
	//
	// alpha: 0.1
	SparkApplicationTopology featuregate.Feature = "SparkApplicationTopology"

	// SparkApplicationSharedResourceClaims lets spec.scheduling.resourceClaims name devices that executors share. The cluster
	// needs its feature gate DRAWorkloadResourceClaims (all components and kubelets).
	//
	// alpha: 0.1
	SparkApplicationSharedResourceClaims featuregate.Feature = "SparkApplicationSharedResourceClaims"

	// SparkApplicationGroupDynamicAllocation lets applications with dynamic allocation have a scheduling policy. A gang is
	// then what they never go below: dynamicAllocation.minExecutors.
	//
	// alpha: 0.1
	SparkApplicationGroupDynamicAllocation featuregate.Feature = "SparkApplicationGroupDynamicAllocation"
)

// firstVersion is the version of spark-apiserver in which the oldest gate appeared. A gate of ours is versioned by our
// releases and not by those of Kubernetes.
const firstVersion = "0.1"

// gates says at which version each gate came, whether it is on by default, and how stable it is.
var gates = map[featuregate.Feature]featuregate.VersionedSpecs{
	SparkApplicationWorkloadAwareScheduling: alpha,
	SparkApplicationGroupPriorityClass:      alpha,
	SparkApplicationDisruptionMode:          alpha,
	SparkApplicationTopology:                alpha,
	SparkApplicationSharedResourceClaims:    alpha,
	SparkApplicationGroupDynamicAllocation:  alpha,
}

var alpha = featuregate.VersionedSpecs{{Version: version.MustParse(firstVersion), Default: false, PreRelease: featuregate.Alpha}}

// needs names the gates without which a gate means nothing.
var needs = map[featuregate.Feature][]featuregate.Feature{
	SparkApplicationGroupPriorityClass:     {SparkApplicationWorkloadAwareScheduling},
	SparkApplicationDisruptionMode:         {SparkApplicationWorkloadAwareScheduling},
	SparkApplicationTopology:               {SparkApplicationWorkloadAwareScheduling},
	SparkApplicationSharedResourceClaims:   {SparkApplicationWorkloadAwareScheduling},
	SparkApplicationGroupDynamicAllocation: {SparkApplicationWorkloadAwareScheduling},
}

// AddTo registers our gates with a gate that others may have registered theirs with. Its emulation version must be one
// of ours. Adding twice is no error, adding something else under the same name is.
func AddTo(gate featuregate.MutableVersionedFeatureGate) error {
	if err := gate.AddVersioned(gates); err != nil {
		return err
	}
	return gate.AddDependencies(needs)
}

// NewFeatureGate returns a gate that knows our features alone, each with its default.
func NewFeatureGate() featuregate.MutableVersionedFeatureGate {
	gate := featuregate.NewVersionedFeatureGate(version.MustParse(firstVersion))
	runtime.Must(AddTo(gate))
	return gate
}
