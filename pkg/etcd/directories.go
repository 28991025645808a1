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
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

const (
	memberDirName = "etcd"
	lockName      = "lock"
	socketName    = "etcd.sock"

	// maxSocketPath is how many bytes the path of a unix socket may have: sockaddr_un holds 108 with the closing zero.
	maxSocketPath = 107
)

// InUseError says that another process uses a data directory.
type InUseError struct {
	// DataDir is the directory.
	DataDir string
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("data directory %s is in use by another process: an embedded store serves exactly one replica "+
		"(wait until the other process has ended, give this one a directory of its own, or use --etcd-servers)", e.DataDir)
}

// lockDataDir makes the data directory and takes its lock. The lock goes with the process, however it ends. etcd locks
// its database too, but waits for it without a limit.
func lockDataDir(dataDir string) (*fileutil.LockedFile, error) {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return nil, fmt.Errorf("making the data directory: %w", err)
	}
	// A mounted volume comes with the rights of its root folder, which may let others in.
	info, err := os.Stat(dataDir)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(dataDir, 0o700); err != nil { //nolint:gosec // a folder needs the right to enter it
			return nil, fmt.Errorf("making the data directory private: %w", err)
		}
	}
	lock, err := fileutil.TryLockFile(filepath.Join(dataDir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	switch {
	case errors.Is(err, fileutil.ErrLocked):
		return nil, &InUseError{DataDir: dataDir}
	case err != nil:
		return nil, fmt.Errorf("locking the data directory: %w", err)
	}
	return lock, nil
}

// socketDir returns the folder for the socket, and whether it is a temporary one that has to be removed at the end: a data
// directory can be too deep for the path of a socket.
func socketDir(dataDir string) (dir string, temporary bool, err error) {
	if len(filepath.Join(dataDir, socketName)) <= maxSocketPath {
		return dataDir, false, nil
	}
	dir, err = os.MkdirTemp("", "spark-apiserver-")
	if err != nil {
		return "", false, fmt.Errorf("making a folder for the store's socket: %w", err)
	}
	if path := filepath.Join(dir, socketName); len(path) > maxSocketPath {
		return "", false, errors.Join(
			fmt.Errorf("no folder is short enough for the store's socket: %s has more than %d bytes (use a shorter data directory or TMPDIR)", path, maxSocketPath),
			os.Remove(dir))
	}
	return dir, true, nil
}

// hasMember tells whether the data directory holds a store already.
func hasMember(dataDir string) (bool, error) {
	_, err := os.Stat(filepath.Join(dataDir, memberDirName, "member"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
