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

package sparkdriver

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseProperties(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want map[string]string
	}{
		"what Properties.store writes": {
			"#Java properties built from Kubernetes config map with name: x\n#Mon Nov 30 20:20:56 UTC 2026\nspark.master=k8s\\://https\\://1.2.3.4\\:6443\n",
			map[string]string{"spark.master": "k8s://https://1.2.3.4:6443"},
		},
		"separators":                      {"a=1\nb:2\nc 3\nd = 4\ne\t:\t5\nf", map[string]string{"a": "1", "b": "2", "c": "3", "d": "4", "e": "5", "f": ""}},
		"second separator is value":       {"a==1\nb=:2\nc = = 3", map[string]string{"a": "=1", "b": ":2", "c": "= 3"}},
		"escaped separators in keys":      {`a\=b\:c\ d=1`, map[string]string{"a=b:c d": "1"}},
		"escapes":                         {`a=x\ty\nz\\w\qv`, map[string]string{"a": "x\ty\nz\\wqv"}},
		"unicode":                         {"a=\\u00e9 é \\ud83d\\ude00", map[string]string{"a": "é é 😀"}},
		"comments and blanks":             {"  # x=1\n! y=2\n\n   \n a=1 # no comment", map[string]string{"a": "1 # no comment"}},
		"continued line":                  {"a=one\\\n    two\\\n  three\nb=1", map[string]string{"a": "onetwothree", "b": "1"}},
		"continued by an odd number only": {"a=x\\\\\nb=1", map[string]string{"a": `x\`, "b": "1"}},
		"a comment sign after a continuation is text": {"a=x\\\n#y", map[string]string{"a": "x#y"}},
		"line ends":                          {"a=1\r\nb=2\rc=3", map[string]string{"a": "1", "b": "2", "c": "3"}},
		"values are trimmed, line ends kept": {"a=\\  x \t\nb=x\\n", map[string]string{"a": "x", "b": "x\n"}},
		"last one wins":                      {"a=1\na=2", map[string]string{"a": "2"}},
		"empty":                              {"", map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseProperties(tc.text)
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
	for _, bad := range []string{`a=\u12`, `a=\u12zz`} {
		_, err := ParseProperties(bad)
		assert.Error(t, err, bad)
	}
}
