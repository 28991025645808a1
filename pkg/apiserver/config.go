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

package apiserver

import (
	"net/http"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/component-base/featuregate"

	"github.com/spark-apiserver/spark-apiserver/pkg/apiserver/leadership"
	"github.com/spark-apiserver/spark-apiserver/pkg/apiserver/storeidentity"
	"github.com/spark-apiserver/spark-apiserver/pkg/controller/sparkapplication"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
	"github.com/spark-apiserver/spark-apiserver/pkg/sparkui"
)

// ExtraConfig is what the server needs beside the configuration of a generic API server.
type ExtraConfig struct {
	// Side are the settings for the side objects of applications, such as the Services of UIs.
	Side spark.SideSettings
	// FeatureGate holds our feature gates.
	FeatureGate featuregate.FeatureGate
	// Controllers are the names of the controllers to run, of those that ControllerNames knows.
	Controllers []string
	// Workers is how many objects a controller handles at a time.
	Workers int
	// SparkApplications are what holds for every SparkApplication.
	SparkApplications sparkapplication.Settings
	// Elector chooses one of several replicas to run the controllers. Nil: this replica runs them in any case.
	Elector *leadership.Elector
	// KubeClient reaches the cluster that the applications run in. Nil without one; no controller runs then. With an
	// elector, its fence must be around the client.
	KubeClient kubernetes.Interface
	// DynamicClient reaches the same cluster for the PodGroups of batch schedulers, behind the same fence. Nil without one.
	DynamicClient dynamic.Interface
	// Schedulers are the batch schedulers that applications may ask for.
	Schedulers scheduling.Schedulers
	// MetadataClient reaches the same cluster for the metadata of objects alone.
	MetadataClient metadata.Interface
	// PodClient reads pods and their logs on behalf of users, who are authorized for the subresources log and proxy. Nil
	// without a cluster.
	PodClient kubernetes.Interface
	// DialPods connects to pods for the subresource proxy. Nil: directly.
	DialPods sparkui.DialFunc
	// AllowLoopbackPodIPs lets pods have loopback addresses, for clusters whose pods are processes of this machine.
	AllowLoopbackPodIPs bool
	// StoreIdentity guards against serving the wrong store. Nil: the store is served whatever it is.
	StoreIdentity *storeidentity.Guard
	// StoreMetrics serves the metrics of an embedded store. Nil without one.
	StoreMetrics http.Handler
}

// Config is what the server is made from.
type Config struct {
	GenericConfig *genericapiserver.RecommendedConfig
	ExtraConfig   ExtraConfig
}

// CompletedConfig is a Config with everything derived that can be.
type CompletedConfig struct {
	generic genericapiserver.CompletedConfig
	extra   ExtraConfig
}

// Complete derives what the user didn't set.
func (c *Config) Complete() CompletedConfig {
	if guard := c.ExtraConfig.StoreIdentity; guard != nil {
		c.GenericConfig.AddReadyzChecks(guard)
		build := c.GenericConfig.BuildHandlerChainFunc
		// Innermost, so that nobody learns anything of the store who isn't authorized.
		c.GenericConfig.BuildHandlerChainFunc = func(handler http.Handler, config *genericapiserver.Config) http.Handler {
			return build(guard.Filter(handler, config.Serializer), config)
		}
	}
	if headers := c.GenericConfig.Authentication.RequestHeaderConfig; headers != nil {
		proxy := frontProxy{config: headers}
		c.GenericConfig.AddReadyzChecks(proxy)
		build := c.GenericConfig.BuildHandlerChainFunc
		// Outermost, because authentication is what it guards.
		c.GenericConfig.BuildHandlerChainFunc = func(handler http.Handler, config *genericapiserver.Config) http.Handler {
			return proxy.filter(build(handler, config))
		}
	}
	return CompletedConfig{generic: c.GenericConfig.Complete(), extra: c.ExtraConfig}
}
