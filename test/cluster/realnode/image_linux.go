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
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// imagesDir is where, in a node's folder, archives lie that are imported at the start.
const imagesDir = "images"

// BinaryImage is an image of one static program and nothing else.
type BinaryImage struct {
	// Tag is its name, with registry and tag.
	Tag string
	// Program is the file on this machine.
	Program string
	// User is the user and group that it runs as.
	User string
}

// WriteBinaryImage writes an image as `docker save` would.
func WriteBinaryImage(archive string, image BinaryImage) error {
	program, err := os.ReadFile(image.Program)
	if err != nil {
		return err
	}
	entrypoint := "/usr/local/bin/" + filepath.Base(image.Program)
	var layer bytes.Buffer
	if err := writeTar(&layer, map[string][]byte{entrypoint[1:]: program}, 0o755, entrypoint[1:]); err != nil {
		return err
	}
	digest := func(b []byte) string {
		sum := sha256.Sum256(b)
		return hex.EncodeToString(sum[:])
	}
	layerDigest := digest(layer.Bytes())
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": map[string]any{"User": image.User, "Entrypoint": []string{entrypoint}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + layerDigest}},
	})
	if err != nil {
		return err
	}
	configName, layerName := digest(config)+".json", layerDigest+".tar"
	manifest, err := json.Marshal([]map[string]any{{"Config": configName, "RepoTags": []string{image.Tag}, "Layers": []string{layerName}}})
	if err != nil {
		return err
	}
	out, err := os.Create(archive)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := writeTar(out, map[string][]byte{"manifest.json": manifest, configName: config, layerName: layer.Bytes()}, 0o644,
		"manifest.json", configName, layerName); err != nil {
		return err
	}
	return out.Close()
}

// writeTar writes files in an order.
func writeTar(out io.Writer, files map[string][]byte, mode int64, order ...string) error {
	w := tar.NewWriter(out)
	for _, name := range order {
		header := &tar.Header{Name: name, Mode: mode, Size: int64(len(files[name])), ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		if _, err := w.Write(files[name]); err != nil {
			return err
		}
	}
	return w.Close()
}

// writePauseImage builds the program that keeps a pod's namespaces, and puts its image among those to be imported.
func writePauseImage(ctx context.Context, repoRoot, images string) error {
	folder, err := os.MkdirTemp("", "pause-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	program := filepath.Join(folder, "pause")
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags", "-s -w", "-o", program, "./test/cluster/realnode/pause")
	cmd.Dir, cmd.Env = repoRoot, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building pause: %w\n%s", err, out)
	}
	return WriteBinaryImage(filepath.Join(images, "pause.tar"), BinaryImage{Tag: PauseImage, Program: program, User: "65535:65535"})
}
