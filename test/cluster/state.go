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
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// state is what a detached cluster leaves behind for later invocations.
type state struct {
	Ports     ports             `json:"ports"`
	Binaries  Binaries          `json:"binaries"`
	Options   recordedOptions   `json:"options"`
	Processes []recordedProcess `json:"processes"`
}

type recordedOptions struct {
	StartTimeout time.Duration `json:"startTimeout"`
	Existing     bool          `json:"existing,omitempty"`
}

type recordedProcess struct {
	Name     Program  `json:"name"`
	PID      int      `json:"pid"`
	Identity string   `json:"identity"`
	Path     string   `json:"path"`
	Args     []string `json:"args"`
	Env      []string `json:"env,omitempty"`
	LogPath  string   `json:"logPath"`
	Port     int      `json:"port,omitempty"`
	DataDir  string   `json:"dataDir,omitempty"`
}

// ErrNoCluster says that no detached cluster is recorded in a data directory.
var ErrNoCluster = errors.New("no cluster is recorded there")

func (c *Cluster) statePath() string { return filepath.Join(c.Dir, "state.json") }

// saveState records a detached cluster's processes; a cluster that ends with this process needs no record.
func (c *Cluster) saveState() error {
	if !c.options.Detached {
		return nil
	}
	s := state{Ports: c.ports, Binaries: *c.Binaries, Options: recordedOptions{StartTimeout: c.options.StartTimeout, Existing: c.existing}}
	for _, p := range []*Process{c.Etcd, c.KubeAPIServer, c.KubeControllerManager, c.KubeScheduler, c.Kwok, c.SimulatedDriver} {
		if p != nil {
			s.Processes = append(s.Processes, p.record())
		}
	}
	c.mu.Lock()
	for _, server := range c.servers {
		r := server.record()
		r.Port, r.DataDir = server.Port, server.DataDir
		s.Processes = append(s.Processes, r)
	}
	c.mu.Unlock()
	content, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	// In one step: a state that is half written would leave processes that nobody can stop.
	partial := c.statePath() + ".partial"
	if err := os.WriteFile(partial, content, 0o600); err != nil {
		return err
	}
	return os.Rename(partial, c.statePath())
}

func (p *Process) record() recordedProcess {
	p.mu.Lock()
	defer p.mu.Unlock()
	return recordedProcess{Name: p.Name, PID: p.pid, Identity: p.identity, Path: p.path, Args: p.args, Env: p.env, LogPath: p.LogPath}
}

// Attach returns the cluster that an earlier invocation left running with Options.Detached in a data directory, or
// ErrNoCluster. Its Stop ends exactly the recorded processes: each is recognized by when it was started, so that an id
// that was given to another program meanwhile is left alone.
func Attach(dataDir string) (*Cluster, error) {
	dir, err := filepath.Abs(dataDir)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Dir: dir, issuedByName: map[string]int{}}
	content, err := os.ReadFile(c.statePath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", dir, ErrNoCluster)
	}
	if err != nil {
		return nil, err
	}
	var s state
	if err := json.Unmarshal(content, &s); err != nil {
		return nil, fmt.Errorf("reading %s: %w", c.statePath(), err)
	}
	c.ports, c.Binaries, c.existing = s.Ports, &s.Binaries, s.Options.Existing
	c.options = Options{DataDir: dir, KeepData: true, Detached: true, StartTimeout: s.Options.StartTimeout}.withDefaults()
	if !c.existing {
		if c.ca, err = newAuthority(c.pkiDir(), "cluster"); err != nil {
			return nil, err
		}
	}
	if err := c.loadAdmin(false); err != nil {
		return nil, err
	}
	for _, r := range s.Processes {
		if err := c.attachProcess(r); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *Cluster) attachProcess(r recordedProcess) error {
	p := &Process{
		Name: r.Name, LogPath: r.LogPath, path: r.Path, args: r.Args, env: r.Env, detached: true,
		timeout: c.options.StartTimeout, pid: r.PID, identity: r.Identity,
	}
	switch r.Name {
	case Etcd:
		c.Etcd = p
	case KubeAPIServer:
		c.KubeAPIServer = p
	case KubeControllerManager:
		c.KubeControllerManager = p
	case KubeScheduler:
		c.KubeScheduler = p
	case Kwok:
		c.Kwok = p
	case SimulatedDriver:
		c.SimulatedDriver = p
	case SparkAPIServer:
		ca, err := newAuthority(c.pkiDir(), serverName)
		if err != nil {
			return err
		}
		p.ready = healthy(trusting(ca), "https://"+local(r.Port)+"/readyz")
		c.servers = append(c.servers, &SparkServer{Process: p, Port: r.Port, DataDir: r.DataDir, ca: ca})
	default:
		return fmt.Errorf("%s records an unknown program %q", c.statePath(), r.Name)
	}
	return nil
}

// Processes returns every program that the cluster started, ours included, in the order of starting.
func (c *Cluster) Processes() []*Process {
	var all []*Process
	for _, p := range []*Process{c.Etcd, c.KubeAPIServer, c.KubeControllerManager, c.KubeScheduler, c.Kwok, c.SimulatedDriver} {
		if p != nil {
			all = append(all, p)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.servers {
		all = append(all, s.Process)
	}
	return all
}
