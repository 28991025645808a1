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

package bench

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSummarize(t *testing.T) {
	assert.Equal(t, Summary{Median: 2, Least: 1, Most: 9}, Summarize([]float64{9, 1, 2}))
	assert.Equal(t, Summary{Median: 2.5, Least: 1, Most: 9}, Summarize([]float64{9, 1, 2, 3}))
	assert.True(t, math.IsNaN(Summarize(nil).Median))
}

func TestPercentile(t *testing.T) {
	var all []time.Duration
	for i := range 100 {
		all = append(all, time.Duration(100-i))
	}
	assert.Equal(t, time.Duration(50), Percentile(all, 50))
	assert.Equal(t, time.Duration(99), Percentile(all, 99))
	assert.Equal(t, time.Duration(100), Percentile(all, 100))
	assert.Equal(t, time.Duration(7), Percentile([]time.Duration{7}, 99))
	assert.Zero(t, Percentile(nil, 99))
}

func TestExponent(t *testing.T) {
	sizes := []float64{1000, 10000, 50000}
	for _, want := range []float64{0, 0.5, 1, 2} {
		var costs []float64
		for _, size := range sizes {
			costs = append(costs, 3*math.Pow(size, want))
		}
		assert.InDelta(t, want, Exponent(sizes, costs), 1e-9)
	}
	assert.True(t, math.IsNaN(Exponent(sizes[:1], sizes[:1])))
}

func TestReport(t *testing.T) {
	r := &Report{}
	for _, round := range []struct{ ours, peer float64 }{{1, 2}, {2, 4}, {30, 20}} {
		r.Add("create", "ours", "p99", "ms", round.ours)
		r.Add("create", "peer", "p99", "ms", round.peer)
	}
	assert.InDelta(t, 2, r.Ratio("create", "p99", "peer", "ours"), 1e-9, "the median of the rounds' ratios, not the ratio of medians")
	r.Promise("create p99", 1.2, 1.5, false, "× ConfigMap")
	r.Promise("rate", 30, 40, true, "a second")
	r.Promise("not measured", math.NaN(), 1, true, "")
	require.Len(t, r.Budgets, 2)
	assert.True(t, r.Budgets[0].Met())
	assert.False(t, r.Budgets[1].Met())

	var text strings.Builder
	require.NoError(t, r.WriteMarkdown(&text))
	assert.Contains(t, text.String(), "| create p99 | at most 1.50 × ConfigMap | 1.20 | yes |")
	assert.Contains(t, text.String(), "| rate | at least 40 a second | 30 | **no** |")
	assert.Contains(t, text.String(), "| peer | 4 (2–20) ×2 |")
	require.NoError(t, r.WriteJSON(&text))
}

func TestUsageOfThisProcess(t *testing.T) {
	before, err := UsageOf(os.Getpid())
	if os.IsNotExist(err) {
		t.Skip("no /proc on this machine")
	}
	require.NoError(t, err)
	sum := 0
	require.Eventually(t, func() bool {
		for i := range 10_000_000 {
			sum += i
		}
		after, err := UsageOf(os.Getpid())
		return err == nil && after.CPU > before.CPU
	}, time.Minute, time.Millisecond)
	assert.NotZero(t, sum)
	assert.Greater(t, before.MemoryMiB, 1.0)
	assert.GreaterOrEqual(t, before.PeakMiB, before.MemoryMiB)
}
