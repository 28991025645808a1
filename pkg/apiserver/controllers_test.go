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
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2/ktesting"

	"github.com/spark-apiserver/spark-apiserver/pkg/apiserver/storeidentity"
)

type controllerFunc func(context.Context) error

func (f controllerFunc) Run(ctx context.Context) error { return f(ctx) }

func newManager(guard *storeidentity.Guard) *controllerManager {
	return &controllerManager{extra: ExtraConfig{StoreIdentity: guard}, failed: make(chan error, 1), stop: make(chan struct{})}
}

func building(c controller, err error) func(context.Context) (controller, error) {
	return func(context.Context) (controller, error) { return c, err }
}

func TestControllersAreStoppedAndWaitedFor(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	m := newManager(nil)
	started, ended := make(chan struct{}), false
	m.start(ctx, "test", building(controllerFunc(func(ctx context.Context) error {
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
		build func(context.Context) (controller, error)
		want  string
	}{
		"can't be made":  {building(nil, broken), "controller test: broken"},
		"fails":          {building(controllerFunc(func(context.Context) error { return broken }), nil), "controller test: broken"},
		"ends by itself": {building(controllerFunc(func(context.Context) error { return nil }), nil), "controller test has ended by itself"},
	} {
		t.Run(name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			m := newManager(nil)
			m.start(ctx, "test", test.build)
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
	m.start(ctx, "test", func(context.Context) (controller, error) {
		built = true
		return nil, errors.New("too early")
	})
	require.NoError(t, m.shutdown())
	assert.False(t, built)
	assert.Empty(t, m.failed)
}

func TestProtobufConfigIsACopy(t *testing.T) {
	original := &rest.Config{Host: "https://x"}
	copied := protobufConfig(original)
	assert.Equal(t, "application/vnd.kubernetes.protobuf", copied.ContentType)
	assert.Empty(t, original.ContentType)
}
