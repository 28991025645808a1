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

package v1beta2_test

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// TestHubIsMemoryIdentical keeps hub and v1beta2 equal field for field, so that conversion is a cast of pointers. A field
// that is added to one of them only, or in another order, fails here.
func TestHubIsMemoryIdentical(t *testing.T) {
	assert.Equal(t, unsafe.Sizeof(sparkoperator.SparkApplication{}), unsafe.Sizeof(v1beta2.SparkApplication{}))
	seen := map[[2]reflect.Type]bool{}
	assertIdentical(t, "SparkApplication", reflect.TypeFor[sparkoperator.SparkApplication](), reflect.TypeFor[v1beta2.SparkApplication](), seen)
	assertIdentical(t, "SparkApplicationList", reflect.TypeFor[sparkoperator.SparkApplicationList](), reflect.TypeFor[v1beta2.SparkApplicationList](), seen)
	assertIdentical(t, "ScheduledSparkApplication", reflect.TypeFor[sparkoperator.ScheduledSparkApplication](), reflect.TypeFor[v1beta2.ScheduledSparkApplication](), seen)
	assertIdentical(t, "ScheduledSparkApplicationList", reflect.TypeFor[sparkoperator.ScheduledSparkApplicationList](), reflect.TypeFor[v1beta2.ScheduledSparkApplicationList](), seen)
	assertIdentical(t, "SparkApplicationLogOptions", reflect.TypeFor[sparkoperator.SparkApplicationLogOptions](), reflect.TypeFor[v1beta2.SparkApplicationLogOptions](), seen)
	assertIdentical(t, "SparkApplicationProxyOptions", reflect.TypeFor[sparkoperator.SparkApplicationProxyOptions](), reflect.TypeFor[v1beta2.SparkApplicationProxyOptions](), seen)
	assert.Greater(t, len(seen), 20, "the walk stopped early")
}

func assertIdentical(t *testing.T, path string, hub, versioned reflect.Type, seen map[[2]reflect.Type]bool) {
	t.Helper()
	if hub == versioned || seen[[2]reflect.Type{hub, versioned}] {
		return
	}
	seen[[2]reflect.Type{hub, versioned}] = true
	if !assert.Equal(t, hub.Kind(), versioned.Kind(), "%s: kind", path) {
		return
	}
	assert.Equal(t, hub.Name(), versioned.Name(), "%s: name of the type", path)
	assert.Equal(t, hub.Size(), versioned.Size(), "%s: size", path)
	assert.Equal(t, hub.Align(), versioned.Align(), "%s: alignment", path)
	switch hub.Kind() {
	case reflect.Struct:
		if !assert.Equal(t, hub.NumField(), versioned.NumField(), "%s: number of fields", path) {
			return
		}
		for i := range hub.NumField() {
			h, v := hub.Field(i), versioned.Field(i)
			assert.Equal(t, h.Name, v.Name, "%s: field %d", path, i)
			assert.Equal(t, h.Offset, v.Offset, "%s.%s: offset", path, h.Name)
			assert.Equal(t, h.Anonymous, v.Anonymous, "%s.%s: embedded", path, h.Name)
			assertIdentical(t, path+"."+h.Name, h.Type, v.Type, seen)
		}
	case reflect.Pointer, reflect.Slice:
		assertIdentical(t, path+"[]", hub.Elem(), versioned.Elem(), seen)
	case reflect.Map:
		assertIdentical(t, path+"(key)", hub.Key(), versioned.Key(), seen)
		assertIdentical(t, path+"(value)", hub.Elem(), versioned.Elem(), seen)
	default:
	}
}

// TestConversionSharesMemory shows that the generated conversion makes use of it.
func TestConversionSharesMemory(t *testing.T) {
	hub := &sparkoperator.SparkApplication{
		ObjectMeta: metav1.ObjectMeta{Name: "pi"},
		Spec: sparkoperator.SparkApplicationSpec{
			SparkConf:  map[string]string{"spark.eventLog.enabled": "true"},
			Arguments:  []string{"1000"},
			Scheduling: &sparkoperator.SparkSchedulingSpec{PriorityClassName: new("high")},
		},
	}
	versioned := &v1beta2.SparkApplication{}
	require.NoError(t, v1beta2.Convert_sparkoperator_SparkApplication_To_v1beta2_SparkApplication(hub, versioned, nil))
	assert.Equal(t, "pi", versioned.Name)
	assert.Equal(t, unsafe.Pointer(hub.Spec.Scheduling), unsafe.Pointer(versioned.Spec.Scheduling))
	assert.Equal(t, unsafe.SliceData(hub.Spec.Arguments), unsafe.SliceData(versioned.Spec.Arguments))
	assert.Equal(t, reflect.ValueOf(hub.Spec.SparkConf).Pointer(), reflect.ValueOf(versioned.Spec.SparkConf).Pointer())
}
