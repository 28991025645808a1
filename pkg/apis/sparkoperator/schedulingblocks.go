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
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
)

// The building blocks of KEP-6089, of which a workload-aware API composes its own scheduling block. They are plain Go
// types and need no served v1alpha3 API. Kubernetes 1.38 moves them to scheduling/v1, so no other file of ours names
// the package they come from.
type (
	// SchedulingPolicy is basic or gang.
	SchedulingPolicy = schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy
	// BasicSchedulingPolicy places pods one by one.
	BasicSchedulingPolicy = schedulingv1alpha3.WorkloadPodGroupBasicSchedulingPolicy
	// GangSchedulingPolicy places pods all together or not at all.
	GangSchedulingPolicy = schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy
	// SchedulingConstraints keeps a group together in one domain of the topology.
	SchedulingConstraints = schedulingv1alpha3.WorkloadPodGroupSchedulingConstraints
	// TopologyConstraint names the label of nodes whose values are the domains.
	TopologyConstraint = schedulingv1alpha3.TopologyConstraint
	// DisruptionMode says whether a group is disrupted pod by pod or as a whole.
	DisruptionMode = schedulingv1alpha3.WorkloadPodGroupDisruptionMode
	// AllDisruptionMode disrupts a group as a whole.
	AllDisruptionMode = schedulingv1alpha3.WorkloadPodGroupAllDisruptionMode
	// ResourceClaim is a claim that the pods of a group share.
	ResourceClaim = schedulingv1alpha3.WorkloadPodGroupResourceClaim
)
