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
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
	apiregistrationclient "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/typed/apiregistration/v1"
)

// APIServiceRegistration says which group version a server on this machine serves.
type APIServiceRegistration struct {
	// Group and Version. Default: sparkoperator.k8s.io, v1beta2.
	Group, Version string
	// Namespace and Service are the names under which kube-apiserver reaches the server; the server's certificate must
	// be valid for SERVICE.NAMESPACE.svc. Default: spark-system, spark-apiserver. Both are created if absent.
	Namespace, Service string
	// Port on 127.0.0.1 that the server listens on.
	Port int
	// CABundle holds the authority that signed the server's certificate, PEM encoded.
	CABundle []byte
}

func (r APIServiceRegistration) withDefaults() APIServiceRegistration {
	if r.Group == "" {
		r.Group, r.Version = "sparkoperator.k8s.io", "v1beta2"
	}
	if r.Namespace == "" {
		r.Namespace = serverNamespace
	}
	if r.Service == "" {
		r.Service = serverName
	}
	return r
}

// RegisterAPIService makes kube-apiserver proxy a group version to a process on this machine, through a Service of type
// ExternalName to localhost, and waits until it says that the APIService is available. ExternalName works since
// kube-apiserver runs without --enable-aggregator-routing. An existing registration is replaced.
func (c *Cluster) RegisterAPIService(ctx context.Context, r APIServiceRegistration) error {
	r = r.withDefaults()
	client, err := kubernetes.NewForConfig(c.AdminConfig())
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.Namespace}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: r.Service, Namespace: r.Namespace},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeExternalName, ExternalName: "localhost",
			Ports: []corev1.ServicePort{{Name: "https", Port: int32(r.Port)}},
		},
	}
	if err := replace(ctx,
		func(ctx context.Context) error {
			_, err := client.CoreV1().Services(r.Namespace).Create(ctx, service, metav1.CreateOptions{})
			return err
		},
		func(ctx context.Context) error {
			return client.CoreV1().Services(r.Namespace).Delete(ctx, r.Service, metav1.DeleteOptions{})
		},
	); err != nil {
		return fmt.Errorf("creating Service %s/%s: %w", r.Namespace, r.Service, err)
	}

	aggregated, err := aggregator.NewForConfig(c.AdminConfig())
	if err != nil {
		return err
	}
	apiServices := aggregated.ApiregistrationV1().APIServices()
	apiService := &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: r.Version + "." + r.Group},
		Spec: apiregistrationv1.APIServiceSpec{
			Group: r.Group, Version: r.Version, CABundle: r.CABundle,
			Service:              &apiregistrationv1.ServiceReference{Namespace: r.Namespace, Name: r.Service, Port: new(int32(r.Port))},
			GroupPriorityMinimum: 1000, VersionPriority: 100,
		},
	}
	_, err = apiServices.Create(ctx, apiService, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		err = reregister(ctx, apiServices, apiService)
	}
	if err != nil {
		return fmt.Errorf("registering APIService %s: %w", apiService.Name, err)
	}
	return c.WaitAPIServiceAvailable(ctx, apiService.Name)
}

// reregister points an APIService to another server. It is never deleted meanwhile: without it kube-apiserver would answer
// 404 for every object of the group, and the garbage collector would delete whatever such objects own. What is known of the
// old server is forgotten, so that whoever waits for the APIService to be available waits for the new one.
func reregister(ctx context.Context, client apiregistrationclient.APIServiceInterface, want *apiregistrationv1.APIService) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		apiService, err := client.Get(ctx, want.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		apiService.Spec = want.Spec
		if apiService, err = client.Update(ctx, apiService, metav1.UpdateOptions{}); err != nil {
			return err
		}
		apiService.Status.Conditions = nil
		_, err = client.UpdateStatus(ctx, apiService, metav1.UpdateOptions{})
		return err
	})
}

// IssueServingCertificate returns what a server on this machine needs to be registered: a TLS configuration with a
// certificate for the given names and for localhost, and the authority to trust for it, PEM encoded.
func (c *Cluster) IssueServingCertificate(name string, hosts ...string) (*tls.Config, []byte, error) {
	ca, err := newAuthority(c.pkiDir(), serverName)
	if err != nil {
		return nil, nil, err
	}
	pair, err := ca.serving(c.pkiDir(), name, append(slices.Clone(hosts), "localhost", "127.0.0.1")...)
	if err != nil {
		return nil, nil, err
	}
	certificate, err := tls.X509KeyPair(pair.CertPEM, pair.KeyPEM)
	if err != nil {
		return nil, nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}, ca.CertPEM, nil
}

// replace creates an object, after deleting what has its name.
func replace(ctx context.Context, create, remove func(context.Context) error) error {
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		err := create(ctx)
		if !apierrors.IsAlreadyExists(err) {
			return err == nil, err
		}
		if err := remove(ctx); err != nil && !apierrors.IsNotFound(err) {
			return false, err
		}
		return false, nil
	})
}

// WaitAPIServiceAvailable waits until kube-apiserver reaches the server behind an APIService (named VERSION.GROUP) and
// has its resources in discovery, where kubectl looks for them.
func (c *Cluster) WaitAPIServiceAvailable(ctx context.Context, name string) error {
	client, err := aggregator.NewForConfig(c.AdminConfig())
	if err != nil {
		return err
	}
	version, group, _ := strings.Cut(name, ".")
	last := errors.New("not seen yet")
	err = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, c.options.StartTimeout, true, func(ctx context.Context) (bool, error) {
		apiService, err := client.ApiregistrationV1().APIServices().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			last = err
			return false, nil
		}
		i := slices.IndexFunc(apiService.Status.Conditions, func(c apiregistrationv1.APIServiceCondition) bool { return c.Type == apiregistrationv1.Available })
		if i < 0 {
			return false, nil
		}
		if condition := apiService.Status.Conditions[i]; condition.Status != apiregistrationv1.ConditionTrue {
			last = fmt.Errorf("%s: %s", condition.Reason, condition.Message)
			return false, nil
		}
		groups, err := client.Discovery().ServerGroups()
		if err != nil {
			last = err
			return false, nil
		}
		for _, g := range groups.Groups {
			for _, v := range g.Versions {
				if g.Name == group && v.Version == version {
					return true, nil
				}
			}
		}
		last = errors.New("available, but not in discovery yet")
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for APIService %s: %w (last seen: %w)", name, err, last)
	}
	return nil
}
