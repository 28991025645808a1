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
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	_ "k8s.io/component-base/metrics/prometheus/clientgo/leaderelection" // leader_election_master_status
	"k8s.io/klog/v2"
)

// releaseLimit bounds how long a replica that ends tries to give its lease back. Others wait for it to run out anyway.
const releaseLimit = 5 * time.Second

// releasedDuration is the duration of a lease that nobody holds, in seconds: the smallest that there is.
const releasedDuration = 1

// Options say how replicas agree.
type Options struct {
	// Client reaches the leases. It should be the elector's own: a client that is slowed down by other requests loses the
	// lease, and one that the fence wraps never gets it.
	Client coordinationclient.LeasesGetter
	// Namespace and Name name the lease.
	Namespace, Name string
	// Identity tells this replica from the others. Default: the host's name and something random.
	Identity string
	// LeaseDuration is how long others wait for a leader from which nothing is heard.
	LeaseDuration time.Duration
	// RenewDeadline is how long a leader tries to renew the lease before it stops leading. It must be less than
	// LeaseDuration: the rest is what a request that is under way may take.
	RenewDeadline time.Duration
	// RetryPeriod is how often the lease is asked for and renewed.
	RetryPeriod time.Duration
}

// Elector stands for election until it is told to end.
type Elector struct {
	options Options
	fence   *Fence
}

// New returns an elector. Nothing is asked for yet.
func New(o Options) (*Elector, error) {
	if o.Identity == "" {
		host, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("an identity for the leader election: %w", err)
		}
		// Two processes may share a host's name.
		o.Identity = host + "_" + uuid.NewString()
	}
	e := &Elector{options: o, fence: &Fence{now: time.Now}}
	_, err := leaderelection.NewLeaderElector(e.config(func(context.Context) {}))
	return e, err
}

// Fence is closed unless this replica leads.
func (e *Elector) Fence() *Fence {
	return e.fence
}

// Run stands for election until the context is done, and calls lead each time that this replica is elected. The context
// of lead ends when the replica leads no more, be it that the lease was lost or that the context of Run is done. It stands
// again only when lead has returned. At the end it gives the lease back, once lead has returned, so that another replica
// needn't wait for the lease to run out. It returns an error only if lead fails, or ends by itself, while this replica
// leads.
func (e *Elector) Run(ctx context.Context, lead func(context.Context) error) error {
	for ctx.Err() == nil {
		if err := e.term(ctx, lead); err != nil {
			return err
		}
	}
	return nil
}

// term is from standing for election to the end of leading.
func (e *Elector) term(ctx context.Context, lead func(context.Context) error) error {
	logger := klog.FromContext(ctx)
	// The lease is renewed until the work has ended, and not only until it should end.
	election, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	elected := make(chan context.Context, 1)
	elector, err := leaderelection.NewLeaderElector(e.config(func(leading context.Context) { elected <- leading }))
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		elector.Run(election)
	}()
	// Deferred in this order: the election ends, nothing is written any more, the lease is given back.
	defer e.release(logger)
	defer e.fence.close()
	defer func() {
		end()
		<-ended
	}()

	var leading context.Context
	select {
	case <-ctx.Done():
		return nil
	case leading = <-elected:
	}
	work, stop := context.WithCancelCause(leading)
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { stop(context.Cause(ctx)) })()
	logger.Info("This replica leads", "lease", klog.KRef(e.options.Namespace, e.options.Name), "identity", e.options.Identity)
	err = lead(work)
	if work.Err() != nil || ctx.Err() != nil {
		logger.Info("This replica leads no more", "lease", klog.KRef(e.options.Namespace, e.options.Name), "identity", e.options.Identity)
		return nil // whatever failed, failed because it had to stop
	}
	if err == nil {
		err = errors.New("the work of the leader has ended by itself")
	}
	return err
}

func (e *Elector) config(elected func(context.Context)) leaderelection.LeaderElectionConfig {
	return leaderelection.LeaderElectionConfig{
		Lock: &fencedLock{fence: e.fence, valid: e.options.RenewDeadline, Interface: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: e.options.Namespace, Name: e.options.Name},
			Client:     e.options.Client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: e.options.Identity},
		}},
		LeaseDuration: e.options.LeaseDuration,
		RenewDeadline: e.options.RenewDeadline,
		RetryPeriod:   e.options.RetryPeriod,
		Callbacks:     leaderelection.LeaderCallbacks{OnStartedLeading: elected, OnStoppedLeading: func() {}},
		Name:          e.options.Name,
		// Not ReleaseOnCancel: that gives the lease back before it tells the leader to stop.
	}
}

// release gives the lease back if it is still ours.
func (e *Elector) release(logger klog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), releaseLimit)
	defer cancel()
	leases := e.options.Client.Leases(e.options.Namespace)
	lease, err := leases.Get(ctx, e.options.Name, metav1.GetOptions{})
	if err == nil && holder(lease) == e.options.Identity {
		now := metav1.NowMicro()
		lease.Spec.HolderIdentity = new("")
		lease.Spec.LeaseDurationSeconds = new(int32(releasedDuration))
		lease.Spec.RenewTime, lease.Spec.AcquireTime = &now, &now
		// The version that was read makes sure that nobody else has got it since.
		_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	}
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		logger.Info("The lease was not given back, so others wait until it has run out", "reason", err.Error())
	}
}

func holder(lease *coordinationv1.Lease) string {
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// fencedLock opens the fence whenever the lease has become ours or was renewed.
type fencedLock struct {
	resourcelock.Interface
	fence *Fence
	valid time.Duration
}

// Create implements resourcelock.Interface.
func (l *fencedLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.written(l.fence.now(), l.Interface.Create(ctx, record))
}

// Update implements resourcelock.Interface.
func (l *fencedLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.written(l.fence.now(), l.Interface.Update(ctx, record))
}

// written counts from when the request was sent: it can't have been carried out before.
func (l *fencedLock) written(sent time.Time, err error) error {
	if err == nil {
		l.fence.extend(sent, l.valid)
	}
	return err
}
