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
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMebibytes(t *testing.T) {
	for _, c := range []struct {
		text, unit string
		want       int64
		fails      string
	}{
		{text: "512m", unit: "m", want: 512},
		{text: "512", unit: "m", want: 512},
		{text: " 2G ", unit: "m", want: 2048},
		{text: "1gb", unit: "m", want: 1024},
		{text: "1t", unit: "m", want: 1 << 20},
		{text: "1p", unit: "m", want: 1 << 30},
		{text: "1535k", unit: "m", want: 1},
		{text: "1048575b", unit: "m", want: 0},
		{text: "3145728", unit: "b", want: 3},
		{text: "0", unit: "m", want: 0},
		{text: "1.5g", unit: "m", fails: "whole number"},
		{text: "-1g", unit: "m", fails: "whole number"},
		{text: "", unit: "m", fails: "whole number"},
		{text: "1 g", unit: "m", fails: "whole number"},
		{text: "512Mi", unit: "m", fails: "Java doesn't know"},
		{text: "9999999999p", unit: "m", fails: "too large"},
		{text: "99999999999999999999", unit: "m", fails: "too large"},
		{text: "2048p", unit: "m", fails: "too large"},
	} {
		got, err := mebibytes(c.text, c.unit)
		if c.fails != "" {
			require.ErrorContains(t, err, c.fails, c.text)
			continue
		}
		require.NoError(t, err, c.text)
		assert.Equal(t, c.want, got, c.text)
	}
}

// The texts are those of Java 17.
func TestJavaDouble(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0.0", 0.1: "0.1", 0.4: "0.4", 1: "1.0", 1.25: "1.25", 123456.5: "123456.5", 0.001: "0.001",
		0.0001: "1.0E-4", 0.00015: "1.5E-4", 1e7: "1.0E7", 12345678.5: "1.23456785E7",
	} {
		assert.Equal(t, want, javaDouble(f))
	}
}
