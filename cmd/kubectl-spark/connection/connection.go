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

// Package connection reaches the applications of a cluster as kubectl does: by kubeconfig, context and namespace.
package connection

import (
	"net/http"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
)

// Flags say which cluster is meant, by the flags of kubectl.
type Flags struct {
	rules     *clientcmd.ClientConfigLoadingRules
	overrides *clientcmd.ConfigOverrides
}

// NewFlags returns flags with kubectl's defaults.
func NewFlags() *Flags {
	return &Flags{rules: clientcmd.NewDefaultClientConfigLoadingRules(), overrides: &clientcmd.ConfigOverrides{}}
}

// AddFlags adds the flags to those of a command.
func (f *Flags) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.rules.ExplicitPath, "kubeconfig", f.rules.ExplicitPath, "Path to the kubeconfig file to use.")
	clientcmd.BindOverrideFlags(f.overrides, flags, clientcmd.RecommendedConfigOverrideFlags(""))
}

// Connection is a way to the applications of a namespace.
type Connection struct {
	namespace string
	client    rest.Interface
}

// Connect reads the configuration. Nothing is sent.
func (f *Flags) Connect() (*Connection, error) {
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(f.rules, f.overrides)
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, err
	}
	// What a log or a page has is no object of an API.
	config.ContentType, config.AcceptContentTypes = "", ""
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, err
	}
	client, err := versioned.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &Connection{namespace: namespace, client: client.SparkoperatorV1beta2().RESTClient()}, nil
}

// Get returns a request for a subresource of an application.
func (c *Connection) Get(name, subresource string) *rest.Request {
	return c.client.Get().Namespace(c.namespace).Resource("sparkapplications").Name(name).SubResource(subresource)
}

// Transport sends requests with the user's credentials.
func (c *Connection) Transport() http.RoundTripper {
	if client, ok := c.client.(*rest.RESTClient); ok && client.Client != nil && client.Client.Transport != nil {
		return client.Client.Transport
	}
	return http.DefaultTransport
}
