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

package server

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	sparkclient "github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned/typed/sparkoperator/v1beta2"
)

// secretMarker is a value of a spec that must not be found in clear text.
const secretMarker = "s3a-secret-key-in-a-spec"

// encryptedServer starts a server with these providers, each with the last letter of its key's name as the key. The first
// one encrypts, all of them decrypt.
func encryptedServer(t *testing.T, dir string, providers ...[2]string) (server *running, apps sparkclient.SparkApplicationInterface, raw func() []byte) {
	t.Helper()
	config := "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n" +
		"- resources: [sparkapplications.sparkoperator.k8s.io, scheduledsparkapplications.sparkoperator.k8s.io]\n  providers:\n"
	for _, provider := range providers {
		key := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte(provider[1][len(provider[1])-1:]), 32))
		config += fmt.Sprintf("  - {%s: {keys: [{name: %s, secret: %s}]}}\n", provider[0], provider[1], key)
	}
	file := filepath.Join(t.TempDir(), "encryption.yaml")
	require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
	server, err := launch(dir, "--encryption-provider-config="+file)
	require.NoError(t, err)
	client := storeClient(t, server.StoreEndpoint())
	return server, mustClient(t, server.LoopbackClientConfig()).SparkoperatorV1beta2().SparkApplications("default"), func() []byte {
		response, err := client.Get(t.Context(), "/spark-apiserver/sparkoperator.k8s.io/sparkapplications/default/pi")
		require.NoError(t, err)
		require.Len(t, response.Kvs, 1)
		return response.Kvs[0].Value
	}
}

// TestEncryptionAtRest guards that --encryption-provider-config holds for our kinds: nothing of an application is on the disk
// in clear text, and a key can be replaced as the Kubernetes documentation says.
func TestEncryptionAtRest(t *testing.T) {
	dir := dataDir(t)
	before, after := [2]string{"aescbc", "key1"}, [2]string{"aesgcm", "key2"}
	server, apps, raw := encryptedServer(t, dir, before)
	app := application("pi")
	app.Spec.SparkConf = map[string]string{"spark.hadoop.fs.s3a.secret.key": secretMarker}
	created, err := apps.Create(t.Context(), app, metav1.CreateOptions{})
	require.NoError(t, err)
	requireEncrypted(t, raw(), before)
	require.NoError(t, server.stop())
	requireNotOnDisk(t, dir)

	// The new key comes first, and what was written with the old one is read.
	server, apps, raw = encryptedServer(t, dir, after, before)
	requireSame(t, apps, created)
	requireEncrypted(t, raw(), before)
	// Even a write that changes nothing is one.
	_, err = apps.Patch(t.Context(), "pi", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
	require.NoError(t, err)
	requireEncrypted(t, raw(), after)
	require.NoError(t, server.stop())

	// When everything is rewritten, the old key can go.
	server, apps, _ = encryptedServer(t, dir, after)
	requireSame(t, apps, created)
	require.NoError(t, server.stop())
	requireNotOnDisk(t, dir)
}

func requireEncrypted(t *testing.T, value []byte, provider [2]string) {
	t.Helper()
	prefix := "k8s:enc:" + provider[0] + ":v1:" + provider[1] + ":"
	require.Equal(t, prefix, string(value[:len(prefix)]))
	require.NotContains(t, string(value), secretMarker)
	require.NotContains(t, string(value), "spark-examples.jar")
}

func requireSame(t *testing.T, apps sparkclient.SparkApplicationInterface, created *v1beta2.SparkApplication) {
	t.Helper()
	got, err := apps.Get(t.Context(), created.Name, metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, created.Spec, got.Spec)
	assert.Equal(t, created.UID, got.UID)
}

// requireNotOnDisk looks into every file of the embedded store, of which a log and the database are two.
func requireNotOnDisk(t *testing.T, dir string) {
	t.Helper()
	size := 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		size += len(content)
		assert.NotContains(t, string(content), secretMarker, path)
		return err
	}))
	assert.NotZero(t, size)
}
