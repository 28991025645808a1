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

package validation

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// SchedulersAskedFor lists the schedulers that the pods of an application would go to, other than the default scheduler of
// Kubernetes, with the fields that say so. The path of a batch scheduler that the server chooses is nil.
func SchedulersAskedFor(app *sparkoperator.SparkApplication, schedulers BatchSchedulers) []spark.SchedulerName {
	spec := &versioned(app).Spec
	if choice := schedulers.Choose(spec, specPath); choice.Kind == scheduling.BatchScheduler {
		return []spark.SchedulerName{{Path: choice.Path, Value: choice.BatchScheduler, Role: spark.Both}}
	}
	var asked []spark.SchedulerName
	for _, named := range spark.NamedSchedulers(spec, specPath) {
		if named.Value != corev1.DefaultSchedulerName {
			asked = append(asked, named)
		}
	}
	return asked
}
