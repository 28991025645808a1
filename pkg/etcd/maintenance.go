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
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"k8s.io/klog/v2"
)

// client returns a client of the store; the caller closes it.
func (s *Server) client() (*clientv3.Client, error) {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{s.Endpoint()}, Logger: zap.NewNop()})
	if err != nil {
		return nil, fmt.Errorf("connecting to the embedded store: %w", err)
	}
	return c, nil
}

// disarmSpaceAlarm lets a store accept writes again that was full and has room now, because its quota was raised or
// because the start has defragmented it. etcd keeps the alarm until somebody takes it back.
func (s *Server) disarmSpaceAlarm(ctx context.Context) (err error) {
	c, err := s.client()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	response, err := c.AlarmList(ctx)
	if err != nil {
		return fmt.Errorf("listing the embedded store's alarms: %w", err)
	}
	for _, alarm := range response.Alarms {
		size := s.etcd.Server.Backend().Size()
		if alarm.Alarm != etcdserverpb.AlarmType_NOSPACE || size >= s.config.QuotaBackendBytes {
			klog.FromContext(ctx).Error(nil, "The embedded store has an alarm", "alarm", alarm.Alarm.String(), "sizeBytes", size,
				"quotaBytes", s.config.QuotaBackendBytes)
			continue
		}
		if _, err := c.AlarmDisarm(ctx, (*clientv3.AlarmMember)(alarm)); err != nil {
			return fmt.Errorf("taking back the embedded store's alarm of being full: %w", err)
		}
		klog.FromContext(ctx).Info("The embedded store was full and has room again", "sizeBytes", size, "quotaBytes", s.config.QuotaBackendBytes)
	}
	return nil
}

// Snapshot writes a snapshot of the running store to a file, which appears complete or not at all. It is restored with
// etcdutl snapshot restore; restore with --bump-revision and --mark-compacted, so that watchers see that history went back.
func (s *Server) Snapshot(ctx context.Context, path string) (err error) {
	c, err := s.client()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	snapshot, err := c.SnapshotWithVersion(ctx)
	if err != nil {
		return fmt.Errorf("taking a snapshot: %w", err)
	}
	defer func() { err = errors.Join(err, snapshot.Snapshot.Close()) }()
	return writeFile(path, snapshot.Snapshot)
}

func writeFile(path string, content io.Reader) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".part-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	if _, err := io.Copy(file, content); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := file.Sync(); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
