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
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/validation"
)

const (
	// PluginName is the name of the plugin in --disable-admission-plugins.
	PluginName = "SparkAllowedSchedulers"
	// Annotation of a namespace takes the place of the list that holds for the cluster. Names are separated by commas.
	Annotation = "sparkoperator.k8s.io/allowed-schedulers"
	// Any in a list allows every scheduler.
	Any = "*"
)

// Plugin refuses applications that name a scheduler which their namespace doesn't allow.
type Plugin struct {
	*admission.Handler

	allowed    []string
	schedulers validation.BatchSchedulers
	namespaces corelisters.NamespaceLister
	client     kubernetes.Interface
}

var (
	_ admission.ValidationInterface                = &Plugin{}
	_ admission.InitializationValidator            = &Plugin{}
	_ initializer.WantsExternalKubeInformerFactory = &Plugin{}
	_ initializer.WantsExternalKubeClientSet       = &Plugin{}
)

// New returns the plugin. allowed holds for namespaces that say nothing; schedulers are those that the server knows.
func New(allowed []string, schedulers validation.BatchSchedulers) *Plugin {
	return &Plugin{Handler: admission.NewHandler(admission.Create, admission.Update), allowed: allowed, schedulers: schedulers}
}

// SetExternalKubeInformerFactory implements WantsExternalKubeInformerFactory.
func (p *Plugin) SetExternalKubeInformerFactory(factory informers.SharedInformerFactory) {
	namespaces := factory.Core().V1().Namespaces()
	p.namespaces = namespaces.Lister()
	p.SetReadyFunc(namespaces.Informer().HasSynced)
}

// SetExternalKubeClientSet implements WantsExternalKubeClientSet.
func (p *Plugin) SetExternalKubeClientSet(client kubernetes.Interface) {
	p.client = client
}

// ValidateInitialization implements InitializationValidator.
func (p *Plugin) ValidateInitialization() error {
	if p.namespaces == nil || p.client == nil {
		return errors.New("the plugin " + PluginName + " needs to know the namespaces of the cluster")
	}
	return nil
}

// Validate refuses schedulers that are named anew and aren't allowed.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	app, ok := a.GetObject().(*sparkoperator.SparkApplication)
	if !ok || a.GetSubresource() != "" {
		return nil
	}
	asked := validation.SchedulersAskedFor(app, p.schedulers)
	if old, ok := a.GetOldObject().(*sparkoperator.SparkApplication); ok {
		for _, known := range validation.SchedulersAskedFor(old, p.schedulers) {
			for i := range slices.Backward(asked) {
				if asked[i].Value == known.Value {
					asked = slices.Delete(asked, i, i+1)
				}
			}
		}
	}
	if len(asked) == 0 {
		return nil
	}
	if !p.WaitForReady() {
		return admission.NewForbidden(a, errors.New("not yet ready to handle request"))
	}
	allowed, err := p.allowedIn(ctx, a.GetNamespace())
	if err != nil {
		return err
	}
	if slices.Contains(allowed, Any) {
		return nil
	}
	for _, scheduler := range asked {
		if slices.Contains(allowed, scheduler.Value) {
			continue
		}
		where := "the server's default batch scheduler"
		if scheduler.Path != nil {
			where = scheduler.Path.String()
		}
		return admission.NewForbidden(a, fmt.Errorf("%s: the scheduler %q is not allowed in the namespace %q: %s",
			where, scheduler.Value, a.GetNamespace(), alternatives(allowed)))
	}
	return nil
}

func alternatives(allowed []string) string {
	if len(allowed) == 0 {
		return "name none, so that the pods go to " + corev1.DefaultSchedulerName
	}
	return "allowed are " + strings.Join(allowed, ", ") + " and " + corev1.DefaultSchedulerName
}

// allowedIn returns the list that holds for a namespace. One that no cache shows yet is asked for.
func (p *Plugin) allowedIn(ctx context.Context, name string) ([]string, error) {
	namespace, err := p.namespaces.Get(name)
	if apierrors.IsNotFound(err) {
		namespace, err = p.client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil, err
	case err != nil:
		return nil, apierrors.NewInternalError(fmt.Errorf("read which schedulers the namespace %q allows: %w", name, err))
	}
	if list, ok := namespace.Annotations[Annotation]; ok {
		return Names(list), nil
	}
	return p.allowed, nil
}

// Names reads a list of names that are separated by commas.
func Names(list string) []string {
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}
