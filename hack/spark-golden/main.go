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

// Command spark-golden records what the real spark-submit makes of the cases of pkg/spark. It gets the Spark of each line
// from PyPI, runs it against a small recorder in place of an API server, and writes what was sent as test data, which
// a test of pkg/spark compares with what is built here.
//
// It needs python3 with pip and a JRE 17, and is run by hand when a case or a release of Spark is added; the
// recordings are committed.
//
// With "install" as first argument it only gets Spark and prints the folder of each line. With "measure" it compares what
// a submission costs with spark-submit and here.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spark-apiserver/spark-apiserver/hack/spark-golden/golden"
	"github.com/spark-apiserver/spark-apiserver/hack/spark-golden/pyspark"
)

const (
	allLines     = "3.5,4.0,4.1,4.2,4.3"
	linesUsage   = "the lines of Spark, with commas"
	defaultCache = ".cache/pyspark"
	cacheUsage   = "the folder that Spark is kept in"
	defaultData  = "pkg/spark/testdata/golden"
	dataUsage    = "the folder of cases and recordings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "spark-golden:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "install":
			return install(ctx, os.Args[2:])
		case "measure":
			return measure(ctx, os.Args[2:])
		}
	}
	lines := flag.String("lines", allLines, linesUsage)
	only := flag.String("cases", "*", "a shell pattern for the names of the cases to record")
	missing := flag.Bool("missing", false, "record only what has no recording yet")
	cache := flag.String("cache", defaultCache, cacheUsage)
	data := flag.String("data", defaultData, dataUsage)
	script := flag.Bool("script", false, "run bin/spark-submit for each case, which takes seconds each, instead of its class in one virtual machine")
	flag.Parse()
	if _, err := path.Match(*only, ""); err != nil {
		return err
	}
	cases, err := golden.LoadCases(filepath.Join(*data, "cases"))
	if err != nil {
		return err
	}
	var failed []error
	for line := range strings.SplitSeq(*lines, ",") {
		in, err := pyspark.Install(ctx, *cache, line)
		if err != nil {
			return err
		}
		fmt.Printf("Spark %s\n", in.Version)
		chosen := slices.DeleteFunc(slices.Clone(cases), func(c golden.Case) bool {
			matches, _ := path.Match(*only, c.Name) // the pattern is checked above
			_, err := os.Stat(golden.File(*data, line, c.Name))
			return !matches || !c.In(line) || *missing && err == nil
		})
		s, err := newSubmitter(in, *script, *data)
		if err != nil {
			return err
		}
		for i := range chosen {
			began := time.Now()
			said, err := s.record(ctx, &chosen[i])
			if err != nil {
				failed = append(failed, fmt.Errorf("%s of %s: %w", chosen[i].Name, line, err))
				said = err.Error()
			}
			fmt.Printf("%s %-40s %5.1fs %s\n", line, chosen[i].Name, time.Since(began).Seconds(), said)
			if ctx.Err() != nil {
				break
			}
		}
		if err := s.close(); err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if *only == "*" {
			if err := removeStale(*data, line, cases); err != nil {
				return err
			}
		}
	}
	return errors.Join(failed...)
}

// install gets the Spark of each line and prints where it is.
func install(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("install", flag.ExitOnError)
	lines := flags.String("lines", allLines, linesUsage)
	cache := flags.String("cache", defaultCache, cacheUsage)
	if err := flags.Parse(args); err != nil {
		return err
	}
	for line := range strings.SplitSeq(*lines, ",") {
		in, err := pyspark.Install(ctx, *cache, line)
		if err != nil {
			return err
		}
		home, err := filepath.Abs(in.Home)
		if err != nil {
			return err
		}
		fmt.Println(home)
	}
	return nil
}

// removeStale removes the recordings of cases that there are no more.
func removeStale(data, line string, cases []golden.Case) error {
	files, err := filepath.Glob(golden.File(data, line, "*"))
	if err != nil {
		return err
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if !slices.ContainsFunc(cases, func(c golden.Case) bool { return c.Name == name && c.In(line) }) {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	return nil
}
