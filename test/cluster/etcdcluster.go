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
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// EtcdCluster is an etcd of several members on this machine, as an external store of our server's. It is apart from the
// etcd of the control plane, so that its members can be stopped, killed and started one by one.
type EtcdCluster struct {
	// Members are the processes, which are called store-1, store-2 and so on in the names of their logs.
	Members []*Process

	endpoints []string
}

// Endpoints are the URLs at which the members serve clients, in clear text on the loopback interface, in the order of
// Members.
func (e *EtcdCluster) Endpoints() []string { return slices.Clone(e.endpoints) }

// StartEtcdCluster starts an etcd of so many members and waits until all of them are healthy. It ends with the cluster,
// after every server.
func (c *Cluster) StartEtcdCluster(ctx context.Context, members int) (_ *EtcdCluster, err error) {
	step := newStep(c.options.Progress, "starting an etcd of "+strconv.Itoa(members)+" members")
	defer func() { step.done(err) }()
	e := &EtcdCluster{}
	names, peers := make([]string, members), make([]string, members)
	initial := make([]string, members)
	for i := range members {
		client, err := c.lease()
		if err != nil {
			return nil, err
		}
		peer, err := c.lease()
		if err != nil {
			return nil, err
		}
		names[i] = "store-" + strconv.Itoa(i+1)
		peers[i] = "http://" + local(peer)
		initial[i] = names[i] + "=" + peers[i]
		e.endpoints = append(e.endpoints, "http://"+local(client))
	}
	for i, name := range names {
		member := c.newProcess(Etcd, healthy(http.DefaultTransport, e.endpoints[i]+"/health"),
			"--name="+name, "--data-dir="+filepath.Join(c.Dir, name),
			"--listen-client-urls="+e.endpoints[i], "--advertise-client-urls="+e.endpoints[i],
			"--listen-peer-urls="+peers[i], "--initial-advertise-peer-urls="+peers[i],
			"--initial-cluster="+strings.Join(initial, ","), "--initial-cluster-token="+filepath.Base(c.Dir),
			"--unsafe-no-fsync",
			"--log-level=warn",
		)
		member.LogPath = filepath.Join(c.Dir, "logs", name+".log")
		e.Members = append(e.Members, member)
	}
	c.mu.Lock()
	c.stores = append(c.stores, e.Members...)
	c.mu.Unlock()
	// None of them is healthy before most of them run.
	if err := c.startTogether(ctx, e.Members...); err != nil {
		return nil, fmt.Errorf("starting an etcd of %d members: %w", members, err)
	}
	return e, nil
}

// lease leases a port until the cluster stops.
func (c *Cluster) lease() (int, error) {
	lease, err := leasePort()
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	c.leases = append(c.leases, lease)
	c.mu.Unlock()
	return lease.port, nil
}

func (c *Cluster) takeStores() []*Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	stores := c.stores
	c.stores = nil
	return stores
}
