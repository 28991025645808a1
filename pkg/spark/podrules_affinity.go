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

package spark

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

func (p podRules) affinity(a *corev1.Affinity, path *field.Path) {
	if a == nil {
		return
	}
	const required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
	if node := a.NodeAffinity; node != nil {
		path := path.Child("nodeAffinity")
		if s := node.RequiredDuringSchedulingIgnoredDuringExecution; s != nil {
			path := path.Child(required)
			if len(s.NodeSelectorTerms) == 0 {
				p.required(path.Child("nodeSelectorTerms"), "must have at least one term")
			}
			_, err := nodeaffinity.NewNodeSelector(s, field.WithPath(path))
			p.fieldErrors(err, path)
		}
		for i, term := range node.PreferredDuringSchedulingIgnoredDuringExecution {
			p.weight(term.Weight, path.Child(preferred).Index(i))
		}
		_, err := nodeaffinity.NewPreferredSchedulingTerms(node.PreferredDuringSchedulingIgnoredDuringExecution, field.WithPath(path.Child(preferred)))
		p.fieldErrors(err, path.Child(preferred))
	}
	terms := func(path *field.Path, hard []corev1.PodAffinityTerm, soft []corev1.WeightedPodAffinityTerm) {
		for i := range hard {
			p.podAffinityTerm(&hard[i], path.Child(required).Index(i))
		}
		for i := range soft {
			p.weight(soft[i].Weight, path.Child(preferred).Index(i))
			p.podAffinityTerm(&soft[i].PodAffinityTerm, path.Child(preferred).Index(i).Child("podAffinityTerm"))
		}
	}
	if pod := a.PodAffinity; pod != nil {
		terms(path.Child("podAffinity"), pod.RequiredDuringSchedulingIgnoredDuringExecution, pod.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if pod := a.PodAntiAffinity; pod != nil {
		terms(path.Child("podAntiAffinity"), pod.RequiredDuringSchedulingIgnoredDuringExecution, pod.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

// fieldErrors reports errors of another package, which has put paths into them.
func (p podRules) fieldErrors(err error, path *field.Path) {
	if err == nil {
		return
	}
	list := []error{err}
	if aggregate, ok := errors.AsType[utilerrors.Aggregate](err); ok {
		list = aggregate.Errors()
	}
	for _, err := range list {
		if e, ok := errors.AsType[*field.Error](err); ok {
			p.rep.err(e)
		} else {
			p.rep.invalid(path, "", "%v", err)
		}
	}
}

func (p podRules) weight(weight int32, path *field.Path) {
	if weight < 1 || weight > 100 {
		p.rep.invalid(path.Child("weight"), weight, "must be from 1 to 100")
	}
}

func (p podRules) podAffinityTerm(t *corev1.PodAffinityTerm, path *field.Path) {
	p.topologyKey(t.TopologyKey, path.Child("topologyKey"))
	p.labelSelector(t.LabelSelector, path.Child("labelSelector"))
	p.labelSelector(t.NamespaceSelector, path.Child("namespaceSelector"))
	for i, namespace := range t.Namespaces {
		p.named(path.Child("namespaces").Index(i), namespace, validation.IsDNS1123Label(namespace))
	}
}

func (p podRules) topologyKey(key string, path *field.Path) {
	if key == "" {
		p.required(path, "name the label of nodes, such as kubernetes.io/hostname")
		return
	}
	p.named(path, key, validation.IsQualifiedName(key))
}

func (p podRules) labelSelector(s *metav1.LabelSelector, path *field.Path) {
	for _, err := range metav1validation.ValidateLabelSelector(s, metav1validation.LabelSelectorValidationOptions{}, path) {
		p.rep.err(err)
	}
}

func (p podRules) topologySpread(c *corev1.TopologySpreadConstraint, path *field.Path) {
	if c.MaxSkew < 1 {
		p.rep.invalid(path.Child("maxSkew"), c.MaxSkew, "must be above 0")
	}
	p.topologyKey(c.TopologyKey, path.Child("topologyKey"))
	if c.WhenUnsatisfiable == "" {
		p.required(path.Child("whenUnsatisfiable"), "must be DoNotSchedule or ScheduleAnyway")
	}
	oneOfField(p, path.Child("whenUnsatisfiable"), c.WhenUnsatisfiable, corev1.DoNotSchedule, corev1.ScheduleAnyway)
	if c.MinDomains != nil && *c.MinDomains < 1 {
		p.rep.invalid(path.Child("minDomains"), *c.MinDomains, "must be above 0")
	}
	oneOfPointer(p, path.Child("nodeAffinityPolicy"), c.NodeAffinityPolicy, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
	oneOfPointer(p, path.Child("nodeTaintsPolicy"), c.NodeTaintsPolicy, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
	p.labelSelector(c.LabelSelector, path.Child("labelSelector"))
}
