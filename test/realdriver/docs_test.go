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

package realdriver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestExecutorFieldsDocs keeps the table of docs/executor-fields.md equal to the rows that are proven here.
func TestExecutorFieldsDocs(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "executor-fields.md")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	const begin, end = "<!-- BEGIN: written by TestExecutorFieldsDocs -->\n", "<!-- END: written by TestExecutorFieldsDocs -->\n"
	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok, begin)
	_, after, ok := strings.Cut(rest, end)
	require.True(t, ok, end)
	var table strings.Builder
	table.WriteString("\n| field of `spec.executor` (`.` = of `spec`) | travels as | Spark itself | lines |\n|---|---|---|---|\n")
	for i := range rows {
		r := &rows[i]
		fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", r.field, r.travels, r.spark, r.lines())
	}
	table.WriteString("\n")
	want := before + begin + table.String() + end + after
	if os.Getenv("UPDATE_DOCS") != "" {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	assert.Equal(t, want, string(text), "write it with UPDATE_DOCS=1 go test ./test/realdriver -run TestExecutorFieldsDocs")
}

// Every row is proven by an application, or says that there is nothing to prove.
func TestRows(t *testing.T) {
	for i := range rows {
		r := &rows[i]
		assert.NotEmpty(t, r.travels, r.field)
		assert.NotEmpty(t, r.spark, r.field)
		if strings.HasPrefix(r.travels, "not in this release") {
			continue
		}
		assert.Contains(t, []string{"fields", "overridden"}, r.app, r.field)
		assert.NotEmpty(t, r.pod+r.container, r.field)
	}
}
