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

package sparkapplication

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

const (
	confExecutorImage = "spark.kubernetes.executor.container.image"
	confImage         = "spark.kubernetes.container.image"
)

// probeExecutor asks the cluster, with a dry run, whether it would admit an executor. What it refuses of executors is
// otherwise only in the driver's log: the driver runs, asks again and again, and nothing tells why there are none. Only what
// admission forbids counts, since Spark adds to the pod what is not known here. A quota is waited for by Spark, and passes.
func (a *applier) probeExecutor(ctx context.Context, app *v1beta2.SparkApplication, submission *scheduling.Submission) error {
	if submission.Application.Executors.Initial == 0 || app.Spec.Driver.KubernetesMaster != nil {
		return nil
	}
	pod, err := executorProbe(app, submission)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("No executor can be made of the template to ask about", "reason", err.Error())
		return nil
	}
	_, err = a.kube.CoreV1().Pods(app.Namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err == nil || !apierrors.IsForbidden(err) {
		return nil
	}
	obstacle, other := asObstacle(classify("create an executor", err))
	if other != nil || obstacle.Kind != ObstacleRefused || obstacle.Reason == ReasonQuotaExceeded {
		return nil
	}
	return obstacle
}

// probeDriver asks the cluster, with a dry run, what it would refuse of a driver. A service account that is not there has no
// rights either, and that it is not there says more.
func (a *applier) probeDriver(ctx context.Context, driver *corev1.Pod) error {
	_, err := a.kube.CoreV1().Pods(driver.Namespace).Create(ctx, driver, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err == nil || !apierrors.IsForbidden(err) {
		return nil
	}
	if obstacle, _ := asObstacle(classify("create pod "+driver.Name, err)); obstacle != nil && obstacle.Kind == ObstacleRefused {
		return obstacle
	}
	return nil
}

// executorProbe is an executor pod as far as admission goes by it.
func executorProbe(app *v1beta2.SparkApplication, submission *scheduling.Submission) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(submission.Objects.ExecutorTemplate, pod); err != nil {
		return nil, fmt.Errorf("read the executor template: %w", err)
	}
	pod.Namespace, pod.Name, pod.GenerateName = app.Namespace, "", "executor-probe-"
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[spark.LabelSparkRole] = spark.SparkRoleExecutor
	if len(pod.Spec.Containers) == 0 {
		pod.Spec.Containers = []corev1.Container{{}}
	}
	// The last one is Spark's, unless another has its name.
	selected := len(pod.Spec.Containers) - 1
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == spark.ExecutorContainerName {
			selected = i
		}
	}
	container := &pod.Spec.Containers[selected]
	container.Name = cmp.Or(container.Name, spark.ExecutorContainerName)
	properties := submission.Objects.Properties
	container.Image = cmp.Or(properties[confExecutorImage], properties[confImage], container.Image)
	container.Resources = submission.Application.ExecutorResources()
	return pod, nil
}
