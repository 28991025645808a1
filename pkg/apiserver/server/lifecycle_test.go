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
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/spark-apiserver/spark-apiserver/pkg/etcd"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
)

func TestRestartKeepsApplications(t *testing.T) {
	dir := dataDir(t)
	first, err := launch(dir)
	require.NoError(t, err)
	client, err := versioned.NewForConfig(first.LoopbackClientConfig())
	require.NoError(t, err)
	created, err := client.SparkoperatorV1beta2().SparkApplications("default").Create(t.Context(), application("pi"), metav1.CreateOptions{})
	require.NoError(t, err)

	// A second server can't use the store of one that runs.
	_, err = launch(dir)
	var inUse *etcd.InUseError
	require.ErrorAs(t, err, &inUse)

	require.NoError(t, first.stop(), "a server that is told to end has not failed")
	second, err := launch(dir)
	require.NoError(t, err)

	// By the file that is written for developers, and with no flag repeated.
	kubeconfig := dir + "/admin.kubeconfig"
	info, err := os.Stat(kubeconfig)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	client, err = versioned.NewForConfig(config)
	require.NoError(t, err)
	got, err := client.SparkoperatorV1beta2().SparkApplications("default").Get(t.Context(), "pi", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, created.UID, got.UID)
	assert.Equal(t, created.ResourceVersion, got.ResourceVersion)
	assert.Equal(t, created.Spec, got.Spec)
	require.NoError(t, second.stop())
}

func TestPrepareRefusesBadOptions(t *testing.T) {
	o, err := parse("--standalone", "--data-dir=relative", "--workers=0")
	require.NoError(t, err)
	_, err = Prepare(t.Context(), o)
	require.ErrorContains(t, err, "absolute path")
	require.ErrorContains(t, err, "--workers must be at least 1")
}

func TestWithoutAClusterThereIsAnExplanation(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	dir := dataDir(t)
	o, err := parse("--data-dir=" + dir)
	require.NoError(t, err)
	o.Store.UnsafeNoFsync = true
	_, err = Prepare(t.Context(), o)
	require.ErrorContains(t, err, "--standalone")

	// The store was stopped again.
	server, err := launch(dir)
	require.NoError(t, err)
	require.NoError(t, server.stop())
}
