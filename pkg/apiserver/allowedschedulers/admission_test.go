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

package allowedschedulers

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/validation"
)

func newPlugin(t *testing.T, allowed []string, schedulers validation.BatchSchedulers, namespaces ...runtime.Object) *Plugin {
	t.Helper()
	client := fake.NewClientset(namespaces...)
	factory := informers.NewSharedInformerFactory(client, 0)
	p := New(allowed, schedulers)
	require.Error(t, p.ValidateInitialization())
	p.SetExternalKubeInformerFactory(factory)
	p.SetExternalKubeClientSet(client)
	require.NoError(t, p.ValidateInitialization())
	factory.StartWithContext(t.Context())
	factory.WaitForCacheSyncWithContext(t.Context())
	return p
}

func namespace(name string, list ...string) *corev1.Namespace {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if len(list) > 0 {
		ns.Annotations = map[string]string{Annotation: list[0]}
	}
	return ns
}

func application(ns string, edit func(*sparkoperator.SparkApplicationSpec)) *sparkoperator.SparkApplication {
	app := &sparkoperator.SparkApplication{ObjectMeta: metav1.ObjectMeta{Name: "pi", Namespace: ns}}
	if edit != nil {
		edit(&app.Spec)
	}
	return app
}

func validate(t *testing.T, p *Plugin, app, old *sparkoperator.SparkApplication, subresource string) error {
	t.Helper()
	operation, oldObject := admission.Create, runtime.Object(nil)
	if old != nil {
		operation, oldObject = admission.Update, old
	}
	return p.Validate(t.Context(), admission.NewAttributesRecord(app, oldObject, sparkoperator.SchemeGroupVersion.WithKind("SparkApplication"),
		app.Namespace, app.Name, sparkoperator.SchemeGroupVersion.WithResource("sparkapplications"), subresource, operation, nil, false, nil), nil)
}

func TestWhatIsAllowed(t *testing.T) {
	top := func(name string) func(*sparkoperator.SparkApplicationSpec) {
		return func(s *sparkoperator.SparkApplicationSpec) { s.BatchScheduler = &name }
	}
	nested := func(name string) func(*sparkoperator.SparkApplicationSpec) {
		return func(s *sparkoperator.SparkApplicationSpec) {
			s.Scheduling = &sparkoperator.SparkSchedulingSpec{BatchScheduler: &sparkoperator.BatchSchedulerSpec{Name: name}}
		}
	}
	pod := func(name string) func(*sparkoperator.SparkApplicationSpec) {
		return func(s *sparkoperator.SparkApplicationSpec) { s.Executor.SchedulerName = &name }
	}
	template := func(s *sparkoperator.SparkApplicationSpec) {
		s.Driver.Template = &runtime.RawExtension{Raw: []byte(`{"spec":{"schedulerName":"mine"}}`)}
	}
	volcano := []string{"volcano"}
	for _, tc := range []struct {
		name       string
		allowed    []string
		schedulers validation.BatchSchedulers
		namespace  *corev1.Namespace
		edit       func(*sparkoperator.SparkApplicationSpec)
		want       string
	}{
		{name: "anything", allowed: []string{Any}, edit: top("yunikorn")},
		{name: "an allowed one", allowed: volcano, edit: top("volcano")},
		{name: "another one", allowed: volcano, edit: top("yunikorn"), want: `spec.batchScheduler: the scheduler "yunikorn" is not allowed in the namespace "team": allowed are volcano and default-scheduler`},
		{name: "another one, nested", allowed: volcano, edit: nested("yunikorn"), want: `spec.scheduling.batchScheduler: the scheduler "yunikorn"`},
		{name: "none named", allowed: volcano},
		{name: "the default scheduler", allowed: volcano, edit: pod("default-scheduler")},
		{name: "a scheduler of pods", allowed: volcano, edit: pod("mine"), want: `spec.executor.schedulerName: the scheduler "mine"`},
		{name: "a scheduler in a template", allowed: volcano, edit: template, want: `spec.driver.template.spec.schedulerName: the scheduler "mine"`},
		{name: "the namespace allows more", allowed: volcano, namespace: namespace("team", "volcano, yunikorn"), edit: top("yunikorn")},
		{name: "the namespace allows all", allowed: volcano, namespace: namespace("team", "*"), edit: top("yunikorn")},
		{name: "the namespace allows less", allowed: []string{Any}, namespace: namespace("team", "yunikorn"), edit: top("volcano"), want: "allowed are yunikorn"},
		{name: "the namespace allows none", allowed: []string{Any}, namespace: namespace("team", ""), edit: top("volcano"), want: "name none, so that the pods go to default-scheduler"},
		{name: "the default of the server is forbidden", allowed: []string{Any}, namespace: namespace("team", "yunikorn"),
			schedulers: validation.BatchSchedulers{Default: "volcano"}, want: `the server's default batch scheduler: the scheduler "volcano"`},
		{name: "no namespace", allowed: volcano, namespace: namespace("other"), edit: top("volcano"), want: "not found"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.namespace == nil {
				tc.namespace = namespace("team")
			}
			err := validate(t, newPlugin(t, tc.allowed, tc.schedulers, tc.namespace), application("team", tc.edit), nil, "")
			if tc.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tc.want)
			}
		})
	}
}

// What was stored before it was forbidden stays editable, but for naming another one.
func TestUpdatesOfWhatIsForbiddenByNow(t *testing.T) {
	p := newPlugin(t, nil, validation.BatchSchedulers{}, namespace("team"))
	named := func(name string) *sparkoperator.SparkApplication {
		return application("team", func(s *sparkoperator.SparkApplicationSpec) { s.BatchScheduler = &name })
	}
	edited := named("volcano")
	edited.Spec.Arguments = []string{"1000"}
	require.NoError(t, validate(t, p, edited, named("volcano"), ""))
	require.NoError(t, validate(t, p, application("team", nil), named("volcano"), ""))
	require.ErrorContains(t, validate(t, p, named("yunikorn"), named("volcano"), ""), "not allowed")
	require.ErrorContains(t, validate(t, p, named("volcano"), application("team", nil), ""), "not allowed")
	require.NoError(t, validate(t, p, named("yunikorn"), named("volcano"), "status"), "a status names nothing")
}

func TestNames(t *testing.T) {
	assert.Equal(t, []string{"a", "b"}, Names(" a,b ,, "))
	assert.Empty(t, Names(""))
}
