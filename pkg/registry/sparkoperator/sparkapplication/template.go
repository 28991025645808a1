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
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
)

// CanonicalizeSpec sorts the keys of the pod templates of a spec, wherever it is. They are kept as the JSON that the user
// sent, and the same manifest sent by another client, whose keys come in another order, is no change.
func CanonicalizeSpec(spec *sparkoperator.SparkApplicationSpec) {
	canonicalizeTemplate(spec.Driver.Template)
	canonicalizeTemplate(spec.Executor.Template)
}

// canonicalizeTemplate rewrites a pod template in place with sorted keys and without white space. Numbers keep the digits
// that they were written with. What is no JSON stays as it is, for validation to refuse.
func canonicalizeTemplate(template *runtime.RawExtension) {
	if template == nil || len(template.Raw) == 0 {
		return
	}
	decoder := json.NewDecoder(bytes.NewReader(template.Raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return
	}
	var canonical bytes.Buffer
	encoder := json.NewEncoder(&canonical)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return
	}
	// Never written into the old slice: the decoder of the request may share it.
	template.Raw = bytes.TrimSuffix(canonical.Bytes(), []byte("\n"))
}
