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

// Package sparkpods finds the pods of an application in the cluster, and no others.
//
// Whoever may read the log or the UI of an application need not have any right on pods, so that what is found here decides
// what they see. Names, labels and annotations can be chosen by users; owners can't be forged without the right to create
// pods. So a pod is looked up by its name or labels and accepted by the UID of its owner, each time anew and not from a
// cache.
package sparkpods

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// Finder finds pods of applications.
type Finder struct {
	// Client reaches the cluster. Nil: the server belongs to none.
	Client kubernetes.Interface
	// AllowLoopback takes loopback addresses for those of pods, for clusters whose pods are processes of this machine.
	AllowLoopback bool
}

// Driver returns the pod of the driver of an application's current attempt. Errors are answers to the user.
func (f *Finder) Driver(ctx context.Context, app *sparkoperator.SparkApplication) (*corev1.Pod, error) {
	if f.Client == nil {
		return nil, apierrors.NewServiceUnavailable("this server runs without a cluster (--standalone), so that no application has pods")
	}
	name := app.Status.DriverInfo.PodName
	if app.Status.SubmissionID == "" || name == "" {
		return nil, missing(app, "it has no driver yet: %s", stateOf(app))
	}
	pod, err := f.Client.CoreV1().Pods(app.Namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, missing(app, "the pod %s of its driver doesn't exist: %s", name, stateOf(app))
	case err != nil:
		return nil, fmt.Errorf("looking for the pod of the driver: %w", err)
	case !metav1.IsControlledBy(pod, app):
		return nil, missing(app, "the pod %s isn't its own", name)
	case pod.Labels[spark.LabelSubmissionID] != app.Status.SubmissionID:
		return nil, missing(app, "the pod %s is left from an earlier attempt: %s", name, stateOf(app))
	}
	return pod, nil
}

// Executor returns the pod of an executor of an application's current attempt, by the number that the driver gave it.
// Errors are answers to the user.
func (f *Finder) Executor(ctx context.Context, app *sparkoperator.SparkApplication, number int64) (*corev1.Pod, error) {
	driver, err := f.Driver(ctx, app)
	if err != nil {
		return nil, err
	}
	selector := labels.SelectorFromSet(labels.Set{
		spark.LabelSubmissionID:    app.Status.SubmissionID,
		spark.LabelSparkRole:       spark.SparkRoleExecutor,
		spark.LabelSparkExecutorID: strconv.FormatInt(number, 10),
	})
	list, err := f.Client.CoreV1().Pods(app.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector.String()})
	if err != nil {
		return nil, fmt.Errorf("looking for the pod of executor %d: %w", number, err)
	}
	for i := range list.Items {
		// The driver is the owner of its executors, as the application is the driver's.
		if metav1.IsControlledBy(&list.Items[i], driver) {
			return &list.Items[i], nil
		}
	}
	return nil, missing(app, "the current attempt has no pod of executor %d: it was not made yet, or it has ended and was removed "+
		"(spec.executor.deleteOnTermination)", number)
}

// SparkContainer returns the name of the container in which Spark runs.
func SparkContainer(pod *corev1.Pod) string {
	role := spark.DriverContainerName
	if pod.Labels[spark.LabelSparkRole] == spark.SparkRoleExecutor {
		role = spark.ExecutorContainerName
	}
	name := pod.Annotations[spark.AnnotationDefaultContainer]
	found := ""
	for i := range pod.Spec.Containers {
		switch container := pod.Spec.Containers[i].Name; container {
		case role:
			return role
		case name:
			found = name
		}
	}
	if found == "" && len(pod.Spec.Containers) > 0 {
		found = pod.Spec.Containers[0].Name
	}
	return found
}

func stateOf(app *sparkoperator.SparkApplication) string {
	state := app.Status.AppState.State
	if state == "" {
		return "the application is new"
	}
	return "the application is " + string(state)
}

// missing is the answer to a request for something of an application that there isn't.
func missing(app *sparkoperator.SparkApplication, format string, args ...any) error {
	err := apierrors.NewNotFound(sparkoperator.Resource("sparkapplications"), app.Name)
	err.ErrStatus.Message = fmt.Sprintf("sparkapplication %q: ", app.Name) + fmt.Sprintf(format, args...)
	return err
}
