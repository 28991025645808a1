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
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/controller/faultpoint"
	"github.com/spark-apiserver/spark-apiserver/pkg/controller/sparkapplication"
)

// livesAtATime is how many lives go on beside each other. Most of a life is waiting.
const (
	livesAtATime    = 24
	livesInAnOutage = 4
)

var faultAll = flag.Bool("fault-all", false, "crash also in that part of a life that is alike in all of them")

// undisturbed is what a scenario is like when nothing happens to it.
type undisturbed struct {
	*scenario
	endState string
	states   []v1beta2.ApplicationStateType
	passes   []pass
	// common are the times that pass before the user's first act. Until then all lives are alike.
	common map[faultpoint.Point]int
	// certain are the times that every one of the undisturbed lives has come to a point.
	certain map[faultpoint.Point]int
}

// places returns the passes at which a disturbance may strike. What is alike in many lives is left to the first of them,
// unless -fault-all asks for it.
func (u *undisturbed) places() []pass {
	return slices.DeleteFunc(slices.Clone(u.passes), func(p pass) bool {
		return u.only != nil && !u.only(p) || !u.whole && !*faultAll && p.ordinal <= u.common[p.point]
	})
}

// errCrashed ends what a controller was doing. It can do nothing more.
var errCrashed = errors.New("the controller was stopped by the test")

// crash is what a killed process is to the servers: from one request to the next there is silence.
var crash = disturbance{name: "crash", do: crashNow}

func crashNow(_ context.Context, l *life, w *wire) error {
	w.sever()
	l.crashed <- struct{}{}
	return errCrashed
}

// crashAndDelete is a crash, and the application is gone when the controller comes back.
var crashAndDelete = disturbance{
	name: "crash, then the user deletes", do: crashNow, whileDown: func(ctx context.Context, l *life) error { return l.deleteApplication(ctx) },
}

// deleteMeanwhile lets the user delete the application under the hands of the controller.
var deleteMeanwhile = disturbance{
	name: "the user deletes", do: func(ctx context.Context, l *life, _ *wire) error { return l.deleteApplication(ctx) },
}

// Lives of applications, of every kind, on one control plane, each with a controller of its own inside this process. What
// is done to a life must not change how it ends: in the same state, with one driver pod for an attempt, with nothing
// left over, and without a state in between that tells of a trouble which isn't the application's.
func TestDisturbedLives(t *testing.T) {
	l := newLives(t)
	require.NoError(t, makeLifePriorityClass(t.Context(), l))
	recorded := l.record(t)
	var all []*attempt
	// Every write of the controller may be the last one that it makes, and every one may be the first that it doesn't.
	t.Run("crash before and after every write", func(t *testing.T) {
		attempts := everyPoint(t, recorded)
		l.try(t, attempts, livesAtATime)
		l.report(t, attempts)
		all = append(all, attempts...)
	})
	t.Run("bad answers, silent watches and other clocks", func(t *testing.T) {
		attempts := sample(recorded, disturbances, *faultSamples)
		l.try(t, attempts, livesAtATime)
		l.report(t, attempts)
		all = append(all, attempts...)
	})
	t.Run("servers that stop or hang", func(t *testing.T) {
		// One after another, and a few lives at a time: what a server suffers, all lives do.
		for _, d := range l.outages() {
			attempts := sample(recorded, []disturbance{d}, *faultSamples)
			l.try(t, attempts, livesInAnOutage)
			l.report(t, attempts)
			all = append(all, attempts...)
		}
	})
	t.Run("nothing is left to do", func(t *testing.T) { l.afterAll(t, all) })
}

// everyPoint returns a crash at every fault point that was recorded, and makes sure that none is missing.
func everyPoint(t *testing.T, recorded []*undisturbed) []*attempt {
	t.Helper()
	found := map[faultpoint.Point]bool{}
	var attempts []*attempt
	for _, u := range recorded {
		for _, p := range u.passes {
			found[p.point] = true
		}
		attempts = append(attempts, u.crashes()...)
	}
	for _, point := range sparkapplication.FaultPoints() {
		assert.True(t, found[point], "no life passes %s: it needs a scenario", point)
	}
	return attempts
}

// crashes returns a crash at every place. Where nothing else happens meanwhile, one life crashes in front of a write and, when
// its next controller makes that write, behind it: what a crash leaves is what the servers hold, and the first one left
// what there was.
func (u *undisturbed) crashes() []*attempt {
	var attempts []*attempt
	places := u.places()
	for _, p := range places {
		behind := pass{p.behind(), p.ordinal}
		switch {
		case u.deleted && p.write() != "":
			attempts = append(attempts, &attempt{of: u, at: []pass{p}, strike: deleteMeanwhile})
		case u.deleted:
			attempts = append(attempts, &attempt{of: u, at: []pass{p}, strike: crashAndDelete})
		case slices.Contains(places, behind):
			attempts = append(attempts, &attempt{of: u, at: []pass{p, behind}, strike: crash})
		case p.write() != "" || !slices.Contains(places, pass{p.inFront(), p.ordinal}):
			attempts = append(attempts, &attempt{of: u, at: []pass{p}, strike: crash})
		}
	}
	return attempts
}

// attempt is one disturbed life.
type attempt struct {
	of     *undisturbed
	at     []pass
	strike disturbance

	life *life
	err  error
	// reached is to how many of the points the life came, in the best of several chances.
	reached int
}

func (a *attempt) String() string {
	return fmt.Sprintf("%s: %s at %s", a.of.name, a.strike.name, fmt.Sprint(a.at))
}

// record lives every scenario undisturbed, several times, and finds out what fault points it passes. How often a status
// is written depends on how executors come and go; the longest record counts.
func (l *lives) record(t *testing.T) []*undisturbed {
	t.Helper()
	const times = 3
	all := make([]*undisturbed, len(scenarios))
	var wg sync.WaitGroup
	for i, s := range scenarios {
		wg.Go(func() {
			runs := make([]*life, times)
			errs := make([]error, times)
			var each sync.WaitGroup
			for j := range times {
				each.Go(func() {
					runs[j], errs[j] = l.newLife(t.Context(), s, nil, disturbance{})
					if errs[j] == nil {
						errs[j] = runs[j].live(t.Context(), "")
					}
				})
			}
			each.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Errorf("%s, undisturbed: %v", s.name, err)
				return
			}
			all[i] = l.summarize(t, s, runs)
		})
	}
	wg.Wait()
	require.False(t, t.Failed(), "an undisturbed life did not end as it should")
	return all
}

func (l *lives) summarize(t *testing.T, s *scenario, runs []*life) *undisturbed {
	t.Helper()
	u := &undisturbed{scenario: s, endState: l.witness.endState(runs[0].namespace)}
	times, common, certain := map[faultpoint.Point]int{}, maps.Clone(runs[0].common), runs[0].passes()
	for _, run := range runs {
		assert.Equal(t, u.endState, l.witness.endState(run.namespace), "%s: two undisturbed lives do not end alike", s.name)
		assert.Empty(t, run.unannounced(), "%s: these writes pass no fault point", s.name)
		for _, state := range l.witness.statesOf(run.namespace) {
			if !slices.Contains(u.states, state) {
				u.states = append(u.states, state)
			}
		}
		for point, n := range run.passes() {
			times[point] = max(times[point], n)
		}
		for point, n := range common {
			common[point] = min(n, run.common[point])
		}
		for point, n := range certain {
			certain[point] = min(n, run.passes()[point])
		}
	}
	for point, n := range times {
		for ordinal := 1; ordinal <= n; ordinal++ {
			u.passes = append(u.passes, pass{point, ordinal})
		}
	}
	u.common, u.certain = common, certain
	slices.SortFunc(u.passes, func(a, b pass) int {
		return cmp.Or(strings.Compare(string(a.point), string(b.point)), a.ordinal-b.ordinal)
	})
	return u
}

// try lives the disturbed lives, many at a time.
func (l *lives) try(t *testing.T, attempts []*attempt, atATime int) {
	t.Helper()
	places := make(chan struct{}, atATime)
	var wg sync.WaitGroup
	for _, a := range attempts {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			if l.tryOne(t.Context(), a); a.err != nil {
				t.Errorf("%s, in %s: %v", a, a.life.namespace, a.err)
			}
		})
	}
	wg.Wait()
}

// end is the end that the life must come to: the undisturbed one. Where the user deletes the application early, there may be no
// driver.
func (a *attempt) end() string {
	if a.of.deleted {
		return ""
	}
	return a.of.endState
}

// tryOne gives a life several chances to come to the point: the last writes of a status may be fewer at times.
func (l *lives) tryOne(ctx context.Context, a *attempt) {
	const chances = 3
	for range chances {
		if a.life, a.err = l.newLife(ctx, a.of.scenario, a.at, a.strike); a.err != nil {
			return
		}
		if a.err = a.life.live(ctx, a.end()); a.err != nil {
			return
		}
		if a.err = l.statesAreKnown(a); a.err != nil {
			return
		}
		if a.reached = max(a.reached, a.life.struck()); a.reached == len(a.at) {
			return
		}
	}
}

// statesAreKnown compares the states that were seen with those of the undisturbed life: a crash must not show the user
// a failure, or an unknown state, that never was.
func (l *lives) statesAreKnown(a *attempt) error {
	for _, state := range l.witness.statesOf(a.life.namespace) {
		if !slices.Contains(a.of.states, state) {
			return fmt.Errorf("the state %q was seen, which the undisturbed life does not have: %v", state, l.witness.statesOf(a.life.namespace))
		}
	}
	return nil
}

// report says how many points there were, and fails for each that did not end well.
func (l *lives) report(t *testing.T, attempts []*attempt) {
	t.Helper()
	type key struct{ scenario, strike string }
	found, tried := map[key]int{}, map[key]int{}
	reached := map[faultpoint.Point]bool{}
	var keys []key
	allFound, allTried := 0, 0
	for _, a := range attempts {
		k := key{a.of.name, a.strike.name}
		if found[k] == 0 {
			keys = append(keys, k)
		}
		found[k] += len(a.at)
		tried[k] += a.reached
		allFound, allTried = allFound+len(a.at), allTried+a.reached
		// How often the status is written and pods are deleted depends on how executors come and go, and a write need not be made
		// again after a crash in front of it. To any other write that every undisturbed life makes, the disturbed one comes.
		if a.err == nil && a.reached == 0 && !strings.HasSuffix(string(a.at[0].point), "-status") {
			assert.Greater(t, a.at[0].ordinal, a.of.certain[a.at[0].point], "%s: the point was not reached", a)
		}
		for _, p := range a.at[:a.reached] {
			reached[p.point] = true
		}
	}
	for _, a := range attempts {
		if a.strike.name == crash.name {
			for _, p := range a.at {
				assert.True(t, reached[p.point], "no crash at %s in any life", p.point)
			}
		}
	}
	for _, k := range keys {
		fmt.Printf("fault points: %-32s %-30s found %3d, tried %3d\n", k.scenario, k.strike, found[k], tried[k])
	}
	fmt.Printf("fault points: %d found, %d tried, %d lives so far\n", allFound, allTried, l.count.Load())
}

// afterAll lets one more controller look at what all lives have left. There is nothing to do for it, and everything
// stays as it was; so does the number of driver pods, by the count of the API server itself.
func (l *lives) afterAll(t *testing.T, attempts []*attempt) {
	t.Helper()
	last, err := l.newLife(t.Context(), scenarios[0], nil, disturbance{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := newWire("")
	controller, err := last.newController(ctx, w)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- controller.Run(ctx) }()
	// Namespaces take turns and the last one comes last, so when its application has completed all others were looked at.
	require.NoError(t, last.script(ctx, ""))
	cancel()
	require.NoError(t, <-ended)
	writes, _ := w.log()
	for _, write := range writes {
		assert.Contains(t, write, "/namespaces/"+last.namespace+"/", "a write for an application for which there is nothing to do")
	}
	created, err := l.driversCreated()
	require.NoError(t, err)
	for _, a := range attempts {
		if a.err != nil {
			continue
		}
		namespace := a.life.namespace
		if a.of.deleted {
			assert.True(t, a.life.nothingLeft(), "%s: the end was not the end: %s", a, l.witness.endState(namespace))
			assert.LessOrEqual(t, created[namespace], 1, "%s: driver pods", a)
		} else {
			assert.Equal(t, a.of.endState, l.witness.endState(namespace), "%s: the end was not the end", a)
		}
		assert.Len(t, l.witness.driversOf(namespace), created[namespace], "%s: driver pods that were seen, and created", a)
	}
}

// driversCreated counts the driver pods that kube-apiserver has created, by namespace.
func (e *environment) driversCreated() (map[string]int, error) {
	created := map[string]int{}
	_, err := e.AuditEvents(func(event *auditv1.Event) bool {
		if isDriverCreation(event) {
			created[event.ObjectRef.Namespace]++
		}
		return false
	})
	return created, err
}

// logTo sends what client-go and the controllers say to a file.
func logTo(t *testing.T, dir string) klog.Logger {
	t.Helper()
	path := filepath.Join(dir, "logs", "controllers.log")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(file), textlogger.Verbosity(2)))
	klog.SetLogger(logger)
	t.Cleanup(func() {
		klog.ClearLogger()
		_ = file.Close()
	})
	return logger
}
