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

package server

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	genericapiserver "k8s.io/apiserver/pkg/server"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json
	"k8s.io/klog/v2"

	"github.com/spark-apiserver/spark-apiserver/pkg/apiserver/options"
	"github.com/spark-apiserver/spark-apiserver/pkg/version"
)

const description = `Serves SparkApplications (sparkoperator.k8s.io) as an aggregated API of a Kubernetes cluster, and runs them: drivers are
pods, executors can be scheduled as a gang by kube-scheduler, and neither a CRD nor a webhook nor a JVM is needed.

Applications are kept in an embedded store under --data-dir, or in the etcd of --etcd-servers. In a pod nothing else has to
be set. To try the API without a cluster:

  spark-apiserver --standalone --data-dir=$HOME/.spark-apiserver
  KUBECONFIG=$HOME/.spark-apiserver/admin.kubeconfig kubectl get sparkapplications`

// helpColumns is the width of the help where there is no terminal to ask.
const helpColumns = 120

// NewCommand returns the command that runs the server until it is told to end by SIGTERM or SIGINT.
func NewCommand() *cobra.Command {
	o := options.New()
	sets := o.FlagSets()
	command := &cobra.Command{
		Use:     "spark-apiserver",
		Short:   "Serves and runs SparkApplications",
		Long:    description,
		Version: version.Get().GitVersion,
		Args:    cobra.NoArgs,
		// The flags are too many to be shown for a typing error.
		SilenceUsage: true,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := startLogging(o.Logs, utilfeature.DefaultFeatureGate); err != nil {
				return err
			}
			cliflag.PrintFlags(command.Flags())
			return run(genericapiserver.SetupSignalContext(), o)
		},
	}
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return fmt.Errorf("%w (see %s --help)", err, command.Name())
	})
	global := sets.FlagSet("global")
	global.BoolP("help", "h", false, "Print this help and end.")
	global.Bool("version", false, "Print the version and end.")
	for _, set := range sets.FlagSets {
		command.Flags().AddFlagSet(set)
	}
	columns, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		columns = helpColumns // not a terminal
	}
	cliflag.SetUsageAndHelpFunc(command, *sets, columns)
	return command
}

func run(ctx context.Context, o *options.Options) error {
	info := version.Get()
	klog.FromContext(ctx).Info("Starting spark-apiserver", "version", info.GitVersion, "commit", info.GitCommit, "go", info.GoVersion)
	instance, err := Prepare(ctx, o)
	if err != nil {
		return err
	}
	return instance.Run(ctx)
}
