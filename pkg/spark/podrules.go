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
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

// podRules are the rules by which the API server of Kubernetes 1.37 refuses a pod, for what an application can say of its
// pods (pkg/apis/core/validation of Kubernetes). Without them a mistake in a driver would be found when it is submitted,
// and one in an executor by the driver alone, which asks for executors again and again and gets none.
//
// They refuse nothing that a cluster might accept: what depends on objects of the cluster, on its admission or on a feature
// gate is not looked at.
type podRules struct {
	rep *report
	// grace is the time in seconds that the pod has to end by itself.
	grace int64
}

// defaultGraceSeconds is Kubernetes' own default of terminationGracePeriodSeconds.
const defaultGraceSeconds = int64(corev1.DefaultTerminationGracePeriodSeconds)

// checkPods applies the rules to the typed fields and to the template of either role.
func (a *Application) checkPods(rep *report) {
	for _, r := range []*role{&a.driver, &a.executor} {
		t := a.templateOf(r)
		rules := podRules{rep: rep, grace: defaultGraceSeconds}
		if t.typed != nil && t.typed.Spec.TerminationGracePeriodSeconds != nil {
			rules.grace = *t.typed.Spec.TerminationGracePeriodSeconds
		}
		if r.spec.TerminationGracePeriodSeconds != nil {
			rules.grace = *r.spec.TerminationGracePeriodSeconds
		}
		if t.typed != nil {
			rules.podTemplate(t.typed, r, t.path)
		}
		rules.typedFields(r, t.typed)
	}
}

// typedFields are the fields of the application that become fields of a pod as they are.
func (p podRules) typedFields(r *role, t *corev1.PodTemplateSpec) {
	spec, path := r.spec, r.path
	p.tolerations(spec.Tolerations, path.Child("tolerations"))
	p.affinity(spec.Affinity, path.Child("affinity"))
	p.hostAliases(spec.HostAliases, path.Child("hostAliases"))
	p.dnsConfig(spec.DNSConfig, path.Child("dnsConfig"))
	p.podSecurityContext(spec.PodSecurityContext, path.Child("podSecurityContext"))
	p.securityContext(spec.SecurityContext, path.Child("securityContext"))
	p.lifecycle(r.lifecycle, path.Child("lifecycle"))
	p.env(spec.Env, path.Child("env"))
	p.envFrom(spec.EnvFrom, path.Child("envFrom"))
	context := spec.SecurityContext
	if context == nil && t != nil && len(t.Spec.Containers) > 0 {
		context = t.Spec.Containers[templateContainerIndex(t.Spec.Containers, r.containerName)].SecurityContext
	}
	if context == nil {
		context = &corev1.SecurityContext{}
	}
	p.volumeMounts(spec.VolumeMounts, context, path.Child("volumeMounts"))
	for i := range spec.Sidecars {
		p.container(&spec.Sidecars[i], path.Child("sidecars").Index(i))
	}
	for i := range spec.InitContainers {
		p.initContainer(&spec.InitContainers[i], path.Child("initContainers").Index(i))
	}
}

// podTemplate is what a template says. What a typed field takes the place of is passed over.
func (p podRules) podTemplate(t *corev1.PodTemplateSpec, r *role, path *field.Path) {
	for i, name := range t.Finalizers {
		standard := []string{string(corev1.FinalizerKubernetes), "orphan", "foregroundDeletion"}
		if problems := validation.IsQualifiedName(name); len(problems) > 0 || !strings.Contains(name, "/") && !slices.Contains(standard, name) {
			p.rep.invalid(path.Child("metadata", "finalizers").Index(i), name, "must be a name with a domain, such as example.com/name")
		}
	}
	spec, path := &t.Spec, path.Child("spec")
	p.tolerations(spec.Tolerations, path.Child("tolerations"))
	p.hostAliases(spec.HostAliases, path.Child("hostAliases"))
	if r.spec.Affinity == nil {
		p.affinity(spec.Affinity, path.Child("affinity"))
	}
	dns := r.spec.DNSConfig
	if dns == nil {
		dns = spec.DNSConfig
		p.dnsConfig(dns, path.Child("dnsConfig"))
	}
	oneOfField(p, path.Child("dnsPolicy"), spec.DNSPolicy, corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone)
	if spec.DNSPolicy == corev1.DNSNone && (dns == nil || len(dns.Nameservers) == 0) && (r.spec.HostNetwork == nil || !*r.spec.HostNetwork) {
		p.required(path.Child("dnsConfig", "nameservers"), "name at least one, since dnsPolicy is None")
	}
	if r.spec.PodSecurityContext == nil {
		p.podSecurityContext(spec.SecurityContext, path.Child("securityContext"))
	}
	p.podNames(spec, path)
	p.sharing(spec, r, path)
	if s := spec.ActiveDeadlineSeconds; s != nil && (*s < 1 || *s > math.MaxInt32) {
		p.rep.invalid(path.Child("activeDeadlineSeconds"), *s, "must be from 1 to %d", math.MaxInt32)
	}
	for i := range spec.TopologySpreadConstraints {
		p.topologySpread(&spec.TopologySpreadConstraints[i], path.Child("topologySpreadConstraints").Index(i))
	}
	for i := range spec.ResourceClaims {
		c := &spec.ResourceClaims[i]
		if (c.ResourceClaimName == nil) == (c.ResourceClaimTemplateName == nil) {
			p.rep.invalid(path.Child("resourceClaims").Index(i), c.Name, "must have one of resourceClaimName and resourceClaimTemplateName")
		}
	}
	if len(spec.EphemeralContainers) > 0 {
		p.rep.err(field.Forbidden(path.Child("ephemeralContainers"), "they can't be part of a new pod"))
	}
	for i := range spec.Volumes {
		p.volumeSource(&spec.Volumes[i].VolumeSource, path.Child("volumes").Index(i))
	}
	at := templateContainerIndex(spec.Containers, r.containerName)
	for i := range spec.Containers {
		if i == at {
			p.sparkContainer(&spec.Containers[i], r, path.Child("containers").Index(i))
		} else {
			p.container(&spec.Containers[i], path.Child("containers").Index(i))
		}
	}
	for i := range spec.InitContainers {
		p.initContainer(&spec.InitContainers[i], path.Child("initContainers").Index(i))
	}
}

// templateContainerIndex is sparkContainer for typed containers.
func templateContainerIndex(containers []corev1.Container, name string) int {
	return max(0, slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == name }))
}

func (p podRules) podNames(spec *corev1.PodSpec, path *field.Path) {
	label := func(name, value string) {
		if value != "" {
			p.named(path.Child(name), value, validation.IsDNS1123Label(value))
		}
	}
	label("hostname", spec.Hostname)
	label("subdomain", spec.Subdomain)
	for i, gate := range spec.SchedulingGates {
		p.named(path.Child("schedulingGates").Index(i).Child("name"), gate.Name, validation.IsQualifiedName(gate.Name))
	}
	for i, gate := range spec.ReadinessGates {
		p.named(path.Child("readinessGates").Index(i).Child("conditionType"), string(gate.ConditionType), validation.IsQualifiedName(string(gate.ConditionType)))
	}
	if spec.RuntimeClassName != nil {
		p.named(path.Child("runtimeClassName"), *spec.RuntimeClassName, validation.IsDNS1123Subdomain(*spec.RuntimeClassName))
	}
	if spec.OS != nil {
		oneOfField(p, path.Child("os", "name"), spec.OS.Name, corev1.Linux, corev1.Windows)
	}
}

// sharing is about the namespaces of the node, where template and typed fields meet.
func (p podRules) sharing(spec *corev1.PodSpec, r *role, path *field.Path) {
	share := spec.ShareProcessNamespace
	if r.spec.ShareProcessNamespace != nil {
		share = r.spec.ShareProcessNamespace
	}
	if share != nil && *share && spec.HostPID {
		p.rep.invalid(path.Child("hostPID"), true, "must not be given together with shareProcessNamespace")
	}
	hostNetwork := spec.HostNetwork || r.spec.HostNetwork != nil && *r.spec.HostNetwork
	if spec.HostUsers != nil && !*spec.HostUsers && (hostNetwork || spec.HostPID || spec.HostIPC) {
		p.rep.invalid(path.Child("hostUsers"), false, "excludes hostNetwork, hostPID and hostIPC")
	}
}

func (p podRules) tolerations(list []corev1.Toleration, path *field.Path) {
	for i := range list {
		t, path := &list[i], path.Index(i)
		if t.Key != "" {
			p.named(path.Child("key"), t.Key, validation.IsQualifiedName(t.Key))
		} else if t.Operator != corev1.TolerationOpExists {
			p.rep.invalid(path.Child("operator"), string(t.Operator), "must be Exists where there is no key, which matches all taints: name a key, or say Exists")
		}
		oneOfField(p, path.Child("operator"), t.Operator, corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpLt, corev1.TolerationOpGt)
		switch t.Operator {
		case corev1.TolerationOpExists:
			if t.Value != "" {
				p.rep.invalid(path.Child("value"), t.Value, "must be empty where the operator is Exists")
			}
		case "", corev1.TolerationOpEqual:
			p.named(path.Child("value"), t.Value, validation.IsValidLabelValue(t.Value))
		}
		oneOfField(p, path.Child("effect"), t.Effect, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			p.rep.invalid(path.Child("effect"), string(t.Effect), "must be NoExecute where tolerationSeconds is given")
		}
	}
}

func (p podRules) hostAliases(list []corev1.HostAlias, path *field.Path) {
	for i := range list {
		p.address(list[i].IP, path.Index(i).Child("ip"))
		for j, name := range list[i].Hostnames {
			p.named(path.Index(i).Child("hostnames").Index(j), name, validation.IsDNS1123Subdomain(name))
		}
	}
}

// The bounds of DNS settings (MaxDNSNameservers, MaxDNSSearchPaths of Kubernetes).
const (
	maxNameservers = 3
	maxSearches    = 32
)

func (p podRules) dnsConfig(c *corev1.PodDNSConfig, path *field.Path) {
	if c == nil {
		return
	}
	if len(c.Nameservers) > maxNameservers {
		p.rep.err(field.TooMany(path.Child("nameservers"), len(c.Nameservers), maxNameservers))
	}
	if len(c.Searches) > maxSearches {
		p.rep.err(field.TooMany(path.Child("searches"), len(c.Searches), maxSearches))
	}
	for i, server := range c.Nameservers {
		p.address(server, path.Child("nameservers").Index(i))
	}
	for i, search := range c.Searches {
		if domain := strings.TrimSuffix(search, "."); search != "." {
			p.named(path.Child("searches").Index(i), search, validation.IsDNS1123SubdomainWithUnderscore(domain))
		}
	}
	for i, option := range c.Options {
		if option.Name == "" {
			p.required(path.Child("options").Index(i).Child("name"), "name the option")
		}
	}
}

func (p podRules) address(ip string, path *field.Path) {
	if netutils.ParseIPSloppy(ip) == nil {
		p.rep.invalid(path, ip, "must be an IP address, such as 10.9.8.7")
	}
}

// named reports why a name is none.
func (p podRules) named(path *field.Path, value string, problems []string) {
	if len(problems) > 0 {
		p.rep.invalid(path, value, "%s", strings.Join(problems, "; "))
	}
}

func (p podRules) required(path *field.Path, detail string) { p.rep.err(field.Required(path, detail)) }

// objectName checks the name of an object that has to be given.
func (p podRules) objectName(kind, name string, path *field.Path) {
	if name == "" {
		p.required(path, "name the "+kind)
		return
	}
	p.named(path, name, validation.IsDNS1123Subdomain(name))
}

// oneOfField refuses a value that is none of the valid ones. Empty means the default.
func oneOfField[T ~string](p podRules, path *field.Path, value T, valid ...T) {
	if value != "" && !slices.Contains(valid, value) {
		p.rep.err(field.NotSupported(path, value, valid))
	}
}

func oneOfPointer[T ~string](p podRules, path *field.Path, value *T, valid ...T) {
	if value != nil {
		oneOfField(p, path, *value, valid...)
	}
}
