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

package cluster

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFeatureGates(t *testing.T) {
	o := Options{}
	assert.Equal(t, "GenericWorkload=true", o.featureGates(KubeScheduler))
	assert.Equal(t, "scheduling.k8s.io/v1beta1=true", o.runtimeConfig())

	o = Options{WithoutGenericWorkload: true}
	assert.Empty(t, o.featureGates(KubeScheduler))
	assert.Empty(t, o.runtimeConfig())

	o = Options{
		FeatureGates:        map[string]bool{"B": true, "A": false},
		ProgramFeatureGates: map[Program]map[string]bool{KubeScheduler: {"GenericWorkload": false}},
		RuntimeConfig:       map[string]bool{"scheduling.k8s.io/v1alpha3": true},
	}
	assert.Equal(t, "A=false,B=true,GenericWorkload=true", o.featureGates(KubeAPIServer))
	assert.Equal(t, "A=false,B=true,GenericWorkload=false", o.featureGates(KubeScheduler))
	assert.Equal(t, "scheduling.k8s.io/v1alpha3=true,scheduling.k8s.io/v1beta1=true", o.runtimeConfig())
}

// The version that the programs are stamped with must be the one that they are built from.
func TestKubernetesVersionIsTheModules(t *testing.T) {
	root, err := repoRoot()
	require.NoError(t, err)
	mod, err := os.ReadFile(filepath.Join(root, "test", "cluster", "binaries", "go.mod"))
	require.NoError(t, err)
	assert.Contains(t, string(mod), "k8s.io/kubernetes "+kubernetesVersion+"\n")
	assert.Equal(t, "-s -w -X k8s.io/component-base/version.gitVersion=v1.37.2 -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=37", ldflags(true))
	assert.Equal(t, "-s -w", ldflags(false))
}

func TestBuildStampFollowsVersions(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	_, err := buildStamp(t.Context(), dir)
	require.Error(t, err, "without go.mod")
	write("go.mod", "module x\n\ngo 1.26\n")
	write("go.sum", "")
	first, err := buildStamp(t.Context(), dir)
	require.NoError(t, err)
	again, err := buildStamp(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, first, again)
	write("go.sum", "changed")
	changed, err := buildStamp(t.Context(), dir)
	require.NoError(t, err)
	assert.NotEqual(t, first, changed)
}

func TestWithoutKinds(t *testing.T) {
	got, err := withoutKinds("apiVersion: v1\nkind: Service\n---\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: a\n---\napiVersion: v1\nkind: Secret\n", notOnThisMachine)
	require.NoError(t, err)
	assert.Equal(t, "---\napiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: a\n", got)
	_, err = withoutKinds("kind: [", nil)
	assert.Error(t, err)
}

func TestLeasedPortsDiffer(t *testing.T) {
	seen := map[int]bool{}
	for range 20 {
		l, err := leasePort()
		require.NoError(t, err)
		defer l.release()
		assert.False(t, seen[l.port], "port %d was leased twice", l.port)
		seen[l.port] = true
	}
}

func TestSchedulerProfiles(t *testing.T) {
	assert.Empty(t, Options{}.schedulerProfiles(), "the configuration has no profile of its own")
	assert.Equal(t, "profiles:\n- schedulerName: default-scheduler\n- schedulerName: volcano\n",
		Options{SchedulerProfiles: []string{"volcano"}}.schedulerProfiles())
}
