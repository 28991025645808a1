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
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readProperties reads a file by the rules of java.util.Properties.load, written from its documentation and not from
// writeProperties.
func readProperties(t *testing.T, content string) map[string]string {
	t.Helper()
	properties := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSuffix(content, "\n"), "\n") {
		trimmed := strings.TrimLeft(line, " \t\f")
		if trimmed == "" || trimmed[0] == '#' || trimmed[0] == '!' {
			continue
		}
		var parts [2]strings.Builder
		part, separated, runes := 0, false, []rune(trimmed)
		for i := 0; i < len(runes); i++ {
			r := runes[i]
			if part == 0 && strings.ContainsRune("=: \t\f", r) {
				part = 1
				separated = r == '=' || r == ':'
				continue
			}
			if part == 1 && parts[1].Len() == 0 {
				if strings.ContainsRune(" \t\f", r) {
					continue
				}
				if !separated && (r == '=' || r == ':') {
					separated = true
					continue
				}
			}
			if r != '\\' {
				parts[part].WriteRune(r)
				continue
			}
			i++
			require.Less(t, i, len(runes), "a line must not end in a lone backslash: %q", line)
			switch runes[i] {
			case 't':
				parts[part].WriteRune('\t')
			case 'n':
				parts[part].WriteRune('\n')
			case 'r':
				parts[part].WriteRune('\r')
			case 'f':
				parts[part].WriteRune('\f')
			default:
				parts[part].WriteRune(runes[i])
			}
			separated = true // an escaped blank is part of the value
		}
		properties[parts[0].String()] = parts[1].String()
	}
	return properties
}

func TestWritePropertiesEscapes(t *testing.T) {
	content := writeProperties(map[string]string{
		"spark.master": "k8s://https://1.2.3.4:6443",
		"a b":          " lead and trail ",
		"k=:#!":        "v=:#!",
		"ws":           "t\tn\nr\rf\f",
		"back\\slash":  `C:\x`,
		"text":         "überall 北京",
		"empty":        "",
	}, "cm", testTime)
	lines := strings.Split(content, "\n")
	assert.Equal(t, "#Java properties built from Kubernetes config map with name: cm", lines[0])
	assert.Equal(t, "#Mon Nov 30 20:20:56 UTC 2026", lines[1])
	assert.Equal(t, []string{
		`a\ b=\ lead and trail `,
		`back\\slash=C\:\\x`,
		`empty=`,
		`k\=\:\#\!=v\=\:\#\!`,
		`spark.master=k8s\://https\://1.2.3.4\:6443`,
		`text=überall 北京`,
		`ws=t\tn\nr\rf\f`,
		``,
	}, lines[2:])
}

func TestPropertiesSurviveJava(t *testing.T) {
	alphabet := []rune("ab =:#!\\\t\n\r\f.ü北\u2028😀\"'")
	random := rand.New(rand.NewSource(1))
	word := func() string {
		out := make([]rune, random.Intn(12))
		for i := range out {
			out[i] = alphabet[random.Intn(len(alphabet))]
		}
		return string(out)
	}
	want := map[string]string{}
	for range 2000 {
		want["k"+word()] = word()
	}
	assert.Equal(t, want, readProperties(t, writeProperties(want, "cm", testTime)))
}
