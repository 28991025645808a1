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

package storeidentity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
)

const (
	// IdentityKey is the key of the ConfigMap's data that holds the identity.
	IdentityKey = "identity"

	checkName     = "store-identity"
	attemptLimit  = 15 * time.Second
	retryInterval = time.Second
)

var errUnconfirmed = errors.New("the identity of the store has not been confirmed yet")

// Options says where the two copies of the identity are.
type Options struct {
	// Marker is the copy inside of the store. The guard closes it.
	Marker Marker
	// Client reaches the cluster that holds the other copy.
	Client kubernetes.Interface
	// Namespace and ConfigMap name the other copy.
	Namespace, ConfigMap string
	// Replaces is the identity of a store that is lost for good, and that this one may take the place of.
	Replaces string
}

// Guard confirms the identity of a store.
type Guard struct {
	options   Options
	confirmed chan struct{}

	lock   sync.Mutex
	reason error
}

var _ healthz.HealthChecker = &Guard{}

// NewGuard returns a guard that has confirmed nothing yet.
func NewGuard(options Options) *Guard {
	return &Guard{options: options, confirmed: make(chan struct{}), reason: errUnconfirmed}
}

// Run tries until the identity is confirmed or the context is done. A mismatch is tried again as well: it ends when
// somebody brings the old store's ConfigMap or changes it.
func (g *Guard) Run(ctx context.Context) {
	logger := klog.FromContext(ctx)
	last := ""
	_ = wait.PollUntilContextCancel(ctx, retryInterval, true, func(ctx context.Context) (bool, error) {
		attempt, cancel := context.WithTimeout(ctx, attemptLimit)
		defer cancel()
		identity, err := g.confirm(attempt)
		if err != nil {
			g.lock.Lock()
			g.reason = err
			g.lock.Unlock()
			if last != err.Error() && ctx.Err() == nil {
				last = err.Error()
				logger.Error(err, "The store is not served")
			}
			return false, nil
		}
		logger.Info("Confirmed the identity of the store", "identity", identity)
		close(g.confirmed)
		return true, nil
	})
	if err := g.options.Marker.Close(); err != nil && ctx.Err() == nil {
		logger.V(2).Info("Closing a connection to the store failed", "err", err)
	}
}

// Confirmed is closed when the store may be served.
func (g *Guard) Confirmed() <-chan struct{} {
	return g.confirmed
}

// Name implements healthz.HealthChecker.
func (*Guard) Name() string {
	return checkName
}

// Check implements healthz.HealthChecker: it says why the store is not served.
func (g *Guard) Check(*http.Request) error {
	select {
	case <-g.confirmed:
		return nil
	default:
	}
	g.lock.Lock()
	defer g.lock.Unlock()
	return g.reason
}

// confirm compares the two copies once and makes the one that is missing. It returns the identity of the store.
func (g *Guard) confirm(ctx context.Context) (string, error) {
	identity, err := g.options.Marker.Get(ctx)
	if err != nil {
		return "", err
	}
	configMaps := g.options.Client.CoreV1().ConfigMaps(g.options.Namespace)
	copied, err := configMaps.Get(ctx, g.options.ConfigMap, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		copied, err = nil, nil
	}
	if err != nil {
		return "", fmt.Errorf("reading the copy of the store's identity: %w", err)
	}

	recorded := ""
	if copied != nil {
		recorded = copied.Data[IdentityKey]
	}
	switch {
	case recorded == "": // a first start, or somebody removed the copy of a store that is there
	case recorded == identity:
		return identity, nil
	case recorded != g.options.Replaces:
		return "", g.mismatch(recorded, identity)
	}
	if identity == "" {
		if identity, err = g.options.Marker.Create(ctx, uuid.NewString()); err != nil {
			return "", err
		}
	}
	// A conflict means that another replica was faster; the next attempt compares again.
	if copied == nil {
		_, err = configMaps.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Name: g.options.ConfigMap,
				Annotations: map[string]string{
					"kubernetes.io/description": "Identity of the store that holds this cluster's SparkApplications. spark-apiserver serves no other store.",
				},
			},
			Data: map[string]string{IdentityKey: identity},
		}, metav1.CreateOptions{})
	} else {
		copied = copied.DeepCopy()
		if copied.Data == nil {
			copied.Data = map[string]string{}
		}
		copied.Data[IdentityKey] = identity
		_, err = configMaps.Update(ctx, copied, metav1.UpdateOptions{})
	}
	if err != nil {
		return "", fmt.Errorf("writing the copy of the store's identity: %w", err)
	}
	return identity, nil
}

func (g *Guard) mismatch(recorded, identity string) error {
	found := "this store is " + identity
	if identity == "" {
		found = "this store is empty"
	}
	return fmt.Errorf("configmap %s/%s says that applications are kept in store %s, but %s: if it were served, the garbage "+
		"collector would take every running driver for an orphan and delete it; bring the old store back or, if it is lost "+
		"for good, start with --replaces-store=%s", g.options.Namespace, g.options.ConfigMap, recorded, found, recorded)
}
