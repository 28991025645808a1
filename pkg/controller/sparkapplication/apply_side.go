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
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/controller/faultpoint"
	"github.com/spark-apiserver/spark-apiserver/pkg/controller/tell"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// ensureSide makes the side objects of the current attempt what they should be, and remembers what came of it. It never
// fails: what can't be made is told by the next decision and tried again later.
func (a *applier) ensureSide(ctx context.Context, m *memory, s *Snapshot) error {
	outcome := sideOutcome{key: sideKeyOf(s.Application)}
	var err error
	outcome.ui, err = a.makeSide(ctx, s)
	if fault, ok := errors.AsType[*faultpoint.Stop](err); ok {
		return fault // only in tests
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		klog.FromContext(ctx).Info("Some side objects could not be made", "reason", err.Error())
		outcome.trouble, outcome.retryAt = tell.Shortened(err.Error(), maxMessage), a.clock.Now().Add(sideRetry)
	}
	m.side, s.Side = outcome, outcome
	return nil
}

// makeSide makes what it can, and returns how the UI is reached and everything that went wrong.
func (a *applier) makeSide(ctx context.Context, s *Snapshot) (v1beta2.DriverInfo, error) {
	app := s.Application
	submission, err := s.Compile(app.Status.SubmissionID, app.Status.LastSubmissionAttemptTime.Time, attemptPriorityClass(&app.Status))
	if err != nil {
		return v1beta2.DriverInfo{}, err
	}
	objects, buildErr := spark.BuildSide(submission.Application, spark.Attempt{SubmissionID: app.Status.SubmissionID, Side: a.side})
	errs := []error{buildErr}
	address := ""
	for _, want := range objects.Services {
		got, err := ensureObject(ctx, a, app, "Service", want, a.kube.CoreV1().Services(app.Namespace), adjustService)
		errs = append(errs, err)
		if err == nil && want.Name == objects.UI.ServiceName && got.Spec.ClusterIP != "" && got.Spec.ClusterIP != corev1.ClusterIPNone {
			address = net.JoinHostPort(got.Spec.ClusterIP, strconv.Itoa(int(objects.UI.ServicePort)))
		}
	}
	for _, want := range objects.Ingresses {
		_, err := ensureObject(ctx, a, app, "Ingress", want, a.kube.NetworkingV1().Ingresses(app.Namespace), adjustIngress)
		errs = append(errs, err)
	}
	if want := objects.PodDisruptionBudget; want != nil {
		_, err := ensureObject(ctx, a, app, "PodDisruptionBudget", want, a.kube.PolicyV1().PodDisruptionBudgets(app.Namespace), adjustBudget)
		errs = append(errs, err)
	}
	return sideUI(objects.UI, address), errors.Join(errs...)
}

// sideClient is a typed client of one kind of side objects.
type sideClient[T any] interface {
	objectClient[T]
	Update(ctx context.Context, object T, options metav1.UpdateOptions) (T, error)
}

// ensureObject creates an object, or changes the one that is there where it isn't as it should be. adjust changes an
// object that is there to what is wanted, and says whether that was needed. An object of somebody else is left alone.
func ensureObject[T metav1.Object](ctx context.Context, a *applier, app *v1beta2.SparkApplication, kind string, want T, client sideClient[T],
	adjust func(got, want T) bool,
) (T, error) {
	got, err := client.Get(ctx, want.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		got, _, err = createOrAdopt(ctx, a, app, writeSideObject, kind, want, client)
		return got, err
	}
	if err != nil {
		return got, fmt.Errorf("read the %s %s: %w", kind, want.GetName(), err)
	}
	if err := adoptable(app, kind, got); err != nil {
		return got, err
	}
	if deleting(got) {
		return got, fmt.Errorf("the %s %s is being deleted", kind, want.GetName())
	}
	changed := adjustMetadata(got, want)
	if !adjust(got, want) && !changed {
		return got, nil
	}
	err = a.write(writeSideObject, func() error {
		var err error
		got, err = client.Update(ctx, got, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return got, fmt.Errorf("update the %s %s: %w", kind, want.GetName(), err)
	}
	return got, nil
}

// adjustMetadata adds labels and annotations. Those of others stay.
func adjustMetadata(got, want metav1.Object) bool {
	merged := func(got, want map[string]string) map[string]string {
		all := maps.Clone(got)
		if all == nil {
			all = map[string]string{}
		}
		maps.Copy(all, want)
		return all
	}
	labelled, annotated := merged(got.GetLabels(), want.GetLabels()), merged(got.GetAnnotations(), want.GetAnnotations())
	changed := len(labelled) > 0 && !maps.Equal(labelled, got.GetLabels()) || len(annotated) > 0 && !maps.Equal(annotated, got.GetAnnotations())
	got.SetLabels(labelled)
	got.SetAnnotations(annotated)
	return changed
}

// adjustService keeps what the API server has added: addresses and the ports of nodes.
func adjustService(got, want *corev1.Service) bool {
	same := got.Spec.Type == want.Spec.Type && maps.Equal(got.Spec.Selector, want.Spec.Selector) && len(got.Spec.Ports) == len(want.Spec.Ports)
	for i := range want.Spec.Ports {
		if !same {
			break
		}
		g, w := got.Spec.Ports[i], want.Spec.Ports[i]
		same = g.Name == w.Name && g.Port == w.Port && g.Protocol == w.Protocol && g.TargetPort == w.TargetPort
	}
	if same {
		return false
	}
	got.Spec.Type, got.Spec.Selector, got.Spec.Ports = want.Spec.Type, want.Spec.Selector, want.Spec.Ports
	return true
}

func adjustIngress(got, want *networkingv1.Ingress) bool {
	// The class may come from the cluster.
	wanted := want.Spec.DeepCopy()
	if wanted.IngressClassName == nil {
		wanted.IngressClassName = got.Spec.IngressClassName
	}
	if equality.Semantic.DeepEqual(&got.Spec, wanted) {
		return false
	}
	got.Spec = *wanted
	return true
}

func adjustBudget(got, want *policyv1.PodDisruptionBudget) bool {
	if equality.Semantic.DeepEqual(got.Spec.MinAvailable, want.Spec.MinAvailable) && equality.Semantic.DeepEqual(got.Spec.Selector, want.Spec.Selector) {
		return false
	}
	got.Spec.MinAvailable, got.Spec.Selector = want.Spec.MinAvailable, want.Spec.Selector
	return true
}

// sideClearing is how often it is tried to delete side objects. A worker is kept for less than a second by it.
var sideClearing = wait.Backoff{Steps: 4, Duration: 50 * time.Millisecond, Factor: 3}

// clearSide deletes the side objects of an application. What can't be deleted within a few tries goes with the application
// later: nothing waits for it.
func (a *applier) clearSide(ctx context.Context, m *memory, app *v1beta2.SparkApplication) error {
	m.side = sideOutcome{}
	err := retry.OnError(sideClearing, func(err error) bool {
		_, fault := errors.AsType[*faultpoint.Stop](err)
		return !fault && !apierrors.IsForbidden(err) && ctx.Err() == nil
	}, func() error { return a.deleteSide(ctx, app) })
	if fault, ok := errors.AsType[*faultpoint.Stop](err); ok {
		return fault
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		klog.FromContext(ctx).Info("Some side objects could not be deleted; they go with the application", "reason", err.Error())
	}
	return nil
}

// deleteSide deletes what it can, and returns everything that went wrong.
func (a *applier) deleteSide(ctx context.Context, app *v1beta2.SparkApplication) error {
	options := metav1.ListOptions{LabelSelector: labels.Set{spark.LabelAppName: app.Name, spark.LabelSideObject: spark.LabelTrue}.String()}
	var owned []ownedObject
	services, err := a.kube.CoreV1().Services(app.Namespace).List(ctx, options)
	errs := []error{err}
	if err == nil {
		for i := range services.Items {
			owned = append(owned, ownedObject{&services.Items[i], a.kube.CoreV1().Services(app.Namespace)})
		}
	}
	// An application that was edited may have had others.
	edited := app.Generation > 1
	if edited || a.side.IngressURLFormat != "" || len(app.Spec.DriverIngressOptions) > 0 {
		ingresses, err := a.kube.NetworkingV1().Ingresses(app.Namespace).List(ctx, options)
		errs = append(errs, err)
		if err == nil {
			for i := range ingresses.Items {
				owned = append(owned, ownedObject{&ingresses.Items[i], a.kube.NetworkingV1().Ingresses(app.Namespace)})
			}
		}
	}
	if budget := app.Spec.DriverPodDisruptionBudget; edited || budget != nil && *budget {
		budgets, err := a.kube.PolicyV1().PodDisruptionBudgets(app.Namespace).List(ctx, options)
		errs = append(errs, err)
		if err == nil {
			for i := range budgets.Items {
				owned = append(owned, ownedObject{&budgets.Items[i], a.kube.PolicyV1().PodDisruptionBudgets(app.Namespace)})
			}
		}
	}
	for _, o := range owned {
		err := a.deleteOwned(ctx, app, o.object, o.client)
		if fault, ok := errors.AsType[*faultpoint.Stop](err); ok {
			return fault
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

type ownedObject struct {
	object metav1.Object
	client deleter
}
