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
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// lockFile waits for an exclusive lock on a file, which the kernel gives up when its holder ends in whatever way.
// waiting is called once if somebody else holds it.
func lockFile(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	var f *os.File
	told := false
	err = wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(context.Context) (bool, error) {
		locked, err := tryLockFile(path)
		if err != nil {
			return false, err
		}
		if locked == nil {
			if !told {
				waiting()
				told = true
			}
			return false, nil
		}
		f = locked
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return func() { _ = f.Close() }, nil
}

// tryLockFile returns the locked file, or nil if another holder has it. Closing the file unlocks it.
func tryLockFile(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case err == nil:
		return f, nil
	case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, syscall.EINTR):
		_ = f.Close()
		return nil, nil
	default:
		_ = f.Close()
		return nil, err
	}
}
