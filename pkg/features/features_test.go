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

package features

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-base/featuregate"
)

func TestDefaults(t *testing.T) {
	gate := NewFeatureGate()
	assert.False(t, gate.Enabled(SparkApplicationWorkloadAwareScheduling), "an alpha feature is off unless asked for")
	require.NoError(t, gate.Set("SparkApplicationWorkloadAwareScheduling=true"))
	assert.True(t, gate.Enabled(SparkApplicationWorkloadAwareScheduling))
}

func TestGatesAreIndependent(t *testing.T) {
	on, off := NewFeatureGate(), NewFeatureGate()
	require.NoError(t, on.Set("SparkApplicationWorkloadAwareScheduling=true"))
	assert.False(t, off.Enabled(SparkApplicationWorkloadAwareScheduling))
}

func TestAllAlphaTurnsItOn(t *testing.T) {
	gate := NewFeatureGate()
	require.NoError(t, gate.Set("AllAlpha=true"))
	assert.True(t, gate.Enabled(SparkApplicationWorkloadAwareScheduling))
}

func TestAddTo(t *testing.T) {
	const theirs featuregate.Feature = "Theirs"
	gate := featuregate.NewVersionedFeatureGate(version.MustParse("1.4"))
	require.NoError(t, gate.AddVersioned(map[featuregate.Feature]featuregate.VersionedSpecs{
		theirs: {{Version: version.MustParse("1.0"), Default: true, PreRelease: featuregate.Beta}},
	}))
	require.NoError(t, AddTo(gate))
	require.NoError(t, AddTo(gate), "adding twice is no error")
	assert.True(t, gate.Enabled(theirs))
	assert.False(t, gate.Enabled(SparkApplicationWorkloadAwareScheduling))
	assert.Contains(t, gate.GetAll(), SparkApplicationWorkloadAwareScheduling)
}
