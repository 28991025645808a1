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
	"context"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/kubernetes"

	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/realnode"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/realnode/deploy"
)

// lines of Spark that are run: the oldest and the newest.
var lines = []string{"3.5", "4.3"}

const newest = "4.3"

// shared is the cluster of all tests.
var shared *environment

// environment is a real node with our server.
type environment struct {
	*realnode.Node
	kube  kubernetes.Interface
	spark versioned.Interface
	// jars are the programs for the JVM, by Spark's line.
	jars map[string][]byte
}

func TestMain(m *testing.M) {
	os.Exit(realnode.Main(m, realnode.Options{
		Packages: []realnode.DebianPackage{{Name: "openjdk-17-jdk-headless", Program: "javac"}, {Name: "openssl", Program: "openssl"}},
		Prepare:  prepare,
		Use:      use,
	}))
}

// prepare makes the images and the programs for the JVM.
func prepare(ctx context.Context, repoRoot, images string) error {
	if err := deploy.BuildServerImage(ctx, repoRoot, images); err != nil {
		return err
	}
	for _, line := range lines {
		if err := deploy.BuildSparkImage(ctx, repoRoot, images, line, os.Stderr); err != nil {
			return err
		}
		if err := compileJar(ctx, repoRoot, line, jarFile(filepath.Dir(images), line)); err != nil {
			return err
		}
	}
	return nil
}

func jarFile(dir, line string) string { return filepath.Join(dir, "pi-"+line+".jar") }

func use(ctx context.Context, n *realnode.Node) error {
	if err := deploy.Server(ctx, n); err != nil {
		return err
	}
	kube, err := kubernetes.NewForConfig(n.AdminConfig())
	if err != nil {
		return err
	}
	spark, err := versioned.NewForConfig(n.AdminConfig())
	if err != nil {
		return err
	}
	shared = &environment{Node: n, kube: kube, spark: spark, jars: map[string][]byte{}}
	for _, line := range lines {
		jar, err := os.ReadFile(jarFile(filepath.Dir(n.Dir), line))
		if err != nil {
			return err
		}
		shared.jars[line] = jar
	}
	return nil
}
