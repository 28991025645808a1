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

package sparkapplication

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestCanonicalizeTemplate(t *testing.T) {
	canonicalizeTemplate(nil)
	for name, test := range map[string]struct{ in, want string }{
		"empty":                   {``, ``},
		"sorted and compact":      {"{ \"b\": [ {\"y\":1, \"x\":2} ],\n \"a\": null }", `{"a":null,"b":[{"x":2,"y":1}]}`},
		"big numbers keep digits": {`{"a":12345678901234567890,"b":1.50,"c":1e3}`, `{"a":12345678901234567890,"b":1.50,"c":1e3}`},
		"markup isn't escaped":    {`{"a":"<b> & c"}`, `{"a":"<b> & c"}`},
		"a later key wins":        {`{"a":1,"a":2}`, `{"a":2}`},
		"no JSON":                 {`{"a":`, `{"a":`},
		"more than one value":     {`{} {}`, `{} {}`},
	} {
		t.Run(name, func(t *testing.T) {
			original := []byte(test.in)
			template := &runtime.RawExtension{Raw: original}
			canonicalizeTemplate(template)
			assert.Equal(t, test.want, string(template.Raw))
			assert.Equal(t, test.in, string(original), "the slice that others may hold")

			canonicalizeTemplate(template)
			assert.Equal(t, test.want, string(template.Raw), "once more changes nothing")
		})
	}
}
