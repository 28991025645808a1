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

package leadership

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2/ktesting"
)

const (
	leaseNamespace, leaseName = "spark-system", "spark-apiserver"

	// forever is a lease that no test waits for.
	forever  = time.Hour
	patience = time.Minute
)

// newElector returns an elector that notices within a moment that the lease can't be renewed. Others wait for ever.
func newElector(t *testing.T, client kubernetes.Interface, identity string) *Elector {
	t.Helper()
	e, err := New(Options{
		Client: client.CoordinationV1(), Namespace: leaseNamespace, Name: leaseName, Identity: identity,
		LeaseDuration: forever, RenewDeadline: 300 * time.Millisecond, RetryPeriod: 10 * time.Millisecond,
	})
	require.NoError(t, err)
	return e
}

func lease(t *testing.T, client kubernetes.Interface) *coordinationv1.Lease {
	t.Helper()
	l, err := client.CoordinationV1().Leases(leaseNamespace).Get(t.Context(), leaseName, metav1.GetOptions{})
	require.NoError(t, err)
	return l
}

// leader is work that tells when it begins and ends where it is told to.
type leader struct {
	began  chan context.Context
	finish chan error
}

func newLeader() *leader {
	return &leader{began: make(chan context.Context), finish: make(chan error)}
}

func (l *leader) lead(ctx context.Context) error {
	l.began <- ctx
	return <-l.finish
}

func TestLeaseIsGivenBackOnceTheWorkHasEnded(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	client := fake.NewClientset()
	first, second := newElector(t, client, "first"), newElector(t, client, "second")
	one, two := newLeader(), newLeader()
	firstCtx, stopFirst := context.WithCancel(ctx)
	secondCtx, stopSecond := context.WithCancel(ctx)
	ended := make(chan error, 2)
	go func() { ended <- first.Run(firstCtx, one.lead) }()
	leading := <-one.began
	assert.True(t, first.Fence().Allows())
	go func() { ended <- second.Run(secondCtx, two.lead) }()

	stopFirst()
	<-leading.Done()
	// The first is told to end and still works, so that it goes on to hold the lease, and may finish what it is at.
	renewed := lease(t, client).Spec.RenewTime
	require.Eventually(t, func() bool { return renewed.Before(lease(t, client).Spec.RenewTime) }, patience, time.Millisecond)
	assert.Equal(t, "first", holder(lease(t, client)))
	assert.True(t, first.Fence().Allows())
	assert.False(t, second.Fence().Allows())

	one.finish <- leading.Err()
	<-two.began // without having waited for an hour
	require.NoError(t, <-ended)
	assert.False(t, first.Fence().Allows())
	assert.True(t, second.Fence().Allows())
	stopSecond()
	two.finish <- nil
	require.NoError(t, <-ended)
	assert.Empty(t, holder(lease(t, client)))
}

func TestLostLeaseEndsTheWorkAndThenIsStoodForAgain(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	client := fake.NewClientset()
	var broken atomic.Bool
	client.PrependReactor("update", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		return broken.Load(), nil, errors.New("the API server does not answer")
	})
	e := newElector(t, client, "only")
	work := newLeader()
	runCtx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- e.Run(runCtx, work.lead) }()
	first := <-work.began

	broken.Store(true)
	require.Eventually(t, func() bool { return !e.Fence().Allows() }, patience, time.Millisecond, "writes are refused")
	<-first.Done()
	require.NoError(t, runCtx.Err(), "only the work has ended")
	// Nobody is called a second time while the first work is still about.
	broken.Store(false)
	select {
	case <-work.began:
		require.Fail(t, "two works at a time")
	case <-time.After(50 * time.Millisecond):
	}
	work.finish <- nil
	second := <-work.began
	require.NoError(t, second.Err())
	assert.True(t, e.Fence().Allows())
	stop()
	work.finish <- nil
	require.NoError(t, <-ended)
}

// A lease that somebody else has got meanwhile is not ours to give back.
func TestLeaseOfAnotherIsNotGivenBack(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	client := fake.NewClientset()
	// The fake store knows no versions, so that it is told here what a real one would find out.
	var lost atomic.Bool
	client.PrependReactor("update", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		return lost.Load(), nil, apierrors.NewConflict(coordinationv1.Resource("leases"), leaseName, errors.New("somebody else was faster"))
	})
	e := newElector(t, client, "slow")
	work := newLeader()
	runCtx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- e.Run(runCtx, work.lead) }()
	leading := <-work.began

	lost.Store(true)
	taken := lease(t, client)
	taken.Spec.HolderIdentity = new("quick")
	require.NoError(t, client.Tracker().Update(coordinationv1.SchemeGroupVersion.WithResource("leases"), taken, leaseNamespace))
	updates := func() (n int) {
		for _, action := range client.Actions() {
			if action.Matches("update", "leases") {
				n++
			}
		}
		return n
	}
	<-leading.Done()
	before := updates()
	stop()
	work.finish <- leading.Err()
	require.NoError(t, <-ended)
	assert.Equal(t, before, updates(), "it wasn't even tried")
	assert.Equal(t, "quick", holder(lease(t, client)))
}

func TestWorkThatEndsByItselfIsAnError(t *testing.T) {
	failed := errors.New("failed")
	for want, outcome := range map[string]error{"failed": failed, "ended by itself": nil} {
		t.Run(want, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			client := fake.NewClientset()
			err := newElector(t, client, "only").Run(ctx, func(context.Context) error { return outcome })
			require.ErrorContains(t, err, want)
			assert.Empty(t, holder(lease(t, client)), "another replica may do better")
		})
	}
}

func TestCandidateEndsWithoutHavingLed(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	client := fake.NewClientset(&coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: leaseNamespace, Name: leaseName},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("other"), LeaseDurationSeconds: new(int32(3600)),
			RenewTime: new(metav1.NowMicro()), AcquireTime: new(metav1.NowMicro()),
		},
	})
	runCtx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	e := newElector(t, client, "candidate")
	go func() {
		ended <- e.Run(runCtx, func(context.Context) error { return errors.New("it must not lead") })
	}()
	require.Eventually(t, func() bool {
		asked := 0
		for _, action := range client.Actions() {
			if action.Matches("get", "leases") {
				asked++
			}
		}
		return asked > 3
	}, patience, time.Millisecond)
	assert.False(t, e.Fence().Allows())
	stop()
	require.NoError(t, <-ended)
	assert.Equal(t, "other", holder(lease(t, client)))
}

func TestTimesThatMakeNoSense(t *testing.T) {
	_, err := New(Options{
		Client: fake.NewClientset().CoordinationV1(), Namespace: leaseNamespace, Name: leaseName,
		LeaseDuration: time.Second, RenewDeadline: time.Minute, RetryPeriod: time.Second,
	})
	require.Error(t, err)
}
