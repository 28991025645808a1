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

package realnode

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/spark-apiserver/spark-apiserver/test/cluster"
)

// Options say what a node is for. Everything is nil or empty by default.
type Options struct {
	// Packages are installed in addition to what a node needs itself, where they are missing.
	Packages []DebianPackage
	// Prepare runs on the host, before the namespaces are entered: what it writes into images, as archives NAME.tar, is
	// imported by the node. It is the place for whatever needs a network.
	Prepare func(ctx context.Context, repoRoot, images string) error
	// Use gets the node when pods can run on it.
	Use func(ctx context.Context, n *Node) error
	// Progress receives a line for every step that may take long. Default: standard error.
	Progress io.Writer
}

// skipReason says why there is no node, in a run of tests without one.
var skipReason string

// Main runs the tests of a package beside a real node, all of them inside its namespaces, and returns the exit code for
// os.Exit. It must be the first thing that the program does. Where no node can run, tests run without: they must call
// Skip. In CI (CI=true) that is a failure. With -short there is no node either.
func Main(m *testing.M, o Options) int {
	o = o.withDefaults()
	inside := runRole()
	flag.Parse()
	if inside {
		return runInside(o, func(context.Context, *Node) int { return m.Run() })
	}
	if testing.Short() {
		skipReason = "needs a real node; not run with -short"
		return m.Run()
	}
	if err := unavailable(); err != nil {
		skipReason = "no real node can run here: it " + err.Error()
		fmt.Fprintln(os.Stderr, "test cluster:", skipReason)
		if os.Getenv("CI") == "true" {
			fmt.Fprintln(os.Stderr, "FAIL: in CI that is a failure")
			return 1
		}
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "spark-real-node-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := runOutside(o, dir)
	if code == 0 && os.Getenv("SPARK_TEST_CLUSTER_KEEP") != "1" {
		err = removeBulk(dir, true)
	} else {
		fmt.Fprintf(os.Stderr, "the logs of the test cluster are kept in %s\n", filepath.Join(clusterDir(dir), "logs"))
		err = removeBulk(dir, false)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "FAIL:", err)
		return max(code, 1)
	}
	return code
}

// Skip skips a test when there is no node.
func Skip(t testing.TB) {
	t.Helper()
	if skipReason != "" {
		t.Skip(skipReason)
	}
}

func (o Options) withDefaults() Options {
	if o.Prepare == nil {
		o.Prepare = func(context.Context, string, string) error { return nil }
	}
	if o.Use == nil {
		o.Use = func(context.Context, *Node) error { return nil }
	}
	if o.Progress == nil {
		o.Progress = os.Stderr
	}
	return o
}

// prepare does on the host what needs its network.
func prepare(o Options, dir string) error {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := installMissing(ctx, o.Progress, slices.Concat(debianPackages, o.Packages)); err != nil {
		return err
	}
	binaries, _, err := cluster.EnsureNodeBinaries(ctx, o.Progress)
	if err != nil {
		return err
	}
	images := filepath.Join(dir, imagesDir)
	if err := os.MkdirAll(images, 0o700); err != nil {
		return err
	}
	if err := writePauseImage(ctx, binaries.RepoRoot, images); err != nil {
		return err
	}
	return o.Prepare(ctx, binaries.RepoRoot, images)
}

// runOutside does the host's part: prepare, run the program in its namespaces, and look that nothing is left behind.
func runOutside(o Options, dir string) int {
	if err := prepare(o, dir); err != nil {
		fmt.Fprintln(os.Stderr, "preparing a real node:", err)
		return 1
	}
	code, err := runEntered(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err := leave(dir); err != nil {
		fmt.Fprintln(os.Stderr, "FAIL: after the real node:", err)
		return max(code, 1)
	}
	fmt.Fprintln(o.Progress, "test cluster: the host's links, mounts, packet filter and settings are as they were")
	return code
}

// runInside does the part within the namespaces.
func runInside(o Options, work func(context.Context, *Node) int) int {
	dir := os.Getenv(dirEnv)
	// What the program starts in turn must not take itself for a part of this.
	for _, name := range []string{roleEnv, dirEnv} {
		_ = os.Unsetenv(name)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := furnish(ctx, dir); err != nil {
		fmt.Fprintln(os.Stderr, "furnishing the namespaces of a real node:", err)
		return 1
	}
	n, err := start(ctx, dir, o.Progress)
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting a real node:", err)
		return 1
	}
	defer n.Stop()
	if err := o.Use(ctx, n); err != nil {
		fmt.Fprintln(os.Stderr, "preparing the real node's cluster:", err)
		return 1
	}
	return work(ctx, n)
}

// removeBulk removes a node's folder, or only what is large in it and of no use to somebody who looks for a cause.
func removeBulk(dir string, all bool) error {
	if all {
		return os.RemoveAll(dir)
	}
	var err error
	for _, name := range []string{"containerd", imagesDir, "kubelet"} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, name)))
	}
	return err
}
