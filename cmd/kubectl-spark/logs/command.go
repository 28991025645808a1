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

// Package logs is the command that prints the log of a driver or an executor.
package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/spark-apiserver/spark-apiserver/cmd/kubectl-spark/connection"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned/scheme"
)

type options struct {
	flags      *connection.Flags
	out        io.Writer
	executor   int64
	tail       int64
	limitBytes int64
	since      time.Duration
	sinceTime  string
	log        v1beta2.SparkApplicationLogOptions
}

// NewCommand returns the command.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{flags: connection.NewFlags(), out: streams.Out}
	cmd := &cobra.Command{
		Use:   "logs NAME",
		Short: "Print the log of a driver or of an executor",
		Long: "Print the log of the driver of a SparkApplication's current attempt, or of one of its executors. It needs the right to get " +
			"sparkapplications/log, and none on pods.",
		Example: `  # Follow the driver
  kubectl spark logs spark-pi -f

  # The last 20 lines of executor 1
  kubectl spark logs spark-pi --executor 1 --tail 20`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(cmd.Flags().Changed); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return o.run(ctx, args[0])
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&o.log.Follow, "follow", "f", false, "Go on with what is logged meanwhile, until the container ends.")
	flags.Int64Var(&o.executor, "executor", 0, "Number of the executor whose log is wanted. Default: the driver's log.")
	flags.StringVarP(&o.log.Container, "container", "c", "", "Container of the pod. Default: the one in which Spark runs.")
	flags.BoolVarP(&o.log.Previous, "previous", "p", false, "The log of the container before its last restart.")
	flags.BoolVar(&o.log.Timestamps, "timestamps", false, "Start every line with the time at which it was logged.")
	flags.Int64Var(&o.tail, "tail", -1, "How many lines from the end are wanted. -1: all of them.")
	flags.Int64Var(&o.limitBytes, "limit-bytes", 0, "After how many bytes to end. 0: no limit.")
	flags.DurationVar(&o.since, "since", 0, "Only what is younger than this, as in 5s, 2m or 3h.")
	flags.StringVar(&o.sinceTime, "since-time", "", "Only what is younger than this time (RFC 3339).")
	o.flags.AddFlags(flags)
	cmd.MarkFlagsMutuallyExclusive("since", "since-time")
	return cmd
}

// complete fills in the parameters that have another form on the command line.
func (o *options) complete(changed func(string) bool) error {
	if changed("executor") {
		if o.executor < 1 {
			return fmt.Errorf("--executor must be 1 or more, not %d", o.executor)
		}
		o.log.Executor = &o.executor
	}
	if o.tail < -1 {
		return fmt.Errorf("--tail must be 0 or more, or -1 for all lines, not %d", o.tail)
	}
	if o.tail >= 0 {
		o.log.TailLines = &o.tail
	}
	if o.limitBytes < 0 {
		return fmt.Errorf("--limit-bytes must be 0 or more, not %d", o.limitBytes)
	}
	if o.limitBytes > 0 {
		o.log.LimitBytes = &o.limitBytes
	}
	if changed("since") {
		if o.since <= 0 {
			return fmt.Errorf("--since must be more than 0, not %s", o.since)
		}
		// Seconds are all that the API knows; a part of one is rounded up, so that nothing is missing.
		o.log.SinceSeconds = new(int64((o.since + time.Second - 1) / time.Second))
	}
	if o.sinceTime != "" {
		at, err := time.Parse(time.RFC3339, o.sinceTime)
		if err != nil {
			return fmt.Errorf("--since-time: %w", err)
		}
		o.log.SinceTime = &metav1.Time{Time: at}
	}
	return nil
}

func (o *options) run(ctx context.Context, name string) error {
	apps, err := o.flags.Connect()
	if err != nil {
		return err
	}
	stream, err := apps.Get(name, "log").VersionedParams(&o.log, scheme.ParameterCodec).Stream(ctx)
	if err != nil {
		return err
	}
	defer stream.Close()
	if _, err = io.Copy(o.out, stream); err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("the log ended early: %w", err)
	}
	return nil
}
