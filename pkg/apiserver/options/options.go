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
	"net"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	"k8s.io/apiserver/pkg/features"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apiserver"
)

const (
	// ComponentName is our name in --feature-gates and --emulated-version.
	ComponentName = "spark-apiserver"

	// storePrefix is the first part of every key. It differs from the prefix of kube-apiserver, which keeps custom
	// resources of our group under the very names that ours have, so that both may use one etcd.
	storePrefix = "/spark-apiserver"

	// defaultPort needs no right to bind low ports.
	defaultPort = 8443

	// http2MaxStreams is higher than usual: all clients share the few connections of the aggregator.
	http2MaxStreams = 1000

	watchTerminationGracePeriod = 10 * time.Second
)

// Options are everything that flags can say.
type Options struct {
	Server         *genericoptions.ServerRunOptions
	SecureServing  *genericoptions.SecureServingOptionsWithLoopback
	Authentication *genericoptions.DelegatingAuthenticationOptions
	Authorization  *genericoptions.DelegatingAuthorizationOptions
	Audit          *genericoptions.AuditOptions
	Features       *genericoptions.FeatureOptions
	Admission      *genericoptions.AdmissionOptions
	EgressSelector *genericoptions.EgressSelectorOptions
	Traces         *genericoptions.TracingOptions
	Etcd           *genericoptions.EtcdOptions
	Logs           *logs.Options

	Store          *StoreOptions
	Cluster        *ClusterOptions
	Controllers    *ControllerOptions
	LeaderElection *LeaderElectionOptions
	Schedulers     *SchedulerOptions
	SideObjects    *SideObjectOptions
	Standalone     *StandaloneOptions

	components basecompatibility.ComponentGlobalsRegistry
	flags      *cliflag.NamedFlagSets
}

func init() {
	utilruntime.Must(logsapi.AddFeatureGates(utilfeature.DefaultMutableFeatureGate))
}

// New returns the options with their defaults.
func New() *Options {
	components := newComponents()
	o := &Options{
		Server:         genericoptions.NewServerRunOptionsForComponent(basecompatibility.DefaultKubeComponent, components),
		SecureServing:  genericoptions.NewSecureServingOptions().WithLoopback(),
		Authentication: genericoptions.NewDelegatingAuthenticationOptions(),
		Authorization:  genericoptions.NewDelegatingAuthorizationOptions(),
		Audit:          genericoptions.NewAuditOptions(),
		Features:       genericoptions.NewFeatureOptions(),
		Admission:      genericoptions.NewAdmissionOptions(),
		EgressSelector: genericoptions.NewEgressSelectorOptions(),
		Traces:         genericoptions.NewTracingOptions(),
		Etcd:           genericoptions.NewEtcdOptions(storagebackend.NewDefaultConfig(storePrefix, nil)),
		Logs:           logs.NewOptions(),
		Store:          newStoreOptions(),
		Cluster:        newClusterOptions(),
		Controllers:    newControllerOptions(),
		Schedulers:     newSchedulerOptions(),
		LeaderElection: newLeaderElectionOptions(),
		SideObjects:    newSideObjectOptions(),
		Standalone:     &StandaloneOptions{},
		components:     components,
	}

	// Requests that have begun are answered, and watches are ended little by little.
	o.Server.ShutdownSendRetryAfter = true
	o.Server.ShutdownWatchTerminationGracePeriod = watchTerminationGracePeriod

	o.SecureServing.BindPort = defaultPort
	o.SecureServing.HTTP2MaxStreamsPerConnection = http2MaxStreams
	// Without a certificate, one is made in memory: the working directory is not ours to write to.
	o.SecureServing.ServerCert.CertDirectory = ""
	o.SecureServing.ServerCert.PairName = ""

	o.Etcd.DefaultStorageMediaType = storageMediaType

	o.Schedulers.register(o.Admission)
	resourcequota.Register(o.Admission.Plugins)
	// Quota comes last, so that nothing is counted that another plugin refuses.
	o.Admission.RecommendedPluginOrder = append(o.Admission.RecommendedPluginOrder, resourcequota.PluginName)
	return o
}

// FlagSets returns the flags in the groups in which help shows them. It is called once, before the flags are parsed.
func (o *Options) FlagSets() *cliflag.NamedFlagSets {
	sets := &cliflag.NamedFlagSets{}
	o.flags = sets
	o.Cluster.addFlags(sets.FlagSet("cluster"))
	o.Store.addFlags(sets.FlagSet("store"))
	o.Controllers.addFlags(sets.FlagSet("controller"))
	o.Schedulers.addFlags(sets.FlagSet("batch schedulers"))
	o.LeaderElection.addFlags(sets.FlagSet("leader election"))
	o.SideObjects.addFlags(sets.FlagSet("side objects"))
	o.Standalone.addFlags(sets.FlagSet("standalone"))
	o.SecureServing.AddFlags(sets.FlagSet("secure serving"))
	o.Authentication.AddFlags(sets.FlagSet("authentication"))
	o.Authorization.AddFlags(sets.FlagSet("authorization"))
	o.Admission.AddFlags(sets.FlagSet("admission"))
	o.Server.AddUniversalFlags(sets.FlagSet("serving requests"))
	o.Features.AddFlags(sets.FlagSet("serving requests"))
	moveFlags(sets.FlagSet("serving requests"), sets.FlagSet("feature"), "feature-gates", "emulated-version",
		"min-compatibility-version", "emulation-forward-compatible", "runtime-config-emulation-forward-compatible")
	o.Etcd.AddFlags(sets.FlagSet("etcd"))
	o.Audit.AddFlags(sets.FlagSet("audit"))
	o.EgressSelector.AddFlags(sets.FlagSet("egress and tracing"))
	o.Traces.AddFlags(sets.FlagSet("egress and tracing"))
	logsapi.AddFlags(o.Logs, sets.FlagSet("log"))
	o.describeFlags()
	return sets
}

// changed tells whether the user set a flag.
func (o *Options) changed(name string) bool {
	if o.flags == nil {
		return false
	}
	for _, set := range o.flags.FlagSets {
		if flag := set.Lookup(name); flag != nil {
			return flag.Changed
		}
	}
	return false
}

// Complete derives what the user didn't set. It is called once, after the flags are parsed.
func (o *Options) Complete() error {
	if err := o.components.Set(); err != nil {
		return err
	}
	o.Store.complete(o.Etcd)
	if err := o.Standalone.complete(o); err != nil {
		return err
	}
	if o.Cluster.Kubeconfig != "" {
		// Who reaches one cluster for one purpose reaches it for every one.
		if o.Authentication.RemoteKubeConfigFile == "" {
			o.Authentication.RemoteKubeConfigFile = o.Cluster.Kubeconfig
		}
		if o.Authorization.RemoteKubeConfigFile == "" {
			o.Authorization.RemoteKubeConfigFile = o.Cluster.Kubeconfig
		}
	}
	if !o.Store.Embedded() {
		o.completeForReplicas()
	}
	// A request may take as long to list as its timeout, and the watch that follows must still find its place.
	o.Etcd.StorageConfig.EventsHistoryWindow = max(o.Etcd.StorageConfig.EventsHistoryWindow, o.Server.RequestTimeout+15*time.Second)
	if err := o.Server.DefaultAdvertiseAddress(o.SecureServing.SecureServingOptions); err != nil {
		return err
	}
	service := ComponentName + "." + o.Cluster.Namespace + ".svc"
	return o.SecureServing.MaybeDefaultWithSelfSignedCerts("localhost", []string{service}, []net.IP{net.IPv4(127, 0, 0, 1)})
}

// completeForReplicas sets what only makes sense where another replica takes over: the endpoint of one that ends is given
// time to disappear, and connections move now and then, since kube-apiserver holds just one of them.
func (o *Options) completeForReplicas() {
	if !o.changed("shutdown-delay-duration") {
		o.Server.ShutdownDelayDuration = replicaShutdownDelay
	}
	if !o.changed("goaway-chance") {
		o.Server.GoawayChance = replicaGoawayChance
	}
	if !o.changed(leaderElectFlag) && !o.Standalone.Enabled {
		o.LeaderElection.LeaderElect = true
	}
}

// Validate returns everything that is wrong with the options.
func (o *Options) Validate() []error {
	var errs []error
	errs = append(errs, o.Server.Validate()...)
	errs = append(errs, o.SecureServing.Validate()...)
	errs = append(errs, o.Authentication.Validate()...)
	errs = append(errs, o.Authorization.Validate()...)
	errs = append(errs, o.Audit.Validate()...)
	errs = append(errs, o.Features.Validate()...)
	errs = append(errs, o.Admission.Validate()...)
	errs = append(errs, o.EgressSelector.Validate()...)
	errs = append(errs, o.Traces.Validate()...)
	errs = append(errs, o.Store.validate(o.Etcd)...)
	errs = append(errs, o.Cluster.validate(o.Standalone.Enabled)...)
	errs = append(errs, o.Controllers.validate(apiserver.ControllerNames())...)
	errs = append(errs, o.Schedulers.validate()...)
	errs = append(errs, o.LeaderElection.validate()...)
	errs = append(errs, o.SideObjects.validate()...)
	errs = append(errs, o.Standalone.validate(o)...)
	if utilfeature.DefaultFeatureGate.Enabled(features.CBORServingAndStorage) {
		errs = append(errs, errCBOR)
	}
	return errs
}
