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

package install

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/apitesting/roundtrip"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/fuzzer"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	Install(scheme)
	return scheme
}

func TestRoundTrip(t *testing.T) {
	roundtrip.RoundTripTestForAPIGroup(t, Install, fuzzer.Funcs)
	roundtrip.RoundTripProtobufTestForAPIGroup(t, Install, fuzzer.Funcs)
}

// TestGolden compares what every field is encoded to with files of earlier builds: JSON and YAML, which users write, and
// protobuf, which is in stores. A field that was added changes them (run with UPDATE_COMPATIBILITY_FIXTURE_DATA=true and
// look at the difference); a field that was renamed, renumbered or retyped must not.
func TestGolden(t *testing.T) {
	options := roundtrip.NewCompatibilityTestOptions(newScheme())
	options.TestDataDir = "testdata"
	options.Complete(t)
	options.Kinds = []schema.GroupVersionKind{
		v1beta2.SchemeGroupVersion.WithKind("SparkApplication"), v1beta2.SchemeGroupVersion.WithKind("ScheduledSparkApplication"),
		v1beta2.SchemeGroupVersion.WithKind("SparkApplicationLogOptions"), v1beta2.SchemeGroupVersion.WithKind("SparkApplicationProxyOptions"),
	}
	options.Run(t)
}
