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
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatIsDifferentOnTheHostIsTold(t *testing.T) {
	t.Parallel()
	before := hostState{Links: []string{"1 lo", "2 eth0"}, Mounts: []string{"/"}, PacketFilter: []string{"rule"}}
	assert.Empty(t, before.differences(before))
	after := hostState{Links: []string{"1 lo", "2 eth0", "3 veth0"}, Mounts: []string{"/"}, Sysctls: []string{"panic 1"}}
	assert.Equal(t, []string{"+ link: 3 veth0", "- packet filter: rule", "+ sysctl: panic 1"}, before.differences(after))
}

func TestTheHostIsListed(t *testing.T) {
	t.Parallel()
	before, err := listHost()
	require.NoError(t, err)
	assert.NotEmpty(t, before.Links)
	assert.NotEmpty(t, before.Mounts)
	assert.NotEmpty(t, before.Folders)
}

func TestCountersAndTimesAreNoRules(t *testing.T) {
	t.Parallel()
	one := volatile.ReplaceAllString("# Generated on Monday\n:INPUT ACCEPT [12:3456]\n counter packets 7 bytes 99 accept\n", "")
	two := volatile.ReplaceAllString("# Generated on Tuesday\n:INPUT ACCEPT [0:0]\n counter packets 0 bytes 0 accept\n", "")
	assert.Equal(t, one, two)
	assert.Contains(t, one, ":INPUT ACCEPT")
}

// An image of one program: a manifest that names a config and a layer, and in the layer the program, to be executed.
func TestBinaryImage(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(program, []byte("#!"), 0o600))
	archive := filepath.Join(t.TempDir(), "image.tar")
	require.NoError(t, WriteBinaryImage(archive, BinaryImage{Tag: "localhost/program:1", Program: program, User: "7:7"}))
	files := readTar(t, archive)

	var manifest []struct {
		Config           string
		RepoTags, Layers []string
	}
	require.NoError(t, json.Unmarshal(files["manifest.json"], &manifest))
	require.Len(t, manifest, 1)
	assert.Equal(t, []string{"localhost/program:1"}, manifest[0].RepoTags)
	require.Len(t, manifest[0].Layers, 1)
	assert.Contains(t, files, manifest[0].Layers[0])
	var config struct {
		Config struct {
			User       string
			Entrypoint []string
		}
	}
	require.NoError(t, json.Unmarshal(files[manifest[0].Config], &config))
	assert.Equal(t, "7:7", config.Config.User)
	assert.Equal(t, []string{"/usr/local/bin/program"}, config.Config.Entrypoint)

	layer := filepath.Join(t.TempDir(), "layer.tar")
	require.NoError(t, os.WriteFile(layer, files[manifest[0].Layers[0]], 0o600))
	assert.Equal(t, map[string][]byte{"usr/local/bin/program": []byte("#!")}, readTar(t, layer))
}

func readTar(t *testing.T, path string) map[string][]byte {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	files := map[string][]byte{}
	for r := tar.NewReader(file); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		files[header.Name] = content
	}
}
