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
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// Empty says whether there is nothing to be made.
func (o *SideObjects) Empty() bool {
	return len(o.Services) == 0 && len(o.Ingresses) == 0 && o.PodDisruptionBudget == nil
}

// besideAttempt is testAttempt on a server with such settings.
func besideAttempt(settings SideSettings) Attempt {
	attempt := testAttempt
	attempt.Side = settings
	return attempt
}

func side(t *testing.T, settings SideSettings, edits ...func(*v1beta2.SparkApplication)) *SideObjects {
	t.Helper()
	a, errs := Resolve(newApp(edits...), testSpecPath)
	require.Empty(t, errs.ToAggregate())
	objects, err := BuildSide(a, besideAttempt(settings))
	require.NoError(t, err)
	return objects
}

func TestUIService(t *testing.T) {
	assert.True(t, func() bool { o := side(t, SideSettings{}); return o.Empty() }())
	assert.True(t, func() bool {
		o := side(t, SideSettings{UIService: true}, withConf("spark.ui.enabled", "false"))
		return o.Empty()
	}())

	o := side(t, SideSettings{UIService: true})
	require.Len(t, o.Services, 1)
	assert.Empty(t, o.Ingresses)
	s := o.Services[0]
	assert.Equal(t, "spark-pi-ui-svc", s.Name)
	assert.Equal(t, "jobs", s.Namespace)
	assert.True(t, metav1.IsControlledBy(s, newApp()))
	assert.Equal(t, corev1.ServiceSpec{
		Type: corev1.ServiceTypeClusterIP, Selector: map[string]string{LabelAppName: "spark-pi", LabelSparkRole: SparkRoleDriver},
		Ports: []corev1.ServicePort{{Name: "spark-driver-ui-port", Protocol: corev1.ProtocolTCP, Port: 4040, TargetPort: intstr.FromInt32(4040)}},
	}, s.Spec)
	assert.Equal(t, SideUI{ServiceName: "spark-pi-ui-svc", ServicePort: 4040}, o.UI)

	o = side(t, SideSettings{UIService: true}, withConf("spark.ui.port", "4100"))
	assert.Equal(t, int32(4100), o.Services[0].Spec.Ports[0].Port)

	o = side(t, SideSettings{UIService: true}, withConf("spark.ui.port", "4100"), edit(func(s *v1beta2.SparkApplicationSpec) {
		s.SparkUIOptions = &v1beta2.SparkUIConfiguration{
			ServicePort: new(int32(80)), ServicePortName: new("ui"), ServiceType: new(corev1.ServiceTypeNodePort),
			ServiceLabels:      map[string]string{"team": "a", LabelAppName: "forged"},
			ServiceAnnotations: map[string]string{"note": "b"},
		}
	}))
	s = o.Services[0]
	assert.Equal(t, corev1.ServiceTypeNodePort, s.Spec.Type)
	assert.Equal(t, corev1.ServicePort{Name: "ui", Protocol: corev1.ProtocolTCP, Port: 80, TargetPort: intstr.FromInt32(4100)}, s.Spec.Ports[0])
	assert.Equal(t, map[string]string{"note": "b"}, s.Annotations)
	assert.Equal(t, map[string]string{
		"team": "a", LabelAppName: "spark-pi", LabelSubmissionID: testSubmissionID, LabelCreatedBy: "true", LabelSideObject: "true",
	}, s.Labels, "labels of the user are added to ours")
}

func TestUIIngress(t *testing.T) {
	settings := SideSettings{
		UIService: true, IngressURLFormat: "https://{{$appName}}.{{ $appNamespace }}.example.com", IngressClassName: "nginx",
		IngressAnnotations: map[string]string{"from": "server"}, IngressTLS: []networkingv1.IngressTLS{{SecretName: "server"}},
	}
	o := side(t, settings)
	require.Len(t, o.Ingresses, 1)
	i := o.Ingresses[0]
	assert.Equal(t, "spark-pi-ui-ingress", i.Name)
	assert.Equal(t, map[string]string{"from": "server"}, i.Annotations)
	assert.Equal(t, networkingv1.IngressSpec{
		IngressClassName: new("nginx"), TLS: settings.IngressTLS,
		Rules: []networkingv1.IngressRule{{Host: "spark-pi.jobs.example.com", IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
			Paths: []networkingv1.HTTPIngressPath{{
				PathType: new(networkingv1.PathTypeImplementationSpecific),
				Backend:  networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "spark-pi-ui-svc", Port: networkingv1.ServiceBackendPort{Number: 4040}}},
			}},
		}}}},
	}, i.Spec)
	assert.Equal(t, "https://spark-pi.jobs.example.com", o.UI.IngressURL)

	// By a path, nginx cuts it off. What the application says takes the place of the server's.
	settings.IngressURLFormat = "spark.example.com/{{$appNamespace}}/{{$appId}}/"
	o = side(t, settings, edit(func(s *v1beta2.SparkApplicationSpec) {
		s.SparkUIOptions = &v1beta2.SparkUIConfiguration{
			IngressAnnotations: map[string]string{"from": "application"}, IngressTLS: []networkingv1.IngressTLS{{SecretName: "application"}},
		}
	}))
	i = o.Ingresses[0]
	id := "spark-" + strings.ReplaceAll(testSubmissionID, "-", "")
	assert.Equal(t, "/jobs/"+id+"(/|$)(.*)", i.Spec.Rules[0].HTTP.Paths[0].Path)
	assert.Equal(t, map[string]string{"from": "application", "nginx.ingress.kubernetes.io/rewrite-target": "/$2"}, i.Annotations)
	assert.Equal(t, "application", i.Spec.TLS[0].SecretName)
	assert.Equal(t, "http://spark.example.com/jobs/"+id+"/", o.UI.IngressURL)
	assert.Equal(t, map[string]string{"from": "server"}, settings.IngressAnnotations, "settings are shared by all applications")
}

// The driver is told the path below which its UI is seen, and only where there is one.
func TestUIProxyBase(t *testing.T) {
	with := func(format string) Attempt {
		at := testAttempt
		at.Side = SideSettings{UIService: true, IngressURLFormat: format}
		return at
	}
	_, o := builtWith(t, with("spark.example.com/{{$appNamespace}}/{{$appName}}"))
	assert.Equal(t, "/jobs/spark-pi", o.Properties["spark.ui.proxyBase"])
	assert.Equal(t, "/", o.Properties["spark.ui.proxyRedirectUri"])
	_, o = builtWith(t, with("spark.example.com/x"), withConf("spark.ui.proxyBase", "/mine"))
	assert.Equal(t, "/mine", o.Properties["spark.ui.proxyBase"])
	for _, format := range []string{"", "{{$appName}}.example.com", "{{$appName}}.example.com/"} {
		_, o = builtWith(t, with(format))
		assert.NotContains(t, o.Properties, "spark.ui.proxyBase", format)
		assert.NotContains(t, o.Properties, "spark.ui.proxyRedirectUri", format)
	}
}

func TestDriverIngress(t *testing.T) {
	o := side(t, SideSettings{IngressClassName: "nginx"}, edit(func(s *v1beta2.SparkApplicationSpec) {
		s.DriverIngressOptions = []v1beta2.DriverIngressConfiguration{
			{ServicePort: new(int32(9010)), ServicePortName: new("jmx"), IngressURLFormat: "jmx.example.com/{{$appName}}", ServiceLabels: map[string]string{"a": "b"}},
			{ServicePort: new(int32(9020)), ServicePortName: new(""), IngressURLFormat: "http://other.example.com"},
		}
	}))
	require.Len(t, o.Services, 2)
	require.Len(t, o.Ingresses, 2)
	assert.Equal(t, "spark-pi-driver-9010", o.Services[0].Name)
	assert.Equal(t, corev1.ServicePort{Name: "jmx", Protocol: corev1.ProtocolTCP, Port: 9010, TargetPort: intstr.FromInt32(9010)}, o.Services[0].Spec.Ports[0])
	assert.Equal(t, "b", o.Services[0].Labels["a"])
	assert.Equal(t, "driver-ing-9020", o.Services[1].Spec.Ports[0].Name)
	assert.Equal(t, "spark-pi-ing-9010", o.Ingresses[0].Name)
	assert.Equal(t, "/spark-pi(/|$)(.*)", o.Ingresses[0].Spec.Rules[0].HTTP.Paths[0].Path)
	assert.Equal(t, "spark-pi-driver-9010", o.Ingresses[0].Spec.Rules[0].HTTP.Paths[0].Backend.Service.Name)
	assert.Equal(t, "other.example.com", o.Ingresses[1].Spec.Rules[0].Host)
	assert.Empty(t, o.UI)
}

func TestDriverPodDisruptionBudget(t *testing.T) {
	o := side(t, SideSettings{}, edit(func(s *v1beta2.SparkApplicationSpec) { s.DriverPodDisruptionBudget = new(true) }))
	require.NotNil(t, o.PodDisruptionBudget)
	assert.Equal(t, "spark-pi-driver", o.PodDisruptionBudget.Name)
	assert.Equal(t, intstr.FromInt32(1), *o.PodDisruptionBudget.Spec.MinAvailable)
	assert.Equal(t, map[string]string{LabelAppName: "spark-pi", LabelSparkRole: SparkRoleDriver}, o.PodDisruptionBudget.Spec.Selector.MatchLabels)
	assert.Nil(t, side(t, SideSettings{}, edit(func(s *v1beta2.SparkApplicationSpec) { s.DriverPodDisruptionBudget = new(false) })).PodDisruptionBudget)
}

// A name that is too long is cut, and two applications whose names begin alike get names of their own.
func TestNamesOfSideObjectsFit(t *testing.T) {
	names := map[string]bool{}
	for _, end := range []string{"a", "b"} {
		o := side(t, SideSettings{UIService: true, IngressURLFormat: "x.example.com"}, func(app *v1beta2.SparkApplication) {
			app.Name = strings.Repeat("x", 62) + end
			app.Spec.Driver.PodName = new("driver")
			app.Spec.DriverIngressOptions = []v1beta2.DriverIngressConfiguration{{ServicePort: new(int32(65000)), IngressURLFormat: "y.example.com"}}
		})
		for _, s := range o.Services {
			assert.Empty(t, validation.IsDNS1035Label(s.Name), s.Name)
			names[s.Name] = true
		}
		for _, i := range o.Ingresses {
			assert.Empty(t, validation.IsDNS1123Subdomain(i.Name), i.Name)
			names[i.Name] = true
		}
	}
	assert.Len(t, names, 8)
}

// A URL that makes no Ingress costs that Ingress and nothing else.
func TestURLThatMakesNoIngress(t *testing.T) {
	for format, want := range map[string]string{
		"{{$appNam}}.example.com": "$appNam", "http://": "host", "http://a_b/": "host", "http://[::1": "is no URL",
	} {
		require.ErrorContains(t, CheckIngressURLFormat(format), want, format)
		a, errs := Resolve(newApp(), testSpecPath)
		require.Empty(t, errs)
		o, err := BuildSide(a, besideAttempt(SideSettings{UIService: true, IngressURLFormat: format}))
		require.ErrorContains(t, err, want)
		assert.Len(t, o.Services, 1)
		assert.Empty(t, o.Ingresses)
		assert.Empty(t, o.UI.IngressName)
	}
	require.NoError(t, CheckIngressURLFormat("*.example.com/{{ $appId }}"))
}
