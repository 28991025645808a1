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
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// The ports that servers get lie below every usual range of ephemeral ports: a program that is restarted must find its
// port again, not taken meanwhile by somebody's outgoing connection.
const (
	firstPort = 20000
	lastPort  = 29999
)

// portLease is a free TCP port on 127.0.0.1 that no other test cluster of this machine picks while the lease is held.
type portLease struct {
	port int
	lock *os.File
}

// leasePort finds a port that nobody listens on. Other programs than ours could still take it before its server does;
// then that server says so in its log and the start fails.
func leasePort() (*portLease, error) {
	dir := filepath.Join(os.TempDir(), "spark-test-cluster-ports-"+strconv.Itoa(os.Getuid()))
	for range 200 {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		lock, err := tryLockFile(filepath.Join(dir, strconv.Itoa(port)))
		if err != nil {
			return nil, fmt.Errorf("leasing a port: %w", err)
		}
		if lock == nil {
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			_ = lock.Close()
			continue
		}
		_ = l.Close()
		return &portLease{port: port, lock: lock}, nil
	}
	return nil, errors.New("leasing a port: none of 200 tried is free")
}

func (l *portLease) release() {
	// The file stays: removing it would let two holders lock different files of one name.
	_ = l.lock.Close()
}
