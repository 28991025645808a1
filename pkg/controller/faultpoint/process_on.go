//go:build faultpoints

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

package faultpoint

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// environment is "<point>=kill", "…=exit" or "…=hang": what the process does when it comes there. "<point>#3=…" means the
// third time that it comes there.
const environment = "SPARK_APISERVER_FAULT"

// exitCode tells an exit at a point from others.
const exitCode = 86

// passed counts how often the process has come to each point.
var passed = struct {
	sync.Mutex
	times map[Point]int
}{times: map[Point]int{}}

// stopProcess stops the process if the environment asks for it here.
func stopProcess(point Point) {
	fault, action, _ := strings.Cut(os.Getenv(environment), "=")
	name, ordinal, counted := strings.Cut(fault, "#")
	if name != string(point) {
		return
	}
	if counted && !isTime(point, ordinal) {
		return
	}
	switch action {
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "exit":
		os.Exit(exitCode)
	case "hang":
		select {}
	}
}

// isTime counts one more pass, and says whether it is the one with the given number.
func isTime(point Point, ordinal string) bool {
	passed.Lock()
	defer passed.Unlock()
	passed.times[point]++
	return strconv.Itoa(passed.times[point]) == ordinal
}
