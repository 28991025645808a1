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

package golden

import (
	"fmt"
	"slices"
	"strings"
)

// PropertyLines are the lines of a file of properties, in the order of their text and without comments.
func PropertyLines(text string) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "#") })
	slices.Sort(lines)
	return lines
}

// ParseProperties reads lines that java.util.Properties wrote. No line goes on in the next one. The result is the text
// of the values as it was written, by key, so that a comparison is about the escaping too.
func ParseProperties(lines []string) (map[string]string, error) {
	values := map[string]string{}
	for _, line := range lines {
		key, value, ok := cutUnescaped(line)
		if !ok {
			return nil, fmt.Errorf("the line %q has no value", line)
		}
		if _, again := values[key]; again {
			return nil, fmt.Errorf("the property %q is written twice", key)
		}
		values[key] = value
	}
	return values, nil
}

// cutUnescaped cuts a line at the first equals sign that isn't escaped.
func cutUnescaped(line string) (key, value string, ok bool) {
	escaped := false
	for i, r := range line {
		switch {
		case escaped:
			escaped = false
		case r == '\\':
			escaped = true
		case r == '=':
			return line[:i], line[i+1:], true
		}
	}
	return "", "", false
}
