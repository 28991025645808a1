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

package apiserver

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2/ktesting"

	"github.com/spark-apiserver/spark-apiserver/pkg/apiserver/leadership"
	"github.com/spark-apiserver/spark-apiserver/pkg/apiserver/storeidentity"
)

type controllerFunc func(context.Context) error

func (f controllerFunc) Run(ctx context.Context) error { return f(ctx) }

func newManager(guard *storeidentity.Guard) *controllerManager {
	return &controllerManager{extra: ExtraConfig{StoreIdentity: guard}, failed: make(chan error, 1), stop: make(chan struct{})}
}

func building(c controller, err error) []namedController {
	return []namedController{{name: "test", build: func(context.Context) (controller, error) { return c, err }}}
}

func TestControllersAreStoppedAndWaitedFor(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	m := newManager(nil)
	started, ended := make(chan struct{}), false
	m.start(ctx, building(controllerFunc(func(ctx context.Context) error {
		close(started)
		<-ctx.Done()
		ended = true
		return ctx.Err()
	}), nil))
	<-started
	require.NoError(t, m.shutdown())
	assert.True(t, ended)
	assert.Empty(t, m.failed, "a controller that was told to stop has not failed")
}

func TestControllerThatFailsIsReported(t *testing.T) {
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		build []namedController
		want  string
	}{
		"can't be made":  {building(nil, broken), "controller test: broken"},
		"fails":          {building(controllerFunc(func(context.Context) error { return broken }), nil), "controller test: broken"},
		"ends by itself": {building(controllerFunc(func(context.Context) error { return nil }), nil), "controller test has ended by itself"},
	} {
		t.Run(name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			m := newManager(nil)
			m.start(ctx, test.build)
			require.EqualError(t, <-m.failed, test.want)
			require.NoError(t, m.shutdown())
		})
	}
}

// TestControllersWaitForTheStore: with another store, a controller would take every running driver for a stranger's.
func TestControllersWaitForTheStore(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	m := newManager(storeidentity.NewGuard(storeidentity.Options{Client: fake.NewClientset()}))
	built := false
	m.start(ctx, []namedController{{name: "test", build: func(context.Context) (controller, error) {
		built = true
		return nil, errors.New("too early")
	}}})
	require.NoError(t, m.shutdown())
	assert.False(t, built)
	assert.Empty(t, m.failed)
}

// One that fails takes the others along, and nobody returns before all have stopped.
func TestControllersEndTogether(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	stopped := false
	started := make(chan struct{})
	err := runControllers(ctx, []namedController{
		{name: "good", build: func(context.Context) (controller, error) {
			return controllerFunc(func(ctx context.Context) error {
				close(started)
				<-ctx.Done()
				stopped = true
				return nil
			}), nil
		}},
		{name: "bad", build: func(context.Context) (controller, error) {
			return controllerFunc(func(context.Context) error {
				<-started
				return errors.New("broken")
			}), nil
		}},
	})
	require.EqualError(t, err, "controller bad: broken")
	assert.True(t, stopped)
}

// A replica runs its controllers while it leads, with a controller of its own each time, and serves on in between.
func TestControllersRunWhileTheReplicaLeads(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	client := fake.NewClientset()
	var broken atomic.Bool
	client.PrependReactor("update", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		return broken.Load(), nil, errors.New("the API server does not answer")
	})
	elector, err := leadership.New(leadership.Options{
		Client: client.CoordinationV1(), Namespace: "spark-system", Name: "spark-apiserver",
		LeaseDuration: time.Hour, RenewDeadline: 300 * time.Millisecond, RetryPeriod: 10 * time.Millisecond,
	})
	require.NoError(t, err)
	m := newManager(nil)
	m.extra.Elector = elector
	runs := make(chan context.Context)
	m.start(ctx, building(controllerFunc(func(ctx context.Context) error {
		runs <- ctx
		<-ctx.Done()
		return ctx.Err()
	}), nil))
	first := <-runs
	broken.Store(true)
	<-first.Done()
	broken.Store(false)
	second := <-runs
	require.NoError(t, second.Err())
	require.NoError(t, m.shutdown())
	require.Error(t, second.Err())
	assert.Empty(t, m.failed, "losing a lease is no failure of the server")
}

func TestProtobufConfigIsACopy(t *testing.T) {
	original := &rest.Config{Host: "https://x"}
	copied := protobufConfig(original)
	assert.Equal(t, "application/vnd.kubernetes.protobuf", copied.ContentType)
	assert.Empty(t, original.ContentType)
}
