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
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/spark-apiserver/spark-apiserver/test/cluster"
)

func defaultStateDir() string {
	// Beside the built programs, in the folder that version control doesn't look at.
	return filepath.Join(".cache", "cluster")
}

func newBuildCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "build",
		Short: "Build the upstream programs into the cache and print where they are",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			binaries, err := cluster.EnsureBinaries(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), binaries.Dir)
			return nil
		},
	}
}

func newUpCommand(stateDir *string) *cobra.Command {
	var o cluster.Options
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a cluster that stays up, and print its kubeconfig's path",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c, err := cluster.Attach(*stateDir); err == nil {
				if running(c) {
					return fmt.Errorf("a cluster is up in %s already; take it down first", *stateDir)
				}
				// Its machine was restarted, or somebody ended its processes.
				c.Stop()
			} else if !errors.Is(err, cluster.ErrNoCluster) {
				return err
			}
			// etcd's data of an earlier cluster wouldn't fit the new keys.
			if err := os.RemoveAll(*stateDir); err != nil {
				return err
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			if self, err = keepCopy(self, *stateDir); err != nil {
				return err
			}
			o.DataDir, o.Detached = *stateDir, true
			o.SimulatedDriverCommand = []string{self, "simulate-driver"}
			o.Progress = cmd.ErrOrStderr()
			c, err := cluster.Start(cmd.Context(), o)
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), c.Kubeconfig())
			return nil
		},
	}
	cmd.Flags().StringVar(&o.ExistingKubeconfig, "existing", "", "kubeconfig of a cluster that exists already: start only what keeps simulated nodes and plays Spark on them")
	cmd.Flags().BoolVar(&o.WithoutGenericWorkload, "without-generic-workload", false, "start the control plane as Kubernetes 1.37 is by default, without workload-aware scheduling")
	cmd.Flags().DurationVar(&o.SimulatedRunTime, "run-time", 0, "how long a simulated application computes (default 1s)")
	cmd.Flags().DurationVar(&o.SimulatedBatchDelay, "batch-delay", 0, "longest pause between two rounds of a simulated driver's executor allocation (default 100ms)")
	return cmd
}

// keepCopy copies this program to the state folder: the simulated driver must outlive `go run`, which removes what it
// has built.
func keepCopy(self, stateDir string) (string, error) {
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return "", err
	}
	content, err := os.ReadFile(self)
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(filepath.Join(stateDir, "spark-test-cluster"))
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, content, 0o700)
}

func running(c *cluster.Cluster) bool {
	for _, p := range c.Processes() {
		if p.Running() {
			return true
		}
	}
	return false
}

func newDownCommand(stateDir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Stop every process of the cluster, and no other",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := cluster.Attach(*stateDir)
			if errors.Is(err, cluster.ErrNoCluster) {
				fmt.Fprintln(cmd.OutOrStdout(), "no cluster is up in", *stateDir)
				return nil
			}
			if err != nil {
				return err
			}
			c.Stop()
			if running(c) {
				return fmt.Errorf("some processes of %s did not end", *stateDir)
			}
			if err := os.RemoveAll(*stateDir); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), "everything that was started here is stopped")
			return nil
		},
	}
}

func newStatusCommand(stateDir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the processes of the cluster; fails if one of them is gone",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := cluster.Attach(*stateDir)
			if err != nil {
				return err
			}
			gone := 0
			for _, p := range c.Processes() {
				state := "running"
				if !p.Running() {
					state = "gone"
					gone++
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%-25s %-8s pid %-8d %s\n", p.Name, state, p.PID(), p.LogPath)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "KUBECONFIG=%s\n", c.Kubeconfig())
			if gone > 0 {
				return fmt.Errorf("%d processes are gone", gone)
			}
			return nil
		},
	}
}
