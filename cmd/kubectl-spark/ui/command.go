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

// Package ui is the command that opens a local port for the Spark UI of one application.
package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/spark-apiserver/spark-apiserver/cmd/kubectl-spark/connection"
)

const (
	// readHeaderTimeout bounds how long a browser takes to say what it wants.
	readHeaderTimeout = 10 * time.Second
	// shutdownTimeout bounds how long open pages hold up the end.
	shutdownTimeout = 2 * time.Second
)

type options struct {
	flags *connection.Flags
	out   io.Writer
	port  uint16
}

// NewCommand returns the command.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{flags: connection.NewFlags(), out: streams.Out}
	cmd := &cobra.Command{
		Use:   "ui NAME",
		Short: "Open a local port for the Spark UI of an application",
		Long: "Open a port of this machine, for nobody but this machine, at which the Spark UI of a running SparkApplication is served. It needs " +
			"the right to get sparkapplications/proxy, and none on pods; killing jobs and stages needs create. Only the UI of this application is " +
			"reached through the port, with the credentials of the kubeconfig, until the command is interrupted.",
		Example: `  kubectl spark ui spark-pi
  kubectl spark ui spark-pi --port 4040`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return o.run(ctx, args[0])
		},
	}
	cmd.Flags().Uint16Var(&o.port, "port", 0, "Port to listen at, on 127.0.0.1. 0: any that is free.")
	o.flags.AddFlags(cmd.Flags())
	return cmd
}

func (o *options) run(ctx context.Context, name string) error {
	apps, err := o.flags.Connect()
	if err != nil {
		return err
	}
	// What stands in the way is better said here than in a browser.
	if err := apps.Get(name, "proxy").Suffix("/").Do(ctx).Error(); err != nil {
		return err
	}
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(o.port))))
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           &forwarder{root: apps.Get(name, "proxy").URL(), transport: apps.Transport(), host: listener.Addr().String()},
		ReadHeaderTimeout: readHeaderTimeout,
	}
	fmt.Fprintf(o.out, "The Spark UI of %s is at http://%s/ until this is interrupted.\n", name, listener.Addr())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := server.Shutdown(closing); errors.Is(err, context.DeadlineExceeded) {
		return server.Close()
	}
	return nil
}
