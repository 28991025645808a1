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
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

const cgroupMount = "/sys/fs/cgroup"

// cgroupHierarchies are the folders below which groups can be made: one in version 2, one for each controller in
// version 1.
func cgroupHierarchies() []string {
	candidates, _ := filepath.Glob(filepath.Join(cgroupMount, "*", "cgroup.procs"))
	if _, err := os.Stat(filepath.Join(cgroupMount, "cgroup.controllers")); err == nil {
		candidates = []string{filepath.Join(cgroupMount, "cgroup.procs")}
	}
	var found []string
	for _, c := range candidates {
		found = append(found, filepath.Dir(c))
	}
	return found
}

// containersGroup is the group below which containerd has a group for each container.
const containersGroup = "k8s.io"

// idleCgroups lists the containers' group and its children in every hierarchy, parents first, as far as no process is in
// them: those that have some are of another node on this machine, since a node's processes end with its namespaces.
func idleCgroups() []string {
	var found []string
	for _, hierarchy := range cgroupHierarchies() {
		group := filepath.Join(hierarchy, containersGroup)
		children, err := os.ReadDir(group)
		if err != nil {
			continue
		}
		var idle []string
		inUse := hasProcesses(group)
		for _, child := range children {
			path := filepath.Join(group, child.Name())
			switch {
			case !child.IsDir():
			case hasProcesses(path):
				inUse = true
			default:
				idle = append(idle, path)
			}
		}
		if !inUse {
			found = append(found, group)
		}
		found = append(found, idle...)
	}
	return found
}

func hasProcesses(group string) bool {
	content, err := os.ReadFile(filepath.Join(group, "cgroup.procs"))
	return err == nil && len(content) > 0
}

// favourContainers gives the containers together the weight of many processes. Outside of their group each process has
// the weight that the group has as a whole: on a busy machine Spark, started in several of them, would hardly get ahead.
func favourContainers() error {
	for _, hierarchy := range cgroupHierarchies() {
		group := filepath.Join(hierarchy, containersGroup)
		if err := os.MkdirAll(group, 0o755); err != nil {
			return fmt.Errorf("making a group for containers: %w", err)
		}
		// Sixteen times the default of version 1 and of version 2. Only one hierarchy has the controller.
		for name, weight := range map[string]string{"cpu.shares": "16384", "cpu.weight": "1600"} {
			file := filepath.Join(group, name)
			if _, err := os.Stat(file); err != nil {
				continue
			}
			if err := os.WriteFile(file, []byte(weight), 0o644); err != nil {
				return fmt.Errorf("weighting the containers' group: %w", err)
			}
		}
	}
	return nil
}

// removeCgroups removes the idle groups that weren't there before, with those below them.
func removeCgroups(before []string) error {
	var failed error
	for _, added := range slices.Backward(idleCgroups()) {
		if slices.Contains(before, added) {
			continue
		}
		var groups []string
		_ = filepath.WalkDir(added, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				groups = append(groups, path)
			}
			return nil
		})
		for _, group := range slices.Backward(groups) {
			err := syscall.Rmdir(group)
			for deadline := time.Now().Add(10 * time.Second); errors.Is(err, syscall.EBUSY) && time.Now().Before(deadline); err = syscall.Rmdir(group) {
				time.Sleep(20 * time.Millisecond)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				failed = errors.Join(failed, &fs.PathError{Op: "rmdir", Path: group, Err: err})
			}
		}
	}
	return failed
}
