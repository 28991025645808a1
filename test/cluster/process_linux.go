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
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// launcher runs functions on one operating system thread that never ends. The kernel sends Pdeathsig when the *thread*
// that started the child ends, so a child must not be started from a thread that Go may retire.
var launcher = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// startChild starts a command as the leader of a process group. Unless it is detached, it is killed when this process
// ends, in whatever way that happens.
func startChild(cmd *exec.Cmd, detached bool) error {
	if detached {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return cmd.Start()
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	result := make(chan error, 1)
	launcher() <- func() { result <- cmd.Start() }
	return <-result
}

// processIdentity tells a process from a later one with the same id: the boot and the time at which it started. It is
// empty for a process that is gone or only waits to be reaped.
func processIdentity(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// proc(5): the second field is the name in parentheses and may hold anything; count from behind it. Of the fields
	// after it, the first is the state and the twentieth the start time in clock ticks since boot.
	content := string(stat)
	fields := strings.Fields(content[strings.LastIndexByte(content, ')')+1:])
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return ""
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + "/" + fields[19]
}
