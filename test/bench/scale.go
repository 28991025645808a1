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
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	versioned "github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
)

// Scale measures what applications cost that are only stored: memory, start, lists, and what is asked and written while nothing
// happens. They are suspended, so that the controller knows each of them and has nothing to do.
func (o Options) Scale(ctx context.Context, report *Report) error {
	var sizes, memory, start, list, idleCPU []float64
	for _, size := range o.Stored {
		m, err := o.stored(ctx, report, size)
		if err != nil {
			return fmt.Errorf("%d applications: %w", size, err)
		}
		sizes = append(sizes, float64(size))
		memory, start, list, idleCPU = append(memory, m.memory), append(start, m.start), append(list, m.list), append(idleCPU, m.idleCPU)
	}
	const topic = "growth: exponent of the number of applications"
	for _, cost := range []struct {
		name  string
		costs []float64
	}{{"memory", memory}, {"start", start}, {"list", list}, {"idle CPU", idleCPU}} {
		if len(sizes) > 1 {
			report.Add(topic, "ours", cost.name, "exponent", Exponent(sizes, cost.costs))
		}
	}
	return nil
}

type storedCosts struct{ memory, start, list, idleCPU float64 }

func (o Options) stored(ctx context.Context, report *Report, size int) (*storedCosts, error) {
	s, err := o.newStage(ctx, report, cluster.Options{WithoutKwok: true, WithoutSimulatedDriver: true}, cluster.ServerOptions{Audited: true})
	if err != nil {
		return nil, err
	}
	defer s.Stop()
	empty, err := s.restart(ctx)
	if err != nil {
		return nil, err
	}
	all, err := peers(0)
	if err != nil {
		return nil, err
	}
	p := chosen(all, oursProtobuf)[0]
	const namespace = "bench"
	if err := s.namespace(ctx, namespace); err != nil {
		return nil, err
	}
	s.say("bench: storing %d applications", size)
	stored, err := together(ctx, 16, size, func(ctx context.Context, i int) ([]byte, error) {
		body, err := p.body(fmt.Sprintf("stored-%06d", i))
		if err != nil {
			return nil, err
		}
		return s.client.create(ctx, p, namespace, body)
	})
	if err != nil {
		return nil, err
	}
	if err := s.settled(ctx, namespace, size); err != nil {
		return nil, err
	}
	topic := fmt.Sprintf("%d stored applications", size)
	add := func(name, unit string, value float64) { report.Add(topic, "ours", name, unit, value) }
	add("start, empty store", "s", empty.Seconds())
	add("creates", "a second", stored.rate())

	before, err := s.usage()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	s.say("bench: watching %d idle applications for %s", size, o.Idle)
	select {
	case <-time.After(o.Idle):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	after, err := s.usage()
	if err != nil {
		return nil, err
	}
	s.heap(ctx, fmt.Sprintf("stored-%d", size))
	writes, err := s.writesSince(began)
	if err != nil {
		return nil, err
	}
	idle := after.since(before, cluster.SparkAPIServer) / o.Idle.Seconds() * 100
	add("idle: writes but Leases", "in "+o.Idle.String(), float64(writes))
	add("idle: CPU of spark-apiserver", "% of a core", idle)
	add("memory after the burst", "MiB", after[cluster.SparkAPIServer].MemoryMiB)
	add("peak", "MiB", after[cluster.SparkAPIServer].PeakMiB)

	again, err := s.restart(ctx)
	if err != nil {
		return nil, err
	}
	add("start", "s", again.Seconds())
	// What is stored is all in the caches now, and nothing else has happened yet.
	select {
	case <-time.After(o.Idle):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if after, err = s.usage(); err != nil {
		return nil, err
	}
	s.heap(ctx, fmt.Sprintf("restarted-%d", size))
	add("memory", "MiB", after[cluster.SparkAPIServer].MemoryMiB)
	lists, err := together(ctx, 1, max(o.Rounds, 1), func(ctx context.Context, _ int) ([]byte, error) { return s.client.list(ctx, p, namespace) })
	if err != nil {
		return nil, err
	}
	list := Percentile(lists.latencies, 50)
	add("list, protobuf", "ms", milliseconds(list))

	const budgeted = 10_000
	if size == budgeted {
		report.Promise("start: embedded, empty store, ready", empty.Seconds(), 3, false, "s")
		report.Promise("10,000 idle applications: writes but Leases", float64(writes), 0, false, "writes")
		report.Promise("10,000 idle applications: memory of the server", after[cluster.SparkAPIServer].MemoryMiB, 600, false, "MiB")
	}
	return &storedCosts{memory: after[cluster.SparkAPIServer].MemoryMiB, start: again.Seconds(), list: milliseconds(list), idleCPU: idle}, nil
}

// restart stops our server and returns how long its next start takes until it is ready.
func (s *stage) restart(ctx context.Context) (time.Duration, error) {
	s.server.Process.Stop()
	began := time.Now()
	if err := s.server.Start(ctx); err != nil {
		return 0, err
	}
	took := time.Since(began)
	return took, s.WaitAPIServiceAvailable(ctx, "v1beta2.sparkoperator.k8s.io")
}

// settled returns once the status of every application says that it is suspended.
func (s *stage) settled(ctx context.Context, namespace string, size int) error {
	client, err := versioned.NewForConfig(s.AdminConfig())
	if err != nil {
		return err
	}
	waiting := 0
	err = wait.PollUntilContextTimeout(ctx, 2*time.Second, submissionPatient, true, func(ctx context.Context) (bool, error) {
		list, err := client.SparkoperatorV1beta2().SparkApplications(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		waiting = size - len(list.Items)
		for i := range list.Items {
			if list.Items[i].Status.AppState.State == "" {
				waiting++
			}
		}
		return waiting == 0, nil
	})
	if err != nil {
		return fmt.Errorf("%d applications have no status: %w", waiting, err)
	}
	return nil
}

// writesSince counts what our server has written since then, at both servers, but for Leases.
func (s *stage) writesSince(began time.Time) (int, error) {
	events, err := s.OwnRequests(s.server, func(e *auditv1.Event) bool {
		if e.ObjectRef == nil || e.StageTimestamp.Time.Before(began) {
			return false
		}
		switch e.ObjectRef.Resource {
		case "leases", "subjectaccessreviews", "tokenreviews": // reviews are questions in the form of a write
			return false
		}
		return cluster.IsWrite(e)
	})
	return len(events), err
}
