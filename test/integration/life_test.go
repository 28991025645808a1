//go:build faultpoints

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

package integration

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/controller/faultpoint"
	"github.com/spark-apiserver/spark-apiserver/pkg/controller/sparkapplication"
	"github.com/spark-apiserver/spark-apiserver/pkg/features"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
	sparkspec "github.com/spark-apiserver/spark-apiserver/pkg/spark"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/clustertest"
)

// lifeName is the name of the application in every life. Each has a namespace of its own.
const lifeName = "pi"

// lifePool is what the nodes are reserved for on which all lives run.
const lifePool = "lives"

// lives is a control plane whose server runs no controller: every life brings one of its own, inside this process.
type lives struct {
	*environment
	witness *witness
	gate    featuregate.FeatureGate
	// kubeConfig is our server's identity towards the cluster, sparkConfig the way to our server.
	kubeConfig, sparkConfig *rest.Config
	logger                  klog.Logger
	count                   atomic.Int64
}

func newLives(t *testing.T) *lives {
	t.Helper()
	c := clustertest.New(t, cluster.Options{SchedulerProfiles: batchSchedulerProfiles})
	server, err := c.StartSparkAPIServer(t.Context(), cluster.ServerOptions{
		FeatureGates: nativeScheduling, Manifests: withBatchSchedulers(c), ExtraFlags: []string{"--controllers=-*"},
	})
	require.NoError(t, err)
	e, err := newEnvironment(c, server)
	require.NoError(t, err)
	(&tenant{environment: e, t: t}).serveGroups(volcanoGroups)
	l := &lives{environment: e, witness: e.watchEverything(t), logger: logTo(t, c.Dir)}
	l.kubeConfig, err = clientcmd.BuildConfigFromFlags("", server.KubeconfigPath)
	require.NoError(t, err)
	l.sparkConfig = c.AdminConfig()
	l.sparkConfig.Host = server.URL()
	l.sparkConfig.CAFile, l.sparkConfig.CAData = "", server.CA()
	for _, config := range []*rest.Config{l.kubeConfig, l.sparkConfig} {
		config.ContentType = runtime.ContentTypeProtobuf
		config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	}
	gate := features.NewFeatureGate()
	require.NoError(t, gate.SetFromMap(nativeScheduling))
	l.gate = gate
	for i := range 4 {
		l.addLifeNode(t, fmt.Sprintf("life-%d", i))
	}
	return l
}

func (l *lives) addLifeNode(t *testing.T, name string) {
	t.Helper()
	require.NoError(t, l.AddNodeWith(t.Context(), name, corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("500"),
		corev1.ResourceMemory: resource.MustParse("2Ti"),
		corev1.ResourcePods:   resource.MustParse("1000"),
	}, map[string]string{reserved: lifePool}))
}

// pass is one of the times that a life comes to a fault point.
type pass struct {
	point faultpoint.Point
	// ordinal is 1 for the first time.
	ordinal int
}

func (p pass) String() string {
	return fmt.Sprintf("%s#%d", p.point, p.ordinal)
}

// write returns the write that the fault point is in front of, or "" if it is behind one.
func (p pass) write() string {
	write, found := strings.CutPrefix(string(p.point), "before-")
	if !found {
		return ""
	}
	return write
}

// behind returns the point behind the write that this one is in front of, and inFront the other way round. Both are "" for
// the other kind.
func (p pass) behind() faultpoint.Point {
	if p.write() == "" {
		return ""
	}
	return faultpoint.After(p.write())
}

func (p pass) inFront() faultpoint.Point {
	write, found := strings.CutPrefix(string(p.point), "after-")
	if !found {
		return ""
	}
	return faultpoint.Before(write)
}

// life is one application from its creation to its end, and its controller.
type life struct {
	*lives
	scenario  *scenario
	namespace string
	clock     *jumpingClock

	// targets are where the disturbance strikes, one after the other, once each.
	targets []pass
	strike  disturbance

	crashed chan struct{}

	// removedGroup and removedConfigMap are the UIDs of what the user has removed. Only the script uses them.
	removedGroup, removedConfigMap string
	// passedAttempt is the submission ID of the attempt that the user has last edited or let go.
	passedAttempt string

	mu    sync.Mutex
	times map[faultpoint.Point]int
	// common are the times that had passed before the user's first act. Until then all lives are alike.
	common map[faultpoint.Point]int
	// reached is how many targets the life has come to.
	reached int
	wires   []*wire
	// userDeleted says that the user has deleted the application.
	userDeleted bool
	// failures are what the test itself could not do.
	failures []error

	// outage is what goes on with the servers on account of this life.
	outage sync.WaitGroup
}

// disturbance is what happens at a fault point. The error that it returns ends what the controller is doing.
type disturbance struct {
	name string
	do   func(ctx context.Context, l *life, w *wire) error
	// whileDown happens after a crash, before the controller starts again.
	whileDown func(ctx context.Context, l *life) error
	// instead says that the disturbance takes the place of a write, so that it can only strike in front of one.
	instead bool
	// noDeletions spares deletions: a conflict tells there that the object is another one, and so that there is nothing to do.
	noDeletions bool
}

func (l *lives) newLife(ctx context.Context, s *scenario, targets []pass, strike disturbance) (*life, error) {
	life := &life{
		lives: l, scenario: s, targets: targets, strike: strike, namespace: fmt.Sprintf("life-%d", l.count.Add(1)),
		crashed: make(chan struct{}, 1), times: map[faultpoint.Point]int{}, clock: &jumpingClock{},
	}
	ctx, cancel := context.WithTimeout(ctx, lifePatience)
	defer cancel()
	err := insist(ctx, func() error {
		_, err := l.kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: life.namespace, Annotations: map[string]string{"life": s.name, "targets": fmt.Sprint(targets), "disturbance": strike.name},
		}}, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return life, err
	}
	return life, insist(ctx, func() error { return l.makeDriverAccount(ctx, life.namespace, "spark") })
}

// live runs a life: the user's acts in their order, and a controller all along. It ends when the scenario's end is
// reached and, if an end state is wanted, the namespace is as wanted.
func (l *life) live(ctx context.Context, want string) error {
	ctx, stop := context.WithTimeout(ctx, lifePatience)
	ctx = klog.NewContext(ctx, l.logger.WithValues("life", l.namespace))
	controllers := make(chan error, 1)
	go func() { controllers <- l.supervise(ctx) }()
	err := l.script(ctx, want)
	l.outage.Wait()
	stop()
	err = errors.Join(err, <-controllers)
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(append(l.failures, err)...)
}

func (l *life) fail(err error) {
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.failures = append(l.failures, err)
	}
}

// insist repeats what the user does until it is done: servers may be away.
func insist(ctx context.Context, do func() error) error {
	for {
		err := do()
		if err == nil || apierrors.IsAlreadyExists(err) {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(4 * lifeGlance):
		}
	}
}

// lifePatience bounds a life. Hundreds of them share two cores.
const lifePatience = 3 * time.Minute

func (l *life) script(ctx context.Context, want string) error {
	if prepare := l.scenario.prepare; prepare != nil {
		if err := insist(ctx, func() error { return prepare(ctx, l) }); err != nil {
			return err
		}
	}
	app := l.scenario.application(l)
	err := insist(ctx, func() error {
		_, err := l.spark.SparkoperatorV1beta2().SparkApplications(l.namespace).Create(ctx, app, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	for i, act := range l.scenario.acts {
		if err := l.until(ctx, act.when, func() bool { return act.ready(l) }); err != nil {
			return err
		}
		if i == 0 {
			common := l.passes()
			l.mu.Lock()
			l.common = common
			l.mu.Unlock()
		}
		if err := insist(ctx, func() error { return act.do(ctx, l) }); err != nil {
			return fmt.Errorf("%s: %w", act.when, err)
		}
	}
	err = l.until(ctx, "the end", func() bool {
		return l.scenario.end(l) && (want == "" || l.witness.endState(l.namespace) == want)
	})
	if err != nil {
		return fmt.Errorf("%w\nwanted:\n%sgot:\n%sstates: %v", err, want, l.witness.endState(l.namespace), l.witness.statesOf(l.namespace))
	}
	return nil
}

// until waits for something that the witness must see.
func (l *life) until(ctx context.Context, what string, happened func() bool) error {
	for !happened() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %q: %w", what, ctx.Err())
		case <-time.After(lifeGlance):
		}
	}
	return nil
}

const lifeGlance = 25 * time.Millisecond

// supervise keeps a controller running, and starts another one when it has crashed.
func (l *life) supervise(ctx context.Context) error {
	for ctx.Err() == nil {
		running, cancel := context.WithCancel(ctx)
		w := newWire(l.namespace)
		l.mu.Lock()
		l.wires = append(l.wires, w)
		l.mu.Unlock()
		controller, err := l.newController(running, w)
		if err != nil {
			cancel()
			return err
		}
		ended := make(chan error, 1)
		go func() { ended <- controller.Run(running) }()
		select {
		case <-ctx.Done():
		case <-l.crashed:
			if l.strike.whileDown != nil {
				err = l.strike.whileDown(ctx, l)
			}
		}
		cancel()
		w.sever()
		if err := errors.Join(err, <-ended); err != nil {
			return err
		}
	}
	return nil
}

// newController returns a controller whose requests go through the wire.
func (l *life) newController(ctx context.Context, w *wire) (*sparkapplication.Controller, error) {
	kube, err := kubernetes.NewForConfig(w.through(l.kubeConfig))
	if err != nil {
		return nil, err
	}
	spark, err := versioned.NewForConfig(w.through(l.sparkConfig))
	if err != nil {
		return nil, err
	}
	metadataClient, err := metadata.NewForConfig(w.through(l.kubeConfig))
	if err != nil {
		return nil, err
	}
	dynamicClient, err := dynamic.NewForConfig(w.through(l.kubeConfig))
	if err != nil {
		return nil, err
	}
	controller, err := sparkapplication.New(ctx, sparkapplication.Options{
		SparkClient: spark, KubeClient: kube, MetadataClient: metadataClient, DynamicClient: dynamicClient, Workers: 1,
		Side: sparkspec.SideSettings{UIService: true}, FeatureGate: l.gate, Clock: l.clock,
	})
	if err != nil {
		return nil, err
	}
	controller.AtFaultPoints(func(point faultpoint.Point) error { return l.at(ctx, w, point) })
	return controller, nil
}

// at is called at every fault point.
func (l *life) at(ctx context.Context, w *wire, point faultpoint.Point) error {
	l.mu.Lock()
	l.times[point]++
	p := pass{point, l.times[point]}
	strikes := l.reached < len(l.targets) && l.targets[l.reached] == p
	if strikes {
		l.reached++
	}
	l.mu.Unlock()
	if write := p.write(); write != "" {
		w.announce(write, nil)
	} else {
		w.done()
	}
	if !strikes {
		return nil
	}
	klog.FromContext(ctx).Info("A disturbance strikes", "disturbance", l.strike.name, "pass", p.String())
	return l.strike.do(ctx, l, w)
}

// struck says at how many of its targets the disturbance has struck.
func (l *life) struck() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reached
}

// passes lists every time that the life came to a fault point.
func (l *life) passes() map[faultpoint.Point]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.times)
}

// unannounced lists the writes that no fault point announced.
func (l *life) unannounced() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for _, w := range l.wires {
		_, unannounced := w.log()
		all = append(all, unannounced...)
	}
	return all
}

// app is the application as the witness sees it, or nil.
func (l *life) app() *v1beta2.SparkApplication { return l.witness.application(l.namespace) }

func (l *life) inState(states ...v1beta2.ApplicationStateType) bool {
	app := l.app()
	return app != nil && slices.Contains(states, app.Status.AppState.State)
}
