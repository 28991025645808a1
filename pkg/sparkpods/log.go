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

package sparkpods

import (
	"context"
	"io"

	corev1 "k8s.io/api/core/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
)

// Log opens the log of the driver of an application's current attempt, or of one of its executors. What kube-apiserver or the
// node answers instead of a log is returned as it is, with its code.
func (f *Finder) Log(ctx context.Context, app *sparkoperator.SparkApplication, executor *int64, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	var pod *corev1.Pod
	var err error
	if executor == nil {
		pod, err = f.Driver(ctx, app)
	} else {
		pod, err = f.Executor(ctx, app, *executor)
	}
	if err != nil {
		return nil, err
	}
	wanted := *options
	if wanted.Container == "" {
		wanted.Container = SparkContainer(pod)
	}
	return f.Client.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &wanted).Stream(ctx)
}
