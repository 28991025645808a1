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

package render

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
	"github.com/spark-apiserver/spark-apiserver/test/corpus"
)

// Manifests as users of today's operator have them render unchanged, batch schedulers included.
func TestCorpusRenders(t *testing.T) {
	for _, file := range corpus.Files(t) {
		t.Run(corpus.Name(file), func(t *testing.T) {
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			stdout, stderr, err := run(t, "", "-f", file)
			switch {
			case strings.Contains(string(content), "\n  batchScheduler:"):
				require.NoError(t, err, stderr)
				assert.Contains(t, stderr, "spec.batchScheduler is deprecated; use spec.scheduling.batchScheduler.name")
				_, name, _ := strings.Cut(string(content), "\n  batchScheduler: ")
				name, _, _ = strings.Cut(name, "\n")
				assert.Contains(t, stdout, "\n  schedulerName: "+name+"\n")
				_, needsGroup := scheduling.PodGroupResource(name)
				assert.Equal(t, needsGroup, strings.Contains(stdout, "\nkind: PodGroup\n"))
			default:
				require.NoError(t, err, stderr)
				assert.Contains(t, stdout, "\nkind: Pod\n")
				assert.NotContains(t, stdout, "scheduling.k8s.io", "nothing here asks for workload-aware scheduling")
			}
		})
	}
}
