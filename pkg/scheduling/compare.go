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

package scheduling

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
)

// WorkloadDifference compares what the spec of a Workload should be with what a cluster returned: the first field that
// differs with both values, "" where nothing does. The size of the gang is left aside, being the one value that may
// change in place.
func WorkloadDifference(want, got *schedulingv1beta1.Workload) string {
	wantSpec, gotSpec := want.Spec.DeepCopy(), got.Spec.DeepCopy()
	for _, spec := range []*schedulingv1beta1.WorkloadSpec{wantSpec, gotSpec} {
		for i := range spec.PodGroupTemplates {
			withoutSize(&spec.PodGroupTemplates[i].SchedulingPolicy)
		}
	}
	return specDifference(wantSpec, gotSpec)
}

// PodGroupDifference does the same for a PodGroup. What the API server fills in is left aside where nothing was asked
// for: the disruption mode, and the priority, its class and its preemption policy, which come from the cluster's
// default class.
func PodGroupDifference(want, got *schedulingv1beta1.PodGroup) string {
	wantSpec, gotSpec := want.Spec.DeepCopy(), got.Spec.DeepCopy()
	withoutSize(&wantSpec.SchedulingPolicy)
	withoutSize(&gotSpec.SchedulingPolicy)
	if wantSpec.DisruptionMode == nil && gotSpec.DisruptionMode != nil && gotSpec.DisruptionMode.All == nil {
		gotSpec.DisruptionMode = nil
	}
	if wantSpec.PriorityClassName == "" {
		gotSpec.PriorityClassName = ""
	}
	if wantSpec.Priority == nil {
		gotSpec.Priority = nil
	}
	if wantSpec.PreemptionPolicy == nil {
		gotSpec.PreemptionPolicy = nil
	}
	return specDifference(wantSpec, gotSpec)
}

// gatesOfFields are the gates without which kube-apiserver drops a field of a Workload or a PodGroup.
var gatesOfFields = map[string]string{
	".schedulingConstraints": "TopologyAwareWorkloadScheduling",
	".resourceClaims":        "DRAWorkloadResourceClaims",
}

// GateOfDifference names the feature gate of kube-apiserver that is off when what differs was dropped, as the end of a
// sentence; "" if there is none to name.
func GateOfDifference(difference string) string {
	path, rest, _ := strings.Cut(difference, ":")
	for name, gate := range gatesOfFields {
		if strings.Contains(path, name) && strings.HasSuffix(rest, "got nothing") {
			return fmt.Sprintf(": its feature gate %s is off", gate)
		}
	}
	return ""
}

func withoutSize(policy *schedulingv1beta1.PodGroupSchedulingPolicy) {
	if policy.Gang != nil {
		policy.Gang.MinCount = 0
	}
}

// specDifference compares two specs by their JSON, in which null, an empty list and an absent field are the same: what
// was stored comes back with one for the other.
func specDifference(want, got any) string {
	return firstDifference("spec", asJSON(want), asJSON(got))
}

func asJSON(spec any) any {
	var decoded any
	encoded, err := json.Marshal(spec)
	if err == nil {
		err = json.Unmarshal(encoded, &decoded)
	}
	if err != nil {
		// The types of the API always encode; were it otherwise, the values must not pass for equal.
		return fmt.Sprintf("%v of %v", err, spec)
	}
	return decoded
}

// firstDifference walks two decoded JSON values. Keys are visited in their order, so that the answer is always the same.
func firstDifference(path string, want, got any) string {
	if isEmpty(want) && isEmpty(got) {
		return ""
	}
	wantMap, wantIsMap := want.(map[string]any)
	gotMap, gotIsMap := got.(map[string]any)
	if wantIsMap && gotIsMap {
		keys := maps.Clone(wantMap)
		maps.Copy(keys, gotMap)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if diff := firstDifference(path+"."+key, wantMap[key], gotMap[key]); diff != "" {
				return diff
			}
		}
		return ""
	}
	wantList, wantIsList := want.([]any)
	gotList, gotIsList := got.([]any)
	if wantIsList && gotIsList && len(wantList) == len(gotList) {
		for i := range wantList {
			if diff := firstDifference(fmt.Sprintf("%s[%d]", path, i), wantList[i], gotList[i]); diff != "" {
				return diff
			}
		}
		return ""
	}
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return difference(path, want, got)
}

// isEmpty holds for null and for the empty list. An empty object is a value: "basic: {}" says something.
func isEmpty(value any) bool {
	list, ok := value.([]any)
	return value == nil || ok && len(list) == 0
}

func difference(path string, want, got any) string {
	return fmt.Sprintf("%s: wanted %s, got %s", path, oneLine(want), oneLine(got))
}

func oneLine(value any) string {
	if value == nil || value == "" {
		return "nothing"
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%v", value)
	}
	return string(encoded)
}
