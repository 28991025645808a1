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
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	portDriverRPC    = "driver-rpc-port"
	portBlockManager = "blockmanager"
	portConnect      = "spark-connect"

	defaultDriverPort       = 7078
	defaultBlockManagerPort = 7079
	defaultUIPort           = 4040
	defaultConnectPort      = 15002

	// sparkUser is the user in whose name the driver runs, where spark-submit would name its own.
	sparkUser = "spark"
)

// basicDriver is BasicDriverFeatureStep.
func basicDriver(b *driverBuilder) {
	c := b.container
	if c.Name == "" {
		c.Name = DriverContainerName
	}
	c.Image = b.image()
	c.ImagePullPolicy = corev1.PullPolicy(b.conf.value(string(corev1.PullIfNotPresent), keyImagePullPolicy))
	for _, p := range b.ports() {
		if b.ledger.port(p.Name, p.ContainerPort, p, nil) {
			c.Ports = append(c.Ports, p)
		}
	}
	b.addEnv("SPARK_USER", b.sparkUser())
	b.addEnv("SPARK_APPLICATION_ID", b.names.appID)
	for _, p := range b.conf.withPrefix(prefixDriverEnv) {
		b.ledger.env(p.name, p.path)
		b.addEnv(p.name, p.value)
	}
	c.Env = append(c.Env, corev1.EnvVar{Name: "SPARK_DRIVER_BIND_ADDRESS", ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "status.podIP"},
	}})
	b.driverResources()
	b.privilegeEscalation()
	b.driverMetadata()
	b.driverPlacement()
	b.property(keySubmitInDriver, "true")
	b.property(keyAppID, b.names.appID)
	b.objects.Properties[keyMemoryOverheadFactor] = javaDouble(b.a.commonOverheadFactor(&report{}))
}

// sparkUser is the user in whose name the driver runs.
func (b *driverBuilder) sparkUser() string {
	if user := b.a.App.Spec.ProxyUser; given(user) && b.a.Line.namesProxyUser() {
		return *user
	}
	return sparkUser
}

func (b *driverBuilder) image() string {
	image := b.conf.value("", b.a.driver.keyImage, keyImage)
	if b.a.Line.substitutesImage() {
		image = strings.ReplaceAll(image, "{{SPARK_VERSION}}", b.a.Line.Version)
	}
	return image
}

func containerPort(name string, port int32) corev1.ContainerPort {
	return corev1.ContainerPort{Name: name, ContainerPort: port, Protocol: corev1.ProtocolTCP}
}

// ports are those of container and Service alike.
func (b *driverBuilder) ports() []corev1.ContainerPort {
	port := func(fallback int32, keys ...string) int32 {
		for _, key := range keys {
			if _, ok := b.conf[key]; ok {
				return b.conf.integer(key, fallback, 1, 65535, b.rep)
			}
		}
		return fallback
	}
	ports := []corev1.ContainerPort{
		containerPort(portDriverRPC, port(defaultDriverPort, keyDriverPort)),
		containerPort(portBlockManager, port(defaultBlockManagerPort, keyDriverBlockManagerPort, keyBlockManagerPort)),
		containerPort(UIPortName, port(defaultUIPort, keyUIPort)),
	}
	if b.a.Line.hasConnectPort() {
		ports = append(ports, containerPort(portConnect, port(defaultConnectPort, keyConnectPort)))
	}
	return ports
}

// driverResources lays what Spark computes over what the template asks for besides.
func (b *driverBuilder) driverResources() {
	merge := func(into *corev1.ResourceList, from corev1.ResourceList) {
		if *into == nil {
			*into = corev1.ResourceList{}
		}
		maps.Copy(*into, from)
	}
	merge(&b.container.Resources.Requests, b.a.driver.resources.Requests)
	merge(&b.container.Resources.Limits, b.a.driver.resources.Limits)
	for _, name := range slices.Sorted(maps.Keys(b.container.Resources.Requests)) {
		request := b.container.Resources.Requests[name]
		limit, ok := b.container.Resources.Limits[name]
		if ok && limit.Cmp(request) < 0 && name != corev1.ResourceCPU && name != corev1.ResourceMemory {
			b.rep.invalid(b.a.driver.path, limit.String(), "the limit of %s must not be below the request, %s", name, request.String())
		}
	}
}

// privilegeEscalation forbids it from 4.3 on. Spark overwrites whatever a template says; here a property that is given
// does that, but the default doesn't, and the typed field wins over both, as with the operator's webhook. A privileged
// container must not be forbidden to escalate.
func (b *driverBuilder) privilegeEscalation() {
	if !b.a.Line.setsPrivilegeEscalation() {
		return
	}
	key := keyDriverPrivilegeEscalation
	if _, ok := b.conf[key]; !ok {
		key = keyPrivilegeEscalation
	}
	allow := b.conf.boolean(key, false, b.rep)
	if b.container.SecurityContext == nil {
		b.container.SecurityContext = &corev1.SecurityContext{}
	}
	sc := b.container.SecurityContext
	typed := b.a.driver.spec.SecurityContext
	_, stated := b.conf[key]
	stated = stated && (typed == nil || typed.AllowPrivilegeEscalation == nil)
	if (sc.AllowPrivilegeEscalation == nil || stated) && (allow || !needsPrivileges(sc)) {
		sc.AllowPrivilegeEscalation = &allow
	}
}

// driverMetadata sets labels and annotations: those of the configuration, then Spark's own.
func (b *driverBuilder) driverMetadata() {
	if problems := validation.IsDNS1123Subdomain(b.a.DriverPodName); len(problems) > 0 {
		s := b.conf[keyDriverPodName]
		b.rep.invalid(s.path, b.a.DriverPodName, "is no name of a pod: %s", strings.Join(problems, "; "))
	}
	checkMetadata(b.a, &b.a.driver, b.ledger, b.names.appID)
	for _, p := range b.conf.withPrefix(b.a.driver.prefixLabel) {
		b.labels[p.name] = p.value
		if b.a.Line.substitutesLabels() {
			b.labels[p.name] = substituted(p.value, b.names.appID)
		}
	}
	b.labels[LabelSubmissionID] = b.attempt.SubmissionID
	b.labels[LabelSparkVersion] = b.a.versionLabel()
	b.labels[LabelSparkAppSelector] = b.names.appID
	b.labels[LabelSparkAppName] = appNameLabel(b.a.App.Name)
	b.labels[LabelSparkRole] = SparkRoleDriver
	for _, role := range []*role{&b.a.driver, &b.a.executor} {
		b.objects.Properties[role.prefixLabel+LabelSubmissionID] = b.attempt.SubmissionID
	}
	for key, value := range b.labels {
		if b.pod.Labels == nil {
			b.pod.Labels = map[string]string{}
		}
		b.pod.Labels[key] = value
	}
	for _, p := range b.conf.withPrefix(b.a.driver.prefixAnnotation) {
		if b.pod.Annotations == nil {
			b.pod.Annotations = map[string]string{}
		}
		b.pod.Annotations[p.name] = substituted(p.value, b.names.appID)
	}
}

// versionLabel is the version as the user wrote it, where a label can hold it.
func (a *Application) versionLabel() string {
	if len(validation.IsValidLabelValue(a.Line.Version)) > 0 {
		return a.Line.String()
	}
	return a.Line.Version
}

// substituted puts the ID of the application where a label asks for it. A driver has no executor ID.
func substituted(value, appID string) string {
	if !strings.Contains(value, "{{") {
		return value
	}
	return strings.ReplaceAll(strings.ReplaceAll(value, "{{APP_ID}}", appID), "{{EXECUTOR_ID}}", "")
}

// checkMetadata checks labels and annotations that a role gets from the configuration.
func checkMetadata(a *Application, r *role, l *ledger, appID string) {
	for _, p := range a.conf.withPrefix(r.prefixLabel) {
		value := p.value
		if a.Line.substitutesLabels() {
			value = substituted(value, appID)
		}
		l.label(p.name, value, p.path)
	}
	for _, p := range a.conf.withPrefix(r.prefixAnnotation) {
		l.annotation(p.name, p.path)
	}
	for _, prefix := range []string{prefixNodeSelector, r.prefixNodeSelector} {
		for _, p := range a.conf.withPrefix(prefix) {
			l.label(p.name, p.value, p.path)
		}
	}
}

// driverPlacement sets what decides where the pod runs and with what it is pulled.
func (b *driverBuilder) driverPlacement() {
	b.pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	for _, prefix := range []string{prefixNodeSelector, b.a.driver.prefixNodeSelector} {
		for _, p := range b.conf.withPrefix(prefix) {
			if b.pod.Spec.NodeSelector == nil {
				b.pod.Spec.NodeSelector = map[string]string{}
			}
			b.pod.Spec.NodeSelector[p.name] = p.value
		}
	}
	if s, ok := b.conf[keyImagePullSecrets]; ok {
		for _, name := range commaList(s.value) {
			b.ledger.objectName("Secret", name, s.path)
			ref := corev1.LocalObjectReference{Name: name}
			if !slices.Contains(b.pod.Spec.ImagePullSecrets, ref) {
				b.pod.Spec.ImagePullSecrets = append(b.pod.Spec.ImagePullSecrets, ref)
			}
		}
	}
	if s, ok := b.conf.first(keyDriverSchedulerName, keySchedulerName); ok && s.value != "" {
		b.pod.Spec.SchedulerName = s.value
	}
}

// checkImages refuses a role without an image, and a pull policy that Kubernetes doesn't know.
func (a *Application) checkImages(rep *report) {
	for _, r := range []*role{&a.driver, &a.executor} {
		s, ok := a.conf.first(r.keyImage, keyImage)
		if !ok || strings.TrimSpace(s.value) == "" {
			rep.err(field.Required(r.path.Child("image"), "name the image here or in "+a.specPath.Child("image").String()))
			continue
		}
		podRules{rep: rep}.image(s.value, s.path)
	}
	policies := []string{string(corev1.PullAlways), string(corev1.PullIfNotPresent), string(corev1.PullNever)}
	if s, ok := a.conf[keyImagePullPolicy]; ok && !slices.Contains(policies, s.value) {
		rep.err(field.NotSupported(s.path, s.value, policies))
	}
}

// quantityOrZero is for sizes that have been checked.
func quantityOrZero(text string) resource.Quantity {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return resource.Quantity{}
	}
	return q
}
