//go:build unix && !linux

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
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// startChild starts a command as the leader of a process group. Only Linux can tie the child's life to ours: elsewhere
// a child outlives a test process that is killed.
func startChild(cmd *exec.Cmd, detached bool) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !detached, Setsid: detached}
	return cmd.Start()
}

// processIdentity tells a process from a later one with the same id by the time at which it started. It is empty for a
// process that is gone or only waits to be reaped.
func processIdentity(pid int) string {
	out, err := exec.Command("ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	state, started, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if strings.HasPrefix(state, "Z") {
		return ""
	}
	return strings.TrimSpace(started)
}
