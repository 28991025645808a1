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
	"github.com/stretchr/testify/require"
	"k8s.io/component-base/metrics/testutil"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
)

// Uses of deprecated fields are answered with a warning and counted, those of the new field are not.
func TestDeprecatedFieldsAreCounted(t *testing.T) {
	strategy := newTestStrategy(t, false)
	count := func(field string) float64 {
		value, err := testutil.GetCounterMetricValue(deprecatedFieldUses.WithLabelValues(field))
		require.NoError(t, err)
		return value
	}
	name, queue := count("spec.batchScheduler"), count("spec.batchSchedulerOptions.queue")

	old := validApplication()
	old.Spec.BatchScheduler = new("volcano")
	old.Spec.BatchSchedulerOptions = &sparkoperator.BatchSchedulerConfiguration{Queue: new("root")}
	require.Empty(t, strategy.Validate(t.Context(), old))
	assert.Contains(t, strategy.WarningsOnCreate(t.Context(), old), "spec.batchScheduler is deprecated; use spec.scheduling.batchScheduler.name")
	assert.InDelta(t, name+1, count("spec.batchScheduler"), 0)
	assert.InDelta(t, queue+1, count("spec.batchSchedulerOptions.queue"), 0)

	labelled := old.DeepCopy()
	labelled.Labels = map[string]string{"a": "b"}
	strategy.WarningsOnUpdate(t.Context(), labelled, old)
	assert.InDelta(t, name+1, count("spec.batchScheduler"), 0, "the spec was left alone")
	edited := old.DeepCopy()
	edited.Spec.Arguments = []string{"1"}
	strategy.WarningsOnUpdate(t.Context(), edited, old)
	assert.InDelta(t, name+2, count("spec.batchScheduler"), 0)

	nested := validApplication()
	nested.Spec.Scheduling = &sparkoperator.SparkSchedulingSpec{BatchScheduler: &sparkoperator.BatchSchedulerSpec{Name: "volcano"}}
	require.Empty(t, strategy.Validate(t.Context(), nested))
	assert.Empty(t, strategy.WarningsOnCreate(t.Context(), nested))
	assert.InDelta(t, name+2, count("spec.batchScheduler"), 0)
}
