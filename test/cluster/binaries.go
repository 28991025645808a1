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
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// cacheEnv names the environment variable that moves the folder of built programs.
const cacheEnv = "SPARK_TEST_CLUSTER_CACHE"

// kubernetesVersion is what the Kubernetes programs call themselves. It must be the version of k8s.io/kubernetes in
// binaries/go.mod; a test compares them.
const kubernetesVersion = "v1.37.2"

// Binaries is a folder with every upstream program of the cluster, built for this machine.
type Binaries struct {
	// Dir holds the executables under their upstream names.
	Dir string
	// RepoRoot is the checkout that the versions were read from.
	RepoRoot string
}

// Path returns the executable of a program.
func (b *Binaries) Path(p Program) string { return filepath.Join(b.Dir, string(p)) }

// upstreamProgram is what is built of a nested module.
type upstreamProgram struct {
	program    Program
	pkg        string
	kubernetes bool
}

// upstreamPrograms in the order of building: what takes longest comes first, so that the rest finds its packages built.
var upstreamPrograms = []upstreamProgram{
	{KubeAPIServer, "k8s.io/kubernetes/cmd/kube-apiserver", true},
	{KubeControllerManager, "k8s.io/kubernetes/cmd/kube-controller-manager", true},
	{KubeScheduler, "k8s.io/kubernetes/cmd/kube-scheduler", true},
	{Kubectl, "k8s.io/kubernetes/cmd/kubectl", true},
	{Etcd, "go.etcd.io/etcd/server/v3", false},
	{Kwok, "sigs.k8s.io/kwok/cmd/kwok", false},
}

// nodePrograms are what a real node needs beside them; nothing else waits for their building.
var (
	nodePrograms = []upstreamProgram{
		{Kubelet, "k8s.io/kubernetes/cmd/kubelet", true},
		{KubeProxy, "k8s.io/kubernetes/cmd/kube-proxy", true},
	}
	dnsPrograms = []upstreamProgram{{CoreDNS, ".", false}}
)

// EnsureBinaries builds the programs that aren't in the cache yet. The cache is .cache/bin in the checkout, or
// $SPARK_TEST_CLUSTER_CACHE; in it, a folder per version of go.mod, go.sum, compiler and flags. A cold build takes
// about ten minutes on two cores and downloads modules; progress tells of it. It is safe to call from several processes
// at once: one builds, the others wait.
func EnsureBinaries(ctx context.Context, progress io.Writer) (*Binaries, error) {
	return ensure(ctx, progress, binariesModule, upstreamPrograms)
}

// EnsureNodeBinaries builds, in the same way, the programs of a control plane and of a real node: kubelet and kube-proxy,
// which are in the same folder as the others, and CoreDNS, whose path is returned.
func EnsureNodeBinaries(ctx context.Context, progress io.Writer) (_ *Binaries, coreDNS string, err error) {
	b, err := ensure(ctx, progress, binariesModule, slices.Concat(upstreamPrograms, nodePrograms))
	if err != nil {
		return nil, "", err
	}
	dns, err := ensure(ctx, progress, filepath.Join(binariesModule, "coredns"), dnsPrograms)
	if err != nil {
		return nil, "", err
	}
	return b, dns.Path(CoreDNS), nil
}

// binariesModule is the nested module of most upstream programs, in the checkout.
var binariesModule = filepath.Join("test", "cluster", "binaries")

func ensure(ctx context.Context, progress io.Writer, nested string, programs []upstreamProgram) (*Binaries, error) {
	root, err := repoRoot()
	if err != nil {
		return nil, err
	}
	cache := cacheDir(root)
	module := filepath.Join(root, nested)
	stamp, err := buildStamp(ctx, module)
	if err != nil {
		return nil, err
	}
	b := &Binaries{Dir: filepath.Join(cache, stamp), RepoRoot: root}
	if len(b.missing(programs)) == 0 {
		return b, nil
	}
	if err := os.MkdirAll(b.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("creating the cache of test programs: %w", err)
	}
	unlock, err := lockFile(ctx, filepath.Join(cache, ".lock"), func() {
		fmt.Fprintln(progress, "test cluster: waiting for another process that builds the Kubernetes programs")
	})
	if err != nil {
		return nil, err
	}
	defer unlock()
	missing := b.missing(programs)
	if len(missing) > 0 {
		fmt.Fprintf(progress, "test cluster: building %d upstream programs into %s (minutes with a cold build cache, later starts reuse them)\n", len(missing), b.Dir)
	}
	for i, m := range missing {
		step := newStep(progress, fmt.Sprintf("building %s (%d of %d)", m.program, i+1, len(missing)))
		err := b.build(ctx, module, m)
		step.done(err)
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *Binaries) missing(programs []upstreamProgram) []upstreamProgram {
	var missing []upstreamProgram
	for _, u := range programs {
		if _, err := os.Stat(b.Path(u.program)); err != nil {
			missing = append(missing, u)
		}
	}
	return missing
}

// build compiles one program beside its final place and moves it there, so that an interrupted build leaves nothing
// that looks complete.
func (b *Binaries) build(ctx context.Context, module string, u upstreamProgram) error {
	partial := b.Path(u.program) + ".partial"
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags", ldflags(u.kubernetes), "-o", partial, u.pkg)
	cmd.Dir = module
	// A workspace or flags of the caller (-race, -mod=vendor, tags) are about the caller's module.
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", u.program, err, tail(string(out), 30))
	}
	return os.Rename(partial, b.Path(u.program))
}

// ldflags stamp the Kubernetes programs with the version that they were built from, else they call themselves v0.0.0,
// which the scheduler and kubectl take for a version skew.
func ldflags(kubernetes bool) string {
	flags := "-s -w"
	if kubernetes {
		const pkg = " -X k8s.io/component-base/version."
		major, minor, _ := strings.Cut(strings.TrimPrefix(kubernetesVersion, "v"), ".")
		minor, _, _ = strings.Cut(minor, ".")
		flags += pkg + "gitVersion=" + kubernetesVersion + pkg + "gitMajor=" + major + pkg + "gitMinor=" + minor
	}
	return flags
}

func buildStamp(ctx context.Context, module string) (string, error) {
	h := sha256.New()
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		content, err := os.ReadFile(filepath.Join(module, name))
		if name == "main.go" && errors.Is(err, fs.ErrNotExist) {
			continue // only the module of a program that we compose has one
		}
		if err != nil {
			return "", fmt.Errorf("reading the versions of the test programs: %w", err)
		}
		h.Write(content)
	}
	cmd := exec.CommandContext(ctx, "go", "env", "GOVERSION", "GOOS", "GOARCH")
	cmd.Dir = module
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("asking the go command for its version (Go must be in PATH): %w", err)
	}
	h.Write(out)
	h.Write([]byte(ldflags(true)))
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

func cacheDir(root string) string {
	if dir := os.Getenv(cacheEnv); dir != "" {
		return dir
	}
	return filepath.Join(root, ".cache", "bin")
}

// repoRoot finds the checkout from the working directory upwards: tests run in their package's folder, commands
// anywhere in the checkout.
func repoRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "test", "cluster", "binaries", "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("not inside a checkout of spark-apiserver: no parent folder has test/cluster/binaries/go.mod")
		}
		dir = parent
	}
}
