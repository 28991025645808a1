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
	"slices"
	"time"
)

// Summary is what is said of a figure that was measured several times.
type Summary struct {
	Median float64 `json:"median"`
	Least  float64 `json:"least"`
	Most   float64 `json:"most"`
}

// Summarize returns the median of values and their range. All is NaN of nothing.
func Summarize(values []float64) Summary {
	if len(values) == 0 {
		return Summary{Median: math.NaN(), Least: math.NaN(), Most: math.NaN()}
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return Summary{Median: median, Least: sorted[0], Most: sorted[len(sorted)-1]}
}

// Percentile returns the smallest of durations that at least percent of a hundred don't exceed. Zero of nothing.
func Percentile(durations []time.Duration, percent float64) time.Duration {
	if len(durations) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(durations))
	rank := int(math.Ceil(percent / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// Exponent fits cost = a * size^e to pairs of positive sizes and costs by least squares of the logarithms and returns e: 1 for
// a cost that grows as the size does. NaN for fewer than two sizes.
func Exponent(sizes, costs []float64) float64 {
	var n, sumX, sumY, sumXX, sumXY float64
	for i := range sizes {
		if sizes[i] <= 0 || costs[i] <= 0 {
			continue
		}
		x, y := math.Log(sizes[i]), math.Log(costs[i])
		n, sumX, sumY, sumXX, sumXY = n+1, sumX+x, sumY+y, sumXX+x*x, sumXY+x*y
	}
	spread := n*sumXX - sumX*sumX
	if n < 2 || spread == 0 {
		return math.NaN()
	}
	return (n*sumXY - sumX*sumY) / spread
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
