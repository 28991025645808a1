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
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

var sizePattern = regexp.MustCompile(`^([0-9]+)([a-z]*)$`)

// sizeShifts are the powers of two of the units that JavaUtils.byteStringAs knows.
var sizeShifts = map[string]int{
	"b": 0, "k": 10, "kb": 10, "m": 20, "mb": 20, "g": 30, "gb": 30, "t": 40, "tb": 40, "p": 50, "pb": 50,
}

// maxMebibytes bounds sizes so that sums of them can't overflow.
const maxMebibytes = int64(1) << 40

// mebibytes reads a size as JavaUtils.byteStringAs does: whole numbers with a unit that is a power of 1024, in any case.
// Without a unit it is in bare, one of the units; what is smaller than a MiB is cut off.
func mebibytes(text, bare string) (int64, error) {
	m := sizePattern.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	if m == nil {
		return 0, fmt.Errorf("must be a whole number with one of the units b, k, m, g, t and p, such as 512m or 4g")
	}
	unit := m[2]
	if unit == "" {
		unit = bare
	}
	shift, ok := sizeShifts[unit]
	if !ok {
		return 0, fmt.Errorf("has the unit %q, which Java doesn't know: use one of b, k, m, g, t and p, powers of 1024, such as 512m or 4g", m[2])
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("is too large")
	}
	switch {
	case shift <= 20:
		n >>= 20 - shift
	case n > math.MaxInt64>>(shift-20):
		return 0, fmt.Errorf("is too large")
	default:
		n <<= shift - 20
	}
	if n > maxMebibytes {
		return 0, fmt.Errorf("is too large")
	}
	return n, nil
}

// javaDouble writes a number as Java's Double.toString does, for the numbers that the shortest text can tell apart.
func javaDouble(f float64) string {
	if a := math.Abs(f); a != 0 && (a < 1e-3 || a >= 1e7) {
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		n, _ := strconv.Atoi(exponent) // strconv wrote it
		return mantissa + "E" + strconv.Itoa(n)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
