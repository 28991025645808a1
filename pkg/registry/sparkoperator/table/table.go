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

// Package table prints objects of one kind as the rows of a table, for kubectl get.
package table

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metatable "k8s.io/apimachinery/pkg/api/meta/table"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
)

// None stands for what an object doesn't have.
const None = "<none>"

// Kind is a kind of objects, of which T is the type.
type Kind[T runtime.Object] struct {
	// Name is the name of the kind.
	Name string
	// Columns are the columns. Those with a priority are for -o wide.
	Columns []metav1.TableColumnDefinition
	// Cells returns the row of an object, a cell for every column. age is how long ago it was created.
	Cells func(object T, name, age string) []any
}

var _ rest.TableConvertor = Kind[runtime.Object]{}

// ConvertToTable implements rest.TableConvertor.
func (k Kind[T]) ConvertToTable(_ context.Context, object runtime.Object, tableOptions runtime.Object) (*metav1.Table, error) {
	table := &metav1.Table{}
	if options, ok := tableOptions.(*metav1.TableOptions); !ok || !options.NoHeaders {
		table.ColumnDefinitions = k.Columns
	}
	if list, err := meta.ListAccessor(object); err == nil {
		table.ResourceVersion = list.GetResourceVersion()
		table.Continue = list.GetContinue()
		table.RemainingItemCount = list.GetRemainingItemCount()
	} else if single, err := meta.CommonAccessor(object); err == nil {
		table.ResourceVersion = single.GetResourceVersion()
	}
	rows, err := metatable.MetaToTableRow(object, func(obj runtime.Object, _ metav1.Object, name, age string) ([]any, error) {
		typed, ok := obj.(T)
		if !ok {
			return nil, fmt.Errorf("not a %s: %T", k.Name, obj)
		}
		return k.Cells(typed, name, age), nil
	})
	table.Rows = rows
	return table, err
}

// OrNone returns the text, or None for an empty one.
func OrNone(text string) string {
	if text == "" {
		return None
	}
	return text
}

// Timestamp writes a time, or None for the zero time.
func Timestamp(t metav1.Time) string {
	if t.IsZero() {
		return None
	}
	return t.UTC().Format(time.RFC3339)
}
