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
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/spark-apiserver/spark-apiserver/test/cluster"
)

const (
	// readyFile appears in a node's folder when its Use has returned.
	readyFile = "ready"
	// stateFile says which process is the first of the namespaces.
	stateFile = "state.json"
	// startPatience bounds the start of a node: images take most of it.
	startPatience = 20 * time.Minute
	// stopPatience bounds its end, after which it is killed.
	stopPatience = 40 * time.Second
)

type detachedState struct {
	PID      int    `json:"pid"`
	Identity string `json:"identity"`
}

// Serve must be the first thing that a program does which calls Up: it returns false in the program that the user started.
// Otherwise this is the program within the namespaces, which it keeps until it is told to end, and it returns true.
func Serve(o Options) (served bool, code int) {
	if !runRole() {
		return false, 0
	}
	dir := os.Getenv(dirEnv)
	return true, runInside(o.withDefaults(), func(ctx context.Context, _ *Node) int {
		if err := os.WriteFile(filepath.Join(dir, readyFile), nil, 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		<-ctx.Done()
		return 0
	})
}

// Up starts a node that stays up, and waits until Use has returned within its namespaces.
func Up(ctx context.Context, o Options, dir string) error {
	o = o.withDefaults()
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := unavailable(); err != nil {
		return fmt.Errorf("no real node can run here: it %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, stateFile)); err == nil {
		return fmt.Errorf("a node is up in %s already, or was when the machine went down; take it down first", dir)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := prepare(o, dir); err != nil {
		return err
	}
	cmd, err := enter(dir)
	if err != nil {
		return err
	}
	logPath := filepath.Join(dir, "node.log")
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr.Setsid = true
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("entering namespaces: %w", err)
	}
	state, err := json.Marshal(detachedState{PID: cmd.Process.Pid, Identity: cluster.ProcessIdentity(cmd.Process.Pid)})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, stateFile), state, 0o600); err != nil {
		return errors.Join(err, cmd.Process.Kill())
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	follow := &follower{path: logPath, out: o.Progress}
	err = wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, startPatience, true, func(context.Context) (bool, error) {
		follow.copy()
		select {
		case err := <-ended:
			return false, fmt.Errorf("the node ended (%w); its log is %s", err, logPath)
		default:
		}
		_, err := os.Stat(filepath.Join(dir, readyFile))
		return err == nil, nil
	})
	if err != nil {
		return errors.Join(err, Down(dir, true))
	}
	return nil
}

// InNetwork returns the command line, to be put before a command, that runs it in the network of the node of a folder.
func InNetwork(dir string) ([]string, error) {
	state, err := readState(dir)
	if err != nil {
		return nil, err
	}
	return []string{"nsenter", fmt.Sprintf("--net=/proc/%d/ns/net", state.PID)}, nil
}

// Kubeconfig is the administrator's kubeconfig of the node of a folder. Its addresses are those of the node's network.
func Kubeconfig(dir string) string { return filepath.Join(clusterDir(dir), "admin.kubeconfig") }

// clusterDir is the control plane's folder.
func clusterDir(dir string) string { return filepath.Join(dir, "cluster") }

// ErrNoNode says that no node is up in a folder.
var ErrNoNode = errors.New("no node is up there")

func readState(dir string) (detachedState, error) {
	var state detachedState
	content, err := os.ReadFile(filepath.Join(dir, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return state, fmt.Errorf("%s: %w", dir, ErrNoNode)
	}
	if err != nil {
		return state, err
	}
	return state, json.Unmarshal(content, &state)
}

// Down ends a node, and what its namespaces hold with it, and looks that the host is as it was. keepLogs leaves the logs.
func Down(dir string, keepLogs bool) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	state, err := readState(dir)
	if err != nil {
		return err
	}
	running := func() bool { return state.Identity != "" && cluster.ProcessIdentity(state.PID) == state.Identity }
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if !running() {
			break
		}
		if err := syscall.Kill(state.PID, signal); err != nil {
			return err
		}
		_ = wait.PollUntilContextTimeout(context.Background(), 100*time.Millisecond, stopPatience, true,
			func(context.Context) (bool, error) { return !running(), nil })
	}
	if running() {
		return fmt.Errorf("process %d did not end", state.PID)
	}
	err = leave(dir)
	if keepLogs {
		return errors.Join(err, os.Remove(filepath.Join(dir, stateFile)), removeBulk(dir, false))
	}
	return errors.Join(err, removeBulk(dir, true))
}

// follower copies what is appended to a file.
type follower struct {
	path   string
	out    io.Writer
	offset int64
}

func (f *follower) copy() {
	content, err := os.ReadFile(f.path)
	if err != nil || int64(len(content)) <= f.offset {
		return
	}
	_, _ = f.out.Write(content[f.offset:])
	f.offset = int64(len(content))
}
