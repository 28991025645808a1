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
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// hostState is what a node would change on a machine if it ran there directly, one line for each thing.
type hostState struct {
	Links, Mounts, PacketFilter, Sysctls, Folders, Cgroups []string
}

// listHost looks at the namespaces that this process is in.
func listHost() (hostState, error) {
	var s hostState
	links, err := net.Interfaces()
	if err != nil {
		return s, fmt.Errorf("listing links: %w", err)
	}
	for _, l := range links {
		addresses, err := l.Addrs()
		if err != nil {
			return s, fmt.Errorf("listing the addresses of %s: %w", l.Name, err)
		}
		s.Links = append(s.Links, fmt.Sprintf("%d %s %s %d %s %v", l.Index, l.Name, l.HardwareAddr, l.MTU, l.Flags, addresses))
	}
	if s.Mounts, err = mounts(); err != nil {
		return s, err
	}
	s.PacketFilter = packetFilter()
	for _, name := range keptSysctls {
		content, err := os.ReadFile(name)
		if err == nil {
			s.Sysctls = append(s.Sysctls, name+" "+strings.TrimSpace(string(content)))
		}
	}
	for _, parent := range []string{"/var/lib", "/opt"} {
		children, err := os.ReadDir(parent)
		if err != nil {
			return s, fmt.Errorf("listing folders: %w", err)
		}
		for _, child := range children {
			s.Folders = append(s.Folders, filepath.Join(parent, child.Name()))
		}
	}
	s.Cgroups = idleCgroups()
	return s, nil
}

// mounts are the mount points with what is mounted there and how; not their ids, which a remount changes, nor the
// children's order.
func mounts() ([]string, error) {
	content, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("listing mounts: %w", err)
	}
	var all []string
	for line := range strings.Lines(string(content)) {
		// proc_pid_mountinfo(5): id, parent's id, major:minor, root, mount point, options, ...
		if fields := strings.Fields(line); len(fields) > 2 {
			all = append(all, strings.Join(fields[2:], " "))
		}
	}
	slices.Sort(all)
	return all, nil
}

// volatile is what differs between two listings of the same rules: packet counters, and comments with the time.
var volatile = regexp.MustCompile(`(?m)^#.*$|\[\d+:\d+\]|packets \d+ bytes \d+`)

// packetFilter lists the rules of IPv4 and IPv6, of iptables in both of its kinds, and of nftables. A program that isn't
// there, or finds no support in the kernel, has no rules to tell of.
func packetFilter() []string {
	var all []string
	for _, command := range [][]string{
		{"iptables-legacy-save"}, {"ip6tables-legacy-save"}, {"iptables-nft-save"}, {"ip6tables-nft-save"}, {"nft", "list", "ruleset"},
	} {
		out, err := exec.Command(command[0], command[1:]...).Output()
		if err != nil {
			continue
		}
		for line := range strings.Lines(volatile.ReplaceAllString(string(out), "")) {
			if line = strings.TrimSpace(line); line != "" {
				all = append(all, command[0]+": "+line)
			}
		}
	}
	return all
}

// differences tells what was there before and isn't now (-) and the reverse (+).
func (s hostState) differences(now hostState) []string {
	var found []string
	for _, part := range []struct {
		name        string
		before, now []string
	}{
		{"link", s.Links, now.Links}, {"mount", s.Mounts, now.Mounts},
		{"packet filter", s.PacketFilter, now.PacketFilter}, {"sysctl", s.Sysctls, now.Sysctls}, {"folder", s.Folders, now.Folders},
		{"cgroup", s.Cgroups, now.Cgroups},
	} {
		for _, line := range part.before {
			if !slices.Contains(part.now, line) {
				found = append(found, "- "+part.name+": "+line)
			}
		}
		for _, line := range part.now {
			if !slices.Contains(part.before, line) {
				found = append(found, "+ "+part.name+": "+line)
			}
		}
	}
	return found
}
