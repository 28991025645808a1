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
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// The node's name and network. Nothing of it leaves the namespaces, so that any private addresses will do.
const (
	NodeName    = "real-1"
	nodeAddress = "192.168.77.2"
	podNetwork  = "10.88.0.0/16"
	dnsService  = "10.96.0.10"
	nodeLink    = "node0"
)

// keptSysctls are settings of the whole machine that a kubelet writes: it writes to files of ours instead.
var keptSysctls = []string{
	"/proc/sys/vm/overcommit_memory", "/proc/sys/vm/panic_on_oom",
	"/proc/sys/kernel/panic", "/proc/sys/kernel/panic_on_oops",
	"/proc/sys/kernel/keys/root_maxkeys", "/proc/sys/kernel/keys/root_maxbytes",
}

// privateMounts cuts the mounts of this namespace off from the host's, and gives it processes of its own to look at.
func privateMounts() error {
	if err := syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	return nil
}

// furnish makes the namespaces that this process is in fit for a node.
func furnish(ctx context.Context, dir string) error {
	if err := privateMounts(); err != nil {
		return err
	}
	// What kubelet mounts must reach the containers: shared, but within this namespace.
	if err := syscall.Mount("", "/", "", syscall.MS_SHARED|syscall.MS_REC, ""); err != nil {
		return fmt.Errorf("making mounts shared: %w", err)
	}
	// Sockets, leases of addresses and logs of pods are where the programs always have them, but not on the host.
	for _, folder := range []string{"/run", "/var/log"} {
		if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "mode=0755"); err != nil {
			return fmt.Errorf("mounting %s: %w", folder, err)
		}
	}
	if err := replaceChildren("/var/lib", filepath.Join(dir, "var-lib"), "kubelet", "cni"); err != nil {
		return err
	}
	if err := favourContainers(); err != nil {
		return err
	}
	if err := shieldSysctls(filepath.Join(dir, "sysctls")); err != nil {
		return err
	}
	if err := syscall.Sethostname([]byte(NodeName)); err != nil {
		return fmt.Errorf("setting the host name: %w", err)
	}
	for _, command := range []string{
		"ip link set lo up",
		// A bridge without ports, for lack of the module "dummy" in some kernels: all it does is to have the address.
		"ip link add " + nodeLink + " type bridge",
		"ip address add " + nodeAddress + "/24 dev " + nodeLink,
		"ip link set " + nodeLink + " up",
		"ip route add default dev " + nodeLink,
	} {
		words := strings.Fields(command)
		if out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w %s", command, err, out)
		}
	}
	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644)
}

// replaceChildren lets this namespace see a folder as it is but for some children, whose place is empty and whose changes
// stay here: kubelet and the network plugins write to places that can't be configured, and that need not exist on the host.
func replaceChildren(folder, original string, replaced ...string) error {
	if err := os.MkdirAll(original, 0o700); err != nil {
		return err
	}
	if err := syscall.Mount(folder, original, "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
		return fmt.Errorf("keeping %s in sight: %w", folder, err)
	}
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "mode=0755"); err != nil {
		return fmt.Errorf("mounting %s: %w", folder, err)
	}
	children, err := os.ReadDir(original)
	if err != nil {
		return err
	}
	for _, child := range children {
		from, to := filepath.Join(original, child.Name()), filepath.Join(folder, child.Name())
		if slices.Contains(replaced, child.Name()) {
			continue
		}
		switch {
		case child.IsDir():
			err = os.Mkdir(to, 0o755)
		case child.Type() == os.ModeSymlink:
			var target string
			if target, err = os.Readlink(from); err == nil {
				err = os.Symlink(target, to)
			}
		default:
			err = os.WriteFile(to, nil, 0o600)
		}
		if err == nil && child.Type() != os.ModeSymlink {
			err = syscall.Mount(from, to, "", syscall.MS_BIND|syscall.MS_REC, "")
		}
		if err != nil {
			return fmt.Errorf("keeping %s in sight: %w", to, err)
		}
	}
	return nil
}

// shieldSysctls puts files with the same content over settings of the whole machine.
func shieldSysctls(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, name := range keptSysctls {
		content, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return err
		}
		copied := filepath.Join(dir, strings.ReplaceAll(strings.TrimPrefix(name, "/proc/sys/"), "/", "."))
		if err := os.WriteFile(copied, content, 0o644); err != nil {
			return err
		}
		if err := syscall.Mount(copied, name, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("putting a file over %s: %w", name, err)
		}
	}
	return nil
}

// snapshotter chooses how containerd keeps images in a folder: overlayfs where the file system can do it, also after a
// change to one in memory, which some machines need whose root is an overlay itself; else copies.
func snapshotter(folder string) string {
	if overlayWorks(folder) {
		return "overlayfs"
	}
	if syscall.Mount("tmpfs", folder, "tmpfs", 0, "mode=0700") == nil {
		if overlayWorks(folder) {
			return "overlayfs"
		}
		_ = syscall.Unmount(folder, 0)
	}
	return "native"
}

// overlayWorks tries an overlay, and a change in it.
func overlayWorks(folder string) bool {
	trial, err := os.MkdirTemp(folder, "overlay-")
	if err != nil {
		return false
	}
	defer func() { _ = os.RemoveAll(trial) }()
	for _, name := range []string{"lower/old", "upper", "work", "merged"} {
		if err := os.MkdirAll(filepath.Join(trial, name), 0o755); err != nil {
			return false
		}
	}
	merged := filepath.Join(trial, "merged")
	options := fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", trial)
	if err := syscall.Mount("overlay", merged, "overlay", 0, options); err != nil {
		return false
	}
	defer func() { _ = syscall.Unmount(merged, 0) }()
	return os.Remove(filepath.Join(merged, "old")) == nil
}
