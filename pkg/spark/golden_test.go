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

package spark

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/spark-apiserver/spark-apiserver/hack/spark-golden/golden"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// goldenLines are the lines of Spark that spark-submit was recorded of, with hack/spark-golden.
var goldenLines = []string{"3.5", "4.0", "4.1", "4.2", "4.3"}

// TestGolden compares what is built here with what the real spark-submit of each line sent for the same application,
// field by field. What differs has to be in the table of differences, and what is in the table has to differ somewhere.
func TestGolden(t *testing.T) {
	root := filepath.Join("testdata", "golden")
	cases, err := golden.LoadCases(filepath.Join(root, "cases"))
	require.NoError(t, err)
	used := map[*difference]bool{}
	compared, explained, total, ran := 0, 0, 0, 0
	for _, line := range goldenLines {
		count := 0
		for i := range cases {
			c := &cases[i]
			if !c.In(line) {
				continue
			}
			count++
			total++
			t.Run(line+"/"+c.Name, func(t *testing.T) {
				ran++
				record, err := golden.ReadRecord(golden.File(root, line, c.Name))
				require.NoError(t, err, "record it with hack/spark-golden")
				switch {
				case c.NamesOnly:
					compareNames(t, c, record)
				case c.Refused != "":
					compareRefusal(t, c, record)
				default:
					fields, rows := compareObjects(t, c, record)
					compared += fields
					for _, row := range rows {
						used[row] = true
						explained++
					}
				}
			})
		}
		assert.GreaterOrEqual(t, count, 40, "cases of %s", line)
		t.Logf("Spark %s: %d cases", line, count)
	}
	t.Logf("%d cases, %d of them run: %d fields compared, %d of them different as the table of differences says", total, ran, compared, explained)
	if ran < total || t.Failed() {
		return // a part of the cases says nothing of rows that aren't used
	}
	for i := range differences {
		if !used[&differences[i]] && !differences[i].random {
			t.Errorf("no case differs as the table says of %s: %+v", differences[i].path, differences[i])
		}
	}
}

// TestExplain shows that the table excuses nothing that it doesn't name.
func TestExplain(t *testing.T) {
	const container = "Pod.spec.containers[spark-kubernetes-driver]"
	for name, c := range map[string]struct {
		line, name, path, spark, ours string
		want                          bool
	}{
		"a row":                {"4.0", "x", "Pod.spec.enableServiceLinks", absent, "false", true},
		"another value":        {"4.0", "x", "Pod.spec.enableServiceLinks", absent, "true", false},
		"another path":         {"4.0", "x", "Pod.spec.hostNetwork", absent, "false", false},
		"lost by us":           {"4.0", "x", "Pod.metadata.labels[sparkoperator.k8s.io/app-name]", `"x"`, absent, false},
		"any value":            {"4.0", "x", "Pod.metadata.labels[sparkoperator.k8s.io/app-name]", absent, `"x"`, true},
		"a policy too early":   {"4.1", "x", "NetworkPolicy.kind", `"NetworkPolicy"`, absent, false},
		"a policy":             {"4.2", "x", "NetworkPolicy.kind", `"NetworkPolicy"`, absent, true},
		"of its case":          {"4.0", "local-dirs", container + ".env[SPARK_LOCAL_DIRS].value", `"/two,/one"`, `"/one,/two"`, true},
		"of another case":      {"4.0", "x", container + ".env[SPARK_LOCAL_DIRS].value", `"/two,/one"`, `"/one,/two"`, false},
		"the image is another": {"4.0", "x", container + ".image", `"a"`, `"b"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, explain(c.line, c.name, c.path, c.spark, c.ours) != nil)
		})
	}
}

// resolveCase makes what Resolve needs of the manifest of a case.
func resolveCase(t *testing.T, c *golden.Case, version string) (*v1beta2.SparkApplication, *Application, []string) {
	t.Helper()
	manifest, err := c.Manifest(version)
	require.NoError(t, err)
	app := &v1beta2.SparkApplication{}
	decoder := json.NewDecoder(bytes.NewReader(manifest))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(app))
	v1beta2.SetDefaults_SparkApplicationSpec(&app.Spec)
	a, errs := Resolve(app, testSpecPath)
	paths := make([]string, len(errs))
	for i, e := range errs {
		paths[i] = e.Field
	}
	return app, a, paths
}

// compareRefusal is about applications that are refused here. Those that spark-submit accepts need a reason.
func compareRefusal(t *testing.T, c *golden.Case, record *golden.Record) {
	t.Helper()
	_, _, paths := resolveCase(t, c, record.Version)
	assert.Contains(t, paths, c.Refused)
	if c.Why == "" {
		assert.NotEmpty(t, record.Refusal, "spark-submit accepts it, and nothing says why it is refused here")
	} else {
		assert.Empty(t, record.Refusal, "spark-submit refuses it too, so that no reason is needed")
	}
}

// compareNames is about what is made of names that no object of Kubernetes can have.
func compareNames(t *testing.T, c *golden.Case, record *golden.Record) {
	t.Helper()
	pod, ok := record.Objects["Pod"].(map[string]any)
	require.True(t, ok)
	labels, ok := lookup(pod, "metadata", "labels")
	require.True(t, ok)
	assert.Equal(t, labels.(map[string]any)[LabelSparkAppName], appNameLabel(c.Submit.Name))
	names := namesOf(c.Submit.Name, "uid", testSubmissionID)
	podName, _ := lookup(pod, "metadata", "name")
	assert.Equal(t, podName, golden.WithoutRandom(names.prefix+driverPodSuffix))
}

// compareObjects returns how many fields were compared and by which rows of the table those that differ are explained.
func compareObjects(t *testing.T, c *golden.Case, record *golden.Record) (int, []*difference) {
	t.Helper()
	require.Empty(t, record.Refusal, "spark-submit refuses it")
	_, a, refused := resolveCase(t, c, record.Version)
	require.Empty(t, refused)
	objects, err := Build(a, testAttempt)
	require.NoError(t, err)
	theirs, ours := sparkFields(t, record), builtFields(t, objects)
	keys := slices.Sorted(maps.Keys(theirs))
	for key := range ours {
		if _, both := theirs[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	var rows []*difference
	for _, key := range keys {
		one, other := valueOf(theirs, key), valueOf(ours, key)
		if one == other {
			continue
		}
		row := explain(record.Line, c.Name, key, one, other)
		if row == nil {
			t.Errorf("%s\n  spark-submit: %s\n  here:         %s", key, one, other)
			continue
		}
		rows = append(rows, row)
	}
	return len(keys), rows
}

func valueOf(fields golden.Fields, key string) string {
	if value, ok := fields[key]; ok {
		return value
	}
	return absent
}

// sparkFields are the fields of a recording.
func sparkFields(t *testing.T, record *golden.Record) golden.Fields {
	t.Helper()
	fields := golden.Fields{"requests": strings.Join(record.Requests, ", ")}
	for name, object := range record.Objects {
		if name == golden.ExecutorConfigMapObject {
			data := object.(map[string]any)["data"].(map[string]any)
			var template map[string]any
			require.NoError(t, yaml.Unmarshal([]byte(text(data, podTemplateKey)), &template))
			delete(data, podTemplateKey)
			delete(template, "apiVersion")
			delete(template, "kind")
			require.NoError(t, fields.AddObject(golden.ExecutorTemplateObject, template))
		}
		require.NoError(t, fields.AddObject(name, object))
	}
	require.NoError(t, fields.AddProperties(record.Properties))
	return fields
}

// builtFields are the fields of what is built here, in the form of a recording.
func builtFields(t *testing.T, objects *Objects) golden.Fields {
	t.Helper()
	var requests []string
	record := &golden.Record{}
	add := func(object any) {
		encoded, err := json.Marshal(object)
		require.NoError(t, err)
		var plain map[string]any
		require.NoError(t, json.Unmarshal([]byte(golden.WithoutRandom(string(encoded), testSubmissionID, "{submissionID}")), &plain))
		requests = append(requests, "POST "+text(plain, "kind"))
		record.Requests = requests
		if data, ok := plain["data"].(map[string]any); ok {
			delete(data, podTemplateKey) // it is a field of its own
		}
		require.NoError(t, record.Add(plain))
	}
	for _, claim := range objects.PersistentVolumeClaims {
		add(claim)
	}
	add(objects.ConfigMap)
	add(objects.Service)
	add(objects.Driver)
	record.Finish()
	for i, line := range record.Properties {
		record.Properties[i] = golden.WithoutRandom(line, testSubmissionID, "{submissionID}")
	}
	fields := sparkFields(t, record)
	template := maps.Clone(objects.ExecutorTemplate)
	delete(template, "apiVersion")
	delete(template, "kind")
	require.NoError(t, fields.AddObject(golden.ExecutorTemplateObject, template))
	return fields
}

// TestGoldenDocs keeps the tables of the documentation equal to those that the comparison goes by. With
// UPDATE_GOLDEN_DOCS set it writes them.
func TestGoldenDocs(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "differences-from-spark-submit.md")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	cases, err := golden.LoadCases(filepath.Join("testdata", "golden", "cases"))
	require.NoError(t, err)
	const begin, end = "<!-- BEGIN: written by TestGoldenDocs -->\n", "<!-- END: written by TestGoldenDocs -->\n"
	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok, begin)
	_, after, ok := strings.Cut(rest, end)
	require.True(t, ok, end)
	want := before + begin + goldenTables(cases) + end + after
	if os.Getenv("UPDATE_GOLDEN_DOCS") != "" {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	assert.Equal(t, want, string(text), "write it with UPDATE_GOLDEN_DOCS=1 go test ./pkg/spark -run TestGoldenDocs")
}

// goldenTables are the differences and the refusals as tables in Markdown.
func goldenTables(cases []golden.Case) string {
	var out strings.Builder
	out.WriteString("\n| field | spark-submit | here | lines | case | why |\n|---|---|---|---|---|---|\n")
	for i := range differences {
		d := &differences[i]
		of := "all"
		if d.only != "" {
			of = code(d.only)
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s | %s |\n", code(d.path), shown(d.spark), shown(d.ours), d.lines(), of, d.reason)
	}
	out.WriteString("\nRefused here although spark-submit accepts it:\n\n| field | why |\n|---|---|\n")
	for i := range cases {
		if c := &cases[i]; c.Why != "" {
			fmt.Fprintf(&out, "| %s | %s |\n", code(c.Refused), c.Why)
		}
	}
	out.WriteString("\n")
	return out.String()
}

func code(text string) string { return "`" + strings.ReplaceAll(text, "|", `\|`) + "`" }

func shown(pattern string) string {
	switch pattern {
	case absent:
		return "absent"
	case anything:
		return "any value"
	default:
		return code(pattern)
	}
}
