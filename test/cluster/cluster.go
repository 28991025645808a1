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
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Cluster is a running control plane.
type Cluster struct {
	// Dir is the data directory.
	Dir string
	// Binaries are the upstream programs in use.
	Binaries *Binaries

	// The programs, which tests may stop, kill, pause and start again. Kwok is nil if it was left out, SimulatedDriver
	// also if it runs inside this process.
	Etcd, KubeAPIServer, KubeControllerManager, KubeScheduler, Kwok, SimulatedDriver *Process

	options Options
	// existing: the control plane is somebody else's.
	existing bool
	ca       *Authority // signs servers and clients
	frontCA  *Authority // signs kube-apiserver's client certificate towards aggregated servers
	ports    ports
	leases   []*portLease
	admin    *rest.Config

	mu           sync.Mutex
	servers      []*SparkServer
	stores       []*Process // members of external stores
	stopInside   []func()   // ends what runs inside this process
	issuedByName map[string]int
}

// ports on 127.0.0.1.
type ports struct {
	Etcd, EtcdPeer, KubeAPIServer, KubeControllerManager, KubeScheduler, Kwok int
}

// Start builds what is missing, starts a control plane and waits until it serves, until the default namespace has its
// service account, and until simulated nodes can be added. On an error nothing is left running.
func Start(ctx context.Context, options Options) (_ *Cluster, err error) {
	options = options.withDefaults()
	binaries, err := EnsureBinaries(ctx, options.Progress)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Binaries: binaries, options: options, issuedByName: map[string]int{}}
	if err := c.prepareDir(); err != nil {
		return nil, err
	}
	if options.ExistingKubeconfig != "" {
		return c.startBesideExisting(ctx)
	}
	step := newStep(options.Progress, "starting a Kubernetes "+kubernetesVersion+" control plane in "+c.Dir)
	defer func() {
		step.done(err)
		if err != nil {
			// The logs say why; they must outlive the failure.
			c.options.KeepData = true
			c.Stop()
		}
	}()
	if err := c.setUp(); err != nil {
		return nil, fmt.Errorf("preparing the control plane: %w", err)
	}
	for _, p := range []*Process{c.Etcd, c.KubeAPIServer} {
		if err := p.Start(ctx); err != nil {
			return nil, err
		}
		if err := c.saveState(); err != nil {
			return nil, err
		}
	}
	if err := c.startTogether(ctx, c.KubeControllerManager, c.KubeScheduler, c.Kwok); err != nil {
		return nil, err
	}
	if err := c.waitDefaultServiceAccount(ctx); err != nil {
		return nil, err
	}
	if err := c.startSimulatedDriver(ctx); err != nil {
		return nil, err
	}
	if err := c.saveState(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Cluster) prepareDir() error {
	c.Dir = c.options.DataDir
	if c.Dir == "" {
		dir, err := os.MkdirTemp("", "spark-test-cluster-")
		if err != nil {
			return err
		}
		c.Dir = dir
	} else {
		c.options.KeepData = true
	}
	abs, err := filepath.Abs(c.Dir)
	if err != nil {
		return err
	}
	c.Dir = abs
	return os.MkdirAll(c.Dir, 0o700)
}

// setUp makes certificates, kubeconfigs and the processes' descriptions; it starts nothing.
func (c *Cluster) setUp() error {
	for _, port := range []*int{
		&c.ports.Etcd, &c.ports.EtcdPeer, &c.ports.KubeAPIServer,
		&c.ports.KubeControllerManager, &c.ports.KubeScheduler, &c.ports.Kwok,
	} {
		lease, err := leasePort()
		if err != nil {
			return err
		}
		c.leases = append(c.leases, lease)
		*port = lease.port
	}
	var err error
	if c.ca, err = newAuthority(c.pkiDir(), "cluster"); err != nil {
		return err
	}
	if c.frontCA, err = newAuthority(c.pkiDir(), "front-proxy"); err != nil {
		return err
	}
	if err := c.loadAdmin(true); err != nil {
		return err
	}
	c.Etcd = c.etcdProcess()
	if c.KubeAPIServer, err = c.apiServerProcess(); err != nil {
		return err
	}
	if c.KubeControllerManager, err = c.controllerManagerProcess(); err != nil {
		return err
	}
	if c.KubeScheduler, err = c.schedulerProcess(); err != nil {
		return err
	}
	if !c.options.WithoutKwok {
		c.Kwok, err = c.kwokProcess()
	}
	return err
}

// newProcess describes one upstream program.
func (c *Cluster) newProcess(p Program, ready func(context.Context) error, args ...string) *Process {
	return &Process{
		Name: p, LogPath: c.logPath(p), path: c.Binaries.Path(p),
		args: slices.Concat(args, c.options.ExtraArgs[p]), env: []string{"HOME=" + c.Dir},
		detached: c.options.Detached, timeout: c.options.StartTimeout, ready: ready,
	}
}

func (c *Cluster) startTogether(ctx context.Context, processes ...*Process) error {
	var wg sync.WaitGroup
	errs := make([]error, len(processes))
	for i, p := range processes {
		if p != nil {
			wg.Go(func() { errs[i] = p.Start(ctx) })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (c *Cluster) waitDefaultServiceAccount(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(c.AdminConfig())
	if err != nil {
		return err
	}
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, c.options.StartTimeout, true, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the service account default/default: %w\nlast lines of kube-controller-manager:\n%s", err, c.KubeControllerManager.LogTail(40))
	}
	return nil
}

// Stop ends everything that the cluster started, in the reverse order of starting, and removes a temporary data
// directory. It may be called more than once.
func (c *Cluster) Stop() {
	c.mu.Lock()
	servers, inside := c.servers, c.stopInside
	c.servers, c.stopInside = nil, nil
	c.mu.Unlock()
	for _, stop := range slices.Backward(inside) {
		stop()
	}
	for _, s := range slices.Backward(servers) {
		s.Stop()
	}
	for _, p := range c.takeStores() {
		p.Kill() // a store of tests, which ends with them
	}
	for _, p := range []*Process{c.SimulatedDriver, c.Kwok, c.KubeScheduler, c.KubeControllerManager, c.KubeAPIServer, c.Etcd} {
		if p == nil {
			continue
		}
		if c.disposable() {
			// Nothing of this cluster will be read again, so nothing has to be brought to a clean end.
			p.Kill()
		} else {
			p.Stop()
		}
	}
	for _, l := range c.leases {
		l.release()
	}
	c.leases = nil
	if c.disposable() {
		_ = os.RemoveAll(c.Dir)
	}
	if c.options.Detached {
		_ = os.Remove(c.statePath())
	}
}

// Keep lets Stop leave the data directory, with every log, for somebody to look at.
func (c *Cluster) Keep() { c.options.KeepData = true }

func (c *Cluster) disposable() bool { return c.options.DataDir == "" && !c.options.KeepData }

func (c *Cluster) pkiDir() string { return filepath.Join(c.Dir, "pki") }

func (c *Cluster) logPath(p Program) string { return filepath.Join(c.Dir, "logs", string(p)+".log") }

func (c *Cluster) configPath(name string) string { return filepath.Join(c.Dir, "config", name) }
