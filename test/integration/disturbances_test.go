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
	"flag"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/spark-apiserver/spark-apiserver/test/cluster"
)

var (
	faultSamples = flag.Int("fault-samples", 3, "at how many places a disturbance other than a crash strikes; 0 means at every one")
	faultSeed    = flag.Uint64("fault-seed", 1, "chooses the places")
)

// staleness is how long watches are silent. The controller must not take a cache's silence for a fact.
const staleness = 3 * time.Second

// disturbances are those of one life. Crashes have a test of their own.
var disturbances = []disturbance{
	{name: "conflict", instead: true, noDeletions: true, do: answered(refuse(http.StatusConflict, metav1.StatusReasonConflict))},
	{name: "answer lost", instead: true, do: answered(loseAnswer)},
	{name: "too many requests", instead: true, do: answered(refuse(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests))},
	{name: "internal error", instead: true, do: answered(refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError))},
	{name: "watches dropped", do: func(_ context.Context, _ *life, w *wire) error { w.dropWatches(); return nil }},
	{name: "watches silent", do: func(_ context.Context, _ *life, w *wire) error { w.holdWatches(staleness); return nil }},
	{name: "crash of a stale controller", do: func(ctx context.Context, l *life, w *wire) error {
		w.holdWatches(staleness)
		return crashNow(ctx, l, w)
	}},
	{name: "clock set forward", do: func(_ context.Context, l *life, _ *wire) error { l.clock.jump(time.Hour); return nil }},
	{name: "clock set back", do: func(_ context.Context, l *life, _ *wire) error { l.clock.jump(-time.Hour); return nil }},
}

// answered answers the write that the fault point is in front of.
func answered(f fault) func(context.Context, *life, *wire) error {
	return func(_ context.Context, l *life, w *wire) error {
		w.announce(l.targets[0].write(), f)
		return nil
	}
}

// outages are what can happen to the servers. All lives that go on at the time suffer from it.
func (l *lives) outages() []disturbance {
	var one sync.Mutex
	outage := func(name string, happen func(ctx context.Context) error) disturbance {
		return disturbance{name: name, do: func(_ context.Context, life *life, _ *wire) error {
			if !one.TryLock() {
				return nil // there is one already
			}
			life.outage.Go(func() {
				defer one.Unlock()
				// The life may end before the server is back; the next one needs it.
				life.fail(happen(context.Background()))
			})
			return nil
		}}
	}
	pause := func(p *cluster.Process) func(context.Context) error {
		return func(context.Context) error {
			if err := p.Pause(); err != nil {
				return err
			}
			time.Sleep(staleness)
			return p.Resume()
		}
	}
	restart := func(p *cluster.Process) func(context.Context) error {
		return func(ctx context.Context) error {
			p.Kill()
			return p.Start(ctx)
		}
	}
	return []disturbance{
		outage("etcd hangs", pause(l.Etcd)),
		outage("our server hangs", pause(l.server.Process)),
		outage("kube-apiserver is killed", restart(l.KubeAPIServer)),
		outage("our server is killed", restart(l.server.Process)),
	}
}

// sample lets each disturbance strike at some of the points that were recorded, chosen by the seed, or at all of them.
func sample(recorded []*undisturbed, disturbances []disturbance, size int) []*attempt {
	var attempts []*attempt
	for i, d := range disturbances {
		var places []*attempt
		for _, u := range recorded {
			for _, p := range u.places() {
				// A life that is deleted ends in the same way whatever happens.
				if u.deleted || d.instead && p.write() == "" || d.noDeletions && strings.HasSuffix(p.write(), "-delete") {
					continue
				}
				places = append(places, &attempt{of: u, at: []pass{p}, strike: d})
			}
		}
		if size > 0 {
			chance := rand.New(rand.NewPCG(*faultSeed, uint64(i)+uint64(len(d.name))))
			chance.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
			places = places[:min(size, len(places))]
		}
		attempts = append(attempts, places...)
	}
	return attempts
}

// jumpingClock is a real clock that can be set, as a clock of a machine can: what time it is jumps, how much time has
// passed between two looks at it doesn't.
type jumpingClock struct {
	clock.RealClock

	mu     sync.Mutex
	offset time.Duration
}

func (c *jumpingClock) jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
}

// Now implements clock.PassiveClock.
func (c *jumpingClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return setWall(time.Now(), c.offset)
}

// Since implements clock.PassiveClock.
func (c *jumpingClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// setWall moves the time of day of a time by whole seconds and leaves its monotonic reading alone. Nothing but the kernel
// makes such a time otherwise: package time keeps the seconds above 30 bits of nanoseconds in its first word.
func setWall(t time.Time, by time.Duration) time.Time {
	const nanosecondBits = 30
	word := (*uint64)(unsafe.Pointer(&t))
	*word += uint64(int64(by/time.Second)) << nanosecondBits
	return t
}
