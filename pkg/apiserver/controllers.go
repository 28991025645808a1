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
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
)

// controllerStopLimit is how long the server's end waits for its controllers. They stop between two requests.
const controllerStopLimit = 20 * time.Second

// controller runs until its context is done and its workers have stopped.
type controller interface {
	Run(ctx context.Context) error
}

// newController makes a controller that reaches our own API through the given client.
type newController func(ctx context.Context, client versioned.Interface, config ExtraConfig) (controller, error)

// controllers are those that there are, by name.
var controllers = map[string]newController{
	"scheduledsparkapplication": newScheduledSparkApplicationController,
	"sparkapplication":          newSparkApplicationController,
}

// ControllerNames returns the names of the controllers that there are.
func ControllerNames() []string {
	return slices.Sorted(maps.Keys(controllers))
}

// controllerManager starts controllers with the server and stops them before it drains, while it still answers them. With
// an election among replicas, they run only while this replica leads; the API is served all along.
type controllerManager struct {
	extra  ExtraConfig
	failed chan error

	stop    chan struct{}
	running sync.WaitGroup
}

// namedController is a controller that is made each time that it is to run, so that it has nothing of an earlier time.
type namedController struct {
	name  string
	build func(context.Context) (controller, error)
}

func (c CompletedConfig) addControllers(server *genericapiserver.GenericAPIServer) (*controllerManager, error) {
	m := &controllerManager{extra: c.extra, failed: make(chan error, 1), stop: make(chan struct{})}
	if c.extra.KubeClient == nil {
		return m, nil
	}
	for _, name := range c.extra.Controllers {
		if _, ok := controllers[name]; !ok {
			return nil, fmt.Errorf("there is no controller %q", name)
		}
	}
	err := server.AddPostStartHook("start-controllers", func(hook genericapiserver.PostStartHookContext) error {
		config := protobufConfig(hook.LoopbackClientConfig)
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return withoutWarnings{next} })
		if c.extra.Elector != nil {
			config.Wrap(c.extra.Elector.Fence().WrapTransport)
		}
		client, err := versioned.NewForConfig(config)
		if err != nil {
			return err
		}
		var named []namedController
		for _, name := range c.extra.Controllers {
			named = append(named, namedController{name: name, build: func(ctx context.Context) (controller, error) {
				return controllers[name](ctx, client, m.extra)
			}})
		}
		m.start(hook, named)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m, server.AddPreShutdownHook("stop-controllers", m.shutdown)
}

// start runs controllers in the background. Hooks have to return at once: the server is live and ready only then.
func (m *controllerManager) start(parent context.Context, named []namedController) {
	// The hook's context may end only after the server has drained.
	ctx, cancel := context.WithCancel(parent)
	go func() {
		<-m.stop
		cancel()
	}()
	m.running.Go(func() {
		defer cancel()
		if guard := m.extra.StoreIdentity; guard != nil {
			select {
			case <-guard.Confirmed():
			case <-ctx.Done():
				return
			}
		}
		lead := func(ctx context.Context) error { return runControllers(ctx, named) }
		var err error
		if elector := m.extra.Elector; elector != nil {
			err = elector.Run(klog.NewContext(ctx, klog.LoggerWithName(klog.FromContext(ctx), "leader-election")), lead)
		} else {
			err = lead(ctx)
		}
		if err != nil && ctx.Err() == nil {
			m.failed <- err
		}
	})
}

// runControllers runs controllers until the context is done or one of them fails, and returns once all have stopped. A
// controller that ends by itself has failed.
func runControllers(ctx context.Context, named []namedController) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	for _, c := range named {
		running.Go(func() {
			logger := klog.LoggerWithName(klog.FromContext(ctx), c.name)
			if err := runController(klog.NewContext(ctx, logger), c); err != nil {
				cancel(err)
			}
		})
	}
	<-ctx.Done()
	running.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func runController(ctx context.Context, c namedController) error {
	logger := klog.FromContext(ctx)
	made, err := c.build(ctx)
	if err == nil {
		logger.Info("Starting the controller")
		err = made.Run(ctx)
		logger.Info("The controller has stopped")
	}
	switch {
	case ctx.Err() != nil:
		return nil // it was told to
	case err != nil:
		return fmt.Errorf("controller %s: %w", c.name, err)
	default:
		return fmt.Errorf("controller %s has ended by itself", c.name)
	}
}

// shutdown stops the controllers and waits for them.
func (m *controllerManager) shutdown() error {
	close(m.stop)
	stopped := make(chan struct{})
	go func() {
		m.running.Wait()
		close(stopped)
	}()
	select {
	case <-stopped:
		return nil
	case <-time.After(controllerStopLimit):
		return errors.New("the controllers have not stopped in time")
	}
}

// protobufConfig returns a copy of a client configuration that speaks protobuf where the other side does. The original
// is shared with everybody who uses JSON.
func protobufConfig(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	config.DisableCompression = true
	return config
}
