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

// Command spark-real-cluster starts a Kubernetes control plane with one real node, our server in a pod on it and an image
// of Spark, all of it in namespaces of its own on this machine, and leaves it running until it is taken down: what `make
// quickstart-spark` stands on. It needs Linux and root.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/spark-apiserver/spark-apiserver/test/cluster"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/realnode"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/realnode/deploy"
)

// line is the Spark that is run.
const line = "4.3"

func main() {
	options := realnode.Options{
		Packages: []realnode.DebianPackage{{Name: "openssl", Program: "openssl"}},
		Prepare: func(ctx context.Context, repoRoot, images string) error {
			if err := deploy.BuildServerImage(ctx, repoRoot, images); err != nil {
				return err
			}
			return deploy.BuildSparkImage(ctx, repoRoot, images, line, os.Stderr)
		},
		Use: func(ctx context.Context, n *realnode.Node) error {
			if err := deploy.Server(ctx, n); err != nil {
				return err
			}
			return deploy.DriverAccount(ctx, n, "default")
		},
	}
	if served, code := realnode.Serve(options); served {
		os.Exit(code)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newCommand(options).ExecuteContext(ctx)
	cancel()
	if err != nil {
		// cobra has printed it.
		os.Exit(1)
	}
}

func newCommand(options realnode.Options) *cobra.Command {
	root := &cobra.Command{
		Use:          "spark-real-cluster",
		Short:        "A real Kubernetes with one real node, in namespaces of its own on this machine",
		SilenceUsage: true,
	}
	var stateDir string
	root.PersistentFlags().StringVar(&stateDir, "state-dir", filepath.Join(".cache", "quickstart-spark"), "folder that holds the cluster's data and logs")
	root.AddCommand(
		&cobra.Command{
			Use:   "up",
			Short: "Start a cluster that stays up",
			Args:  cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				if err := realnode.Up(cmd.Context(), options, stateDir); err != nil {
					return err
				}
				return writeKubectl(cmd.Context(), stateDir)
			},
		},
		&cobra.Command{
			Use:   "down",
			Short: "End the cluster, and check that the host is as it was",
			Args:  cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				err := realnode.Down(stateDir, false)
				if errors.Is(err, realnode.ErrNoNode) {
					fmt.Fprintln(cmd.OutOrStdout(), "no real node is up in", stateDir)
					return nil
				}
				if err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), "the real node is down, and the host is as it was before")
				return nil
			},
		},
	)
	return root
}

// writeKubectl writes bin/kubectl into the folder: the cluster's own kubectl, in the cluster's network, which nothing else
// of the host can reach.
func writeKubectl(ctx context.Context, stateDir string) error {
	dir, err := filepath.Abs(stateDir)
	if err != nil {
		return err
	}
	prefix, err := realnode.InNetwork(dir)
	if err != nil {
		return err
	}
	binaries, err := cluster.EnsureBinaries(ctx, os.Stderr)
	if err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\nKUBECONFIG=%q exec %s %q \"$@\"\n", realnode.Kubeconfig(dir), strings.Join(prefix, " "), binaries.Path(cluster.Kubectl))
	if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "bin", "kubectl"), []byte(script), 0o700)
}
