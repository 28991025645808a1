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

package deploy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spark-apiserver/spark-apiserver/test/cluster/realnode"
)

// ServerImage is the image of our server.
const ServerImage = "localhost/spark-apiserver:test"

// SparkImage is the image of a line of Spark.
func SparkImage(line string) string { return "localhost/spark:" + line }

// BuildServerImage builds our server, statically and from scratch as artifacts/images/spark-apiserver/Dockerfile does, and
// writes its image as an archive into a folder.
func BuildServerImage(ctx context.Context, repoRoot, images string) error {
	folder, err := os.MkdirTemp("", "spark-apiserver-image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	program := filepath.Join(folder, "spark-apiserver")
	if err := run(ctx, repoRoot, []string{"CGO_ENABLED=0", "GOFLAGS="}, nil, "go", "build", "-ldflags", "-s -w", "-o", program, "./cmd/spark-apiserver"); err != nil {
		return err
	}
	return realnode.WriteBinaryImage(filepath.Join(images, "spark-apiserver.tar"), realnode.BinaryImage{Tag: ServerImage, Program: program, User: "65532:65532"})
}

// BuildSparkImage writes the image of a line of Spark as an archive into a folder.
func BuildSparkImage(ctx context.Context, repoRoot, images, line string, progress io.Writer) error {
	return run(ctx, repoRoot, nil, linePrefix(progress), filepath.Join(repoRoot, "artifacts", "images", "spark", "build.sh"),
		"--line", line, "--tag", SparkImage(line), "--output", filepath.Join(images, "spark-"+line+".tar"))
}

// run runs a command with its output to progress (nil = nowhere); an error holds the end of it.
func run(ctx context.Context, dir string, env []string, progress io.Writer, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	// What the command has started ends with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if progress != nil {
		both := io.MultiWriter(&out, progress)
		cmd.Stdout, cmd.Stderr = both, both
	}
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		return fmt.Errorf("%s: %w\n%s", name, err, strings.Join(lines[max(0, len(lines)-20):], "\n"))
	}
	return nil
}

// prefixed writes whole lines, each as the test cluster's progress has it.
type prefixed struct {
	out  io.Writer
	rest []byte
}

func linePrefix(out io.Writer) io.Writer { return &prefixed{out: out} }

func (p *prefixed) Write(content []byte) (int, error) {
	p.rest = append(p.rest, content...)
	for {
		line, rest, whole := bytes.Cut(p.rest, []byte("\n"))
		if !whole {
			return len(content), nil
		}
		if _, err := fmt.Fprintf(p.out, "test cluster: %s\n", line); err != nil {
			return 0, err
		}
		p.rest = rest
	}
}
