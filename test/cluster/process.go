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
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// stopGrace is how long a program may take to end after SIGTERM before it gets SIGKILL.
const stopGrace = 20 * time.Second

// Process is one program of a cluster. Its methods may be called from several goroutines; starting and stopping are
// serialized.
type Process struct {
	// Name is the program's name.
	Name Program
	// LogPath is the file that standard output and error are appended to, over all restarts.
	LogPath string

	path     string
	args     []string
	env      []string
	detached bool
	timeout  time.Duration
	// ready answers nil as soon as the program serves. It is asked again and again until then.
	ready func(context.Context) error

	lifecycle sync.Mutex // serializes Start and the ways to stop
	mu        sync.Mutex // guards what follows
	pid       int
	identity  string        // what tells this process from a later one with the same pid
	ended     chan struct{} // closed when the child was waited for; nil for a process of somebody else
	endErr    error
}

// Start runs the program and waits until it is ready. It does nothing if the program runs already. If the program ends
// before it is ready, or isn't ready in time, the error holds the end of its log.
func (p *Process) Start(ctx context.Context) error {
	p.lifecycle.Lock()
	defer p.lifecycle.Unlock()
	if p.Running() {
		return nil
	}
	if err := p.launch(); err != nil {
		return fmt.Errorf("starting %s: %w", p.Name, err)
	}
	if err := p.waitReady(ctx); err != nil {
		p.end(syscall.SIGKILL)
		return fmt.Errorf("%s: %w\nlast lines of %s:\n%s", p.Name, err, p.LogPath, p.LogTail(40))
	}
	return nil
}

func (p *Process) launch() error {
	if err := os.MkdirAll(filepath.Dir(p.LogPath), 0o700); err != nil {
		return err
	}
	log, err := os.OpenFile(p.LogPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(p.path, p.args...)
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := startChild(cmd, p.detached); err != nil {
		return err
	}
	ended := make(chan struct{})
	p.mu.Lock()
	p.pid, p.identity, p.ended, p.endErr = cmd.Process.Pid, processIdentity(cmd.Process.Pid), ended, nil
	p.mu.Unlock()
	go func() {
		err := cmd.Wait()
		p.mu.Lock()
		p.endErr = err
		p.mu.Unlock()
		close(ended)
	}()
	return nil
}

func (p *Process) waitReady(ctx context.Context) error {
	if p.ready == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	var last error
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		if !p.Running() {
			p.mu.Lock()
			defer p.mu.Unlock()
			return false, fmt.Errorf("ended before it was ready: %w", errors.Join(p.endErr, last))
		}
		attempt, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		if err := p.ready(attempt); err != nil {
			last = err
			return false, nil
		}
		return true, nil
	})
	if wait.Interrupted(err) {
		return fmt.Errorf("not ready in time: %w", errors.Join(err, last))
	}
	return err
}

// PID returns the process id of the last start, zero if there was none.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pid
}

// Running says whether the process that was started last is still there.
func (p *Process) Running() bool {
	p.mu.Lock()
	pid, identity, ended := p.pid, p.identity, p.ended
	p.mu.Unlock()
	if pid == 0 {
		return false
	}
	if ended != nil {
		select {
		case <-ended:
			return false
		default:
			return true
		}
	}
	return identity != "" && processIdentity(pid) == identity
}

// Ended returns a channel that is closed when the running process ends. It is nil for a process that another
// invocation started.
func (p *Process) Ended() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// Stop asks the program to end, and kills it if it doesn't within a grace period. It returns when it has ended.
func (p *Process) Stop() {
	p.lifecycle.Lock()
	defer p.lifecycle.Unlock()
	p.end(syscall.SIGTERM)
}

// Kill ends the program with SIGKILL, as a crash would, and returns when it is gone.
func (p *Process) Kill() {
	p.lifecycle.Lock()
	defer p.lifecycle.Unlock()
	p.end(syscall.SIGKILL)
}

// Restart stops the program and starts it again, with the same arguments.
func (p *Process) Restart(ctx context.Context) error {
	p.Stop()
	return p.Start(ctx)
}

// Pause freezes the program with SIGSTOP: it keeps its connections and answers nothing.
func (p *Process) Pause() error { return p.signal(syscall.SIGSTOP) }

// Resume lets a paused program go on.
func (p *Process) Resume() error { return p.signal(syscall.SIGCONT) }

func (p *Process) signal(sig syscall.Signal) error {
	if !p.Running() {
		return fmt.Errorf("%s is not running", p.Name)
	}
	// The process leads a group of its own, so this reaches whatever it started and nobody else.
	return syscall.Kill(-p.PID(), sig)
}

func (p *Process) end(sig syscall.Signal) {
	if !p.Running() {
		return
	}
	_ = p.signal(sig)
	if sig != syscall.SIGKILL {
		// A paused process acts on SIGTERM only once it runs again.
		_ = p.signal(syscall.SIGCONT)
		if p.waitEnded(stopGrace) {
			return
		}
		_ = p.signal(syscall.SIGKILL)
	}
	p.waitEnded(stopGrace)
}

func (p *Process) waitEnded(timeout time.Duration) bool {
	if ended := p.Ended(); ended != nil {
		select {
		case <-ended:
			return true
		case <-time.After(timeout):
			return false
		}
	}
	err := wait.PollUntilContextTimeout(context.Background(), 50*time.Millisecond, timeout, true,
		func(context.Context) (bool, error) { return !p.Running(), nil })
	return err == nil
}

// Log returns everything that the program has logged.
func (p *Process) Log() (string, error) {
	content, err := os.ReadFile(p.LogPath)
	return string(content), err
}

// LogTail returns the last lines of the log, for error messages.
func (p *Process) LogTail(lines int) string {
	content, err := p.Log()
	if err != nil {
		return err.Error()
	}
	return tail(content, lines)
}

func tail(s string, lines int) string {
	all := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
