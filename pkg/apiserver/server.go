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
	"context"
	"errors"
	"fmt"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/klog/v2"
)

const serverName = "spark-apiserver"

// Server serves SparkApplications and runs their controllers.
type Server struct {
	// GenericAPIServer is the server without what is ours.
	GenericAPIServer *genericapiserver.GenericAPIServer

	controllers *controllerManager
}

// New makes the server; nothing runs yet.
func (c CompletedConfig) New() (*Server, error) {
	generic, err := c.generic.New(serverName, genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, err
	}
	group, err := c.sparkOperatorGroup()
	if err != nil {
		return nil, err
	}
	if err := generic.InstallAPIGroup(group); err != nil {
		return nil, fmt.Errorf("installing the group %s: %w", group.PrioritizedVersions[0].Group, err)
	}
	if c.extra.StoreMetrics != nil {
		generic.Handler.NonGoRestfulMux.Handle("/metrics/etcd", c.extra.StoreMetrics)
	}
	// Nobody adds this hook by default; without it the server says that it is ready before its watch caches are.
	if err := generic.AddPostStartHook("storage-readiness", generic.StorageReadinessHook.Hook); err != nil {
		return nil, err
	}
	if guard := c.extra.StoreIdentity; guard != nil {
		err := generic.AddPostStartHook("store-identity", func(hook genericapiserver.PostStartHookContext) error {
			go guard.Run(klog.NewContext(hook, klog.LoggerWithName(klog.FromContext(hook), "store-identity")))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	server := &Server{GenericAPIServer: generic}
	if server.controllers, err = c.addControllers(generic); err != nil {
		return nil, err
	}
	return server, nil
}

// Run serves until the context is done, and then stops the controllers and drains the requests before it returns. It
// returns an error if the server ends otherwise.
func (s *Server) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case err := <-s.controllers.failed:
			cancel(err)
		case <-ctx.Done():
		}
	}()
	err := s.GenericAPIServer.PrepareRun().RunWithContext(ctx)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		err = errors.Join(cause, err)
	}
	return err
}
