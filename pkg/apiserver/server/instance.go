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

// Package server runs the server from its options: the store, the server, and the end of both in order.
package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/spark-apiserver/spark-apiserver/pkg/apiserver"
	"github.com/spark-apiserver/spark-apiserver/pkg/apiserver/options"
	"github.com/spark-apiserver/spark-apiserver/pkg/etcd"
)

// storeStartLimit bounds the start of the embedded store, which reads its log and may have to be defragmented.
const storeStartLimit = 5 * time.Minute

// Instance is a server with its store.
type Instance struct {
	server *apiserver.Server
	store  *etcd.Server // nil with an external one
}

// Prepare completes and validates options, starts the embedded store if it is the one to use, and makes the server. Whoever
// doesn't call Run then has to call Stop.
func Prepare(ctx context.Context, o *options.Options) (_ *Instance, err error) {
	if err := o.Complete(); err != nil {
		return nil, err
	}
	if errs := o.Validate(); len(errs) > 0 {
		return nil, utilerrors.NewAggregate(errs)
	}
	i := &Instance{}
	defer func() {
		if err != nil {
			i.Stop()
		}
	}()
	if o.Store.Embedded() {
		if err := i.startStore(ctx, o); err != nil {
			return nil, err
		}
	}
	config, err := o.Config()
	if err != nil {
		return nil, err
	}
	if i.server, err = config.Complete().New(); err != nil {
		return nil, err
	}
	if o.Standalone.Enabled {
		if err := o.Standalone.WriteAdminKubeconfig(i.LoopbackClientConfig()); err != nil {
			return nil, err
		}
		klog.FromContext(ctx).Info("Running without a cluster: no application runs", "kubeconfig", o.Standalone.AdminKubeconfig)
	}
	return i, nil
}

func (i *Instance) startStore(ctx context.Context, o *options.Options) error {
	config, err := o.Store.EmbeddedConfig()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, storeStartLimit)
	defer cancel()
	if i.store, err = etcd.Start(ctx, config); err != nil {
		return err
	}
	o.Etcd.StorageConfig.Transport.ServerList = []string{i.store.Endpoint()}
	return nil
}

// LoopbackClientConfig is a client configuration with every right.
func (i *Instance) LoopbackClientConfig() *rest.Config {
	return i.server.GenericAPIServer.LoopbackClientConfig
}

// StoreEndpoint is the URL of the embedded store; it is empty with an external one.
func (i *Instance) StoreEndpoint() string {
	if i.store == nil {
		return ""
	}
	return i.store.Endpoint()
}

// Run serves until the context is done, or until the store or a controller fails, which is an error. The store is stopped
// when the last request has been answered.
func (i *Instance) Run(ctx context.Context) error {
	defer i.Stop()
	if i.store == nil {
		return i.server.Run(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-i.store.Failed():
			cancel(i.store.Failure())
		case <-ctx.Done():
		}
	}()
	err := i.server.Run(ctx)
	select {
	case <-i.store.Failed():
		if failure := i.store.Failure(); !errors.Is(err, failure) {
			err = errors.Join(failure, err)
		}
	default:
	}
	if err != nil {
		return fmt.Errorf("the server has ended: %w", err)
	}
	return nil
}

// Stop ends the store of an instance that doesn't run.
func (i *Instance) Stop() {
	if i.store != nil {
		i.store.Stop()
	}
}
