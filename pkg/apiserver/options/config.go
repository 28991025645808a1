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
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/apimachinery/pkg/util/sets"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/egressselector"
	genericfilters "k8s.io/apiserver/pkg/server/filters"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/transport"

	"github.com/spark-apiserver/spark-apiserver/pkg/apiserver"
	"github.com/spark-apiserver/spark-apiserver/pkg/apiserver/storeidentity"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/openapi"
	"github.com/spark-apiserver/spark-apiserver/pkg/sparkui"
	"github.com/spark-apiserver/spark-apiserver/pkg/version"
)

// Config turns completed and valid options into the configuration of the server. The store must run and be named in
// Etcd.StorageConfig.Transport.ServerList.
func (o *Options) Config() (*apiserver.Config, error) {
	generic := genericapiserver.NewRecommendedConfig(apiserver.Codecs)
	if err := o.Server.ApplyTo(&generic.Config); err != nil {
		return nil, err
	}
	generic.EffectiveVersion = reportedVersion{o.components.EffectiveVersionFor(ComponentName)}
	o.components.AddMetrics()
	utilfeature.DefaultMutableFeatureGate.AddMetrics()

	describeAPI(&generic.Config)
	generic.LongRunningFunc = genericfilters.BasicLongRunningRequestCheck(sets.NewString("watch", "proxy"), sets.NewString("log", "proxy"))

	if err := o.EgressSelector.ApplyTo(&generic.Config); err != nil {
		return nil, err
	}
	if err := o.Traces.ApplyTo(generic.EgressSelector, &generic.Config); err != nil {
		return nil, err
	}
	if err := o.SecureServing.ApplyToConfig(&generic.Config); err != nil {
		return nil, err
	}
	if err := o.Authentication.ApplyTo(&generic.Authentication, generic.SecureServing, generic.OpenAPIConfig); err != nil {
		return nil, err
	}
	if err := o.Authorization.ApplyTo(&generic.Authorization); err != nil {
		return nil, err
	}
	if err := o.Audit.ApplyTo(&generic.Config); err != nil {
		return nil, err
	}
	if err := o.applyStorage(&generic.Config); err != nil {
		return nil, err
	}
	config := &apiserver.Config{
		GenericConfig: generic,
		ExtraConfig: apiserver.ExtraConfig{
			FeatureGate:       o.featureGates(),
			Workers:           o.Controllers.Workers,
			SparkApplications: o.Controllers.SparkApplications,
			Schedulers:        o.Schedulers.schedulers(),
			Side:              o.SideObjects.settings(),
		},
	}
	if o.Store.Embedded() {
		// etcd registers its metrics with the default registry, which the API machinery doesn't use.
		config.ExtraConfig.StoreMetrics = promhttp.HandlerFor(prometheus.DefaultGatherer, promhttp.HandlerOpts{})
	}
	if o.Standalone.Enabled {
		return config, o.Features.ApplyTo(&generic.Config, nil, nil)
	}
	return config, o.applyCluster(config)
}

// applyCluster configures everything that needs the cluster.
func (o *Options) applyCluster(config *apiserver.Config) error {
	generic := config.GenericConfig
	client, err := o.Cluster.applyTo(generic)
	if err != nil {
		return err
	}
	if err := o.applyPods(config, client); err != nil {
		return err
	}
	if err := o.Features.ApplyTo(&generic.Config, client, generic.SharedInformerFactory); err != nil {
		return err
	}
	if err := o.applyAdmission(generic, client); err != nil {
		return err
	}
	if config.ExtraConfig.StoreIdentity, err = o.storeIdentity(client); err != nil {
		return err
	}
	config.ExtraConfig.Controllers = o.Controllers.Enabled(apiserver.ControllerNames())
	if len(config.ExtraConfig.Controllers) == 0 {
		return nil
	}
	if config.ExtraConfig.Elector, err = o.elector(); err != nil {
		return err
	}
	var fence transport.WrapperFunc
	if elector := config.ExtraConfig.Elector; elector != nil {
		fence = elector.Fence().WrapTransport
	}
	clients, err := o.Cluster.controllerClients(fence)
	if err != nil {
		return err
	}
	config.ExtraConfig.KubeClient, config.ExtraConfig.DynamicClient, config.ExtraConfig.MetadataClient = clients.kube, clients.dynamic, clients.metadata
	return nil
}

// applyPods configures how pods are reached on behalf of users.
func (o *Options) applyPods(config *apiserver.Config, client kubernetes.Interface) error {
	config.ExtraConfig.PodClient = client
	config.ExtraConfig.AllowLoopbackPodIPs = o.Cluster.AllowLoopbackPodIPs
	if selector := config.GenericConfig.EgressSelector; selector != nil {
		dial, err := selector.Lookup(egressselector.Cluster.AsNetworkContext())
		if err != nil {
			return err
		}
		if dial != nil {
			config.ExtraConfig.DialPods = sparkui.DialFunc(dial)
		}
	}
	return nil
}

func (o *Options) storeIdentity(client kubernetes.Interface) (*storeidentity.Guard, error) {
	if o.Store.IdentityConfigMap == "" {
		return nil, nil //nolint:nilnil // no guard is a choice
	}
	marker, err := storeidentity.NewMarker(o.Etcd.StorageConfig)
	if err != nil {
		return nil, err
	}
	return storeidentity.NewGuard(storeidentity.Options{
		Marker:    marker,
		Client:    client,
		Namespace: o.Cluster.Namespace,
		ConfigMap: o.Store.IdentityConfigMap,
		Replaces:  o.Store.Replaces,
	}), nil
}

// describeAPI configures what the server says of its API: OpenAPI 2, which kubectl and the aggregator still ask for, and 3.
func describeAPI(config *genericapiserver.Config) {
	namer := openapinamer.NewDefinitionNamer(apiserver.Scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(openapi.GetOpenAPIDefinitions, namer)
	config.OpenAPIConfig.Info.Title = "spark-apiserver"
	config.OpenAPIConfig.Info.Version = version.Get().GitVersion
	config.OpenAPIConfig.PostProcessSpec = withoutStrategicMerge
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(openapi.GetOpenAPIDefinitions, namer)
	config.OpenAPIV3Config.Info.Title = config.OpenAPIConfig.Info.Title
	config.OpenAPIV3Config.Info.Version = config.OpenAPIConfig.Info.Version
	config.OpenAPIV3Config.PostProcessSpec = withoutStrategicMergeV3
}
