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
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

const goldenFolder = "../testdata/golden"

// Every example renders to exactly the objects and messages that were reviewed. With -update the files are written anew;
// their diff is then to be read against what spark-submit and Spark's driver do.
func TestExamplesRenderAsReviewed(t *testing.T) {
	expected := map[string]bool{}
	for _, name := range exampleFiles(t) {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, err := run(t, "", "--validate=strict", "-f", filepath.Join(examplesFolder, name+".yaml"))
			require.NoError(t, err, "an example has to be valid; messages:\n%s", stderr)
			// The folder's path depends on where the test runs.
			stderr = strings.ReplaceAll(stderr, examplesFolder+string(filepath.Separator), "")
			compare(t, name+".yaml", stdout)
			compare(t, name+".stderr", stderr)
		})
		expected[name+".yaml"] = true
		expected[name+".stderr"] = true
	}
	entries, err := os.ReadDir(goldenFolder)
	require.NoError(t, err)
	for _, entry := range entries {
		assert.True(t, expected[entry.Name()], "golden file %s belongs to no example", entry.Name())
	}
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join(goldenFolder, name)
	if *update {
		require.NoError(t, os.MkdirAll(goldenFolder, 0o755))
		if got == "" {
			err := os.Remove(file)
			if !os.IsNotExist(err) {
				require.NoError(t, err)
			}
			return
		}
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644)) //nolint:gosec // golden files are part of the repository
		return
	}
	want, err := os.ReadFile(file)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	assert.Equal(t, string(want), got, "%s differs; if that is wanted, run the test with -update and read the diff", file)
}
