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

// Command spark-bench measures spark-apiserver beside its peers and writes the figures as a table and as JSON. See package bench.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spark-apiserver/spark-apiserver/hack/spark-golden/pyspark"
	"github.com/spark-apiserver/spark-apiserver/test/bench"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "spark-bench:", err)
		os.Exit(1)
	}
}

// benchmarks in the order in which they run.
var benchmarks = []struct {
	name string
	run  func(bench.Options, context.Context, *bench.Report) error
}{
	{"api", bench.Options.API},
	{"lists", bench.Options.ListLengths},
	{"submission", bench.Options.Submissions},
	{"scale", bench.Options.Scale},
}

func run(ctx context.Context) error {
	names := make([]string, 0, len(benchmarks))
	for _, b := range benchmarks {
		names = append(names, b.name)
	}
	short := flag.Bool("short", false, "a form of a few minutes: fewer rounds, fewer objects, no burst of thousands")
	only := flag.String("only", strings.Join(names, ","), "benchmarks to run, comma separated")
	out := flag.String("out", filepath.Join(".cache", "bench"), "folder for report.md and report.json")
	line := flag.String("spark-line", "4.0", "line of Spark whose spark-submit is the peer of submissions; empty for none")
	cache := flag.String("spark-cache", filepath.Join(".cache", "pyspark"), "folder for Spark, installed from PyPI if it isn't there")
	rounds := flag.Int("rounds", 0, "rounds of each benchmark; 0 for the form's own number")
	idle := flag.Duration("idle", 0, "how long stored applications are watched; 0 for the form's own time")
	bursts := flag.String("bursts", "", "sizes of bursts instead of the form's own, comma separated")
	stored := flag.String("stored", "", "numbers of stored applications instead of the form's own, comma separated")
	profiles := flag.Bool("profiles", false, "write profiles of the API servers into the folder of the report")
	flag.Parse()

	o := full()
	if *short {
		o = shortened()
	}
	if *rounds > 0 {
		o.Rounds = *rounds
	}
	if *idle > 0 {
		o.Idle = *idle
	}
	o.Progress = os.Stderr
	if *profiles {
		o.Profiles = filepath.Join(*out, "profiles")
	}
	for _, list := range []struct {
		given  string
		target *[]int
	}{{*bursts, &o.Bursts}, {*stored, &o.Stored}} {
		if err := numbers(list.given, list.target); err != nil {
			return err
		}
	}
	wanted := strings.Split(*only, ",")
	for _, name := range wanted {
		if !slices.Contains(names, name) {
			return fmt.Errorf("-only: there is no benchmark %q (there are: %s)", name, strings.Join(names, ", "))
		}
	}
	if *line != "" && slices.Contains(wanted, "submission") {
		installation, err := pyspark.Install(ctx, *cache, *line)
		if err != nil {
			return fmt.Errorf("installing Spark %s: %w", *line, err)
		}
		o.SparkHome = installation.Home
	}
	report := &bench.Report{Machine: bench.ThisMachine("v1.37.2")}
	o.Save = func() error { return write(*out, report) }
	for _, b := range benchmarks {
		if !slices.Contains(wanted, b.name) {
			continue
		}
		if err := b.run(o, ctx, report); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		if err := o.Save(); err != nil {
			return err
		}
	}
	return report.WriteMarkdown(os.Stdout)
}

func full() bench.Options {
	return bench.Options{
		Rounds: 5, Objects: 400, Writers: []int{1, 8, 32}, Watchers: 50, Lists: []int{1000, 10_000},
		Bursts: []int{100, 1000, 6000}, Stored: []int{1000, 10_000, 50_000}, Idle: time.Minute, JVMs: 4,
	}
}

func shortened() bench.Options {
	return bench.Options{
		Rounds: 3, Objects: 100, Writers: []int{1, 8}, Watchers: 20, Lists: []int{1000},
		Bursts: []int{60}, Stored: []int{1000}, Idle: 40 * time.Second, JVMs: 2,
	}
}

func numbers(list string, target *[]int) error {
	if list == "" {
		return nil
	}
	*target = nil
	for text := range strings.SplitSeq(list, ",") {
		var n int
		if _, err := fmt.Sscanf(text, "%d", &n); err != nil || n < 1 {
			return fmt.Errorf("%q is no number of applications", text)
		}
		*target = append(*target, n)
	}
	return nil
}

func write(folder string, report *bench.Report) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, content := range map[string]func(*os.File) error{
		"report.md":   func(f *os.File) error { return report.WriteMarkdown(f) },
		"report.json": func(f *os.File) error { return report.WriteJSON(f) },
	} {
		f, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		if err := content(f); err != nil {
			f.Close()
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}
