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

package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Machine says where and of what something was measured.
type Machine struct {
	Time       string `json:"time"`
	CPU        string `json:"cpu"`
	Cores      int    `json:"cores"`
	MemoryMiB  int    `json:"memoryMiB"`
	Go         string `json:"go"`
	Kubernetes string `json:"kubernetes"`
	Revision   string `json:"revision"`
	Load       string `json:"load"`
}

func (m Machine) String() string {
	return fmt.Sprintf("Measured %s on %d cores (%s), %d MiB, load %s before; %s, Kubernetes %s, revision %s.",
		m.Time, m.Cores, m.CPU, m.MemoryMiB, m.Load, m.Go, m.Kubernetes, m.Revision)
}

// ThisMachine describes the machine, as far as Linux tells.
func ThisMachine(kubernetes string) Machine {
	m := Machine{
		Time: time.Now().UTC().Format(time.DateOnly), CPU: "unknown", Cores: runtime.NumCPU(), Go: runtime.Version(),
		Kubernetes: kubernetes, Revision: "unknown", Load: "unknown",
	}
	if value, ok := lineOf("/proc/cpuinfo", "model name"); ok {
		m.CPU = value
	}
	if value, ok := lineOf("/proc/meminfo", "MemTotal"); ok {
		if kib, err := strconv.Atoi(strings.TrimSuffix(value, " kB")); err == nil {
			m.MemoryMiB = kib / 1024
		}
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load, _, _ = strings.Cut(string(load), " ")
	}
	if revision, err := exec.Command("git", "describe", "--always", "--dirty").Output(); err == nil {
		m.Revision = strings.TrimSpace(string(revision))
	}
	return m
}

// lineOf returns the value of the first line "key: value" of a file.
func lineOf(path, key string) (string, bool) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	for lines := bufio.NewScanner(bytes.NewReader(content)); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

// Usage is what a process has used since its start.
type Usage struct {
	CPU time.Duration
	// MemoryMiB is what it holds in memory now, PeakMiB the most that it ever held.
	MemoryMiB, PeakMiB float64
}

// clockTicks is USER_HZ, in which /proc counts: 100 a second on every platform that Linux has today.
const clockTicks = 100

// UsageOf reads the usage of a process. See proc(5).
func UsageOf(pid int) (Usage, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Usage{}, err
	}
	// The name of the program, in parentheses, may hold anything. What follows begins with the third field.
	_, rest, _ := strings.Cut(string(content[bytes.LastIndexByte(content, ')'):]), " ")
	fields := strings.Fields(rest)
	const userTime, systemTime = 14 - 3, 15 - 3
	if len(fields) <= systemTime {
		return Usage{}, fmt.Errorf("/proc/%d/stat has too few fields: %q", pid, content)
	}
	var ticks int64
	for _, field := range []string{fields[userTime], fields[systemTime]} {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return Usage{}, fmt.Errorf("/proc/%d/stat: %w", pid, err)
		}
		ticks += n
	}
	u := Usage{CPU: time.Duration(ticks) * time.Second / clockTicks}
	for key, target := range map[string]*float64{"VmRSS": &u.MemoryMiB, "VmHWM": &u.PeakMiB} {
		if value, ok := lineOf(fmt.Sprintf("/proc/%d/status", pid), key); ok {
			kib, err := strconv.ParseFloat(strings.TrimSuffix(value, " kB"), 64)
			if err != nil {
				return Usage{}, fmt.Errorf("/proc/%d/status: %w", pid, err)
			}
			*target = kib / 1024
		}
	}
	return u, nil
}
