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

package etcd

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/klog/v2"
)

const (
	memberName = "spark-apiserver"
	// peerURL is what the store's membership says of its only member. Nothing listens there.
	peerURL = "unix://spark-apiserver-embedded:0"
)

// Server is a running embedded store.
type Server struct {
	config    Config
	etcd      *embed.Etcd
	lock      *fileutil.LockedFile
	socketDir string
	temporary bool
	created   bool

	failed   chan struct{}
	stopping chan struct{}
	stopOnce sync.Once
	failure  error
}

// Start locks the data directory, starts the store and waits until it answers. It returns an *InUseError if another process
// uses the directory. The context bounds the start and carries the logger; Stop ends the store.
func Start(ctx context.Context, config Config) (_ *Server, err error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	logger := klog.LoggerWithName(klog.FromContext(ctx), "etcd")
	s := &Server{config: config, failed: make(chan struct{}), stopping: make(chan struct{})}
	if s.lock, err = lockDataDir(config.DataDir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.release()
		}
	}()
	existed, err := hasMember(config.DataDir)
	if err != nil {
		return nil, fmt.Errorf("reading the data directory: %w", err)
	}
	s.created = !existed
	if s.socketDir, s.temporary, err = socketDir(config.DataDir); err != nil {
		return nil, err
	}
	if s.temporary {
		logger.Info("The data directory's path is too long for a socket; the store listens in a private folder elsewhere",
			"dataDir", config.DataDir, "socket", s.socketPath())
	}

	etcdConfig, err := s.embedConfig(logger)
	if err != nil {
		return nil, err
	}
	if s.etcd, err = embed.StartEtcd(etcdConfig); err != nil {
		return nil, fmt.Errorf("starting the embedded store in %s: %w", config.DataDir, err)
	}
	select {
	case <-s.etcd.Server.ReadyNotify():
	case err = <-s.etcd.Err():
		err = fmt.Errorf("the embedded store in %s failed as it started: %w", config.DataDir, err)
	case <-ctx.Done():
		err = fmt.Errorf("the embedded store in %s did not become ready: %w", config.DataDir, context.Cause(ctx))
	}
	if err == nil {
		err = s.disarmSpaceAlarm(ctx)
	}
	if err != nil {
		s.stopEtcd()
		return nil, err
	}
	go s.watch()
	logger.Info("The embedded store is ready", "dataDir", config.DataDir, "created", s.created,
		"sizeBytes", s.etcd.Server.Backend().Size(), "quotaBytes", config.QuotaBackendBytes)
	return s, nil
}

func (s *Server) embedConfig(logger klog.Logger) (*embed.Config, error) {
	client, err := url.Parse(s.Endpoint())
	if err != nil {
		return nil, err
	}
	peer, err := url.Parse(peerURL)
	if err != nil {
		return nil, err
	}
	c := embed.NewConfig()
	c.Name = memberName
	c.Dir = filepath.Join(s.config.DataDir, memberDirName)
	c.ListenClientUrls = []url.URL{*client}
	c.AdvertiseClientUrls = []url.URL{*client}
	c.ListenPeerUrls = nil
	c.AdvertisePeerUrls = []url.URL{*peer}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.QuotaBackendBytes = s.config.QuotaBackendBytes
	c.BootstrapDefragThresholdMegabytes = defragmentThresholdMegabytes
	c.UnsafeNoFsync = s.config.UnsafeNoFsync
	// The only client speaks gRPC.
	c.EnableGRPCGateway = false
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(newLogger(logger, s.stopping))
	return c, nil
}

func (s *Server) socketPath() string {
	return filepath.Join(s.socketDir, socketName)
}

// Endpoint is the URL of the store, as --etcd-servers takes it.
func (s *Server) Endpoint() string {
	return "unix://" + s.socketPath()
}

// Created tells whether this start made the store. False if it was there before.
func (s *Server) Created() bool {
	return s.created
}

// Failed is closed if the store ends by itself, because of a broken disk for example. Failure then says why.
func (s *Server) Failed() <-chan struct{} {
	return s.failed
}

// Failure is why the store ended by itself. It may be called after Failed is closed.
func (s *Server) Failure() error {
	return s.failure
}

func (s *Server) watch() {
	var err error
	select {
	case <-s.stopping:
		return
	case err = <-s.etcd.Err():
	case <-s.etcd.Server.StopNotify():
	}
	select {
	case <-s.stopping:
		return
	default:
	}
	s.failure = errors.New("the embedded store has stopped by itself")
	if err != nil {
		s.failure = fmt.Errorf("the embedded store failed: %w", err)
	}
	close(s.failed)
}

// Stop ends the store and gives the data directory free. Call it when nobody uses the store any more.
func (s *Server) Stop() {
	s.stopOnce.Do(func() {
		close(s.stopping)
		s.stopEtcd()
		s.release()
	})
}

// stopEtcd ends the raft node before the listeners: closing these first waits for every open stream, of which a client
// leaves some, until a timeout of several seconds.
func (s *Server) stopEtcd() {
	s.etcd.Server.Stop()
	s.etcd.Close()
}

func (s *Server) release() {
	if s.temporary {
		_ = os.RemoveAll(s.socketDir) // nothing depends on it, and the name is never used again
	}
	_ = s.lock.Close() // gives the lock free; nothing was written
}
