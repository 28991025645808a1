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

package scheduling

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// tableHeader starts the table of docs/batch-schedulers.md that says which way an application is placed.
const tableHeader = "| `schedulingPolicy` or another native field | `scheduling.batchScheduler` | `spec.batchScheduler` | `scheduling` | `schedulerName` | `--default-batch-scheduler` | placed by |"

// truthTable reads the rows of the table.
func truthTable(t *testing.T) [][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "batch-schedulers.md"))
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), tableHeader+"\n")
	require.True(t, found, "the table is not there")
	var rows [][]string
	for line := range strings.Lines(after) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		if cells[0] != "---" {
			rows = append(rows, cells)
		}
	}
	require.NotEmpty(t, rows)
	return rows
}

// The documented table is what the code does, for each combination of what can ask for a way of placement, with and without
// the deprecated options.
func TestTruthTableOfTheDocs(t *testing.T) {
	rows := truthTable(t)
	used := make([]int, len(rows))
	for bits := range 1 << 6 {
		in := make([]bool, 6)
		for i := range in {
			in[i] = bits&(1<<i) != 0
		}
		native, nested, top, block, named, byDefault := in[0], in[1], in[2], in[3], in[4], in[5]
		if (native || nested) && !block {
			continue // there is no place to say so
		}
		row := slices.IndexFunc(rows, func(cells []string) bool {
			for i, set := range in {
				if cells[i] == "set" && !set || cells[i] == "unset" && set {
					return false
				}
			}
			return true
		})
		name := fmt.Sprintf("native=%t nested=%t top=%t block=%t named=%t default=%t", native, nested, top, block, named, byDefault)
		require.GreaterOrEqual(t, row, 0, "no row for %s", name)
		used[row]++
		want := rows[row][6]
		for _, options := range []bool{false, true} {
			app := &v1beta2.SparkApplication{}
			spec := &app.Spec
			if block {
				spec.Scheduling = &v1beta2.SparkSchedulingSpec{}
			}
			if native {
				gangPolicy(spec.Scheduling)
			}
			if nested {
				nestedVolcano(spec.Scheduling)
			}
			if top {
				topScheduler("yunikorn")(app)
			}
			if named {
				spec.Executor.SchedulerName = new("default-scheduler")
			}
			if options {
				topOptions(v1beta2.BatchSchedulerConfiguration{Queue: new("root")})(app)
			}
			v1beta2.SetDefaults_SparkApplicationSpec(spec)
			schedulers := Schedulers{}
			if byDefault {
				schedulers.Default = "kube-scheduler"
				schedulers.KubeSchedulers = []string{"kube-scheduler"}
			}
			want := want
			if options && (want == "native" || nested) {
				want = "refused"
			}
			assert.Equal(t, want, placedBy(schedulers, spec), "%s options=%t", name, options)
		}
	}
	for i, n := range used {
		assert.Positive(t, n, "no combination reaches row %d: %v", i+1, rows[i])
	}
}

// placedBy answers in the words of the table.
func placedBy(s Schedulers, spec *v1beta2.SparkApplicationSpec) string {
	choice := s.Choose(spec, testSpecPath)
	if len(s.validateChoice(spec, testSpecPath, choice)) > 0 {
		return "refused"
	}
	switch {
	case choice.Native():
		return "native"
	case choice.Kind == BatchScheduler && choice.Path == nil:
		return "default"
	case choice.Kind == BatchScheduler:
		return strings.Replace(choice.Path.String(), "spec.scheduling", "scheduling", 1)
	default:
		return "none"
	}
}
