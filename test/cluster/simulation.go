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

package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/spark-apiserver/spark-apiserver/test/cluster/sparkdriver"
)

// startSimulatedDriver starts the simulated kubelet and driver for Spark pods: inside this process, or as one of its
// own for a detached cluster.
func (c *Cluster) startSimulatedDriver(ctx context.Context) error {
	if c.options.WithoutSimulatedDriver {
		return nil
	}
	client, err := kubernetes.NewForConfig(c.AdminConfig())
	if err != nil {
		return err
	}
	if !c.existing { // which has storage classes of its own
		if err := sparkdriver.EnsureStorageClass(ctx, client); err != nil {
			return fmt.Errorf("creating the simulated StorageClass: %w", err)
		}
	}
	if c.options.Detached {
		if len(c.options.SimulatedDriverCommand) == 0 {
			return fmt.Errorf("a detached cluster needs a command for the simulated driver, or none of it")
		}
		command := c.options.SimulatedDriverCommand
		c.SimulatedDriver = &Process{
			Name: SimulatedDriver, LogPath: c.logPath(SimulatedDriver), path: command[0], detached: true, timeout: c.options.StartTimeout,
			args: append(append([]string{}, command[1:]...), "--kubeconfig="+c.Kubeconfig(),
				"--run-time="+c.options.SimulatedRunTime.String(), "--batch-delay="+c.options.SimulatedBatchDelay.String()),
		}
		return c.SimulatedDriver.Start(ctx)
	}
	if err := os.MkdirAll(filepath.Dir(c.logPath(SimulatedDriver)), 0o700); err != nil {
		return err
	}
	log, err := os.OpenFile(c.logPath(SimulatedDriver), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(log), textlogger.Verbosity(2)))
	// Not derived from ctx, which only bounds the start.
	runCtx, cancel := context.WithCancel(klog.NewContext(context.Background(), logger))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer log.Close()
		err := sparkdriver.Run(runCtx, sparkdriver.Options{
			Config: c.AdminConfig(), RunTime: c.options.SimulatedRunTime, MaxBatchDelay: c.options.SimulatedBatchDelay,
		})
		if err != nil {
			logger.Error(err, "The simulated Spark driver ended")
		}
	}()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopInside = append(c.stopInside, func() { cancel(); <-ended })
	return nil
}
