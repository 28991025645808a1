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

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/hack/spark-golden/golden"
	"github.com/spark-apiserver/spark-apiserver/hack/spark-golden/pyspark"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// measured is what one submission took.
type measured struct {
	wall, cpu time.Duration
	// memory is the peak of the resident memory of the largest process, in bytes.
	memory int64
}

// measure prints what a submission costs: by bin/spark-submit of each line, by `kubectl spark render`, and within the
// server, all in the same run. The recorder answers at once, so that no API server is part of it.
func measure(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("measure", flag.ExitOnError)
	lines := flags.String("lines", allLines, linesUsage)
	cache := flags.String("cache", defaultCache, cacheUsage)
	data := flags.String("data", defaultData, dataUsage)
	count := flags.Int("count", 5, "the number of submissions of each kind")
	plugin := flags.String("plugin", filepath.Join("bin", "kubectl-spark"), "the plugin, as `make build` makes it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	cases, err := golden.LoadCases(filepath.Join(*data, "cases"))
	if err != nil {
		return err
	}
	at := slices.IndexFunc(cases, func(c golden.Case) bool { return c.Name == "java-minimal" })
	if at < 0 {
		return errors.New("there is no case java-minimal")
	}
	load, _ := os.ReadFile("/proc/loadavg") // for those who read the figures; not everywhere
	fmt.Printf("%d processors, load before: %s\n\n", runtime.NumCPU(), strings.TrimSpace(string(load)))
	fmt.Print("| one submission by | wall | CPU | peak memory |\n|---|---|---|---|\n")
	version := ""
	for line := range strings.SplitSeq(*lines, ",") {
		in, err := pyspark.Install(ctx, *cache, line)
		if err != nil {
			return err
		}
		version = in.Version
		all, err := repeated(*count, func() (measured, error) { return measureSpark(ctx, in, *data, &cases[at]) })
		if err != nil {
			return err
		}
		report("spark-submit of "+in.Version, all)
	}
	manifest, err := cases[at].Manifest(version)
	if err != nil {
		return err
	}
	all, err := repeated(*count, func() (measured, error) { return measurePlugin(ctx, *plugin, manifest) })
	if err != nil {
		return err
	}
	report("`kubectl spark render`", all)
	inside, err := measureServer(manifest)
	if err != nil {
		return err
	}
	fmt.Printf("| the server, its own work without API calls | %.2f ms | %.2f ms | %.0f KiB allocated |\n",
		milliseconds(inside.wall), milliseconds(inside.cpu), float64(inside.memory)/(1<<10))
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func repeated(count int, run func() (measured, error)) ([]measured, error) {
	var all []measured
	for range count {
		m, err := run()
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// report prints the medians.
func report(what string, all []measured) {
	middle := func(of func(measured) float64) float64 {
		values := make([]float64, 0, len(all))
		for _, m := range all {
			values = append(values, of(m))
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	fmt.Printf("| %s | %.2f s | %.2f s | %.0f MiB |\n", what,
		middle(func(m measured) float64 { return m.wall.Seconds() }),
		middle(func(m measured) float64 { return m.cpu.Seconds() }),
		middle(func(m measured) float64 { return float64(m.memory) / (1 << 20) }))
}

// measureSpark runs bin/spark-submit against a recorder.
func measureSpark(ctx context.Context, in pyspark.Installation, data string, c *golden.Case) (measured, error) {
	s, err := newSubmitter(in, true, data)
	if err != nil {
		return measured{}, err
	}
	defer func() { _ = s.close() }() // a folder that stays is no failure of a measurement
	server := httptest.NewServer(&recorder{record: golden.Record{Case: c.Name, Line: s.Line, Version: s.Version}})
	defer server.Close()
	args := append([]string{"--master", "k8s://" + server.URL, "--deploy-mode", "cluster"}, c.CommandLine(s.folder, s.Version)...)
	submit := exec.CommandContext(ctx, filepath.Join(s.Home, "bin", "spark-submit"), args...)
	submit.Dir, submit.Env = s.folder, s.environment() // with the options that spark-submit has by itself
	return measureCommand(submit)
}

func measurePlugin(ctx context.Context, plugin string, manifest []byte) (measured, error) {
	render := exec.CommandContext(ctx, plugin, "render", "-f", "-")
	render.Stdin = strings.NewReader(string(manifest))
	return measureCommand(render)
}

// measureCommand runs a command to its end. What its descendants used is part of what it used, as far as they were waited
// for; of memory the largest process counts.
func measureCommand(cmd *exec.Cmd) (measured, error) {
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return measured{}, fmt.Errorf("%s: %w:\n%s", cmd.Path, err, out)
	}
	m := measured{wall: time.Since(began), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		m.memory = usage.Maxrss << 10 // KiB on Linux
	}
	return m, nil
}

// measureServer resolves an application and builds the objects of an attempt, as the server does once it has read it.
func measureServer(manifest []byte) (measured, error) {
	const rounds = 200
	build := func() error {
		app := &v1beta2.SparkApplication{}
		if err := json.Unmarshal(manifest, app); err != nil {
			return err
		}
		v1beta2.SetDefaults_SparkApplicationSpec(&app.Spec)
		resolved, errs := spark.Resolve(app, field.NewPath("spec"))
		if err := errs.ToAggregate(); err != nil {
			return err
		}
		_, err := spark.Build(resolved, spark.Attempt{SubmissionID: "0f8fad5b-d9cb-469f-a165-70867728950e", SubmitTime: time.Unix(0, 0)})
		return err
	}
	if err := build(); err != nil {
		return measured{}, err
	}
	var before, after runtime.MemStats
	var usedBefore, usedAfter syscall.Rusage
	runtime.ReadMemStats(&before)
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usedBefore); err != nil {
		return measured{}, err
	}
	began := time.Now()
	for range rounds {
		if err := build(); err != nil {
			return measured{}, err
		}
	}
	wall := time.Since(began)
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usedAfter); err != nil {
		return measured{}, err
	}
	runtime.ReadMemStats(&after)
	cpu := func(u *syscall.Rusage) time.Duration {
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return measured{
		wall: wall / rounds, cpu: (cpu(&usedAfter) - cpu(&usedBefore)) / rounds,
		memory: int64(after.TotalAlloc-before.TotalAlloc) / rounds,
	}, nil
}
