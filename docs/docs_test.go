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

// Package docs keeps the pages true, as far as a program can.
package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = ".."

// walk calls visit with each file of the repository that has the ending, and leaves out what git ignores.
func walk(t *testing.T, ending string, visit func(path string)) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "bin") {
			return filepath.SkipDir
		}
		if !entry.IsDir() && strings.HasSuffix(name, ending) {
			visit(path)
		}
		return nil
	}))
}

// declaredTests are the names of all tests of the repository.
func declaredTests(t *testing.T) map[string]bool {
	t.Helper()
	tests := map[string]bool{}
	walk(t, "_test.go", func(path string) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, declaration := range file.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok && function.Recv == nil && strings.HasPrefix(function.Name.Name, "Test") {
				tests[function.Name.Name] = true
			}
		}
	})
	return tests
}

var testName = regexp.MustCompile("`(Test[A-Z][A-Za-z0-9]*)`")

// A page that names a test as its proof must not outlive it.
func TestTestsThatPagesName(t *testing.T) {
	tests := declaredTests(t)
	named := 0
	walk(t, ".md", func(path string) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, match := range testName.FindAllStringSubmatch(string(text), -1) {
			named++
			assert.True(t, tests[match[1]], "%s names %s, which there is not", path, match[1])
		}
	})
	assert.Greater(t, named, 40)
}

// Each row of the page of differences has its proof.
func TestDifferencesAreShown(t *testing.T) {
	text, err := os.ReadFile("differences-from-the-spark-operator.md")
	require.NoError(t, err)
	rows := 0
	for line := range strings.SplitSeq(string(text), "\n") {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "| there |") || strings.HasPrefix(line, "|---") {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if assert.Len(t, cells, 3, line) {
			assert.Regexp(t, testName, cells[2], line)
		}
	}
	assert.Greater(t, rows, 36)
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	fence   = regexp.MustCompile("(?ms)^```.*?^```")
)

// anchors are the fragments of a page's headings, as GitHub makes them.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
				return r
			}
			return -1
		}, strings.ToLower(match[1]))
		found[anchor] = true
	}
	return found
}

func TestLinksOfPages(t *testing.T) {
	walk(t, ".md", func(path string) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, match := range link.FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			file, fragment, _ := strings.Cut(match[1], "#")
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(target); err != nil {
				assert.Fail(t, "a link that leads nowhere", "%s links to %s: %v", path, match[1], err)
				continue
			}
			if fragment == "" {
				continue
			}
			page, err := os.ReadFile(target)
			require.NoError(t, err)
			assert.True(t, anchors(string(page))[fragment], "%s links to %s, and there is no such heading", path, match[1])
		}
	})
}
