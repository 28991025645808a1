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

package validation

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/test/corpus"
)

// TestCorpus accepts every manifest that the operator accepts.
func TestCorpus(t *testing.T) {
	found := 0
	for _, file := range corpus.Files(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			for _, app := range applicationsOf(t, file) {
				found++
				for _, opts := range []Options{{}, gateOn} {
					opts.Schedulers.KubeSchedulers = []string{"kube-scheduler"}
					assert.Empty(t, ValidateSparkApplication(app, opts))
				}
				before := app.DeepCopy()
				WarningsForSparkApplication(app, nil)
				assert.Equal(t, before, app)
			}
		})
	}
	assert.GreaterOrEqual(t, found, 14)
}

func applicationsOf(t *testing.T, file string) []*sparkoperator.SparkApplication {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	decoder := serializer.NewCodecFactory(scheme).UniversalDecoder(sparkoperator.SchemeGroupVersion)
	documents := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(content)))
	var apps []*sparkoperator.SparkApplication
	buffer := make([]byte, 1<<20)
	for {
		n, err := documents.Read(buffer)
		if errors.Is(err, io.EOF) {
			return apps
		}
		require.NoError(t, err)
		object, _, err := decoder.Decode(buffer[:n], nil, nil)
		if runtime.IsNotRegisteredError(err) || runtime.IsMissingKind(err) {
			continue // another kind
		}
		require.NoError(t, err)
		if _, ok := object.(*sparkoperator.ScheduledSparkApplication); ok {
			continue // see TestScheduleOfTheCorpus
		}
		app, ok := object.(*sparkoperator.SparkApplication)
		require.True(t, ok)
		if app.Namespace == "" {
			app.Namespace = "default" // as every request has one
		}
		apps = append(apps, app)
	}
}
