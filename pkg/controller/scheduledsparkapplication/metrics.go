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

package scheduledsparkapplication

import (
	"sync"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// result is what became of a slot.
type result string

const (
	resultStarted result = "started"
	resultSkipped result = "skipped"
	resultMissed  result = "missed"
	resultRefused result = "refused"
)

// Slots that were missed by the hundred are counted as a hundred.
var runCount = metrics.NewCounterVec(&metrics.CounterOpts{
	Name:           "spark_scheduled_application_run_count",
	Help:           "Number of runs of ScheduledSparkApplications that were due, by what became of them: started, skipped, missed or refused.",
	StabilityLevel: metrics.ALPHA,
}, []string{"result"})

var registerMetrics = sync.OnceFunc(func() { legacyregistry.MustRegister(runCount) })

func countRuns(counts map[result]int) {
	for r, n := range counts {
		runCount.WithLabelValues(string(r)).Add(float64(n))
	}
}
