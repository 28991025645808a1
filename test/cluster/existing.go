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

package cluster

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// startBesideExisting starts what keeps simulated nodes in a cluster that exists already, and nothing else.
func (c *Cluster) startBesideExisting(ctx context.Context) (_ *Cluster, err error) {
	c.existing = true
	step := newStep(c.options.Progress, "starting simulated nodes' keeper beside the cluster of "+c.options.ExistingKubeconfig)
	defer func() {
		step.done(err)
		if err != nil {
			c.options.KeepData = true
			c.Stop()
		}
	}()
	if err := c.copyKubeconfig(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", c.options.ExistingKubeconfig, err)
	}
	lease, err := leasePort()
	if err != nil {
		return nil, err
	}
	c.leases, c.ports.Kwok = append(c.leases, lease), lease.port
	if c.Kwok, err = c.kwokProcess(); err != nil {
		return nil, err
	}
	if err := c.Kwok.Start(ctx); err != nil {
		return nil, err
	}
	if err := c.startSimulatedDriver(ctx); err != nil {
		return nil, err
	}
	return c, c.saveState()
}

// copyKubeconfig copies the current context of the given kubeconfig, with everything that it refers to, so that the
// user's own file is never written to.
func (c *Cluster) copyKubeconfig() error {
	config, err := (&clientcmd.ClientConfigLoadingRules{ExplicitPath: c.options.ExistingKubeconfig}).Load()
	if err != nil {
		return err
	}
	if err := clientcmdapi.MinifyConfig(config); err != nil {
		return err
	}
	if err := clientcmdapi.FlattenConfig(config); err != nil {
		return err
	}
	if err := clientcmd.WriteToFile(*config, c.Kubeconfig()); err != nil {
		return err
	}
	return c.loadAdmin(false)
}
