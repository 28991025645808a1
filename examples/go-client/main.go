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

// Command go-client runs a Spark application from Go: it applies the application with the typed client, follows it with an
// informer, reads it from a lister, and deletes it when it has ended. Copy what you need; docs/clients.md says more.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	applyv1beta2 "github.com/spark-apiserver/spark-apiserver/pkg/generated/applyconfiguration/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/informers/externalversions"
	listers "github.com/spark-apiserver/spark-apiserver/pkg/generated/listers/sparkoperator/v1beta2"
)

// manager owns the fields that this program applies.
const manager = "go-client-example"

func main() {
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "how the cluster is reached; empty: the pod's service account")
	namespace := flag.String("namespace", metav1.NamespaceDefault, "where the application runs")
	name := flag.String("name", "go-client-example", "what it is called")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *kubeconfig, *namespace, *name)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig, namespace, name string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	// The typed client speaks protobuf, unless the configuration names a content type.
	client, err := versioned.NewForConfig(config)
	if err != nil {
		return err
	}
	applications := client.SparkoperatorV1beta2().SparkApplications(namespace)

	lister, changed, err := follow(ctx, client, namespace)
	if err != nil {
		return err
	}
	// Server-side apply: doing it twice changes nothing, and what others set stays theirs.
	applied, err := applications.Apply(ctx, application(name, namespace), metav1.ApplyOptions{FieldManager: manager, Force: true})
	if err != nil {
		return err
	}
	fmt.Printf("applied %s/%s, generation %d\n", namespace, name, applied.Generation)

	if err := untilEnded(ctx, lister.SparkApplications(namespace), name, changed); err != nil {
		return err
	}
	if err := applications.Delete(ctx, name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(applied.UID))}); err != nil {
		return err
	}
	fmt.Println("deleted")
	return nil
}

// application says what is wanted; what it doesn't mention is left alone.
func application(name, namespace string) *applyv1beta2.SparkApplicationApplyConfiguration {
	return applyv1beta2.SparkApplication(name, namespace).
		WithLabels(map[string]string{"example": "go-client"}).
		WithSpec(applyv1beta2.SparkApplicationSpec().
			WithType(v1beta2.ScalaApplicationType).
			WithSparkVersion("4.0.1").
			WithImage("apache/spark:4.0.1").
			WithMainClass("org.apache.spark.examples.SparkPi").
			WithMainApplicationFile("local:///opt/spark/examples/jars/spark-examples.jar").
			WithArguments("1000").
			WithDriver(applyv1beta2.DriverSpec().WithServiceAccount("spark").WithMemory("512m")).
			WithExecutor(applyv1beta2.ExecutorSpec().WithInstances(2).WithMemory("512m")))
}

// follow watches the applications of a namespace. The lister answers from what the watch has brought; the channel tells
// that there is something new.
func follow(ctx context.Context, client versioned.Interface, namespace string) (listers.SparkApplicationLister, <-chan struct{}, error) {
	factory := externalversions.NewSharedInformerFactoryWithOptions(client, 10*time.Minute, externalversions.WithNamespace(namespace))
	informer := factory.Sparkoperator().V1beta2().SparkApplications()
	changed := make(chan struct{}, 1)
	notify := func(any) {
		select {
		case changed <- struct{}{}:
		default: // there is a note already
		}
	}
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: notify, UpdateFunc: func(_, now any) { notify(now) }, DeleteFunc: notify,
	})
	if err != nil {
		return nil, nil, err
	}
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return nil, nil, fmt.Errorf("%v were not listed: %w", kind, ctx.Err())
		}
	}
	return informer.Lister(), changed, nil
}

// untilEnded prints the states of an application until there is no further one.
func untilEnded(ctx context.Context, lister listers.SparkApplicationNamespaceLister, name string, changed <-chan struct{}) error {
	var last v1beta2.ApplicationStateType
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
		app, err := lister.Get(name)
		if err != nil {
			continue // it has not reached the cache yet
		}
		state := app.Status.AppState
		if state.State != last {
			fmt.Printf("%s %s\n", state.State, state.ErrorMessage)
			last = state.State
		}
		switch state.State {
		case v1beta2.ApplicationStateCompleted:
			return nil
		case v1beta2.ApplicationStateFailed:
			return fmt.Errorf("the application has failed: %s", state.ErrorMessage)
		}
	}
}
