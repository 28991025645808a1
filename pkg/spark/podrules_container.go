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
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// container is a container other than that of Spark. Its name and image are looked at where it is added.
func (p podRules) container(c *corev1.Container, path *field.Path) {
	rest := *c
	if rest.SecurityContext == nil {
		rest.SecurityContext = &corev1.SecurityContext{}
	}
	p.anyContainer(&rest, path)
	p.resources(&c.Resources, nil, path.Child("resources"))
}

// initContainer has neither hooks nor probes unless it keeps running.
func (p podRules) initContainer(c *corev1.Container, path *field.Path) {
	p.container(c, path)
	if c.RestartPolicy != nil {
		oneOfField(p, path.Child("restartPolicy"), *c.RestartPolicy, corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure)
		if *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			return
		}
	}
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"lifecycle", c.Lifecycle != nil}, {"livenessProbe", c.LivenessProbe != nil},
		{"readinessProbe", c.ReadinessProbe != nil}, {"startupProbe", c.StartupProbe != nil},
	} {
		if f.given {
			p.rep.err(field.Forbidden(path.Child(f.name), "an init container has none, unless its restartPolicy is Always"))
		}
	}
}

// sparkContainer is the container of Spark in a template. What Spark or a typed field sets is passed over.
func (p podRules) sparkContainer(c *corev1.Container, r *role, path *field.Path) {
	rest := *c
	rest.Image, rest.ImagePullPolicy = "", ""
	if r.lifecycle != nil {
		rest.Lifecycle = nil
	}
	if r.spec.SecurityContext != nil {
		rest.SecurityContext = nil
	}
	p.anyContainer(&rest, path)
	passed := map[corev1.ResourceName]bool{corev1.ResourceCPU: true, corev1.ResourceMemory: true}
	if r.spec.GPU != nil {
		passed[corev1.ResourceName(r.spec.GPU.Name)] = true
	}
	for name := range r.resources.Limits {
		passed[name] = true
	}
	p.resources(&c.Resources, passed, path.Child("resources"))
}

func (p podRules) anyContainer(c *corev1.Container, path *field.Path) {
	p.image(c.Image, path.Child("image"))
	oneOfField(p, path.Child("imagePullPolicy"), c.ImagePullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
	oneOfField(p, path.Child("terminationMessagePolicy"), c.TerminationMessagePolicy, corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)
	p.ports(c.Ports, path.Child("ports"))
	p.env(c.Env, path.Child("env"))
	p.envFrom(c.EnvFrom, path.Child("envFrom"))
	p.volumeMounts(c.VolumeMounts, c.SecurityContext, path.Child("volumeMounts"))
	p.lifecycle(c.Lifecycle, path.Child("lifecycle"))
	p.probe(c.LivenessProbe, path.Child("livenessProbe"), true)
	p.probe(c.StartupProbe, path.Child("startupProbe"), true)
	p.probe(c.ReadinessProbe, path.Child("readinessProbe"), false)
	p.securityContext(c.SecurityContext, path.Child("securityContext"))
}

// imageReference is the grammar of references to images, by which a kubelet says InvalidImageName: an optional registry, a
// path in lower case, and optionally a tag and a digest (github.com/distribution/reference).
var imageReference = func() *regexp.Regexp {
	const (
		label     = `(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])`
		registry  = `(?:` + label + `(?:\.` + label + `)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?`
		component = `[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*`
		tag       = `[\w][\w.-]{0,127}`
		digest    = `[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}`
	)
	return regexp.MustCompile(`^(?:` + registry + `/)?` + component + `(?:/` + component + `)*(?::` + tag + `)?(?:@` + digest + `)?$`)
}()

// image refuses what is no reference to an image.
func (p podRules) image(image string, path *field.Path) {
	switch {
	case image == "": // required elsewhere
	case strings.ContainsAny(image, " \t\r\n"):
		p.rep.invalid(path, image, "must not contain white space")
	// From Spark 4.1 on the driver puts its version in there.
	case !imageReference.MatchString(strings.ReplaceAll(image, "{{SPARK_VERSION}}", "0")):
		p.rep.invalid(path, image, "is no reference to an image: write [REGISTRY[:PORT]/]PATH[:TAG][@DIGEST], the path in lower case, such as registry.example.com:5000/team/spark:4.0.1")
	}
}

func (p podRules) ports(list []corev1.ContainerPort, path *field.Path) {
	for i, port := range list {
		path := path.Index(i)
		p.portNumber(port.ContainerPort, path.Child("containerPort"))
		if port.HostPort != 0 {
			p.portNumber(port.HostPort, path.Child("hostPort"))
		}
		if port.Name != "" {
			p.named(path.Child("name"), port.Name, validation.IsValidPortName(port.Name))
		}
		oneOfField(p, path.Child("protocol"), port.Protocol, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)
	}
}

func (p podRules) lifecycle(l *corev1.Lifecycle, path *field.Path) {
	if l == nil {
		return
	}
	for _, hook := range []struct {
		name    string
		handler *corev1.LifecycleHandler
	}{{"postStart", l.PostStart}, {"preStop", l.PreStop}} {
		h, path := hook.handler, path.Child(hook.name)
		if h == nil {
			continue
		}
		p.exactlyOne(path, map[string]bool{"exec": h.Exec != nil, "httpGet": h.HTTPGet != nil, "tcpSocket": h.TCPSocket != nil, "sleep": h.Sleep != nil})
		p.actions(h.Exec, h.HTTPGet, h.TCPSocket, path)
		if h.Sleep != nil && (h.Sleep.Seconds < 0 || h.Sleep.Seconds > p.grace) {
			p.rep.invalid(path.Child("sleep", "seconds"), h.Sleep.Seconds, "must not be negative or above terminationGracePeriodSeconds, %d", p.grace)
		}
	}
}

func (p podRules) probe(probe *corev1.Probe, path *field.Path, once bool) {
	if probe == nil {
		return
	}
	p.exactlyOne(path, map[string]bool{"exec": probe.Exec != nil, "httpGet": probe.HTTPGet != nil, "tcpSocket": probe.TCPSocket != nil, "grpc": probe.GRPC != nil})
	p.actions(probe.Exec, probe.HTTPGet, probe.TCPSocket, path)
	if probe.GRPC != nil {
		p.portNumber(probe.GRPC.Port, path.Child("grpc", "port"))
	}
	for _, n := range []struct {
		name  string
		value int32
	}{
		{"initialDelaySeconds", probe.InitialDelaySeconds}, {"timeoutSeconds", probe.TimeoutSeconds}, {"periodSeconds", probe.PeriodSeconds},
		{"successThreshold", probe.SuccessThreshold}, {"failureThreshold", probe.FailureThreshold},
	} {
		if n.value < 0 {
			p.rep.invalid(path.Child(n.name), n.value, "must not be negative")
		}
	}
	if once && probe.SuccessThreshold > 1 {
		p.rep.invalid(path.Child("successThreshold"), probe.SuccessThreshold, "must be 1")
	}
}

func (p podRules) actions(exec *corev1.ExecAction, http *corev1.HTTPGetAction, tcp *corev1.TCPSocketAction, path *field.Path) {
	if exec != nil && len(exec.Command) == 0 {
		p.required(path.Child("exec", "command"), "name the command")
	}
	if http != nil {
		p.portOrName(http.Port, path.Child("httpGet", "port"))
		oneOfField(p, path.Child("httpGet", "scheme"), http.Scheme, corev1.URISchemeHTTP, corev1.URISchemeHTTPS)
	}
	if tcp != nil {
		p.portOrName(tcp.Port, path.Child("tcpSocket", "port"))
	}
}

func (p podRules) portNumber(port int32, path *field.Path) {
	if problems := validation.IsValidPortNum(int(port)); len(problems) > 0 {
		p.rep.invalid(path, port, "%s", strings.Join(problems, "; "))
	}
}

func (p podRules) portOrName(port intstr.IntOrString, path *field.Path) {
	problems := validation.IsValidPortNum(port.IntValue())
	if port.Type == intstr.String {
		problems = validation.IsValidPortName(port.StrVal)
	}
	p.named(path, port.String(), problems)
}

// exactlyOne refuses a choice of none or several. The names are those of the fields.
func (p podRules) exactlyOne(path *field.Path, choices map[string]bool) {
	var names, chosen []string
	for _, name := range slices.Sorted(maps.Keys(choices)) {
		names = append(names, name)
		if choices[name] {
			chosen = append(chosen, name)
		}
	}
	switch {
	case len(chosen) == 0:
		p.required(path, "must have one of "+strings.Join(names, ", "))
	case len(chosen) > 1:
		p.rep.invalid(path, strings.Join(chosen, ", "), "must have only one of %s", strings.Join(names, ", "))
	}
}

// containerResources are the resources of containers that have no vendor.
var containerResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

func (p podRules) resources(r *corev1.ResourceRequirements, passed map[corev1.ResourceName]bool, path *field.Path) {
	check := func(list corev1.ResourceList, path *field.Path) {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			quantity := list[name]
			problem := resourceName(name)
			switch {
			case passed[name]:
			case problem != "":
				p.rep.invalid(path.Key(string(name)), string(name), "%s", problem)
			case quantity.Sign() < 0:
				p.rep.invalid(path.Key(string(name)), quantity.String(), "must not be negative")
			case isDevice(name) && quantity.MilliValue()%1000 != 0:
				p.rep.invalid(path.Key(string(name)), quantity.String(), "must be a whole number")
			}
		}
	}
	check(r.Limits, path.Child("limits"))
	check(r.Requests, path.Child("requests"))
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		if passed[name] {
			continue
		}
		request, requestPath := r.Requests[name], path.Child("requests").Key(string(name))
		limit, ok := r.Limits[name]
		exact := isDevice(name) || isHugePages(name)
		switch {
		case !ok && exact:
			p.required(path.Child("limits").Key(string(name)), "what can't be overcommitted needs a limit that equals the request")
		case ok && exact && limit.Cmp(request) != 0:
			p.rep.invalid(requestPath, request.String(), "must equal the limit, %s", limit.String())
		case ok && request.Cmp(limit) > 0:
			p.rep.invalid(requestPath, request.String(), "must not be above the limit, %s", limit.String())
		}
	}
}

// resourceName says why a container can't ask for a resource of this name.
func resourceName(name corev1.ResourceName) string {
	switch {
	case len(validation.IsQualifiedName(string(name))) > 0, strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix):
		return "is no name of a resource"
	case !strings.Contains(string(name), "/") && !slices.Contains(containerResources, name) && !isHugePages(name):
		return "must be cpu, memory, ephemeral-storage, hugepages-SIZE or have a vendor, such as nvidia.com/gpu"
	default:
		return ""
	}
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// isDevice says whether a resource is an extended one.
func isDevice(name corev1.ResourceName) bool {
	return strings.Contains(string(name), "/") && !strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// volumeMounts takes the security context that decides; nil where another one may.
func (p podRules) volumeMounts(list []corev1.VolumeMount, c *corev1.SecurityContext, path *field.Path) {
	for i := range list {
		m, path := &list[i], path.Index(i)
		oneOfPointer(p, path.Child("mountPropagation"), m.MountPropagation,
			corev1.MountPropagationBidirectional, corev1.MountPropagationHostToContainer, corev1.MountPropagationNone)
		privileged := c != nil && c.Privileged != nil && *c.Privileged
		if m.MountPropagation != nil && *m.MountPropagation == corev1.MountPropagationBidirectional && !privileged && c != nil {
			p.rep.err(field.Forbidden(path.Child("mountPropagation"), "Bidirectional is for privileged containers"))
		}
		oneOfPointer(p, path.Child("recursiveReadOnly"), m.RecursiveReadOnly,
			corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible)
		if m.RecursiveReadOnly != nil && *m.RecursiveReadOnly != corev1.RecursiveReadOnlyDisabled && !m.ReadOnly {
			p.rep.err(field.Forbidden(path.Child("recursiveReadOnly"), "may only be given where readOnly is true"))
		}
	}
}

// mode checks the access bits of a file.
func (p podRules) mode(mode *int32, path *field.Path) {
	if mode != nil && (*mode < 0 || *mode > 0o777) {
		p.rep.invalid(path, *mode, "must be from 0 to 0777 (octal), which is from 0 to 511")
	}
}
