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

package bench

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	sparkinformers "github.com/spark-apiserver/spark-apiserver/pkg/generated/informers/externalversions/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// life is when something was first seen of an application.
type life struct {
	created, driver, running, gang, driverEnded, ended time.Time
	drivers                                            map[string]bool
	executors                                          map[string]bool
	state                                              v1beta2.ApplicationStateType
}

// lives follows applications and their pods through watches, as any client could.
type lives struct {
	mu      sync.Mutex
	all     map[string]*life
	changed chan struct{}
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func (s *submission) watchLives(ctx context.Context) (*lives, error) {
	ctx, cancel := context.WithCancel(ctx)
	l := &lives{all: map[string]*life{}, changed: make(chan struct{}, 1), cancel: cancel}
	applications := sparkinformers.NewSparkApplicationInformer(s.spark, metav1.NamespaceAll, 0, cache.Indexers{})
	pods := coreinformers.NewFilteredPodInformer(s.kube, metav1.NamespaceAll, 0, cache.Indexers{},
		func(options *metav1.ListOptions) { options.LabelSelector = spark.LabelAppName })
	var synced []cache.InformerSynced
	for informer, see := range map[cache.SharedIndexInformer]func(any){applications: l.seeApplication, pods: l.seePod} {
		registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: see, UpdateFunc: func(_, now any) { see(now) }})
		if err != nil {
			cancel()
			return nil, err
		}
		synced = append(synced, registration.HasSynced)
		l.running.Go(func() { informer.RunWithContext(ctx) })
	}
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		l.stop()
		return nil, ctx.Err()
	}
	return l, nil
}

func (l *lives) stop() {
	l.cancel()
	l.running.Wait()
}

func (l *lives) of(key string) *life {
	found := l.all[key]
	if found == nil {
		found = &life{drivers: map[string]bool{}, executors: map[string]bool{}}
		l.all[key] = found
	}
	return found
}

func (l *lives) creates(key string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of(key).created = now
}

func (l *lives) runningAt(key string) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of(key).running
}

func first(at *time.Time, now time.Time) {
	if at.IsZero() {
		*at = now
	}
}

// tell wakes whoever waits.
func (l *lives) tell() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

func (l *lives) seeApplication(object any) {
	app := object.(*v1beta2.SparkApplication)
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	found := l.of(app.Namespace + "/" + app.Name)
	found.state = app.Status.AppState.State
	switch found.state {
	case v1beta2.ApplicationStateRunning:
		first(&found.running, now)
	case v1beta2.ApplicationStateCompleted, v1beta2.ApplicationStateFailed:
		first(&found.ended, now)
		l.tell()
	}
}

func (l *lives) seePod(object any) {
	pod := object.(*corev1.Pod)
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	found := l.of(pod.Namespace + "/" + pod.Labels[spark.LabelAppName])
	if pod.Labels[spark.LabelSparkRole] == spark.SparkRoleDriver {
		found.drivers[string(pod.UID)] = true
		first(&found.driver, now)
		l.tell()
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			first(&found.driverEnded, now)
		}
		return
	}
	if pod.Status.Phase == corev1.PodRunning {
		found.executors[pod.Name] = true
		if len(found.executors) == executorsEach {
			first(&found.gang, now)
		}
	}
}

// ends are the stages of many lives.
type ends struct {
	toDriver, toGang, statusLag []time.Duration
	lastDriver, lastEnd         time.Time
	failed, extraDrivers        int
}

// wait returns when all of the applications have come as far as reached says.
func (l *lives) wait(ctx context.Context, keys []string, reached func(*life) bool) (*ends, error) {
	for {
		if e := l.seen(keys, reached); e != nil {
			return e, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: %w", l.left(keys, reached), ctx.Err())
		case <-l.changed:
		}
	}
}

func (l *lives) seen(keys []string, reached func(*life) bool) *ends {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := &ends{}
	for _, key := range keys {
		found := l.of(key)
		if !reached(found) {
			return nil
		}
		if !found.ended.IsZero() && found.state != v1beta2.ApplicationStateCompleted {
			e.failed++
		}
		e.extraDrivers += max(len(found.drivers)-1, 0)
		for _, stage := range []struct {
			durations  *[]time.Duration
			from, till time.Time
		}{{&e.toDriver, found.created, found.driver}, {&e.toGang, found.created, found.gang}, {&e.statusLag, found.driverEnded, found.ended}} {
			if !stage.from.IsZero() && !stage.till.IsZero() {
				*stage.durations = append(*stage.durations, max(stage.till.Sub(stage.from), 0))
			}
		}
		if found.driver.After(e.lastDriver) {
			e.lastDriver = found.driver
		}
		if found.ended.After(e.lastEnd) {
			e.lastEnd = found.ended
		}
	}
	return e
}

// left counts the states of those that have not come so far.
func (l *lives) left(keys []string, reached func(*life) bool) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	states := map[v1beta2.ApplicationStateType]int{}
	for _, key := range keys {
		if found := l.of(key); !reached(found) {
			states[found.state]++
		}
	}
	return fmt.Sprintf("applications that are waited for, by state: %v", states)
}
