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
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// ParseProperties reads a properties file by the rules of java.util.Properties.load, as Spark does, and trims values
// as Spark's Utils.getPropertiesFromFile does: of blanks and control characters, but not of line ends.
func ParseProperties(text string) (map[string]string, error) {
	properties := map[string]string{}
	for _, line := range logicalLines(text) {
		keyEnd, valueStart := splitProperty(line)
		key, err := unescape(line[:keyEnd])
		if err != nil {
			return nil, err
		}
		value, err := unescape(line[valueStart:])
		if err != nil {
			return nil, err
		}
		properties[key] = trimExceptLineEnds(value)
	}
	return properties, nil
}

// logicalLines drops comments and blank lines and joins lines that end in an odd number of backslashes with the next
// one, whose leading blanks don't count.
func logicalLines(text string) []string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	var lines []string
	var current strings.Builder
	continued := false
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimLeft(line, " \t\f")
		if !continued && (line == "" || line[0] == '#' || line[0] == '!') {
			continue
		}
		backslashes := len(line) - len(strings.TrimRight(line, `\`))
		continued = backslashes%2 == 1
		if continued {
			current.WriteString(line[:len(line)-1])
			continue
		}
		current.WriteString(line)
		lines = append(lines, current.String())
		current.Reset()
	}
	if current.Len() > 0 {
		lines = append(lines, current.String())
	}
	return lines
}

// splitProperty finds where the key ends and where the value starts: at the first blank, = or : that isn't escaped,
// with blanks around one = or : belonging to neither.
func splitProperty(line string) (keyEnd, valueStart int) {
	keyEnd = len(line)
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
			continue
		}
		if strings.IndexByte("=: \t\f", line[i]) >= 0 {
			keyEnd = i
			break
		}
	}
	valueStart = keyEnd
	separated := false
	for valueStart < len(line) {
		switch line[valueStart] {
		case ' ', '\t', '\f':
		case '=', ':':
			if separated {
				return keyEnd, valueStart
			}
			separated = true
		default:
			return keyEnd, valueStart
		}
		valueStart++
	}
	return keyEnd, valueStart
}

func unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var out strings.Builder
	var pending []uint16 // UTF-16 units of consecutive \uXXXX, which may form a surrogate pair
	flush := func() {
		out.WriteString(string(utf16.Decode(pending)))
		pending = nil
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			if s[i] == '\\' {
				break // Java drops a lone backslash at the end
			}
			flush()
			out.WriteByte(s[i])
			continue
		}
		i++
		if s[i] == 'u' {
			if i+5 > len(s) {
				return "", fmt.Errorf(`malformed \uxxxx encoding in %q`, s)
			}
			unit, err := strconv.ParseUint(s[i+1:i+5], 16, 16)
			if err != nil {
				return "", fmt.Errorf(`malformed \uxxxx encoding in %q`, s)
			}
			pending = append(pending, uint16(unit))
			i += 4
			continue
		}
		flush()
		switch s[i] {
		case 't':
			out.WriteByte('\t')
		case 'n':
			out.WriteByte('\n')
		case 'r':
			out.WriteByte('\r')
		case 'f':
			out.WriteByte('\f')
		default:
			out.WriteByte(s[i])
		}
	}
	flush()
	return out.String(), nil
}

func trimExceptLineEnds(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r <= ' ' && r != '\r' && r != '\n' })
}
