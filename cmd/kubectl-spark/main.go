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

// Command kubectl-spark is a plugin of kubectl: with it on the PATH, `kubectl spark` is understood.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/spark-apiserver/spark-apiserver/cmd/kubectl-spark/logs"
	"github.com/spark-apiserver/spark-apiserver/cmd/kubectl-spark/render"
	"github.com/spark-apiserver/spark-apiserver/cmd/kubectl-spark/ui"
	"github.com/spark-apiserver/spark-apiserver/pkg/version"
)

func main() {
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	if err := newCommand(streams).Execute(); err != nil {
		fmt.Fprintf(streams.ErrOut, "error: %v\n", err)
		os.Exit(1)
	}
}

func newCommand(streams genericiooptions.IOStreams) *cobra.Command {
	cmd := &cobra.Command{
		Use:         "kubectl-spark",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl spark"},
		Short:       "Work with SparkApplications",
		Long:        "Work with SparkApplications beyond what kubectl does with them by itself.",
		Version:     version.Get().GitVersion,
		// Errors are printed once, by main; a failed rendering is no reason to explain the flags again.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.SetIn(streams.In)
	cmd.SetOut(streams.Out)
	cmd.SetErr(streams.ErrOut)
	cmd.AddCommand(render.NewCommand(streams), logs.NewCommand(streams), ui.NewCommand(streams))
	return cmd
}
