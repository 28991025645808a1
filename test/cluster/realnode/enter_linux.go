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
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// namespaces that a node lives in.
const namespaces = syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC

// roleEnv tells the program what it is, when it was started by itself.
const (
	roleEnv    = "SPARK_REAL_NODE_ROLE"
	roleProbe  = "probe"  // try what namespaces need
	roleReaper = "reaper" // first process of the namespaces
	roleInside = "inside" // the work itself
	dirEnv     = "SPARK_REAL_NODE_DIR"
)

// hostBefore is the file, in a node's folder, that says what the host looked like before.
const hostBefore = "host-before.json"

// runRole does what a program that was started by this package has to do: it ends there, unless it is the one that does
// the work, or wasn't started by this package.
func runRole() (inside bool) {
	switch os.Getenv(roleEnv) {
	case "":
		return false
	case roleInside:
		return true
	case roleProbe:
		if err := probe(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case roleReaper:
		os.Exit(reap())
	default:
		fmt.Fprintf(os.Stderr, "%s=%s is unknown\n", roleEnv, os.Getenv(roleEnv))
		os.Exit(1)
	}
	return false
}

// enter prepares this very program to be run in new namespaces, with the same arguments.
func enter(dir string) (*exec.Cmd, error) {
	before, err := listHost()
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, hostBefore), content, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), roleEnv+"="+roleReaper, dirEnv+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: namespaces}
	return cmd, nil
}

// runEntered runs the program in new namespaces until it ends, and returns its exit code.
func runEntered(dir string) (int, error) {
	cmd, err := enter(dir)
	if err != nil {
		return 1, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	// The kernel sends it when the thread that started the child ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("entering namespaces: %w", err)
	}
	done := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-signals:
				_ = cmd.Process.Signal(s)
			case <-done:
				return
			}
		}
	}()
	err = cmd.Wait()
	close(done)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = nil
	}
	return cmd.ProcessState.ExitCode(), err
}

// reap is the first process of the namespaces: it starts the work, passes signals on, and takes in every process that
// lost its parent, until the work has ended. Then it ends, and the kernel ends whatever is left.
func reap() int {
	// Set, not appended: of two values of one name the first would win, and there would be reapers without end.
	if err := os.Setenv(roleEnv, roleInside); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	child, err := os.StartProcess("/proc/self/exe", os.Args, &os.ProcAttr{
		Env: os.Environ(), Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting the work in its namespaces:", err)
		return 1
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		for s := range signals {
			_ = syscall.Kill(child.Pid, s.(syscall.Signal))
		}
	}()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			fmt.Fprintln(os.Stderr, "waiting for the work:", err)
			return 1
		case pid == child.Pid && status.Exited():
			return status.ExitStatus()
		case pid == child.Pid && status.Signaled():
			fmt.Fprintln(os.Stderr, "the work was ended by signal", status.Signal())
			return 128 + int(status.Signal())
		}
	}
}

// leave cleans up what doesn't vanish with the namespaces, and says what is different on the host.
func leave(dir string) error {
	var before hostState
	content, err := os.ReadFile(filepath.Join(dir, hostBefore))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, &before); err != nil {
		return err
	}
	failed := removeCgroups(before.Cgroups)
	now, err := listHost()
	if err != nil {
		return errors.Join(failed, err)
	}
	if found := before.differences(now); len(found) > 0 {
		failed = errors.Join(failed, fmt.Errorf("the host is not as it was:\n%s", strings.Join(found, "\n")))
	}
	return failed
}
