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

// Package sparkimage has no code; its test runs what artifacts/images/spark/build.sh makes, as a container would.
package sparkimage

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// container runs a command of the image at a root folder in namespaces of its own, with no network but the loopback
// device, and with the few devices that every container has. Arguments: root, user and group, NAME=VALUE..., --, command.
const container = `
set -o errexit -o nounset
root="$1" user="$2"; shift 2
environment=()
while [[ "$1" != -- ]]; do environment+=("$1"); shift; done
shift
hostname localhost
ip link set lo up
mount -t proc proc "${root}/proc"
mkdir -p "${root}/dev"
mount -t tmpfs dev "${root}/dev"
for device in null zero random urandom; do
  touch "${root}/dev/${device}"
  mount --bind "/dev/${device}" "${root}/dev/${device}"
done
ln -s /proc/self/fd "${root}/dev/fd"
exec env -i "${environment[@]}" chroot --userspec="${user}" "${root}" "$@"
`

// The image's own user, and one that it doesn't know, as runAsUser of a pod makes it.
const (
	sparkUser   = "185:185"
	unknownUser = "12345:0"
)

func TestImage(t *testing.T) {
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("containers need Linux and root")
	}
	if err := exec.Command("unshare", "--mount", "--pid", "--net", "--uts", "--ipc", "--fork", "true").Run(); err != nil {
		t.Skipf("namespaces can't be made here: %v", err)
	}
	folder := t.TempDir()
	archive := filepath.Join(folder, "image.tar")
	build := exec.CommandContext(t.Context(), "../../artifacts/images/spark/build.sh", "--line", "4.3", "--tag", "spark-test:4.3",
		"--output", archive)
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	require.NoError(t, build.Run())
	root := filepath.Join(folder, "root")
	require.NoError(t, os.Mkdir(root, 0o755))
	img := unpack(t, archive, root)
	assert.Equal(t, []string{"spark-test:4.3"}, img.tags)
	assert.Equal(t, "185", img.User, "a number, so that runAsNonRoot can be checked")
	assert.Equal(t, "/opt/spark/work-dir", img.WorkingDir)
	for _, name := range []string{"etc/hostname", "etc/resolv.conf", "dev/null"} {
		assert.NoFileExists(t, filepath.Join(root, name), "of the machine that made the image")
	}
	c := &image{config: img, root: root}

	t.Run("driver", func(t *testing.T) {
		for _, user := range []string{sparkUser, unknownUser} {
			out := c.run(t, user, []string{"SPARK_DRIVER_BIND_ADDRESS=127.0.0.1", "SPARK_LOCAL_IP=127.0.0.1"}, "driver",
				"--master", "local[1]", "--conf", "spark.driver.host=127.0.0.1", "/opt/spark/examples/src/main/python/pi.py", "1")
			assert.Contains(t, out, "Pi is roughly 3.1", user)
		}
	})
	t.Run("the driver's options", func(t *testing.T) {
		// In place of spark-submit: what says what it was asked for.
		c.replace(t, "opt/spark/bin/spark-submit", "#!/bin/bash\nprintf '<%s>' \"$@\"\n")
		assert.Equal(t, "<--deploy-mode><client>"+
			"<--conf><spark.driver.bindAddress=10.0.0.7><--conf><spark.executorEnv.SPARK_DRIVER_POD_IP=10.0.0.7>"+
			"<--properties-file></opt/spark/conf/spark.properties><--class><a.B><spark-internal><a b><>",
			c.run(t, sparkUser, []string{"SPARK_DRIVER_BIND_ADDRESS=10.0.0.7"}, "driver",
				"--properties-file", "/opt/spark/conf/spark.properties", "--class", "a.B", "spark-internal", "a b", ""))
	})
	t.Run("executor", func(t *testing.T) {
		require.NoError(t, os.MkdirAll(filepath.Join(root, "fake", "bin"), 0o755))
		c.replace(t, "fake/bin/java", "#!/bin/bash\nprintf '<%s>' \"$@\"\n")
		assert.Equal(t, "<-Da=b c><-Dsecond=*><-Deleventh>"+
			"<-Xms512m><-Xmx512m><-cp></opt/spark/conf:/opt/hadoop/conf:/given/*:/opt/spark/jars/*>"+
			"<org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend>"+
			"<--driver-url><spark://CoarseGrainedScheduler@d:7078><--executor-id><3><--cores><2><--app-id><spark-1>"+
			"<--hostname><10.0.0.8><--resourceProfileId><0><--podName><x-exec-3>",
			c.run(t, sparkUser, []string{
				"JAVA_HOME=/fake", "SPARK_JAVA_OPT_10=-Deleventh", "SPARK_JAVA_OPT_0=-Da=b c", "SPARK_JAVA_OPT_2=-Dsecond=*",
				"SPARK_EXECUTOR_MEMORY=512m", "SPARK_CONF_DIR=/opt/spark/conf", "HADOOP_CONF_DIR=/opt/hadoop/conf", "SPARK_CLASSPATH=/given/*",
				"SPARK_DRIVER_URL=spark://CoarseGrainedScheduler@d:7078", "SPARK_EXECUTOR_ID=3", "SPARK_EXECUTOR_CORES=2",
				"SPARK_APPLICATION_ID=spark-1", "SPARK_EXECUTOR_POD_IP=10.0.0.8", "SPARK_RESOURCE_PROFILE_ID=0", "SPARK_EXECUTOR_POD_NAME=x-exec-3",
			}, "executor"))
	})
	t.Run("another command, as another user", func(t *testing.T) {
		assert.Equal(t, "12345 spark-user\n", c.run(t, unknownUser, nil, "python3", "-c",
			"import os, pwd; print(os.getuid(), pwd.getpwuid(os.getuid()).pw_name)"))
		assert.Equal(t, "185 spark\n", c.run(t, sparkUser, nil, "python3", "-c",
			"import os, pwd; print(os.getuid(), pwd.getpwuid(os.getuid()).pw_name)"))
	})
	t.Run("decommission", func(t *testing.T) {
		// An executor that leaves when it is told to, as a real one does when it has moved its blocks.
		script := `exec -a java python3 -c '
import signal
def leave(number, frame):
    print("told by signal", number, flush=True)
    raise SystemExit
signal.signal(signal.SIGPWR, leave)
print("up", flush=True)
while True: signal.pause()
' org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend`
		out := c.run(t, sparkUser, nil, "bash", "-c",
			`mkfifo /tmp/said; (`+script+`) >/tmp/said & exec 3</tmp/said; read -r line <&3; echo "${line}"; /opt/decom.sh; cat <&3; /opt/decom.sh`)
		assert.Regexp(t, `^up\ndecommissioning the executor, process \d+\ntold by signal 30\nno executor runs here\n$`, out)
	})
	t.Run("the same from the same", func(t *testing.T) {
		again := filepath.Join(folder, "again.tar")
		build := exec.CommandContext(t.Context(), "../../artifacts/images/spark/build.sh", "--line", "4.3", "--tag", "spark-test:4.3",
			"--output", again)
		require.NoError(t, build.Run())
		assert.NoError(t, exec.CommandContext(t.Context(), "cmp", archive, again).Run())
	})
}

// config is what an archive says about its image.
type config struct {
	tags            []string
	User            string
	Env, Entrypoint []string
	WorkingDir      string
}

// unpack lays the layers of an archive over each other, as root so that owners and modes are kept.
func unpack(t *testing.T, archive, root string) config {
	t.Helper()
	var manifest []struct {
		Config           string
		RepoTags, Layers []string
	}
	readJSON(t, archive, "manifest.json", &manifest)
	require.Len(t, manifest, 1)
	var described struct {
		Config config `json:"config"`
		Rootfs struct {
			DiffIDs []string `json:"diff_ids"`
		} `json:"rootfs"`
	}
	readJSON(t, archive, manifest[0].Config, &described)
	require.Len(t, described.Rootfs.DiffIDs, len(manifest[0].Layers))
	for i, layer := range manifest[0].Layers {
		file := filepath.Join(filepath.Dir(root), layer)
		for _, script := range []string{
			`tar --extract --file "$1" --directory "$(dirname "$2")" "$(basename "$2")"`,
			`sha256sum --check --status <<<"${4#sha256:}  $2"`,
			`tar --extract --file "$2" --same-owner --same-permissions --directory "$3"`,
			`rm "$2"`,
		} {
			out, err := exec.CommandContext(t.Context(), "bash", "-c", script, "bash", archive, file, root, described.Rootfs.DiffIDs[i]).CombinedOutput()
			require.NoError(t, err, "%s: %s", script, out)
		}
	}
	described.Config.tags = manifest[0].RepoTags
	return described.Config
}

// readJSON reads a file of an archive.
func readJSON(t *testing.T, archive, name string, into any) {
	t.Helper()
	file, err := os.Open(archive)
	require.NoError(t, err)
	defer file.Close()
	for entries := tar.NewReader(file); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			require.FailNow(t, "not in the archive", name)
		}
		require.NoError(t, err)
		if entry.Name == name {
			require.NoError(t, json.NewDecoder(entries).Decode(into))
			return
		}
	}
}

// image is an unpacked image.
type image struct {
	config
	root string
}

// replace puts another program in the place of one.
func (i *image) replace(t *testing.T, name, content string) {
	t.Helper()
	file := filepath.Join(i.root, name)
	require.NoError(t, os.RemoveAll(file))
	require.NoError(t, os.WriteFile(file, []byte(content), 0o755))
}

// run runs a container to its end and returns what it wrote to its standard output.
func (i *image) run(t *testing.T, user string, env []string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	words := []string{"--mount", "--pid", "--net", "--uts", "--ipc", "--fork", "--kill-child", "bash", "-c", container, "bash", i.root, user}
	words = append(words, i.Env...)
	words = append(words, env...)
	words = append(words, "--")
	words = append(words, i.Entrypoint...)
	cmd := exec.CommandContext(ctx, "unshare", append(words, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	return string(out)
}
