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
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/rest"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/clustertest"
)

// replicas are two servers on one etcd of three members.
type replicas struct {
	*environment
	store   *cluster.EtcdCluster
	servers []*cluster.SparkServer
	service *service
}

// electionFlags make a hand-over short enough for a test; the times have the proportions of the defaults.
var electionFlags = []string{"--leader-elect-lease-duration=6s", "--leader-elect-renew-deadline=4s", "--leader-elect-retry-period=1s"}

func newReplicas(t *testing.T) *replicas {
	t.Helper()
	c := clustertest.New(t, cluster.Options{})
	store, err := c.StartEtcdCluster(t.Context(), 3)
	require.NoError(t, err)
	r := &replicas{store: store, service: newService(t)}
	for i := range 2 {
		server, err := c.StartSparkAPIServer(t.Context(), cluster.ServerOptions{
			Name: "replica-" + strconv.Itoa(i+1), EtcdServers: store.Endpoints(), FeatureGates: nativeScheduling,
			ExtraFlags: electionFlags, WithoutRegistration: true,
		})
		require.NoError(t, err)
		r.servers = append(r.servers, server)
		r.service.backends = append(r.service.backends, net.JoinHostPort("127.0.0.1", strconv.Itoa(server.Port)))
	}
	require.NoError(t, c.RegisterAPIService(t.Context(), cluster.APIServiceRegistration{Port: r.service.port, CABundle: r.servers[0].CA()}))
	r.environment, err = newEnvironment(c, r.servers[0])
	require.NoError(t, err)
	return r
}

// direct returns a client of one replica, past kube-apiserver.
func (r *replicas) direct(t *testing.T, server *cluster.SparkServer) versioned.Interface {
	t.Helper()
	config := rest.CopyConfig(r.AdminConfig())
	config.Host, config.CAData, config.CAFile = server.URL(), server.CA(), ""
	client, err := versioned.NewForConfig(config)
	require.NoError(t, err)
	return client
}

// leader returns which replica holds the lease, or -1 while none does. A replica logs by which name it stands.
func (r *replicas) leader(t *testing.T) (index int, holder string) {
	t.Helper()
	lease, err := r.kube.CoordinationV1().Leases("spark-system").Get(t.Context(), "spark-apiserver", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return -1, ""
	}
	require.NoError(t, err)
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		return -1, ""
	}
	holder = *lease.Spec.HolderIdentity
	for i, server := range r.servers {
		log, err := server.Log()
		require.NoError(t, err)
		for line := range strings.SplitSeq(log, "\n") {
			if strings.Contains(line, `"This replica leads"`) && strings.Contains(line, `identity="`+holder+`"`) {
				return i, holder
			}
		}
	}
	return -1, holder
}

// untilLeader waits until one of the replicas leads that may.
func (n *tenant) untilLeader(r *replicas, may ...int) int {
	n.t.Helper()
	found := -1
	n.until("a replica leads", func(c *assert.CollectT) {
		var holder string
		found, holder = r.leader(n.t)
		assert.Contains(c, may, found, "the lease is held by %q", holder)
	})
	return found
}

// service stands for a Service in front of the replicas: it hands each connection to one that accepts it.
type service struct {
	port     int
	backends []string
	next     atomic.Uint32
}

func newService(t *testing.T) *service {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &service{port: listener.Addr().(*net.TCPAddr).Port}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				go s.serve(client)
			}
		}
	}()
	return s
}

func (s *service) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	for range s.backends {
		address := s.backends[int(s.next.Add(1))%len(s.backends)]
		backend, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			continue
		}
		var copying sync.WaitGroup
		copying.Go(func() { _, _ = io.Copy(backend, client); _ = backend.Close() })
		_, _ = io.Copy(client, backend)
		_ = client.Close()
		copying.Wait()
		return
	}
}

// requireOneDriverEach waits for the end of applications, as a replica that lives shows it, and makes sure that each of
// them was run once.
func (n *tenant) requireOneDriverEach(client versioned.Interface, names []string) {
	n.t.Helper()
	for _, name := range names {
		n.until(name+" completes", func(c *assert.CollectT) {
			app, err := client.SparkoperatorV1beta2().SparkApplications(n.namespace).Get(n.t.Context(), name, metav1.GetOptions{})
			require.NoError(c, err)
			require.NotEqual(n.t, v1beta2.ApplicationStateFailed, app.Status.AppState.State, "%s: %s", name, app.Status.AppState.ErrorMessage)
			assert.Equal(c, v1beta2.ApplicationStateCompleted, app.Status.AppState.State)
			assert.EqualValues(c, 1, app.Status.SubmissionAttempts)
			assert.EqualValues(c, 1, app.Status.ExecutionAttempts)
		})
		n.requireCreatedOnce("pods", 1, func(e *auditv1.Event) bool { return e.ObjectRef.Name == name+"-driver" })
	}
	n.requireCreatedOnce("podgroups", len(names), func(*auditv1.Event) bool { return true })
}

// requireCreatedOnce makes sure that so many objects were asked for, by their names, and that none was created twice. What
// a leader asks for in its last moment may be stored without an answer that anybody heard; then the next one finds it.
func (n *tenant) requireCreatedOnce(resource string, objects int, keep func(*auditv1.Event) bool) {
	n.t.Helper()
	events, err := n.AuditEvents(func(e *auditv1.Event) bool { return n.isCreation(e, resource) && keep(e) })
	require.NoError(n.t, err)
	created := map[string]int{}
	for _, e := range events {
		answered := 0
		if e.ResponseStatus != nil && e.ResponseStatus.Code == http.StatusCreated {
			answered = 1
		}
		created[e.ObjectRef.Name] += answered
	}
	assert.Len(n.t, created, objects, "%s that were asked for", resource)
	for name, times := range created {
		assert.LessOrEqual(n.t, times, 1, "times that %s of %s was created", name, resource)
	}
}

// createRetrying creates an application as a client does that follows the rules: what is answered with a server's error,
// or not at all, is tried again, and what turns out to exist was created.
func (n *tenant) createRetrying(name string) {
	n.t.Helper()
	app := n.application(name, gang, executors(1))
	n.until("application "+name+" is created", func(c *assert.CollectT) {
		_, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Create(n.t.Context(), app, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			require.False(n.t, apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsNotFound(err), "%v", err)
			assert.NoError(c, err)
		}
	})
}

// Two replicas on an etcd of three: a member of it dies, then the leader, then the other replica ends in good order, then
// one stands still for longer than the lease. Every application runs once, and the API is served all along.
func TestTwoReplicas(t *testing.T) {
	r := newReplicas(t)
	n := r.tenant(t)
	n.addNode("40")
	count := 0
	create := func(applications int) (names []string) {
		for range applications {
			name := fmt.Sprintf("pi-%02d", count)
			count++
			n.createRetrying(name)
			names = append(names, name)
		}
		return names
	}

	leader := n.untilLeader(r, 0, 1)
	names := create(3)
	r.store.Members[1].Kill()
	names = append(names, create(3)...)

	t.Log("killing the leader, replica", leader+1)
	other := 1 - leader
	survivor := r.direct(t, r.servers[other])
	served := r.watchService(t, survivor, n.namespace)
	killed := time.Now()
	r.servers[leader].Kill()
	names = append(names, create(3)...)
	n.untilLeader(r, other)
	t.Logf("replica %d leads %s after the other was killed", other+1, time.Since(killed).Round(100*time.Millisecond))
	n.requireOneDriverEach(survivor, names)
	served.require(t)

	require.NoError(t, r.store.Members[1].Start(t.Context()), "a member that comes back")
	require.NoError(t, r.servers[leader].Start(t.Context()))
	leader, other = other, leader
	survivor = r.direct(t, r.servers[other])
	served = r.watchService(t, survivor, n.namespace)
	names = append(names, create(3)...)
	ended := time.Now()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		r.servers[leader].Process.Stop() // its port is needed again
	}()
	n.untilLeader(r, other)
	t.Logf("replica %d leads %s after the other was told to end", other+1, time.Since(ended).Round(100*time.Millisecond))
	<-stopped
	log, err := r.servers[leader].Log()
	require.NoError(t, err)
	assert.NotContains(t, log, "The lease was not given back")
	names = append(names, create(3)...)
	n.requireOneDriverEach(survivor, names)
	served.require(t)

	require.NoError(t, r.servers[leader].Start(t.Context()))
	leader, other = other, leader
	survivor = r.direct(t, r.servers[other])
	served = r.watchService(t, survivor, n.namespace)
	names = append(names, create(3)...)
	// A process that stands still doesn't know that it leads no more.
	require.NoError(t, r.servers[leader].Pause())
	paused := time.Now()
	// kube-apiserver's connection to it must not be where requests end.
	n.untilLeader(r, other)
	t.Logf("replica %d leads %s after the other stood still", other+1, time.Since(paused).Round(100*time.Millisecond))
	require.NoError(t, r.servers[leader].Resume())
	n.until("the one that stood still knows that it leads no more", func(c *assert.CollectT) {
		log, err := r.servers[leader].Log()
		require.NoError(t, err)
		assert.Contains(c, log, `"This replica leads no more"`)
	})
	names = append(names, create(3)...)
	n.requireOneDriverEach(survivor, names)
	served.require(t)
	for _, server := range r.servers {
		log, err := server.Log()
		require.NoError(t, err)
		assert.NotContains(t, log, "panic:")
	}
}

// serving is what became of requests to a replica that lived all along.
type serving struct {
	stop     context.CancelFunc
	ended    chan struct{}
	requests int
	failures []error
}

// watchService reads from a replica again and again, beside everything else that happens.
func (r *replicas) watchService(t *testing.T, client versioned.Interface, namespace string) *serving {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &serving{stop: cancel, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		for ctx.Err() == nil {
			_, err := client.SparkoperatorV1beta2().SparkApplications(namespace).List(ctx, metav1.ListOptions{})
			if ctx.Err() != nil {
				return
			}
			s.requests++
			if err != nil {
				s.failures = append(s.failures, err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(glance):
			}
		}
	}()
	t.Cleanup(cancel)
	return s
}

func (s *serving) require(t *testing.T) {
	t.Helper()
	s.stop()
	<-s.ended
	assert.Positive(t, s.requests)
	assert.Empty(t, s.failures, "of %d requests to a replica that lived all along", s.requests)
}
