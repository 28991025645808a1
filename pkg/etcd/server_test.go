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
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/klog/v2/ktesting"
)

// holdEnv makes the test binary a process that holds a data directory until its input ends.
const holdEnv = "SPARK_APISERVER_TEST_HOLD_DATA_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdEnv); dir != "" {
		server, err := Start(context.Background(), testConfig(dir))
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		fmt.Println("holding")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		server.Stop()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func testConfig(dir string) Config {
	return Config{DataDir: dir, QuotaBackendBytes: DefaultQuotaBackendBytes, UnsafeNoFsync: true}
}

func start(t *testing.T, config Config) *Server {
	t.Helper()
	_, ctx := ktesting.NewTestContext(t)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	server, err := Start(ctx, config)
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	return server
}

func withClient(t *testing.T, s *Server, do func(*clientv3.Client)) {
	t.Helper()
	client, err := s.client()
	require.NoError(t, err)
	do(client)
	require.NoError(t, client.Close())
}

func TestRestartKeepsData(t *testing.T) {
	config := testConfig(filepath.Join(t.TempDir(), "data"))
	first := start(t, config)
	assert.True(t, first.Created())
	withClient(t, first, func(c *clientv3.Client) {
		_, err := c.Put(t.Context(), "/key", "value")
		require.NoError(t, err)
	})
	first.Stop()
	select {
	case <-first.Failed():
		t.Fatal("a store that was stopped counts as failed")
	default:
	}

	second := start(t, config)
	assert.False(t, second.Created())
	withClient(t, second, func(c *clientv3.Client) {
		got, err := c.Get(t.Context(), "/key")
		require.NoError(t, err)
		require.Len(t, got.Kvs, 1)
		assert.Equal(t, "value", string(got.Kvs[0].Value))
	})
}

func TestDataDirIsPrivateAndNothingListensOnTheNetwork(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755)) // as a mounted volume comes
	server := start(t, testConfig(dir))

	info, err := os.Stat(dir)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	assert.True(t, strings.HasPrefix(server.Endpoint(), "unix:///"), server.Endpoint())
	assert.Empty(t, server.etcd.Peers, "there are no peers to listen for")
	for _, listener := range server.etcd.Clients {
		assert.Equal(t, "unix", listener.Addr().Network())
	}
}

func TestSecondProcessIsRefusedAtOnce(t *testing.T) {
	dir := t.TempDir()
	holder := exec.CommandContext(t.Context(), os.Args[0])
	holder.Env = append(os.Environ(), holdEnv+"="+dir)
	input, err := holder.StdinPipe()
	require.NoError(t, err)
	output, err := holder.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, holder.Start())
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "holding\n", line)

	// No deadline: the lock is what answers.
	_, err = Start(t.Context(), testConfig(dir))
	var inUse *InUseError
	require.ErrorAs(t, err, &inUse)
	assert.Equal(t, dir, inUse.DataDir)
	require.ErrorContains(t, err, "exactly one replica")

	require.NoError(t, input.Close())
	require.NoError(t, holder.Wait())
	start(t, testConfig(dir))
}

func TestKilledHolderLeavesNoLock(t *testing.T) {
	dir := t.TempDir()
	holder := exec.CommandContext(t.Context(), os.Args[0])
	holder.Env = append(os.Environ(), holdEnv+"="+dir)
	_, err := holder.StdinPipe()
	require.NoError(t, err)
	output, err := holder.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, holder.Start())
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "holding\n", line)
	require.NoError(t, holder.Process.Kill())
	require.Error(t, holder.Wait())

	// It left its socket behind as well.
	assert.FileExists(t, filepath.Join(dir, socketName))
	assert.False(t, start(t, testConfig(dir)).Created())
}

func TestDeepDataDirGetsAShortSocket(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", maxSocketPath))
	server := start(t, testConfig(dir))

	path := strings.TrimPrefix(server.Endpoint(), "unix://")
	assert.LessOrEqual(t, len(path), maxSocketPath)
	assert.NotContains(t, path, dir)
	info, err := os.Stat(filepath.Dir(path))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	server.Stop()
	assert.NoDirExists(t, filepath.Dir(path))
}

func TestSnapshotCanBeRestored(t *testing.T) {
	server := start(t, testConfig(t.TempDir()))
	withClient(t, server, func(c *clientv3.Client) {
		_, err := c.Put(t.Context(), "/key", "value")
		require.NoError(t, err)
	})
	path := filepath.Join(t.TempDir(), "snapshot.db")
	require.NoError(t, server.Snapshot(t.Context(), path))

	content, err := os.ReadFile(path)
	require.NoError(t, err)
	// A bbolt database in whole sectors, and the checksum by which etcdutl recognises a snapshot.
	assert.Equal(t, 32, len(content)%512)
	assert.Contains(t, string(content), "/key")
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "the partial file is gone")
}

func TestFullStoreRecoversWhenItsQuotaIsRaised(t *testing.T) {
	config := testConfig(t.TempDir())
	config.QuotaBackendBytes = minQuotaBackendBytes
	small := start(t, config)
	withClient(t, small, func(c *clientv3.Client) {
		value := strings.Repeat("x", 1<<20)
		var err error
		for range 2 * (minQuotaBackendBytes >> 20) {
			if _, err = c.Put(t.Context(), "/key", value); err != nil {
				break
			}
		}
		require.ErrorContains(t, err, "database space exceeded")
	})
	small.Stop()

	config.QuotaBackendBytes = DefaultQuotaBackendBytes
	withClient(t, start(t, config), func(c *clientv3.Client) {
		_, err := c.Put(t.Context(), "/key", "value")
		require.NoError(t, err)
	})
}

func TestFailureIsReported(t *testing.T) {
	server := start(t, testConfig(t.TempDir()))
	server.etcd.Server.Stop()

	select {
	case <-server.Failed():
		require.ErrorContains(t, server.Failure(), "embedded store")
	case <-t.Context().Done():
		t.Fatal("nobody noticed that the store has ended")
	}
}

func TestConfigValidate(t *testing.T) {
	for name, test := range map[string]struct {
		config Config
		want   string
	}{
		"good":         {Config{DataDir: "/var/lib/x", QuotaBackendBytes: DefaultQuotaBackendBytes}, ""},
		"no directory": {Config{QuotaBackendBytes: DefaultQuotaBackendBytes}, "must be named"},
		"relative":     {Config{DataDir: "x", QuotaBackendBytes: DefaultQuotaBackendBytes}, "absolute path"},
		"tiny quota":   {Config{DataDir: "/x", QuotaBackendBytes: 8}, "at least"},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.config.Validate()
			if test.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.want)
			}
		})
	}
}
