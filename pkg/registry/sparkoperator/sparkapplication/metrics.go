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
	"sync"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/validation"
)

// deprecatedFieldUses tells administrators whether a deprecated field is still in use, before it is removed.
var deprecatedFieldUses = metrics.NewCounterVec(&metrics.CounterOpts{
	Name:           "spark_apiserver_deprecated_field_uses_total",
	Help:           "Number of accepted creates and edits of the spec of SparkApplications that use a deprecated field, by the field's path.",
	StabilityLevel: metrics.ALPHA,
}, []string{"field"})

var registerMetrics = sync.OnceFunc(func() { legacyregistry.MustRegister(deprecatedFieldUses) })

// countDeprecatedFields counts the deprecated fields of an application that is valid. old is nil for a create.
func countDeprecatedFields(app, old *sparkoperator.SparkApplication) {
	for _, path := range validation.DeprecatedFields(app, old) {
		deprecatedFieldUses.WithLabelValues(path).Inc()
	}
}
