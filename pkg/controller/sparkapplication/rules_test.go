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

package sparkapplication

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// declaredRules are the constants of rules.go.
func declaredRules(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "rules.go", nil, 0)
	require.NoError(t, err)
	var rules []string
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, ok := node.(*ast.ValueSpec); ok {
			for _, value := range spec.Values {
				rule, err := strconv.Unquote(value.(*ast.BasicLit).Value)
				require.NoError(t, err)
				rules = append(rules, rule)
			}
		}
		return true
	})
	slices.Sort(rules)
	require.Equal(t, slices.Compact(slices.Clone(rules)), rules, "every rule has a name of its own")
	return rules
}

// TestEveryRuleHasACase: the table test has a row for each rule that asks for it by name.
func TestEveryRuleHasACase(t *testing.T) {
	tested := map[string]bool{}
	for _, test := range allDecideCases() {
		if test.rule != "" {
			tested[string(test.rule)] = true
		}
	}
	assert.Equal(t, declaredRules(t), slices.Sorted(maps.Keys(tested)))
}

// TestDocumentedRules compares the transition table of the documentation with the rules.
func TestDocumentedRules(t *testing.T) {
	text, err := os.ReadFile("../../../docs/lifecycle.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "\n## Rules\n")
	require.True(t, found)
	section, _, found = strings.Cut(section, "\n## ")
	require.True(t, found)
	documented := map[string]bool{}
	for _, match := range regexp.MustCompile("(?m)^\\| `([A-Za-z]+)` \\|").FindAllStringSubmatch(section, -1) {
		require.False(t, documented[match[1]], "%s has two rows", match[1])
		documented[match[1]] = true
	}
	assert.Equal(t, declaredRules(t), slices.Sorted(maps.Keys(documented)))
}
