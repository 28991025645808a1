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

package typecheck_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/typecheck"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

var application = reflect.TypeFor[v1beta2.SparkApplication]()

// TestErrors has one row for each kind of mistake. Each document is one that the decoder refuses.
func TestErrors(t *testing.T) {
	for document, want := range map[string]string{
		`{"spec":{"driver":{"labels":{"version":4.0}}}}`:                        `spec.driver.labels[version]: Invalid value: 4.0: must be a string: write "4.0", in quotes`,
		`{"spec":{"driver":{"labels":{"version":4}}}}`:                          `spec.driver.labels[version]: Invalid value: 4: must be a string: write "4", in quotes`,
		`{"metadata":{"labels":{"on":true}}}`:                                   `metadata.labels[on]: Invalid value: true: must be a string: write "true", in quotes`,
		`{"metadata":{"creationTimestamp":"now"}}`:                              `metadata.creationTimestamp: Invalid value: "now": must be a time such as 2026-01-31T15:04:05Z`,
		`{"spec":{"sparkConf":{"spark.executor.cores":2}}}`:                     `spec.sparkConf[spark.executor.cores]: Invalid value: 2: must be a string: write "2", in quotes`,
		`{"spec":{"sparkConf":["a=b"]}}`:                                        `spec.sparkConf: Invalid value: "array": must be a map, written as key: value`,
		`{"spec":{"sparkConf":"a=b"}}`:                                          `spec.sparkConf: Invalid value: "a=b": must be a map, written as key: value`,
		`{"spec":{"arguments":[1,"2",{}]}}`:                                     `[spec.arguments[0]: Invalid value: 1: must be a string: write "1", in quotes, spec.arguments[2]: Invalid value: "object": must be a string]`,
		`{"spec":{"arguments":"1000"}}`:                                         `spec.arguments: Invalid value: "1000": must be a list`,
		`{"spec":{"driver":{"cores":"1"}}}`:                                     `spec.driver.cores: Invalid value: "1": must be an integer: write 1, without quotes`,
		`{"spec":{"driver":{"cores":0.5}}}`:                                     `spec.driver.cores: Invalid value: 0.5: must be an integer`,
		`{"spec":{"driver":{"cores":3000000000}}}`:                              `spec.driver.cores: Invalid value: 3000000000: must be an integer from -2147483648 to 2147483647`,
		`{"spec":{"driver":[]}}`:                                                `spec.driver: Invalid value: "array": must be an object with fields`,
		`{"spec":{"driver":{"hostNetwork":"true"}}}`:                            `spec.driver.hostNetwork: Invalid value: "true": must be true or false: write true, without quotes`,
		`{"spec":{"driver":{"hostNetwork":"yes"}}}`:                             `spec.driver.hostNetwork: Invalid value: "yes": must be true or false`,
		`{"spec":{"driver":{"memory":1024}}}`:                                   `spec.driver.memory: Invalid value: 1024: must be a string: write "1024", in quotes`,
		`{"spec":{"driver":{"env":[{"name":"A","value":1}]}}}`:                  `spec.driver.env[0].value: Invalid value: 1: must be a string: write "1", in quotes`,
		`{"spec":{"memoryOverheadFactor":0.1}}`:                                 `spec.memoryOverheadFactor: Invalid value: 0.1: must be a string: write "0.1", in quotes`,
		`{"spec":{"volumes":[{"emptyDir":{"sizeLimit":"much"}}]}}`:              `spec.volumes[0].emptyDir.sizeLimit: Invalid value: "much": must be a quantity such as 500m, 2 or 4Gi`,
		`{"spec":{"driver":{"sidecars":[{"ports":[{"containerPort":80.5}]}]}}}`: `spec.driver.sidecars[0].ports[0].containerPort: Invalid value: 80.5: must be an integer`,
		`{"spec":{"driver":{"lifecycle":{"preStop":{"httpGet":{"port":[]}}}}}}`: `spec.driver.lifecycle.preStop.httpGet.port: Invalid value: "array": must be an integer or a string`,
	} {
		decoding := kjson.UnmarshalCaseSensitivePreserveInts([]byte(document), &v1beta2.SparkApplication{})
		require.Error(t, decoding, document)
		assert.EqualError(t, typecheck.Explain(decoding, []byte(document), application), want)
	}
}

// TestWhatIsReadIsRight holds the walk against the decoder: what the one reads, the other must not complain about.
func TestWhatIsReadIsRight(t *testing.T) {
	for _, document := range []string{
		`null`, `{}`, `{"spec":null}`, `{"spec":{"driver":null,"arguments":null,"sparkConf":{"a":null}}}`,
		`{"SPEC":1,"Spec":[]}`, `{"unknown":1}`, `{"spec":{"driver":{"template":[1,"two"],"Cores":"many"}}}`,
		`{"spec":{"driver":{"cores":2147483647,"securityContext":{"runAsUser":185}}}}`,
		`{"spec":{"volumes":[{"emptyDir":{"sizeLimit":5}}]},"metadata":{"creationTimestamp":null}}`,
	} {
		require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts([]byte(document), &v1beta2.SparkApplication{}), document)
		assert.Empty(t, typecheck.Errors([]byte(document), application, nil), document)
	}
}

func TestWhatIsNoJSONIsLeftToTheDecoder(t *testing.T) {
	decoding := errors.New("what the decoder says")
	for _, document := range []string{"", "{", "{} {}", "spec: 1"} {
		assert.Equal(t, decoding, typecheck.Explain(decoding, []byte(document), application))
	}
}

func TestOnlySoManyAreNamed(t *testing.T) {
	document := `{"spec":{"arguments":[` + strings.Repeat("1,", 11) + `1]}}`
	said := typecheck.Explain(nil, []byte(document), application).Error()
	assert.Contains(t, said, "spec.arguments[9]")
	assert.NotContains(t, said, "spec.arguments[10]")
	assert.Contains(t, said, "and 2 more values of the wrong type")
}

// FuzzAgreesWithTheDecoder changes one scalar of a pod template at a time.
func FuzzAgreesWithTheDecoder(f *testing.F) {
	for _, value := range []string{`1`, `"1"`, `1.5`, `true`, `null`, `[]`, `{}`, `"2Gi"`, `-1`, `1e3`, `99999999999`} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if !json.Valid([]byte(value)) {
			t.Skip("not JSON")
		}
		for _, form := range []string{
			`{"metadata":{"labels":{"a":%s}}}`, `{"metadata":{"generation":%s}}`, `{"spec":{"hostNetwork":%s}}`, `{"spec":{"priority":%s}}`,
			`{"spec":{"containers":%s}}`, `{"spec":{"containers":[%s]}}`, `{"spec":{"overhead":{"cpu":%s}}}`, `{"spec":%s}`,
		} {
			document := fmt.Appendf(nil, form, value)
			decoding := kjson.UnmarshalCaseSensitivePreserveInts(document, &corev1.PodTemplateSpec{})
			found := typecheck.Errors(document, reflect.TypeFor[corev1.PodTemplateSpec](), nil)
			assert.Equal(t, decoding == nil, len(found) == 0, "%s: decoder %v, walk %v", document, decoding, found)
		}
	})
}
