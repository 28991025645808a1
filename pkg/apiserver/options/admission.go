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
	validatingadmissionpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
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

const admissionRegistrationVersion = "admissionregistration.k8s.io/v1"

// policyPlugins are the plugins that not every cluster has the resources for: mutating policies came with Kubernetes 1.36,
// validating ones with 1.30.
var policyPlugins = []struct {
	name      string
	resources []string
}{
	{mutatingadmissionpolicy.PluginName, []string{"mutatingadmissionpolicies", "mutatingadmissionpolicybindings"}},
	{validatingadmissionpolicy.PluginName, []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings"}},
}

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

// disableUnservedPlugins turns off the plugins of policies that the cluster doesn't serve in the version that the plugin
// watches: it is too old, or its administrator has turned them off. Their informers would never be ready, and until they
// are, every write is refused.
func disableUnservedPlugins(options *genericoptions.AdmissionOptions, cluster discovery.ServerResourcesInterface) error {
	served, err := cluster.ServerResourcesForGroupVersion(admissionRegistrationVersion)
	if apierrors.IsNotFound(err) {
		served, err = &metav1.APIResourceList{}, nil
	}
	if err != nil {
		return fmt.Errorf("asking the cluster for its admission policies: %w", err)
	}
	for _, plugin := range policyPlugins {
		missing := slices.DeleteFunc(slices.Clone(plugin.resources), func(name string) bool {
			return slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Name == name })
		})
		if len(missing) == 0 || slices.Contains(options.DisablePlugins, plugin.name) {
			continue
		}
		klog.Background().Info("The cluster doesn't serve what an admission plugin watches; the plugin is turned off",
			"plugin", plugin.name, "resources", missing, "version", admissionRegistrationVersion)
		options.DisablePlugins = append(slices.Clone(options.DisablePlugins), plugin.name)
		options.EnablePlugins = slices.DeleteFunc(slices.Clone(options.EnablePlugins), func(name string) bool { return name == plugin.name })
	}
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
