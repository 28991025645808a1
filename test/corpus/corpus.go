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

// Package corpus finds the manifests of the Spark operator's users, which are kept beside the repository and not in it.
package corpus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Variable names the folder in the environment; without it the folder is ../shared/corpus, seen from the repository.
const Variable = "SPARK_APISERVER_CORPUS"

// Files returns the manifests, those that must fail when they run (Bad) last. Without the folder the test is skipped.
func Files(t testing.TB) []string {
	t.Helper()
	folder := os.Getenv(Variable)
	if folder == "" {
		folder = filepath.Join(repository(t), "..", "shared", "corpus")
	}
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no manifests from the field (%v); %s names another folder", err, Variable)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	require.NoError(t, err)
	bad, err := filepath.Glob(filepath.Join(folder, "bad", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return append(files, bad...)
}

// Bad says of a manifest that what it describes is to fail when it runs. It is valid all the same.
func Bad(file string) bool { return filepath.Base(filepath.Dir(file)) == "bad" }

// Name is a manifest's name, for a subtest.
func Name(file string) string { return strings.TrimSuffix(filepath.Base(file), ".yaml") }

// repository is the folder of go.mod above the test's own.
func repository(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		parent := filepath.Dir(folder)
		require.NotEqual(t, folder, parent, "no go.mod above the test")
		folder = parent
	}
}
