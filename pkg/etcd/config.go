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
	"path/filepath"
)

const (
	// DefaultQuotaBackendBytes is the default limit of the store's size: 8 GiB, the most that etcd recommends. etcd's own
	// default of 2 GiB is reached by some ten thousand applications with a busy history.
	DefaultQuotaBackendBytes int64 = 8 << 30

	// minQuotaBackendBytes keeps a typing error (a number of megabytes, say) from making a store that is full at once.
	minQuotaBackendBytes int64 = 64 << 20

	// defragmentThresholdMegabytes is how much space a start must be able to free for defragmentation to be worth its
	// time. Nobody else defragments: the API machinery only compacts.
	defragmentThresholdMegabytes = 128
)

// Config describes an embedded store.
type Config struct {
	// DataDir is the folder of the store. It is created, and made private to the user that runs the process.
	DataDir string
	// QuotaBackendBytes limits the size of the store in bytes. A full store refuses writes until it is compacted or the
	// limit is raised.
	QuotaBackendBytes int64
	// UnsafeNoFsync leaves out waiting for the disk: a crash of the machine can lose or corrupt the store. For tests.
	UnsafeNoFsync bool
}

// Validate returns what is wrong with the configuration.
func (c Config) Validate() error {
	var errs []error
	switch {
	case c.DataDir == "":
		errs = append(errs, errors.New("the data directory must be named"))
	case !filepath.IsAbs(c.DataDir):
		errs = append(errs, fmt.Errorf("the data directory must be an absolute path, not %q", c.DataDir))
	}
	if c.QuotaBackendBytes < minQuotaBackendBytes {
		errs = append(errs, fmt.Errorf("the quota must be at least %d bytes, not %d", minQuotaBackendBytes, c.QuotaBackendBytes))
	}
	return errors.Join(errs...)
}
