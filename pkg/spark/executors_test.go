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
	"math/rand"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func TestResolveExecutors(t *testing.T) {
	instances := func(n int32) func(*v1beta2.SparkApplication) {
		return func(app *v1beta2.SparkApplication) { app.Spec.Executor.Instances = new(n) }
	}
	dynamic := func(da v1beta2.DynamicAllocation) func(*v1beta2.SparkApplication) {
		return func(app *v1beta2.SparkApplication) { app.Spec.DynamicAllocation = &da }
	}
	const byConf = "spec.sparkConf[spark.executor.instances]"
	for name, c := range map[string]struct {
		edits   []func(*v1beta2.SparkApplication)
		initial int32
		dynamic bool
		path    string
	}{
		"default":            {initial: 1, path: "spec.executor.instances"},
		"typed":              {edits: []func(*v1beta2.SparkApplication){instances(7)}, initial: 7, path: "spec.executor.instances"},
		"conf":               {edits: []func(*v1beta2.SparkApplication){withConf("spark.executor.instances", " 3 ")}, initial: 3, path: byConf},
		"typed wins":         {edits: []func(*v1beta2.SparkApplication){instances(4), withConf("spark.executor.instances", "9")}, initial: 4, path: "spec.executor.instances"},
		"dynamic: initial":   {edits: []func(*v1beta2.SparkApplication){dynamic(v1beta2.DynamicAllocation{Enabled: true, InitialExecutors: new(int32(5)), MinExecutors: new(int32(2))})}, initial: 5, dynamic: true, path: "spec.dynamicAllocation.initialExecutors"},
		"dynamic: min":       {edits: []func(*v1beta2.SparkApplication){dynamic(v1beta2.DynamicAllocation{Enabled: true, MinExecutors: new(int32(2))})}, initial: 2, dynamic: true, path: "spec.dynamicAllocation.minExecutors"},
		"dynamic: instances": {edits: []func(*v1beta2.SparkApplication){instances(6), dynamic(v1beta2.DynamicAllocation{Enabled: true, MinExecutors: new(int32(2))})}, initial: 6, dynamic: true, path: "spec.executor.instances"},
		"dynamic: nothing":   {edits: []func(*v1beta2.SparkApplication){dynamic(v1beta2.DynamicAllocation{Enabled: true})}, initial: 0, dynamic: true, path: "spec.dynamicAllocation.enabled"},
		"dynamic by conf":    {edits: []func(*v1beta2.SparkApplication){withConf("spark.dynamicAllocation.enabled", "True", "spark.dynamicAllocation.minExecutors", "3")}, initial: 3, dynamic: true, path: "spec.sparkConf[spark.dynamicAllocation.minExecutors]"},
		"block turns it off": {edits: []func(*v1beta2.SparkApplication){withConf("spark.dynamicAllocation.enabled", "true"), dynamic(v1beta2.DynamicAllocation{})}, initial: 1, path: "spec.executor.instances"},
	} {
		t.Run(name, func(t *testing.T) {
			a, o := built(t, c.edits...)
			assert.Equal(t, c.initial, a.Executors.Initial)
			assert.Equal(t, c.dynamic, a.Executors.Dynamic)
			assert.Equal(t, c.path, a.Executors.Path.String())
			assert.Equal(t, strconv.FormatBool(c.dynamic), cmpOr(o.Properties[keyDynamicEnabled], "false"), "what Spark will do")
			if !c.dynamic {
				assert.Equal(t, strconv.Itoa(int(c.initial)), o.Properties[keyExecutorInstances])
			}
		})
	}
}

func cmpOr(text, fallback string) string {
	if text == "True" || text == "true" {
		return "true"
	}
	return fallback
}

// However the number is given, Spark is told the same one that a gang is sized by.
func TestNumberOfExecutorsIsTheSameEverywhere(t *testing.T) {
	random := rand.New(rand.NewSource(2))
	for range 300 {
		n := int32(1 + random.Intn(2000))
		app := newApp(func(app *v1beta2.SparkApplication) {
			switch random.Intn(3) {
			case 0:
				app.Spec.Executor.Instances = new(n)
			case 1:
				withConf(keyExecutorInstances, strconv.Itoa(int(n)))(app)
			case 2:
				app.Spec.Executor.Instances = new(n)
				withConf(keyExecutorInstances, strconv.Itoa(random.Intn(9)))(app)
			}
			if random.Intn(2) == 0 {
				withConf(keyDynamicEnabled, "false")(app)
			}
		})
		a, errs := Resolve(app, testSpecPath)
		require.NoError(t, errs.ToAggregate())
		for _, group := range []*Group{nil, {PodGroupName: "g"}, {PodGroupName: "g", Gang: true, MinCount: a.Executors.Initial}} {
			o, err := Build(a, Attempt{SubmissionID: testSubmissionID, SubmitTime: testTime, Group: group})
			require.NoError(t, err)
			assert.Equal(t, n, a.Executors.Initial)
			assert.Equal(t, strconv.Itoa(int(n)), o.Properties[keyExecutorInstances])
			assert.Equal(t, o.Properties, readProperties(t, o.ConfigMap.Data[propertiesFileName]))
		}
	}
}
