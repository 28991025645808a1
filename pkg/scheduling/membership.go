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
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// kueueGatePrefix is the prefix of the scheduling gates which Kueue puts on pods and lifts again.
const kueueGatePrefix = "kueue.x-k8s.io/"

// groupingFeatureSteps are the feature steps of Spark that put pods into groups of other schedulers.
var groupingFeatureSteps = []string{"VolcanoFeatureStep", "YuniKornFeatureStep"}

// validateMembership refuses whatever would make a pod a member of another group than ours, or keep one member, and
// with it all of them, from being placed.
func validateMembership(spec *v1beta2.SparkApplicationSpec, specPath *field.Path) field.ErrorList {
	var errs field.ErrorList
	driver, executor := podOfTemplate(spec.Driver.Template), podOfTemplate(spec.Executor.Template)
	driverPath, executorPath := specPath.Child("driver", "template", "spec"), specPath.Child("executor", "template", "spec")

	if isSet(driver["schedulingGroup"]) {
		errs = append(errs, field.Forbidden(driverPath.Child("schedulingGroup"),
			"the driver can't be a member of a group: it creates the members"))
	}
	if isSet(executor["schedulingGroup"]) {
		errs = append(errs, field.Forbidden(executorPath.Child("schedulingGroup"),
			"is set for each attempt to the group made from scheduling.schedulingPolicy"))
	}
	if isSet(executor["evictionResponders"]) {
		errs = append(errs, field.Forbidden(executorPath.Child("evictionResponders"),
			"is not possible for the members of a group"))
	}
	errs = append(errs, validateSchedulingGates(executor["schedulingGates"], executorPath.Child("schedulingGates"))...)
	return append(errs, validateMembershipProperties(spec.SparkConf, specPath.Child("sparkConf"))...)
}

// validateSchedulingGates refuses gates that nobody is known to lift: one gated executor keeps all of them waiting.
func validateSchedulingGates(gates any, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	list, _ := gates.([]any)
	for i := range list {
		gate, _ := list[i].(map[string]any)
		name, _ := gate["name"].(string)
		if !strings.HasPrefix(name, kueueGatePrefix) {
			errs = append(errs, field.Forbidden(path.Index(i), fmt.Sprintf(
				"one gated executor keeps the whole group waiting; only gates of Kueue (%s…) are allowed with scheduling.schedulingPolicy", kueueGatePrefix)))
		}
	}
	return errs
}

func validateMembershipProperties(conf map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if _, set := conf[confExecutorTemplateFile]; set {
		errs = append(errs, field.Forbidden(path.Key(confExecutorTemplateFile),
			"the template that puts the executors into their group is made from executor.template; use that field"))
	}
	if key := confExecutorLabelPrefix + spark.LabelSubmissionID; conf[key] != "" {
		errs = append(errs, field.Forbidden(path.Key(key), "is set for each attempt"))
	}
	for _, key := range []string{confDriverFeatureSteps, confExecutorFeatureSteps} {
		for class := range strings.SplitSeq(conf[key], ",") {
			class = strings.TrimSpace(class)
			for _, step := range groupingFeatureSteps {
				if class == step || strings.HasSuffix(class, "."+step) {
					errs = append(errs, field.Invalid(path.Key(key), conf[key], fmt.Sprintf(
						"must not hold %s together with scheduling.schedulingPolicy: it makes a group of its own", step)))
				}
			}
		}
	}
	return errs
}

// podOfTemplate returns the spec of a pod template. It is empty for a template that is none: that is refused when the
// application is resolved.
func podOfTemplate(template *runtime.RawExtension) map[string]any {
	if template == nil {
		return nil
	}
	var decoded struct {
		Spec map[string]any `json:"spec"`
	}
	if err := json.Unmarshal(template.Raw, &decoded); err != nil {
		return nil
	}
	return decoded.Spec
}

// isSet tells a value from null and from an empty list.
func isSet(value any) bool {
	if list, ok := value.([]any); ok {
		return len(list) > 0
	}
	return value != nil
}
