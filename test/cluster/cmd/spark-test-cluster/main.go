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

// Command spark-test-cluster starts a Kubernetes control plane with simulated nodes on this machine and leaves it
// running until it is taken down: what `make quickstart` stands on.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newCommand().ExecuteContext(ctx)
	cancel()
	if err != nil {
		// cobra has printed it.
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "spark-test-cluster",
		Short: "A real Kubernetes control plane with simulated nodes, on this machine",
		Long: `spark-test-cluster builds etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl and kwok from their
Go modules, starts them on 127.0.0.1 and leaves them running. Nodes, and whatever runs on them, are simulated.`,
		SilenceUsage: true,
	}
	var stateDir string
	root.PersistentFlags().StringVar(&stateDir, "state-dir", defaultStateDir(), "folder that holds the cluster's data, logs and list of processes")
	root.AddCommand(
		newBuildCommand(),
		newUpCommand(&stateDir),
		newDownCommand(&stateDir),
		newStatusCommand(&stateDir),
		newAddNodeCommand(&stateDir),
		newRemoveNodeCommand(&stateDir),
		newStartServerCommand(&stateDir),
		newEnvCommand(&stateDir),
		newSimulateDriverCommand(),
	)
	return root
}
