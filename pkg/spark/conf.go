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
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// setting is the value of a Spark property and where it comes from.
type setting struct {
	value string
	path  *field.Path
	// free says that the user wrote it as a property, and not in a typed field.
	free bool
}

// conf is a Spark configuration.
type conf map[string]setting

// set lets a typed field decide on a property. A different value that the user wrote as a property is shadowed, which
// is worth a warning.
func (c conf) set(key, value string, path *field.Path, rep *report) {
	if old, ok := c[key]; ok && old.free && old.value != value {
		rep.warnf(old.path, "the value %q has no effect, because %s makes it %q: remove one of them", old.value, path, value)
	}
	c[key] = setting{value: value, path: path}
}

// setIf lets a typed field decide on a property if it says anything. An empty text says nothing.
func (c conf) setIf(key string, value *string, path *field.Path, rep *report) {
	if given(value) {
		c.set(key, *value, path, rep)
	}
}

func given(value *string) bool { return value != nil && *value != "" }

// first returns the first of some properties that is set.
func (c conf) first(keys ...string) (setting, bool) {
	for _, k := range keys {
		if s, ok := c[k]; ok {
			return s, true
		}
	}
	return setting{}, false
}

func (c conf) value(fallback string, keys ...string) string {
	if s, ok := c.first(keys...); ok {
		return s.value
	}
	return fallback
}

// named is a property below a prefix, by the rest of its key.
type named struct {
	name string
	setting
}

// withPrefix returns the properties below a prefix in the order of their names.
func (c conf) withPrefix(prefix string) []named {
	var found []named
	for key, s := range c {
		// A name that is empty is found too, as Spark does: whoever reads it refuses it.
		if name, ok := strings.CutPrefix(key, prefix); ok {
			found = append(found, named{name, s})
		}
	}
	slices.SortFunc(found, func(a, b named) int { return strings.Compare(a.name, b.name) })
	return found
}

// boolean reads a property as Scala's String.toBoolean does: true and false in any case, all else is an error.
func (c conf) boolean(key string, fallback bool, rep *report) bool {
	s, ok := c[key]
	if !ok {
		return fallback
	}
	switch strings.ToLower(strings.TrimSpace(s.value)) {
	case "true":
		return true
	case "false":
		return false
	}
	rep.invalid(s.path, s.value, "must be true or false")
	return fallback
}

// integer reads a property as Scala's String.toInt does, within bounds.
func (c conf) integer(key string, fallback, low, high int32, rep *report) int32 {
	s, ok := c[key]
	if !ok {
		return fallback
	}
	n, err := strconv.ParseInt(strings.TrimSpace(s.value), 10, 32)
	if err != nil || int32(n) < low || int32(n) > high {
		rep.invalid(s.path, s.value, "must be a whole number from %d to %d", low, high)
		return fallback
	}
	return int32(n)
}

// commaList splits a list as Utils.stringToSeq does: at commas, blanks around entries and empty entries dropped.
func commaList(value string) []string {
	var entries []string
	for entry := range strings.SplitSeq(value, ",") {
		if entry = strings.TrimSpace(entry); entry != "" {
			entries = append(entries, entry)
		}
	}
	return entries
}
