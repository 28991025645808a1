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

package storeidentity

import (
	"context"
	"fmt"
	"path"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"k8s.io/apiserver/pkg/storage/storagebackend"
)

// markerName is the last part of the key; it is never the name of a group.
const markerName = "store-identity"

// Marker is the identity inside of a store.
type Marker interface {
	// Get returns the identity, or nothing if the store has none.
	Get(ctx context.Context) (string, error)
	// Create gives the store an identity unless it has one, and returns the one that it has then.
	Create(ctx context.Context, identity string) (string, error)
	// Close ends the connection to the store.
	Close() error
}

type etcdMarker struct {
	client *clientv3.Client
	key    string
}

// NewMarker returns the identity of the store that a storage configuration describes. It connects when it is first used.
func NewMarker(config storagebackend.Config) (Marker, error) {
	etcdConfig := clientv3.Config{
		Endpoints:   config.Transport.ServerList,
		DialTimeout: 20 * time.Second,
		Logger:      zap.NewNop(),
	}
	info := transport.TLSInfo{
		CertFile:      config.Transport.CertFile,
		KeyFile:       config.Transport.KeyFile,
		TrustedCAFile: config.Transport.TrustedCAFile,
	}
	// Only a nil TLS configuration means none to the client.
	if info.CertFile != "" || info.KeyFile != "" || info.TrustedCAFile != "" {
		tlsConfig, err := info.ClientConfig()
		if err != nil {
			return nil, fmt.Errorf("reading the certificates for etcd: %w", err)
		}
		etcdConfig.TLS = tlsConfig
	}
	client, err := clientv3.New(etcdConfig)
	if err != nil {
		return nil, fmt.Errorf("making a client for etcd: %w", err)
	}
	return &etcdMarker{client: client, key: path.Join("/", config.Prefix, markerName)}, nil
}

// Get implements Marker.
func (m *etcdMarker) Get(ctx context.Context) (string, error) {
	response, err := m.client.Get(ctx, m.key)
	if err != nil {
		return "", fmt.Errorf("reading the identity of the store: %w", err)
	}
	if len(response.Kvs) == 0 {
		return "", nil
	}
	return string(response.Kvs[0].Value), nil
}

// Create implements Marker.
func (m *etcdMarker) Create(ctx context.Context, identity string) (string, error) {
	response, err := m.client.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(m.key), "=", 0)).
		Then(clientv3.OpPut(m.key, identity)).
		Else(clientv3.OpGet(m.key)).
		Commit()
	if err != nil {
		return "", fmt.Errorf("writing the identity of the store: %w", err)
	}
	if response.Succeeded {
		return identity, nil
	}
	return string(response.Responses[0].GetResponseRange().Kvs[0].Value), nil
}

// Close implements Marker.
func (m *etcdMarker) Close() error {
	return m.client.Close()
}
