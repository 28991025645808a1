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
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// driverService is DriverServiceFeatureStep.
func driverService(b *driverBuilder) {
	ports := b.ports()
	b.property(keyDriverHost, b.names.service+"."+b.a.App.Namespace+".svc")
	b.objects.Properties[keyDriverPort] = strconv.Itoa(int(ports[0].ContainerPort))
	// Spark itself doesn't look at spark.blockManager.port here, other than in the container's port: driver and executors
	// would then disagree with the Service.
	b.objects.Properties[keyDriverBlockManagerPort] = strconv.Itoa(int(ports[1].ContainerPort))
	s := &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: b.objectMeta(b.names.service),
		Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone, Selector: b.labels,
			IPFamilyPolicy: b.ipFamilyPolicy(), IPFamilies: b.ipFamilies(),
		},
	}
	for _, p := range b.conf.withPrefix(prefixDriverServiceLabel) {
		b.ledger.label(p.name, p.value, p.path)
		if _, own := s.Labels[p.name]; own || p.name == LabelSparkAppSelector {
			b.rep.warnf(p.path, "the value %q has no effect: the label is set on every Service of an application", p.value)
			continue
		}
		s.Labels[p.name] = p.value
	}
	s.Labels[LabelSparkAppSelector] = b.names.appID
	for _, p := range b.conf.withPrefix(prefixDriverServiceAnno) {
		b.ledger.annotation(p.name, p.path)
		if s.Annotations == nil {
			s.Annotations = map[string]string{}
		}
		s.Annotations[p.name] = p.value
	}
	taken := map[int32]string{}
	for _, p := range ports {
		if other, ok := taken[p.ContainerPort]; ok {
			b.rep.invalid(b.portPath(p.Name), p.ContainerPort, "the ports %s and %s of the driver's Service must differ", other, p.Name)
		}
		taken[p.ContainerPort] = p.Name
		port := corev1.ServicePort{Name: p.Name, Port: p.ContainerPort, TargetPort: intstr.FromInt32(p.ContainerPort)}
		if p.Name == portConnect && b.a.Line.hasConnectProtocol() {
			port.AppProtocol = new("grpc")
		}
		s.Spec.Ports = append(s.Spec.Ports, port)
	}
	if b.a.Line.readsPublishNotReadyAddresses() {
		s.Spec.PublishNotReadyAddresses = b.conf.boolean(keyDriverPublishNotReady, false, b.rep)
	}
	b.objects.Service = s
}

// portPath is where the number of a port comes from.
func (b *driverBuilder) portPath(name string) *field.Path {
	keys := map[string][]string{
		portDriverRPC: {keyDriverPort}, portBlockManager: {keyDriverBlockManagerPort, keyBlockManagerPort},
		UIPortName: {keyUIPort}, portConnect: {keyConnectPort},
	}[name]
	if s, ok := b.conf.first(keys...); ok {
		return s.path
	}
	return b.a.sparkConfPath(keys[0])
}

func (b *driverBuilder) ipFamilyPolicy() *corev1.IPFamilyPolicy {
	known := []corev1.IPFamilyPolicy{corev1.IPFamilyPolicySingleStack, corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack}
	policy := corev1.IPFamilyPolicy(b.conf.value(string(known[0]), keyDriverIPFamilyPolicy))
	if !slices.Contains(known, policy) {
		b.rep.err(field.NotSupported(b.conf[keyDriverIPFamilyPolicy].path, policy, known))
	}
	return &policy
}

func (b *driverBuilder) ipFamilies() []corev1.IPFamily {
	known := []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
	var families []corev1.IPFamily
	for _, text := range commaList(b.conf.value(string(known[0]), keyDriverIPFamilies)) {
		family := corev1.IPFamily(text)
		if !slices.Contains(known, family) {
			b.rep.err(field.NotSupported(b.conf[keyDriverIPFamilies].path, family, known))
		}
		if slices.Contains(families, family) {
			b.rep.err(field.Duplicate(b.conf[keyDriverIPFamilies].path, family))
		}
		families = append(families, family)
	}
	if policy := b.conf.value(string(corev1.IPFamilyPolicySingleStack), keyDriverIPFamilyPolicy); len(families) > 1 && policy == string(corev1.IPFamilyPolicySingleStack) {
		s := b.conf[keyDriverIPFamilies]
		b.rep.invalid(s.path, s.value, "needs %s to be PreferDualStack or RequireDualStack", keyDriverIPFamilyPolicy)
	}
	return families
}
