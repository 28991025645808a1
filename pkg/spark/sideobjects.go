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
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

const (
	uiServiceSuffix        = "-ui-svc"
	uiIngressSuffix        = "-ui-ingress"
	defaultUIPortName      = "spark-driver-ui-port"
	annotationNginxRewrite = "nginx.ingress.kubernetes.io/rewrite-target"
	nginxRewrite           = "/$2"
	// nginxPathSuffix lets nginx cut the application's path off what the driver sees.
	nginxPathSuffix = "(/|$)(.*)"
)

// SideSettings are what the server says of the side objects of all applications. The zero value makes none but those
// that an application asks for itself.
type SideSettings struct {
	// UIService says whether Spark's UI gets a Service.
	UIService bool
	// IngressURLFormat is the URL of the UI with the variables of an Ingress' URL. Empty: the UI has no Ingress.
	IngressURLFormat string
	// IngressClassName is the class of all Ingresses. Empty leaves it to the cluster.
	IngressClassName string
	// IngressAnnotations and IngressTLS are for Ingresses whose application doesn't say otherwise.
	IngressAnnotations map[string]string
	IngressTLS         []networkingv1.IngressTLS
}

// SideObjects are what stands beside an attempt while its driver lives. Nothing in the attempt depends on them.
type SideObjects struct {
	Services            []*corev1.Service
	Ingresses           []*networkingv1.Ingress
	PodDisruptionBudget *policyv1.PodDisruptionBudget
	// UI is how Spark's UI is reached by them. Empty fields: not at all.
	UI SideUI
}

// SideUI is how Spark's UI is reached.
type SideUI struct {
	ServiceName string
	ServicePort int32
	IngressName string
	IngressURL  string
}

// BuildSide makes the side objects of an attempt, by the settings in it. An error is a sentence about a setting that can't be honoured; what
// doesn't depend on it is made all the same.
func BuildSide(a *Application, at Attempt) (*SideObjects, error) {
	b := &sideBuilder{a: a, at: at, objects: &SideObjects{}}
	b.ui()
	for i := range a.App.Spec.DriverIngressOptions {
		b.driverIngress(&a.App.Spec.DriverIngressOptions[i])
	}
	if budget := a.App.Spec.DriverPodDisruptionBudget; budget != nil && *budget {
		b.objects.PodDisruptionBudget = &policyv1.PodDisruptionBudget{
			TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
			ObjectMeta: b.meta(a.DriverPodName, nil, nil),
			Spec: policyv1.PodDisruptionBudgetSpec{
				MinAvailable: new(intstr.FromInt32(1)),
				Selector:     &metav1.LabelSelector{MatchLabels: b.selector()},
			},
		}
	}
	return b.objects, b.err
}

type sideBuilder struct {
	a       *Application
	at      Attempt
	objects *SideObjects
	err     error
}

// selector selects the driver of whatever attempt is the current one, as the operator's Services do.
func (b *sideBuilder) selector() map[string]string {
	return map[string]string{LabelAppName: b.a.App.Name, LabelSparkRole: SparkRoleDriver}
}

// meta is the metadata of a side object. What the user adds never takes the place of the labels by which it is found.
func (b *sideBuilder) meta(name string, labels, annotations map[string]string) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{
		Name: name, Namespace: b.a.App.Namespace, Labels: map[string]string{}, Annotations: maps.Clone(annotations),
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(b.a.App, v1beta2.SchemeGroupVersion.WithKind("SparkApplication"))},
	}
	maps.Copy(meta.Labels, labels)
	maps.Copy(meta.Labels, map[string]string{
		LabelAppName: b.a.App.Name, LabelSubmissionID: b.at.SubmissionID, LabelCreatedBy: LabelTrue, LabelSideObject: LabelTrue,
	})
	return meta
}

// service adds a Service for a port of the driver.
func (b *sideBuilder) service(meta metav1.ObjectMeta, kind *corev1.ServiceType, port corev1.ServicePort) {
	s := &corev1.Service{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: meta,
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, Selector: b.selector(), Ports: []corev1.ServicePort{port}},
	}
	if kind != nil && *kind != "" {
		s.Spec.Type = *kind
	}
	b.objects.Services = append(b.objects.Services, s)
}

// uiPort is where Spark's UI listens in the driver.
func (a *Application) uiPort() int32 {
	return a.conf.integer(keyUIPort, defaultUIPort, 1, 65535, &report{})
}

func (b *sideBuilder) ui() {
	if !b.at.Side.UIService || !b.a.conf.boolean(keyUIEnabled, true, &report{}) {
		return
	}
	options := b.a.App.Spec.SparkUIOptions
	port := corev1.ServicePort{
		Name: defaultUIPortName, Protocol: corev1.ProtocolTCP, Port: b.a.uiPort(), TargetPort: intstr.FromInt32(b.a.uiPort()),
	}
	var o v1beta2.SparkUIConfiguration
	if options != nil {
		o = *options
		port.Port = defaultUIPort // the operator's default with options; the UI's own without
	}
	if o.ServicePort != nil {
		port.Port = *o.ServicePort
	}
	if given(o.ServicePortName) {
		port.Name = *o.ServicePortName
	}
	name := suffixed(b.a.App.Name, uiServiceSuffix)
	b.service(b.meta(name, o.ServiceLabels, o.ServiceAnnotations), o.ServiceType, port)
	b.objects.UI.ServiceName, b.objects.UI.ServicePort = name, port.Port
	if b.at.Side.IngressURLFormat == "" {
		return
	}
	ingress := suffixed(b.a.App.Name, uiIngressSuffix)
	if address := b.ingress(ingress, b.at.Side.IngressURLFormat, name, port.Port, o.IngressAnnotations, o.IngressTLS); address != "" {
		b.objects.UI.IngressName, b.objects.UI.IngressURL = ingress, address
	}
}

func (b *sideBuilder) driverIngress(o *v1beta2.DriverIngressConfiguration) {
	if o.ServicePort == nil {
		return // refused by validation
	}
	suffix := fmt.Sprintf("-%d", *o.ServicePort)
	port := corev1.ServicePort{
		Name: "driver-ing" + suffix, Protocol: corev1.ProtocolTCP, Port: *o.ServicePort, TargetPort: intstr.FromInt32(*o.ServicePort),
	}
	if given(o.ServicePortName) {
		port.Name = *o.ServicePortName
	}
	name := suffixed(b.a.App.Name, "-driver"+suffix)
	b.service(b.meta(name, o.ServiceLabels, o.ServiceAnnotations), o.ServiceType, port)
	b.ingress(suffixed(b.a.App.Name, "-ing"+suffix), o.IngressURLFormat, name, port.Port, o.IngressAnnotations, o.IngressTLS)
}

// ingress adds an Ingress to a Service, and returns its URL. Nothing is added for a URL that makes none.
func (b *sideBuilder) ingress(name, format, service string, port int32, annotations map[string]string, tls []networkingv1.IngressTLS) string {
	address, err := ingressURL(format, b.a.App, b.at.SubmissionID)
	if err != nil {
		if b.err == nil {
			b.err = fmt.Errorf("the Ingress %s can't be made: %w", name, err)
		}
		return ""
	}
	if len(annotations) == 0 {
		annotations = b.at.Side.IngressAnnotations
	}
	if len(tls) == 0 {
		tls = b.at.Side.IngressTLS
	}
	meta := b.meta(name, nil, annotations)
	path := address.Path
	if hasPath(address) {
		path = strings.TrimRight(path, "/") + nginxPathSuffix
		if meta.Annotations == nil {
			meta.Annotations = map[string]string{}
		}
		meta.Annotations[annotationNginxRewrite] = nginxRewrite
	}
	ingress := &networkingv1.Ingress{
		TypeMeta: metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"}, ObjectMeta: meta,
		Spec: networkingv1.IngressSpec{
			Rules: []networkingv1.IngressRule{{Host: address.Hostname(), IngressRuleValue: networkingv1.IngressRuleValue{
				HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
					Path: path, PathType: new(networkingv1.PathTypeImplementationSpecific),
					Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
						Name: service, Port: networkingv1.ServiceBackendPort{Number: port},
					}},
				}}},
			}}},
		},
	}
	for i := range tls {
		ingress.Spec.TLS = append(ingress.Spec.TLS, *tls[i].DeepCopy())
	}
	if b.at.Side.IngressClassName != "" {
		ingress.Spec.IngressClassName = new(b.at.Side.IngressClassName)
	}
	b.objects.Ingresses = append(b.objects.Ingresses, ingress)
	return address.String()
}

var ingressVariable = regexp.MustCompile(`\{\{\s*\$(\w+)\s*\}\}`)

// ingressURL fills in the variables of a URL of an Ingress: $appName, $appNamespace and $appId in double braces. Without a
// scheme it is http.
func ingressURL(format string, app *v1beta2.SparkApplication, submissionID string) (*url.URL, error) {
	values := map[string]string{"appName": app.Name, "appNamespace": app.Namespace, "appId": namesOf("", "", submissionID).appID}
	unknown := ""
	text := ingressVariable.ReplaceAllStringFunc(format, func(match string) string {
		name := ingressVariable.FindStringSubmatch(match)[1]
		value, ok := values[name]
		if !ok {
			unknown = name
		}
		return value
	})
	if unknown != "" {
		return nil, fmt.Errorf("the URL %q has the variable $%s, and there are only $appName, $appNamespace and $appId", format, unknown)
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	address, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%q is no URL: %w", text, err)
	}
	if problems := validation.IsDNS1123Subdomain(strings.TrimPrefix(address.Hostname(), "*.")); len(problems) > 0 {
		return nil, fmt.Errorf("the host %q of the URL %q can't be that of an Ingress: %s", address.Hostname(), text, strings.Join(problems, "; "))
	}
	return address, nil
}

// CheckIngressURLFormat says what is wrong with the URL that all UIs get.
func CheckIngressURLFormat(format string) error {
	app := &v1beta2.SparkApplication{ObjectMeta: metav1.ObjectMeta{Name: "name", Namespace: "namespace"}}
	_, err := ingressURL(format, app, "00000000-0000-4000-8000-000000000000")
	return err
}

func hasPath(address *url.URL) bool { return address.Path != "" && address.Path != "/" }

// uiProxyProperties tell Spark below which path its UI is seen, where the Ingress has one. Nothing of it is set without:
// the driver would make links that lead nowhere.
func (b *driverBuilder) uiProxyProperties() {
	settings := b.attempt.Side
	if !settings.UIService || settings.IngressURLFormat == "" {
		return
	}
	address, err := ingressURL(settings.IngressURLFormat, b.a.App, b.attempt.SubmissionID)
	if err != nil || !hasPath(address) {
		return
	}
	setDefault(b.objects.Properties, keyUIProxyBase, strings.TrimRight(address.Path, "/"))
	setDefault(b.objects.Properties, keyUIProxyRedirectURI, "/")
}

// suffixed appends a suffix to a name. The result is a DNS label; a name that is too long is cut and told apart by a hash.
func suffixed(name, suffix string) string {
	return Truncated(name, validation.DNS1123LabelMaxLength-len(suffix)) + suffix
}
