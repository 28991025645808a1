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
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// cniPlugins is where Debian puts the network plugins.
const cniPlugins = "/usr/lib/cni"

// DebianPackage is a package of Debian's, known to be there by one program of it: a name to be found in PATH, or a path.
type DebianPackage struct{ Name, Program string }

// debianPackages hold the programs of a node that aren't built from Go modules.
var debianPackages = []DebianPackage{
	{"containerd", "containerd"},
	{"runc", "runc"},
	{"containernetworking-plugins", filepath.Join(cniPlugins, "ptp")},
	{"iptables", "iptables"},
	{"iproute2", "ip"},
}

// unavailable says why a real node can't run here, nil if it can.
func unavailable() error {
	if os.Geteuid() != 0 {
		return errors.New("needs root")
	}
	if _, err := os.Stat("/sys/fs/cgroup"); err != nil {
		return fmt.Errorf("needs cgroups: %w", err)
	}
	if len(cgroupHierarchies()) == 0 {
		return errors.New("needs cgroups in which folders can be made: /sys/fs/cgroup has none")
	}
	// What a container of other software forbids shows only when it is tried.
	cmd := exec.Command("/proc/self/exe", "-test.run=^$")
	cmd.Env = append(os.Environ(), roleEnv+"="+roleProbe)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: namespaces}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("needs mount, network, process, host name and IPC namespaces: %w %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// probe is what the program does in trial namespaces: what needs the rights that real ones need.
func probe() error {
	if err := privateMounts(); err != nil {
		return err
	}
	return syscall.Sethostname([]byte(NodeName))
}

// installMissing installs the Debian packages that the machine lacks.
func installMissing(ctx context.Context, progress io.Writer, packages []DebianPackage) error {
	var missing []string
	for _, p := range packages {
		// exec.LookPath looks at an absolute path as it is.
		if _, err := exec.LookPath(p.Program); err != nil {
			missing = append(missing, p.Name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("this machine lacks %s, and has no apt-get to install them with", strings.Join(missing, ", "))
	}
	fmt.Fprintf(progress, "test cluster: installing %s\n", strings.Join(missing, ", "))
	for _, args := range [][]string{
		{"update", "-q"},
		slices.Concat([]string{"install", "-y", "-q", "--no-install-recommends"}, missing),
	} {
		cmd := exec.CommandContext(ctx, "apt-get", args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w\n%s", args[0], err, out)
		}
	}
	return nil
}
