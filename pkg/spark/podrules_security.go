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
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (p podRules) podSecurityContext(c *corev1.PodSecurityContext, path *field.Path) {
	if c == nil {
		return
	}
	p.id(c.RunAsUser, path.Child("runAsUser"))
	p.id(c.RunAsGroup, path.Child("runAsGroup"))
	p.id(c.FSGroup, path.Child("fsGroup"))
	for i := range c.SupplementalGroups {
		p.id(&c.SupplementalGroups[i], path.Child("supplementalGroups").Index(i))
	}
	p.nonRoot(c.RunAsNonRoot, c.RunAsUser, path)
	p.seccomp(c.SeccompProfile, path.Child("seccompProfile"))
	p.appArmor(c.AppArmorProfile, path.Child("appArmorProfile"))
	oneOfPointer(p, path.Child("fsGroupChangePolicy"), c.FSGroupChangePolicy, corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch)
	oneOfPointer(p, path.Child("supplementalGroupsPolicy"), c.SupplementalGroupsPolicy, corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict)
	p.sysctls(c.Sysctls, path.Child("sysctls"))
}

// sysctlPattern is that of Kubernetes' SysctlContainSlashFmt.
var sysctlPattern = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

func (p podRules) sysctls(list []corev1.Sysctl, path *field.Path) {
	seen := map[string]bool{}
	for i, s := range list {
		path := path.Index(i).Child("name")
		switch {
		case s.Name == "":
			p.required(path, "name the sysctl")
		case len(s.Name) > 253 || !sysctlPattern.MatchString(s.Name):
			p.rep.invalid(path, s.Name, "is no name of a sysctl")
		case seen[s.Name]:
			p.rep.err(field.Duplicate(path, s.Name))
		}
		seen[s.Name] = true
	}
}

func (p podRules) securityContext(c *corev1.SecurityContext, path *field.Path) {
	if c == nil {
		return
	}
	p.id(c.RunAsUser, path.Child("runAsUser"))
	p.id(c.RunAsGroup, path.Child("runAsGroup"))
	p.nonRoot(c.RunAsNonRoot, c.RunAsUser, path)
	p.seccomp(c.SeccompProfile, path.Child("seccompProfile"))
	p.appArmor(c.AppArmorProfile, path.Child("appArmorProfile"))
	oneOfPointer(p, path.Child("procMount"), c.ProcMount, corev1.DefaultProcMount, corev1.UnmaskedProcMount)
	if c.AllowPrivilegeEscalation != nil && !*c.AllowPrivilegeEscalation {
		if c.Privileged != nil && *c.Privileged {
			p.rep.invalid(path.Child("allowPrivilegeEscalation"), false, "must not be false where privileged is true")
		}
		if c.Capabilities != nil && slices.Contains(c.Capabilities.Add, "CAP_SYS_ADMIN") {
			p.rep.invalid(path.Child("allowPrivilegeEscalation"), false, "must not be false where the capability CAP_SYS_ADMIN is added")
		}
	}
}

// id checks the number of a user or a group.
func (p podRules) id(n *int64, path *field.Path) {
	if n != nil && (*n < 0 || *n > math.MaxInt32) {
		p.rep.invalid(path, *n, "must be from 0 to %d", math.MaxInt32)
	}
}

// nonRoot is what the kubelet refuses to start.
func (p podRules) nonRoot(nonRoot *bool, user *int64, path *field.Path) {
	if nonRoot != nil && *nonRoot && user != nil && *user == 0 {
		p.rep.invalid(path.Child("runAsUser"), *user, "must not be 0, which is root, where runAsNonRoot is true")
	}
}

func (p podRules) seccomp(s *corev1.SeccompProfile, path *field.Path) {
	if s == nil {
		return
	}
	if s.Type == "" {
		p.required(path.Child("type"), "must be RuntimeDefault, Localhost or Unconfined")
	}
	oneOfField(p, path.Child("type"), s.Type, corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined)
	p.localhostProfile(s.Type == corev1.SeccompProfileTypeLocalhost, s.LocalhostProfile, path.Child("localhostProfile"))
}

func (p podRules) appArmor(s *corev1.AppArmorProfile, path *field.Path) {
	if s == nil {
		return
	}
	if s.Type == "" {
		p.required(path.Child("type"), "must be RuntimeDefault, Localhost or Unconfined")
	}
	oneOfField(p, path.Child("type"), s.Type, corev1.AppArmorProfileTypeLocalhost, corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined)
	p.localhostProfile(s.Type == corev1.AppArmorProfileTypeLocalhost, s.LocalhostProfile, path.Child("localhostProfile"))
}

func (p podRules) localhostProfile(wanted bool, profile *string, path *field.Path) {
	switch {
	case wanted && !given(profile):
		p.required(path, "name the profile, since the type is Localhost")
	case !wanted && profile != nil:
		p.rep.invalid(path, *profile, "may only be given where the type is Localhost")
	}
}
