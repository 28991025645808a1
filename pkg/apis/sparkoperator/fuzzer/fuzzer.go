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

// Package fuzzer fills the types of the group with random values, for tests of conversion and serialization.
package fuzzer

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeserializer "k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/randfill"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// Funcs returns what makes random values of the group's types valid: an application that comes from a request has its
// defaults, and its pod templates are JSON.
func Funcs(runtimeserializer.CodecFactory) []any {
	return []any{
		func(app *sparkoperator.SparkApplication, c randfill.Continue) {
			c.FillNoCustom(app)
			external := &v1beta2.SparkApplication{}
			utilruntime.Must(v1beta2.Convert_sparkoperator_SparkApplication_To_v1beta2_SparkApplication(app, external, nil))
			v1beta2.SetObjectDefaults_SparkApplication(external)
			utilruntime.Must(v1beta2.Convert_v1beta2_SparkApplication_To_sparkoperator_SparkApplication(external, app, nil))
		},
		func(app *v1beta2.SparkApplication, c randfill.Continue) {
			c.FillNoCustom(app)
			v1beta2.SetObjectDefaults_SparkApplication(app)
		},
		func(schedule *sparkoperator.ScheduledSparkApplication, c randfill.Continue) {
			c.FillNoCustom(schedule)
			external := &v1beta2.ScheduledSparkApplication{}
			utilruntime.Must(v1beta2.Convert_sparkoperator_ScheduledSparkApplication_To_v1beta2_ScheduledSparkApplication(schedule, external, nil))
			v1beta2.SetObjectDefaults_ScheduledSparkApplication(external)
			utilruntime.Must(v1beta2.Convert_v1beta2_ScheduledSparkApplication_To_sparkoperator_ScheduledSparkApplication(external, schedule, nil))
		},
		func(schedule *v1beta2.ScheduledSparkApplication, c randfill.Continue) {
			c.FillNoCustom(schedule)
			v1beta2.SetObjectDefaults_ScheduledSparkApplication(schedule)
		},
		func(template *runtime.RawExtension, c randfill.Continue) {
			raw, err := json.Marshal(map[string]any{
				"metadata": map[string]any{"labels": map[string]string{c.String(5): c.String(10)}},
				"spec":     map[string]any{"hostNetwork": c.Bool(), "fieldOfTomorrow": c.String(10)},
			})
			utilruntime.Must(err)
			*template = runtime.RawExtension{Raw: raw}
		},
		// Times that are no pointers are null in JSON when they are zero; seconds are all that JSON keeps.
		func(t *metav1.Time, c randfill.Continue) {
			if c.Bool() {
				*t = metav1.Time{}
				return
			}
			*t = metav1.Unix(c.Rand.Int63n(1<<32)+1, 0)
		},
		func(t **metav1.Time, c randfill.Continue) {
			*t = nil
			if c.Bool() {
				*t = new(metav1.Unix(c.Rand.Int63n(1<<32)+1, 0))
			}
		},
		// A resource list is a map, and an empty one doesn't survive.
		func(list *corev1.ResourceList, c randfill.Continue) {
			c.FillNoCustom(list)
			if len(*list) == 0 {
				*list = nil
			}
		},
	}
}
