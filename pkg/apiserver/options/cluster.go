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
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/transport"
	"k8s.io/component-base/tracing"
)

const (
	defaultNamespace      = "spark-system"
	serviceAccountNSFile  = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
	podNamespaceVariable  = "POD_NAMESPACE"
	informerResync        = 10 * time.Minute
	defaultKubeAPIQPS     = 500
	defaultKubeAPIBurst   = 1000
	clientAgent           = ComponentName
	controllerClientAgent = ComponentName + "-controller"
)

// ClusterOptions say how the cluster is reached that the server belongs to.
type ClusterOptions struct {
	// Kubeconfig is the file that says how. Empty: the service account of our pod.
	Kubeconfig string
	// QPS and Burst limit the requests to the cluster.
	QPS   float32
	Burst int
	// Namespace is the one that the server runs in.
	Namespace string
	// AllowLoopbackPodIPs lets the subresource proxy reach pods at loopback addresses.
	AllowLoopbackPodIPs bool
}

func newClusterOptions() *ClusterOptions {
	return &ClusterOptions{QPS: defaultKubeAPIQPS, Burst: defaultKubeAPIBurst, Namespace: ownNamespace(serviceAccountNSFile)}
}

// ownNamespace finds out in which namespace the server runs.
func ownNamespace(file string) string {
	if namespace := os.Getenv(podNamespaceVariable); namespace != "" {
		return namespace
	}
	if content, err := os.ReadFile(file); err == nil {
		if namespace := strings.TrimSpace(string(content)); namespace != "" {
			return namespace
		}
	}
	return defaultNamespace
}

func (o *ClusterOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig,
		"How the Kubernetes cluster is reached whose users are served and where applications run. Without it, the service account of the "+
			"pod is used. It holds for authentication and authorization too, where these name no other.")
	fs.Float32Var(&o.QPS, "kube-api-qps", o.QPS, "Requests a second that are sent to the cluster on average, for the admission plugins and for the "+
		"controllers each. Negative: no limit.")
	fs.IntVar(&o.Burst, "kube-api-burst", o.Burst, "Requests that may be sent to the cluster at once.")
	fs.StringVar(&o.Namespace, "server-namespace", o.Namespace,
		"Namespace that the server runs in and keeps objects of its own in. Default: $"+podNamespaceVariable+", the pod's namespace, or "+defaultNamespace+".")
	fs.BoolVar(&o.AllowLoopbackPodIPs, "allow-loopback-pod-ips", o.AllowLoopbackPodIPs,
		"Let the Spark UIs of drivers be reached at loopback addresses. Only for test clusters whose pods are processes of the server's "+
			"machine: elsewhere whoever can write the status of a pod could reach what listens beside the server.")
}

func (o *ClusterOptions) validate(standalone bool) []error {
	var errs []error
	if o.QPS == 0 {
		errs = append(errs, errors.New("--kube-api-qps must not be 0: a negative number means no limit"))
	}
	if o.QPS > 0 && o.Burst < 1 {
		errs = append(errs, errors.New("--kube-api-burst must be at least 1"))
	}
	for _, problem := range validation.ValidateNamespaceName(o.Namespace, false) {
		errs = append(errs, fmt.Errorf("--server-namespace %q: %s", o.Namespace, problem))
	}
	if !standalone {
		// Before anybody else misses the cluster, who would say so in other words.
		if _, err := o.config(); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// config returns how to reach the cluster, in protobuf.
func (o *ClusterOptions) config() (*rest.Config, error) {
	var config *rest.Config
	var err error
	if o.Kubeconfig != "" {
		rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: o.Kubeconfig}
		config, err = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{}).ClientConfig()
		if err != nil {
			return nil, fmt.Errorf("--kubeconfig %s: %w", o.Kubeconfig, err)
		}
	} else {
		config, err = rest.InClusterConfig()
		if errors.Is(err, rest.ErrNotInCluster) {
			return nil, errors.New("there is no Kubernetes cluster to belong to: run in a pod, or give --kubeconfig, or --standalone to try the API without one")
		}
		if err != nil {
			return nil, fmt.Errorf("using the service account of the pod: %w", err)
		}
	}
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	config.QPS, config.Burst = o.QPS, o.Burst
	return config, nil
}

// applyTo configures the client and the informers of the admission plugins and of priority and fairness.
func (o *ClusterOptions) applyTo(config *genericapiserver.RecommendedConfig) (kubernetes.Interface, error) {
	client, err := o.config()
	if err != nil {
		return nil, err
	}
	client = rest.AddUserAgent(client, clientAgent)
	client.Wrap(tracing.WrapperFor(config.TracerProvider))
	kubeClient, err := kubernetes.NewForConfig(client)
	if err != nil {
		return nil, err
	}
	config.ClientConfig = client
	config.SharedInformerFactory = informers.NewSharedInformerFactory(kubeClient, informerResync)
	return kubeClient, nil
}

// clusterClients reach the host cluster for the controllers.
type clusterClients struct {
	kube kubernetes.Interface
	// dynamic is for kinds that only some clusters have.
	dynamic dynamic.Interface
	// metadata reads no more of an object than its metadata.
	metadata metadata.Interface
}

// controllerClients returns clients for the controllers, whose requests are limited apart from those of the server. wrap
// is put around their transports, if it isn't nil.
func (o *ClusterOptions) controllerClients(wrap transport.WrapperFunc) (clients clusterClients, err error) {
	config, err := o.config()
	if err != nil {
		return clients, err
	}
	rest.AddUserAgent(config, controllerClientAgent)
	if wrap != nil {
		config.Wrap(wrap)
	}
	if clients.kube, err = kubernetes.NewForConfig(config); err != nil {
		return clients, err
	}
	if clients.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return clients, err
	}
	clients.metadata, err = metadata.NewForConfig(config)
	return clients, err
}
