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

package cluster_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spark-apiserver/spark-apiserver/test/cluster"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/clustertest"
)

// What one invocation leaves running, another one finds, uses and stops.
func TestDetachedCluster(t *testing.T) {
	clustertest.SkipIfShort(t)
	dir := t.TempDir()
	_, err := cluster.Attach(dir)
	require.ErrorIs(t, err, cluster.ErrNoCluster)

	started, err := cluster.Start(t.Context(), cluster.Options{DataDir: dir, Detached: true, WithoutSimulatedDriver: true})
	require.NoError(t, err)
	t.Cleanup(started.Stop)

	attached, err := cluster.Attach(dir)
	require.NoError(t, err)
	require.Len(t, attached.Processes(), 5)
	for i, p := range attached.Processes() {
		assert.True(t, p.Running(), p.Name)
		assert.Equal(t, started.Processes()[i].PID(), p.PID(), p.Name)
	}
	require.NoError(t, attached.AddNode(t.Context(), "n", "1", "1Gi"))
	_, _, err = attached.Kubectl(t.Context(), "", "get", "node", "n")
	require.NoError(t, err)

	server, err := attached.StartSparkAPIServer(t.Context(), stubServer())
	require.NoError(t, err)
	again, err := cluster.Attach(dir)
	require.NoError(t, err)
	require.Len(t, again.Processes(), 6, "our server is recorded too")

	again.Stop()
	for _, p := range again.Processes() {
		assert.False(t, p.Running(), p.Name)
	}
	for _, p := range append(started.Processes(), server.Process) {
		eventually(t, string(p.Name)+" to have ended for those who started it", func() bool { return !p.Running() })
	}
	_, err = cluster.Attach(dir)
	require.ErrorIs(t, err, cluster.ErrNoCluster)
	_, err = os.Stat(dir)
	assert.NoError(t, err, "a given data directory is left to its giver")
}
