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

package server

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/apiserver/options"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
)

// startLimit bounds the start of a server on a busy machine; no test waits for it to pass.
const startLimit = 2 * time.Minute

// shared is a server that most tests use, each in a namespace of its own.
var shared = sync.OnceValues(func() (*running, error) {
	dir, err := os.MkdirTemp("", "spark-apiserver-test-")
	if err != nil {
		return nil, err
	}
	return launch(dir, "--feature-gates=SparkApplicationWorkloadAwareScheduling=true")
})

func TestMain(m *testing.M) {
	code := m.Run()
	if sharedUsed {
		server, err := shared()
		if err == nil {
			err = server.stop()
			_ = os.RemoveAll(server.dataDir)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "ending the server that tests share:", err)
			code = 1
		}
	}
	os.Exit(code)
}

var sharedUsed bool

type running struct {
	*Instance
	dataDir string
	cancel  context.CancelFunc
	ended   chan error
}

// launch starts a standalone server on a free port and waits until it is ready.
func launch(dataDir string, flags ...string) (*running, error) {
	o, err := parse(append([]string{"--standalone", "--data-dir=" + dataDir, "--bind-address=127.0.0.1"}, flags...)...)
	if err != nil {
		return nil, err
	}
	o.Store.UnsafeNoFsync = true
	if o.SecureServing.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	o.SecureServing.BindPort = o.SecureServing.Listener.Addr().(*net.TCPAddr).Port
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Background()))
	instance, err := Prepare(ctx, o)
	if err != nil {
		cancel()
		return nil, err
	}
	r := &running{Instance: instance, dataDir: dataDir, cancel: cancel, ended: make(chan error, 1)}
	go func() { r.ended <- instance.Run(ctx) }()

	client, err := versioned.NewForConfig(instance.LoopbackClientConfig())
	if err != nil {
		return nil, err
	}
	limited, stopWaiting := context.WithTimeout(ctx, startLimit)
	defer stopWaiting()
	err = wait.PollUntilContextCancel(limited, 10*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		select {
		case err := <-r.ended:
			return false, fmt.Errorf("the server ended before it was ready: %w", err)
		default:
		}
		answer, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return err == nil && string(answer) == "ok", nil
	})
	if err != nil {
		cancel()
		return nil, err
	}
	return r, nil
}

func (r *running) stop() error {
	r.cancel()
	return <-r.ended
}

func parse(flags ...string) (*options.Options, error) {
	o := options.New()
	all := pflag.NewFlagSet("test", pflag.ContinueOnError)
	for _, set := range o.FlagSets().FlagSets {
		all.AddFlagSet(set)
	}
	return o, all.Parse(flags)
}

// suite is what a test needs of the shared server.
type suite struct {
	config    *rest.Config
	namespace string
	typed     *versioned.Clientset
	dynamic   *dynamic.DynamicClient
}

func newSuite(t *testing.T) *suite {
	t.Helper()
	sharedUsed = true
	server, err := shared()
	require.NoError(t, err)
	s := &suite{
		config:    rest.CopyConfig(server.LoopbackClientConfig()),
		namespace: strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name())),
	}
	s.config.QPS = -1
	protobuf := rest.CopyConfig(s.config)
	protobuf.ContentType = runtime.ContentTypeProtobuf
	protobuf.AcceptContentTypes = runtime.ContentTypeProtobuf
	s.typed, err = versioned.NewForConfig(protobuf)
	require.NoError(t, err)
	s.dynamic, err = dynamic.NewForConfig(s.config)
	require.NoError(t, err)
	return s
}

var applicationsResource = v1beta2.SchemeGroupVersion.WithResource("sparkapplications")

const basePath = "/apis/sparkoperator.k8s.io/v1beta2"

func (s *suite) path(name ...string) string {
	return strings.Join(append([]string{basePath, "namespaces", s.namespace, "sparkapplications"}, name...), "/")
}

// application returns an application as a user would write it.
func application(name string) *v1beta2.SparkApplication {
	return &v1beta2.SparkApplication{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1beta2.SparkApplicationSpec{
			Type:                v1beta2.ScalaApplicationType,
			SparkVersion:        "4.0.1",
			Image:               new("spark:4.0.1"),
			MainClass:           new("org.apache.spark.examples.SparkPi"),
			MainApplicationFile: new("local:///opt/spark/examples/jars/spark-examples.jar"),
			Driver:              v1beta2.DriverSpec{SparkPodSpec: v1beta2.SparkPodSpec{ServiceAccount: new("spark")}},
			Executor:            v1beta2.ExecutorSpec{Instances: new(int32(4))},
		},
	}
}

func (s *suite) create(t *testing.T, app *v1beta2.SparkApplication) *v1beta2.SparkApplication {
	t.Helper()
	created, err := s.typed.SparkoperatorV1beta2().SparkApplications(s.namespace).Create(t.Context(), app, metav1.CreateOptions{})
	require.NoError(t, err)
	return created
}

func dataDir(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "data")
}
