//go:build linux

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

package e2e

import (
	"archive/zip"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spark-apiserver/spark-apiserver/hack/spark-golden/pyspark"
)

// compileJar compiles the program for the JVM against the jars of a line of Spark, and packs it.
func compileJar(ctx context.Context, repoRoot, line, jar string) error {
	spark, err := pyspark.Install(ctx, filepath.Join(repoRoot, ".cache", "pyspark"), line)
	if err != nil {
		return err
	}
	classes, err := os.MkdirTemp("", "classes-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(classes) }()
	// The example must run on what the image has, which is Java 17.
	cmd := exec.CommandContext(ctx, "javac", "--release", "17", "-d", classes, "-cp", filepath.Join(spark.Home, "jars", "*"),
		filepath.Join(repoRoot, "test", "e2e", "testdata", "Pi.java"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compiling for Spark %s: %w\n%s", line, err, out)
	}
	out, err := os.Create(jar)
	if err != nil {
		return err
	}
	defer out.Close()
	archive := zip.NewWriter(out)
	if err := archive.AddFS(os.DirFS(classes)); err != nil {
		return err
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return out.Close()
}
