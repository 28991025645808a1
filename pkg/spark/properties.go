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
	"maps"
	"slices"
	"strings"
	"time"
)

// writeProperties writes properties as java.util.Properties.store(Writer, comment) does, sorted by key as it does since
// Java 18. name is the ConfigMap's name, and at the time of the date line.
func writeProperties(properties map[string]string, name string, at time.Time) string {
	size := 0
	for key, value := range properties {
		size += len(key) + len(value) + 2
	}
	var out strings.Builder
	out.Grow(size + size/8 + 256) // the rest is for what is escaped and for the two lines of comment
	out.WriteString("#Java properties built from Kubernetes config map with name: " + name + "\n")
	out.WriteString("#" + at.UTC().Format("Mon Jan 02 15:04:05 MST 2006") + "\n")
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		escapeProperty(&out, key, true)
		out.WriteByte('=')
		escapeProperty(&out, properties[key], false)
		out.WriteByte('\n')
	}
	return out.String()
}

// escapeProperty escapes what a reader of properties would take for syntax. Blanks matter everywhere in a key, but only
// at the start of a value. All else is written as it is, since the file is read as UTF-8.
func escapeProperty(out *strings.Builder, text string, key bool) {
	for i, r := range text {
		switch r {
		case ' ':
			if key || i == 0 {
				out.WriteByte('\\')
			}
			out.WriteByte(' ')
		case '\t':
			out.WriteString(`\t`)
		case '\n':
			out.WriteString(`\n`)
		case '\r':
			out.WriteString(`\r`)
		case '\f':
			out.WriteString(`\f`)
		case '\\', '=', ':', '#', '!':
			out.WriteByte('\\')
			out.WriteRune(r)
		default:
			out.WriteRune(r)
		}
	}
}
