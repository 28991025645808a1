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

package options

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	mutatingadmissionpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	quota "k8s.io/apiserver/pkg/quota/v1/generic"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/klog/v2"
)

const (
	admissionRegistrationVersion = "admissionregistration.k8s.io/v1"
	mutatingPoliciesResource     = "mutatingadmissionpolicies"
)

// applyAdmission configures the admission plugins, which watch their configuration in the cluster.
func (o *Options) applyAdmission(config *genericapiserver.RecommendedConfig, client kubernetes.Interface) error {
	options := *o.Admission
	if err := disableUnservedPlugins(&options, client.Discovery()); err != nil {
		return err
	}
	dynamicClient, err := dynamic.NewForConfig(config.ClientConfig)
	if err != nil {
		return err
	}
	return options.ApplyTo(&config.Config, config.SharedInformerFactory, client, dynamicClient, utilfeature.DefaultFeatureGate,
		// CEL's functions are versioned by Kubernetes, not by us.
		o.components.EffectiveVersionFor(basecompatibility.DefaultKubeComponent),
		quotaInitializer{})
}

// disableUnservedPlugins turns off mutating policies where the cluster doesn't serve them in the version that the plugin
// watches (before Kubernetes 1.36). Its informer would never be ready, and until it is, every write is refused.
func disableUnservedPlugins(options *genericoptions.AdmissionOptions, cluster discovery.ServerResourcesInterface) error {
	if slices.Contains(options.DisablePlugins, mutatingadmissionpolicy.PluginName) {
		return nil
	}
	served, err := cluster.ServerResourcesForGroupVersion(admissionRegistrationVersion)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("asking the cluster for its admission policies: %w", err)
	}
	if err == nil && slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Name == mutatingPoliciesResource }) {
		return nil
	}
	klog.Background().Info("The cluster serves no mutating admission policies; the plugin is turned off",
		"plugin", mutatingadmissionpolicy.PluginName, "resource", mutatingPoliciesResource, "version", admissionRegistrationVersion)
	options.DisablePlugins = append(slices.Clone(options.DisablePlugins), mutatingadmissionpolicy.PluginName)
	options.EnablePlugins = slices.DeleteFunc(slices.Clone(options.EnablePlugins),
		func(name string) bool { return name == mutatingadmissionpolicy.PluginName })
	return nil
}

// quotaInitializer lets the quota plugin count objects; there is nothing else to be measured here. It comes after the
// generic initializer, since the plugin has to know first when to stop.
type quotaInitializer struct{}

// Initialize implements admission.PluginInitializer.
func (quotaInitializer) Initialize(plugin admission.Interface) {
	if wants, ok := plugin.(initializer.WantsQuotaConfiguration); ok {
		wants.SetQuotaConfiguration(quota.NewConfiguration(nil, nil))
	}
}
