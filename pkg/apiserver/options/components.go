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

package options

import (
	"errors"
	"strings"

	"github.com/spf13/pflag"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"

	"github.com/spark-apiserver/spark-apiserver/pkg/features"
	"github.com/spark-apiserver/spark-apiserver/pkg/version"
)

const featureGatesFlag = "feature-gates"

// errCBOR: encoding a large list as CBOR takes many times the memory of the list (kubernetes/kubernetes#139076).
var errCBOR = errors.New("--feature-gates: CBORServingAndStorage can't be used: large lists would exhaust the memory")

// newComponents registers what has a version and feature gates: the API machinery, whose version is always that of its
// module, and us. Our release never takes the place of the version of Kubernetes, which would turn off every feature of
// the API machinery that is younger than 0.1.
func newComponents() basecompatibility.ComponentGlobalsRegistry {
	registry := basecompatibility.NewComponentGlobalsRegistry()
	// The gate of the API machinery is one for the process, and so is its version.
	kube, ok := compatibility.DefaultComponentGlobalsRegistry.
		EffectiveVersionFor(basecompatibility.DefaultKubeComponent).(basecompatibility.MutableEffectiveVersion)
	if !ok {
		kube = compatibility.DefaultBuildEffectiveVersion()
	}
	utilruntime.Must(registry.Register(basecompatibility.DefaultKubeComponent, kube, utilfeature.DefaultMutableFeatureGate))
	utilruntime.Must(registry.Register(ComponentName,
		basecompatibility.NewEffectiveVersionFromString(version.Release, version.Release, version.Release), features.NewFeatureGate()))
	kubeVersion := kube.BinaryVersion()
	utilruntime.Must(registry.SetVersionMapping(ComponentName, basecompatibility.DefaultKubeComponent,
		func(*utilversion.Version) *utilversion.Version { return kubeVersion }))
	return registry
}

// featureGates returns the gate of our features.
func (o *Options) featureGates() featuregate.FeatureGate {
	return o.components.FeatureGateFor(ComponentName)
}

// reportedVersion is what /version says: our release, with the emulated version that the API machinery works by.
type reportedVersion struct {
	basecompatibility.EffectiveVersion
}

// Info implements EffectiveVersion.
func (reportedVersion) Info() *apimachineryversion.Info {
	info := version.Get()
	return &info
}

// featureGatesValue lets --feature-gates name our gates without our component's name, which the flag of the registry takes
// for gates of the API machinery.
type featureGatesValue struct {
	pflag.Value
	ours []string
}

// Set implements pflag.Value.
func (v featureGatesValue) Set(value string) error {
	entries := strings.Split(value, ",")
	for i, entry := range entries {
		name, _, _ := strings.Cut(strings.TrimSpace(entry), "=")
		for _, ours := range v.ours {
			if name == ours {
				entries[i] = ComponentName + ":" + strings.TrimSpace(entry)
			}
		}
	}
	return v.Value.Set(strings.Join(entries, ","))
}

// Type implements pflag.Value: it is how help calls the value.
func (featureGatesValue) Type() string {
	return "mapStringBool"
}

func (o *Options) ourFeatureNames() []string {
	var names []string
	for feature := range o.components.FeatureGateFor(ComponentName).(featuregate.MutableFeatureGate).GetAll() {
		names = append(names, string(feature))
	}
	return names
}
