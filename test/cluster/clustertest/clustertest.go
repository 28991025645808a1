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

// Package clustertest ties a test cluster to the life of a test.
//
//	func TestSomething(t *testing.T) {
//		c := clustertest.New(t, cluster.Options{})
//		require.NoError(t, c.AddNode(t.Context(), "node-a", "4", "16Gi"))
//		…
//	}
//
// A package with many tests starts one cluster for all of them:
//
//	var shared *cluster.Cluster
//
//	func TestMain(m *testing.M) {
//		os.Exit(clustertest.Main(m, cluster.Options{}, func(_ context.Context, c *cluster.Cluster) error {
//			shared = c
//			return nil
//		}, nil))
//	}
//
// With -short no cluster is started and the tests that ask for one are skipped.
package clustertest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spark-apiserver/spark-apiserver/test/cluster"
)

// New starts a cluster that is stopped at the end of the test. When the test has failed, the programs' logs are kept
// and their place is printed. With -short the test is skipped.
func New(t testing.TB, o cluster.Options) *cluster.Cluster {
	t.Helper()
	SkipIfShort(t)
	c, err := cluster.Start(t.Context(), o)
	require.NoError(t, err, "starting the test cluster")
	t.Cleanup(func() {
		if t.Failed() {
			c.Keep()
			t.Logf("the logs of the test cluster are kept in %s/logs", c.Dir)
		}
		c.Stop()
	})
	return c
}

// SkipIfShort skips a test that needs a cluster when -short was given.
func SkipIfShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real control plane; not run with -short")
	}
}

// Main runs the tests of a package with one cluster for all of them, handed to use before they start, and returns the
// exit code for os.Exit. What afterwards (nil = nothing) finds wrong once all tests have passed fails the run. With -short
// no cluster is started and neither function is called: tests must call SkipIfShort.
func Main(m *testing.M, o cluster.Options, use func(context.Context, *cluster.Cluster) error, afterwards func() error) int {
	flag.Parse()
	if testing.Short() {
		return m.Run()
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	c, err := cluster.Start(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting the test cluster:", err)
		return 1
	}
	defer c.Stop()
	if err := use(ctx, c); err != nil {
		c.Keep()
		fmt.Fprintf(os.Stderr, "preparing the test cluster: %v\nits logs are kept in %s/logs\n", err, c.Dir)
		return 1
	}
	// From here on an interrupt ends this process at once, and the kernel ends the cluster's processes with it.
	cancel()
	code := m.Run()
	if code == 0 && afterwards != nil {
		if err := afterwards(); err != nil {
			fmt.Fprintln(os.Stderr, "FAIL: after all tests:", err)
			code = 1
		}
	}
	if code != 0 {
		c.Keep()
		fmt.Fprintf(os.Stderr, "the logs of the test cluster are kept in %s/logs\n", c.Dir)
	}
	return code
}
