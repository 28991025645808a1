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
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Conf is an application's Spark configuration.
type Conf map[string]string

// get returns the value of the first key that is set, else the default.
func (c Conf) get(fallback string, keys ...string) string {
	for _, k := range keys {
		if v, ok := c[k]; ok {
			return v
		}
	}
	return fallback
}

func (c Conf) boolean(key string, fallback bool) bool {
	v, err := strconv.ParseBool(strings.ToLower(c[key]))
	if err != nil {
		return fallback
	}
	return v
}

func (c Conf) integer(key string, fallback int) (int, error) {
	v, ok := c[key]
	if !ok {
		return fallback, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0, fmt.Errorf("%s should be int, but was %s", key, v)
	}
	return n, nil
}

func (c Conf) float(key string, fallback float64) (float64, error) {
	v, ok := c[key]
	if !ok {
		return fallback, nil
	}
	f, err := strconv.ParseFloat(v, 64)
	if err != nil {
		return 0, fmt.Errorf("%s should be double, but was %s", key, v)
	}
	return f, nil
}

// withPrefix returns the properties under a prefix, without it, and their names in order.
func (c Conf) withPrefix(prefix string) (map[string]string, []string) {
	found := map[string]string{}
	for k, v := range c {
		if name, ok := strings.CutPrefix(k, prefix); ok && name != "" {
			found[name] = v
		}
	}
	return found, slices.Sorted(maps.Keys(found))
}

var sizePattern = regexp.MustCompile(`^([0-9]+)([a-z]*)$`)

// mebibytes reads a size as JavaUtils.byteStringAsMb does: whole numbers, units that are powers of 1024 in any case, no
// unit means MiB, and what is smaller than a MiB is cut off.
func mebibytes(s string) (int64, error) {
	m := sizePattern.FindStringSubmatch(strings.ToLower(strings.TrimSpace(s)))
	if m == nil {
		return 0, fmt.Errorf("size must be specified as bytes (b), kibibytes (k), mebibytes (m), gibibytes (g), tebibytes (t), or pebibytes (p): %q", s)
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("size %q: %w", s, err)
	}
	shifts := map[string]int{"b": -20, "k": -10, "kb": -10, "": 0, "m": 0, "mb": 0, "g": 10, "gb": 10, "t": 20, "tb": 20, "p": 30, "pb": 30}
	shift, ok := shifts[m[2]]
	if !ok {
		return 0, fmt.Errorf("size %q has an invalid suffix", s)
	}
	if shift < 0 {
		return n >> -shift, nil
	}
	if n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("size %q is too large", s)
	}
	return n << shift, nil
}

var timePattern = regexp.MustCompile(`^([0-9]+)([a-z]*)$`)

// duration reads a time as JavaUtils.timeStringAs does; without a unit it is in the given one.
func (c Conf) duration(key string, unit, fallback time.Duration) (time.Duration, error) {
	v, ok := c[key]
	if !ok {
		return fallback, nil
	}
	m := timePattern.FindStringSubmatch(strings.ToLower(strings.TrimSpace(v)))
	if m == nil {
		return 0, fmt.Errorf("%s: %q is not a time", key, v)
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", key, err)
	}
	units := map[string]time.Duration{
		"": unit, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "min": time.Minute,
		"h": time.Hour, "d": 24 * time.Hour,
	}
	u, ok := units[m[2]]
	if !ok {
		return 0, fmt.Errorf("%s: %q has an invalid suffix", key, v)
	}
	return time.Duration(n) * u, nil
}

// target is the number of executors that Spark starts with: SchedulerBackendUtils.getInitialTargetExecutorNumber.
func (c Conf) target() (int, error) {
	const fallback = 2
	if !c.boolean("spark.dynamicAllocation.enabled", false) {
		return c.integer("spark.executor.instances", fallback)
	}
	most := 0
	for _, key := range []string{"spark.dynamicAllocation.minExecutors", "spark.dynamicAllocation.initialExecutors", "spark.executor.instances"} {
		n, err := c.integer(key, 0)
		if err != nil {
			return 0, err
		}
		most = max(most, n)
	}
	return most, nil
}
