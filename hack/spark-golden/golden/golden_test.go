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

package golden

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWithoutRandom(t *testing.T) {
	for text, want := range map[string]string{
		"spark-0f8fad5bd9cb469fa16570867728950e":                    "{appID}",
		"spark-pi-1a2b3ca0c5d4e5f6-driver":                          "spark-pi-{uid}-driver",
		"/var/data/spark-0f8fad5b-d9cb-469f-a165-70867728950e":      "/var/data/spark-{uid}",
		"spark-drv-1a2b3ca0c5d4e5f6-conf-map":                       "spark-drv-{uid}-conf-map",
		"spark.app.submitTime=1796070056123":                        "spark.app.submitTime={time}",
		"a-name-that-has-no-id":                                     "a-name-that-has-no-id",
		"here is http://127.0.0.1:80 and spark-pi-1a2b3ca0-driver.": "here is {recorder} and spark-pi-1a2b3ca0-driver.",
	} {
		assert.Equal(t, want, WithoutRandom(text, "http://127.0.0.1:80", "{recorder}"))
	}
}

func TestProperties(t *testing.T) {
	lines := PropertyLines("#name\n#date\nspark.b\\ key\\:x\\=y=1\\=2\nspark.a=\n")
	assert.Equal(t, []string{`spark.a=`, `spark.b\ key\:x\=y=1\=2`}, lines)
	values, err := ParseProperties(lines)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"spark.a": "", `spark.b\ key\:x\=y`: `1\=2`}, values)
	_, err = ParseProperties([]string{"a=1", "a=2"})
	require.ErrorContains(t, err, "twice")
	_, err = ParseProperties([]string{"a"})
	require.ErrorContains(t, err, "no value")
}

func TestFields(t *testing.T) {
	object := func(memory string, variables ...any) map[string]any {
		return map[string]any{"kind": "Pod", "metadata": map[string]any{"labels": map[string]any{"a.b/c": "x"}}, "spec": map[string]any{
			"volumes": []any{map[string]any{"name": "v", "hostPath": map[string]any{"path": "/p", "type": ""}}},
			"containers": []any{map[string]any{
				"name": "c", "env": variables, "resources": map[string]any{"limits": map[string]any{"memory": memory}},
				"volumeMounts": []any{map[string]any{"name": "v", "mountPath": "/m", "subPath": ""}},
			}},
		}}
	}
	variable := func(name string) any { return map[string]any{"name": name, "value": "1"} }
	first, bind := variable("SPARK_APPLICATION_ID"), variable("SPARK_DRIVER_BIND_ADDRESS")
	one, other := Fields{}, Fields{}
	require.NoError(t, one.AddObject("Pod", object("1024Mi", first, variable("B"), variable("A"), bind)))
	require.NoError(t, other.AddObject("Pod", object("1Gi", first, variable("A"), variable("B"), bind)))
	assert.Equal(t, one, other, "quantities count by value, and the user's variables have no order")
	assert.Equal(t, `"/m"`, one["Pod.spec.containers[c].volumeMounts[/m].mountPath"])
	assert.Equal(t, `"x"`, one["Pod.metadata.labels[a.b/c]"])
	assert.NotContains(t, one, "Pod.spec.volumes[v].hostPath.type")

	other = Fields{}
	require.NoError(t, other.AddObject("Pod", object("1Gi", bind, variable("B"), variable("A"), first)))
	assert.NotEqual(t, one, other, "Spark's own variables have an order")
	require.Error(t, Fields{}.AddObject("Pod", map[string]any{"spec": map[string]any{"newField": 1}}))
	require.Error(t, Fields{}.AddObject("Job", map[string]any{}))
}

func TestCaseManifest(t *testing.T) {
	c := Case{
		Name: "x", Base: "java", From: "4.0", Before: "4.2",
		App: map[string]any{"spec": map[string]any{"executor": map[string]any{"instances": nil, "cores": 2}}},
		Submit: Submit{
			Conf: map[string]*string{"spark.executor.instances": nil, "spark.a": new("{dir}/{version}")}, Args: []string{"1"},
		},
	}
	manifest, err := c.Manifest("4.0.1")
	require.NoError(t, err)
	assert.JSONEq(t, `{"apiVersion":"sparkoperator.k8s.io/v1beta2","kind":"SparkApplication",
		"metadata":{"name":"spark-pi","namespace":"jobs","uid":"8c1a2d34-0000-4000-8000-0123456789ab"},
		"spec":{"sparkVersion":"4.0.1","image":"example.com/spark:1","type":"Scala","mainClass":"org.example.Main",
		"mainApplicationFile":"local:///opt/app.jar","executor":{"cores":2}}}`, string(manifest))
	args := c.CommandLine("/f", "4.0.1")
	assert.Contains(t, args, "spark.a=/f/4.0.1")
	assert.NotContains(t, args, "spark.executor.instances=2")
	assert.Equal(t, []string{"local:///opt/app.jar", "1"}, args[len(args)-2:])
	assert.False(t, c.In("3.5"))
	assert.True(t, c.In("4.1"))
	assert.False(t, c.In("4.2"))
}
