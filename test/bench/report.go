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
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Figure is one thing that was measured of one peer, once a round.
type Figure struct {
	// Topic is the benchmark, such as "create, 8 writers".
	Topic string `json:"topic"`
	// Peer is what was measured.
	Peer string `json:"peer"`
	// Name is what of it, such as "p99".
	Name string `json:"name"`
	// Unit of the values.
	Unit   string    `json:"unit"`
	Values []float64 `json:"values"`
}

// Budget is a promise of the design and what became of it.
type Budget struct {
	What     string  `json:"what"`
	Measured float64 `json:"measured"`
	Bound    float64 `json:"bound"`
	// AtLeast says that the measured value must not be smaller than the bound; it must not be larger otherwise.
	AtLeast bool   `json:"atLeast"`
	Unit    string `json:"unit"`
}

// Met says whether the promise was kept.
func (b Budget) Met() bool {
	if math.IsNaN(b.Measured) {
		return false
	}
	if b.AtLeast {
		return b.Measured >= b.Bound
	}
	return b.Measured <= b.Bound
}

// Report collects figures. It isn't safe for use by several goroutines.
type Report struct {
	Machine Machine   `json:"machine"`
	Figures []*Figure `json:"figures"`
	Budgets []Budget  `json:"budgets"`
	// Notes are what a reader has to know of how it was measured.
	Notes []string `json:"notes,omitempty"`
}

// Add appends the value of a round.
func (r *Report) Add(topic, peer, name, unit string, value float64) {
	if f := r.find(topic, peer, name); f != nil {
		f.Values = append(f.Values, value)
		return
	}
	r.Figures = append(r.Figures, &Figure{Topic: topic, Peer: peer, Name: name, Unit: unit, Values: []float64{value}})
}

func (r *Report) find(topic, peer, name string) *Figure {
	i := slices.IndexFunc(r.Figures, func(f *Figure) bool { return f.Topic == topic && f.Peer == peer && f.Name == name })
	if i < 0 {
		return nil
	}
	return r.Figures[i]
}

// Median returns the median of a figure, NaN if there is none.
func (r *Report) Median(topic, peer, name string) float64 {
	if f := r.find(topic, peer, name); f != nil {
		return Summarize(f.Values).Median
	}
	return math.NaN()
}

// Ratio returns the median of the rounds' ratios of one peer's figure to another's. What disturbed a round has disturbed both.
func (r *Report) Ratio(topic, name, peer, toPeer string) float64 {
	of, to := r.find(topic, peer, name), r.find(topic, toPeer, name)
	if of == nil || to == nil {
		return math.NaN()
	}
	var ratios []float64
	for i := range min(len(of.Values), len(to.Values)) {
		ratios = append(ratios, of.Values[i]/to.Values[i])
	}
	return Summarize(ratios).Median
}

// Promise notes a budget. A value that wasn't measured is left out.
func (r *Report) Promise(what string, measured, bound float64, atLeast bool, unit string) {
	if !math.IsNaN(measured) {
		r.Budgets = append(r.Budgets, Budget{What: what, Measured: measured, Bound: bound, AtLeast: atLeast, Unit: unit})
	}
}

// WriteJSON writes everything that was measured.
func (r *Report) WriteJSON(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// WriteMarkdown writes a table for each topic: a row for a peer, a column for a figure. Beside each median stands its range
// and, in later rows, its ratio to the first peer's.
func (r *Report) WriteMarkdown(out io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n", r.Machine)
	for _, note := range r.Notes {
		fmt.Fprintf(&text, "\n%s\n", note)
	}
	if len(r.Budgets) > 0 {
		text.WriteString("\n## Budgets\n\n| budget | bound | measured | met |\n|---|---|---|---|\n")
		for _, b := range r.Budgets {
			direction, met := "at most", "yes"
			if b.AtLeast {
				direction = "at least"
			}
			if !b.Met() {
				met = "**no**"
			}
			fmt.Fprintf(&text, "| %s | %s %s %s | %s | %s |\n", b.What, direction, short(b.Bound), b.Unit, short(b.Measured), met)
		}
	}
	var topics []string
	for _, f := range r.Figures {
		if !slices.Contains(topics, f.Topic) {
			topics = append(topics, f.Topic)
		}
	}
	for _, topic := range topics {
		r.writeTopic(&text, topic)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func (r *Report) writeTopic(text *strings.Builder, topic string) {
	var peers, columns []string
	units := map[string]string{}
	for _, f := range r.Figures {
		if f.Topic != topic {
			continue
		}
		if !slices.Contains(peers, f.Peer) {
			peers = append(peers, f.Peer)
		}
		if !slices.Contains(columns, f.Name) {
			columns = append(columns, f.Name)
			units[f.Name] = f.Unit
		}
	}
	fmt.Fprintf(text, "\n## %s\n\n| |", topic)
	for _, column := range columns {
		fmt.Fprintf(text, " %s (%s) |", column, units[column])
	}
	text.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for i, peer := range peers {
		fmt.Fprintf(text, "| %s |", peer)
		for _, column := range columns {
			f := r.find(topic, peer, column)
			if f == nil {
				text.WriteString(" |")
				continue
			}
			s := Summarize(f.Values)
			fmt.Fprintf(text, " %s", short(s.Median))
			if len(f.Values) > 1 {
				fmt.Fprintf(text, " (%s–%s)", short(s.Least), short(s.Most))
			}
			if ratio := r.Ratio(topic, column, peer, peers[0]); i > 0 && !math.IsNaN(ratio) && !math.IsInf(ratio, 0) {
				fmt.Fprintf(text, " ×%s", short(ratio))
			}
			text.WriteString(" |")
		}
		text.WriteString("\n")
	}
}

// short writes a value with three digits that count.
func short(v float64) string {
	switch size := math.Abs(v); {
	case math.IsNaN(v):
		return "–"
	case size >= 100 || v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case size >= 10:
		return fmt.Sprintf("%.1f", v)
	case size >= 1:
		return fmt.Sprintf("%.2f", v)
	default:
		return fmt.Sprintf("%.3g", v)
	}
}
