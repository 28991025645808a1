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
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/spark-apiserver/spark-apiserver/test/cluster"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/sparkdriver"
)

func newAddNodeCommand(stateDir *string) *cobra.Command {
	var cpu, memory string
	cmd := &cobra.Command{
		Use:   "add-node NAME",
		Short: "Add a simulated node and wait until pods can be placed on it",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := cluster.Attach(*stateDir)
			if err != nil {
				return err
			}
			if err := c.AddNode(cmd.Context(), args[0], cpu, memory); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "simulated node %s with %s CPU and %s is ready\n", args[0], cpu, memory)
			return nil
		},
	}
	cmd.Flags().StringVar(&cpu, "cpu", "4", "CPU that the node offers, as a quantity")
	cmd.Flags().StringVar(&memory, "memory", "16Gi", "memory that the node offers, as a quantity")
	return cmd
}

func newRemoveNodeCommand(stateDir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "remove-node NAME",
		Short: "Remove a simulated node",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := cluster.Attach(*stateDir)
			if err != nil {
				return err
			}
			return c.RemoveNode(cmd.Context(), args[0])
		},
	}
}

func newStartServerCommand(stateDir *string) *cobra.Command {
	var o cluster.ServerOptions
	var gates []string
	cmd := &cobra.Command{
		Use:   "start-server [-- FLAG...]",
		Short: "Start spark-apiserver beside the cluster, under the identity of artifacts/base, and register its APIService",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := cluster.Attach(*stateDir)
			if err != nil {
				return err
			}
			o.ExtraFlags = args
			o.FeatureGates = map[string]bool{}
			for _, g := range gates {
				name, value, ok := strings.Cut(g, "=")
				if !ok {
					return fmt.Errorf("--server-feature-gates: %q has no value", g)
				}
				o.FeatureGates[name] = value == "true"
			}
			s, err := c.StartSparkAPIServer(cmd.Context(), o)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "spark-apiserver serves at %s\n", s.URL())
			return nil
		},
	}
	cmd.Flags().StringVar(&o.Binary, "binary", "", "the program (default bin/spark-apiserver of the checkout)")
	cmd.Flags().StringVar(&o.Manifests, "manifests", "", "the kustomization with the server's identity (default artifacts/base of the checkout)")
	cmd.Flags().StringSliceVar(&gates, "server-feature-gates", nil, "feature gates of spark-apiserver, as NAME=true")
	return cmd
}

// newEnvCommand prints what a shell needs: `eval "$(spark-test-cluster env)"`.
func newEnvCommand(stateDir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "env",
		Short: "Print shell commands that point KUBECONFIG to the cluster and put its kubectl first in PATH",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := cluster.Attach(*stateDir)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "export KUBECONFIG=%q\nexport PATH=%q:\"$PATH\"\n", c.Kubeconfig(), c.Binaries.Dir)
			return nil
		},
	}
}

// newSimulateDriverCommand is what `up` runs in the background. It also serves a cluster that isn't ours: it touches
// only pods on nodes that are annotated as fake.
func newSimulateDriverCommand() *cobra.Command {
	var kubeconfig string
	var o sparkdriver.Options
	cmd := &cobra.Command{
		Use:   "simulate-driver",
		Short: "Play kubelets and Spark drivers on simulated nodes until interrupted",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
			if err != nil {
				return err
			}
			o.Config = config
			return sparkdriver.Run(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig of an administrator")
	cmd.Flags().DurationVar(&o.RunTime, "run-time", time.Second, "how long a simulated application computes, unless it says otherwise")
	cmd.Flags().DurationVar(&o.MaxBatchDelay, "batch-delay", 100*time.Millisecond, "longest pause between two rounds of executor allocation")
	return cmd
}
