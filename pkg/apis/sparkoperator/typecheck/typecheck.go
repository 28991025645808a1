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

// Package typecheck says in the words of a manifest what is wrong with the JSON types of its values.
//
// The decoder of a Go program stops at the first value that it can't read and names it in Go's words. Whoever wrote
// `version: 4` as a label is told here that spec.driver.labels[version] must be a string and how to write one; and all such
// values are told at once.
package typecheck

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxErrors is how many values one message names.
const maxErrors = 10

// Errors compares the values of data, a document of JSON, with the type that they are to be read into, and returns an error
// for each value that can't be read, in the order of the type's fields. Field names count as case-sensitive, and unknown
// fields are none of its business. It returns nil for what isn't JSON: the decoder has better words for that.
func Errors(data []byte, into reflect.Type, at *field.Path) field.ErrorList {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil
	}
	var found field.ErrorList
	check(value, into, at, &found)
	return found
}

// Explain returns what Errors finds as one error, or the error of the decoder if it finds nothing.
func Explain(decoding error, data []byte, into reflect.Type) error {
	found := Errors(data, into, nil)
	if len(found) == 0 {
		return decoding
	}
	said := make([]error, 0, maxErrors+1)
	for _, err := range found[:min(len(found), maxErrors)] {
		said = append(said, err)
	}
	if more := len(found) - maxErrors; more > 0 {
		said = append(said, fmt.Errorf("and %d more values of the wrong type", more))
	}
	return utilerrors.NewAggregate(said)
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func check(value any, into reflect.Type, at *field.Path, found *field.ErrorList) {
	for into.Kind() == reflect.Pointer {
		into = into.Elem()
	}
	if value == nil {
		return // null leaves a field as it is, whatever its type
	}
	if reflect.PointerTo(into).Implements(unmarshaler) {
		checkUnmarshaler(value, into, at, found)
		return
	}
	switch into.Kind() {
	case reflect.Struct:
		object, ok := value.(map[string]any)
		if !ok {
			wrong(value, at, found, "must be an object with fields")
			return
		}
		checkFields(object, into, at, found)
	case reflect.Map:
		object, ok := value.(map[string]any)
		if !ok {
			wrong(value, at, found, "must be a map, written as key: value")
			return
		}
		for _, key := range slices.Sorted(maps.Keys(object)) {
			check(object[key], into.Elem(), at.Key(key), found)
		}
	case reflect.Slice:
		if into.Elem().Kind() == reflect.Uint8 {
			text, ok := value.(string)
			if _, err := base64.StdEncoding.DecodeString(text); !ok || err != nil {
				wrong(value, at, found, "must be a string in base64")
			}
			return
		}
		list, ok := value.([]any)
		if !ok {
			wrong(value, at, found, "must be a list")
			return
		}
		for i, element := range list {
			check(element, into.Elem(), at.Index(i), found)
		}
	default:
		checkScalar(value, into, at, found)
	}
}

// checkFields checks the values that the type has fields for. A struct inside that has no name of its own lends its fields
// to the one around it.
func checkFields(object map[string]any, into reflect.Type, at *field.Path, found *field.ErrorList) {
	for member := range into.Fields() {
		tag, _, _ := strings.Cut(member.Tag.Get("json"), ",")
		switch {
		case tag == "-" || !member.IsExported() && !member.Anonymous:
		case tag == "" && member.Anonymous:
			check(object, member.Type, at, found)
		default:
			name := cmp.Or(tag, member.Name)
			if value, given := object[name]; given {
				check(value, member.Type, at.Child(name), found)
			}
		}
	}
}

func checkScalar(value any, into reflect.Type, at *field.Path, found *field.ErrorList) {
	switch into.Kind() {
	case reflect.String:
		switch value.(type) {
		case string:
		case bool, json.Number:
			wrong(value, at, found, fmt.Sprintf("must be a string: write \"%v\", in quotes", value))
		default:
			wrong(value, at, found, "must be a string")
		}
	case reflect.Bool:
		if _, ok := value.(bool); ok {
			return
		}
		if text, ok := value.(string); ok && (text == "true" || text == "false") {
			wrong(value, at, found, fmt.Sprintf("must be true or false: write %s, without quotes", text))
			return
		}
		wrong(value, at, found, "must be true or false")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		least, most := int64(math.MinInt64)>>(64-into.Bits()), int64(math.MaxInt64)>>(64-into.Bits())
		number, ok := value.(json.Number)
		_, err := strconv.ParseInt(number.String(), 10, into.Bits())
		switch {
		case ok && err == nil:
		case ok && errors.Is(err, strconv.ErrRange):
			wrong(value, at, found, fmt.Sprintf("must be an integer from %d to %d", least, most))
		default:
			wrong(value, at, found, unquoted("must be an integer", value, into))
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		number, ok := value.(json.Number)
		if _, err := strconv.ParseUint(number.String(), 10, into.Bits()); !ok || err != nil {
			wrong(value, at, found, unquoted("must be an integer that isn't negative", value, into))
		}
	case reflect.Float32, reflect.Float64:
		if _, ok := value.(json.Number); !ok {
			wrong(value, at, found, unquoted("must be a number", value, into))
		}
	}
}

// unquoted adds to a rule how to write a number that was put in quotes.
func unquoted(rule string, value any, into reflect.Type) string {
	text, ok := value.(string)
	if !ok || json.Unmarshal([]byte(text), reflect.New(into).Interface()) != nil {
		return rule
	}
	return fmt.Sprintf("%s: write %s, without quotes", rule, text)
}

// checkUnmarshaler is for types that read themselves.
func checkUnmarshaler(value any, into reflect.Type, at *field.Path, found *field.ErrorList) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return
	}
	if err = json.Unmarshal(encoded, reflect.New(into).Interface()); err == nil {
		return
	}
	rule := err.Error()
	switch reflect.New(into).Interface().(type) {
	case *metav1.Time, *metav1.MicroTime:
		rule = "must be a time such as 2026-01-31T15:04:05Z"
	case *metav1.Duration:
		rule = "must be a duration such as 1h30m or 45s"
	case *resource.Quantity:
		rule = "must be a quantity such as 500m, 2 or 4Gi"
	case *intstr.IntOrString:
		rule = "must be an integer or a string"
	}
	wrong(value, at, found, rule)
}

func wrong(value any, at *field.Path, found *field.ErrorList, rule string) {
	shown := value
	switch typed := value.(type) {
	case map[string]any:
		shown = "object"
	case []any:
		shown = "array"
	case json.Number:
		shown = number(typed)
	}
	*found = append(*found, field.Invalid(at, shown, rule))
}

// number is a value that prints as the document has it.
func number(n json.Number) any {
	if whole, err := n.Int64(); err == nil {
		return whole
	}
	if broken, err := n.Float64(); err == nil && strconv.FormatFloat(broken, 'g', -1, 64) == n.String() {
		return broken
	}
	return json.RawMessage(n)
}
