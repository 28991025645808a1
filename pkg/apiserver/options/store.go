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
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	basecompatibility "k8s.io/component-base/compatibility"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/apiserver"
	"github.com/spark-apiserver/spark-apiserver/pkg/etcd"
)

const (
	storageMediaType = runtime.ContentTypeProtobuf
	defaultDataDir   = "/var/lib/spark-apiserver"
	defaultIdentity  = "spark-apiserver-store-identity"

	replicaShutdownDelay = 5 * time.Second
	replicaGoawayChance  = 0.001
)

// StoreOptions say where applications are kept.
type StoreOptions struct {
	// DataDir is the folder of the embedded store.
	DataDir string
	// Quota limits the size of the embedded store.
	Quota string
	// IdentityConfigMap is the name of the ConfigMap that holds a copy of the store's identity. Empty: nothing is compared.
	IdentityConfigMap string
	// Replaces is the identity of a lost store that this one may take the place of.
	Replaces string
	// UnsafeNoFsync makes the embedded store fast and unsafe. For tests; there is no flag.
	UnsafeNoFsync bool

	external bool
}

func newStoreOptions() *StoreOptions {
	return &StoreOptions{
		DataDir:           defaultDataDir,
		Quota:             resource.NewQuantity(etcd.DefaultQuotaBackendBytes, resource.BinarySI).String(),
		IdentityConfigMap: defaultIdentity,
	}
}

func (o *StoreOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.DataDir, "data-dir", o.DataDir,
		"Folder of the embedded store, which is used unless --etcd-servers names another. It belongs to exactly one replica and has to "+
			"outlive it: in a cluster, a persistent volume.")
	fs.StringVar(&o.Quota, "embedded-etcd-quota", o.Quota,
		"Size that the embedded store may reach before it refuses to be written to, as a quantity such as 4Gi.")
	fs.StringVar(&o.IdentityConfigMap, "store-identity-configmap", o.IdentityConfigMap,
		"Name of the ConfigMap, in --server-namespace, that records which store holds this cluster's applications. A server with another "+
			"store, an empty one for example, isn't ready and answers 503, since the garbage collector would delete the drivers of applications "+
			"that it doesn't find. Empty: any store is served.")
	fs.StringVar(&o.Replaces, "replaces-store", o.Replaces,
		"Identity of a store that is lost for good, as the ConfigMap records it. The present store takes its place; drivers of applications "+
			"that it doesn't hold are deleted.")
}

func (o *StoreOptions) complete(etcdOptions *genericoptions.EtcdOptions) {
	o.external = len(etcdOptions.StorageConfig.Transport.ServerList) > 0
}

// Embedded tells whether the store is the embedded one. It may be called after Complete.
func (o *StoreOptions) Embedded() bool {
	return !o.external
}

// EmbeddedConfig returns the configuration of the embedded store.
func (o *StoreOptions) EmbeddedConfig() (etcd.Config, error) {
	quota, err := resource.ParseQuantity(o.Quota)
	if err != nil {
		return etcd.Config{}, fmt.Errorf("--embedded-etcd-quota %q: %w", o.Quota, err)
	}
	config := etcd.Config{DataDir: o.DataDir, QuotaBackendBytes: quota.Value(), UnsafeNoFsync: o.UnsafeNoFsync}
	if err := config.Validate(); err != nil {
		return etcd.Config{}, fmt.Errorf("--data-dir, --embedded-etcd-quota: %w", err)
	}
	return config, nil
}

func (o *StoreOptions) validate(etcdOptions *genericoptions.EtcdOptions) []error {
	var errs []error
	checked := *etcdOptions
	if o.Embedded() {
		if _, err := o.EmbeddedConfig(); err != nil {
			errs = append(errs, err)
		}
		transport := &checked.StorageConfig.Transport
		if transport.CertFile != "" || transport.KeyFile != "" || transport.TrustedCAFile != "" {
			errs = append(errs, errors.New("--etcd-certfile, --etcd-keyfile and --etcd-cafile need --etcd-servers: the embedded store has no network to be secured on"))
		}
		if len(checked.EtcdServersOverrides) > 0 {
			errs = append(errs, errors.New("--etcd-servers-overrides needs --etcd-servers"))
		}
		// The address is known when the store runs.
		transport.ServerList = []string{"unix:"}
	}
	errs = append(errs, checked.Validate()...)
	if o.Replaces != "" && o.IdentityConfigMap == "" {
		errs = append(errs, errors.New("--replaces-store needs --store-identity-configmap: without it, any store is served"))
	}
	return errs
}

// resources are those that are stored, with the part of their keys that follows the prefix. It must never change.
var resources = map[schema.GroupResource]string{
	sparkoperator.Resource("sparkapplications"):          sparkoperator.GroupName + "/sparkapplications",
	sparkoperator.Resource("scheduledsparkapplications"): sparkoperator.GroupName + "/scheduledsparkapplications",
}

// applyStorage configures where and how resources are stored. EtcdOptions.ApplyTo would do with a factory that ignores
// --storage-media-type and --etcd-servers-overrides.
func (o *Options) applyStorage(config *genericapiserver.Config) error {
	options := *o.Etcd
	options.StorageConfig.StorageObjectCountTracker = config.StorageObjectCountTracker
	if config.EgressSelector != nil && !o.Store.Embedded() {
		options.StorageConfig.Transport.EgressLookup = config.EgressSelector.Lookup
	}
	if config.TracerProvider != nil {
		options.StorageConfig.Transport.TracerProvider = config.TracerProvider
	}
	enabled := serverstorage.NewResourceConfig()
	enabled.EnableVersions(v1beta2.SchemeGroupVersion)
	factory := serverstorage.NewDefaultStorageFactory(
		options.StorageConfig,
		options.DefaultStorageMediaType,
		apiserver.Codecs,
		serverstorage.NewDefaultResourceEncodingConfigForEffectiveVersion(apiserver.Scheme,
			o.components.EffectiveVersionFor(basecompatibility.DefaultKubeComponent)),
		enabled,
		resources,
	)
	overrides, err := genericoptions.ParseEtcdServersOverrides(options.EtcdServersOverrides)
	if err != nil {
		return err
	}
	for _, override := range overrides {
		factory.SetEtcdLocation(override.GroupResource, override.Servers)
	}
	return options.ApplyWithStorageFactoryTo(factory, config)
}
