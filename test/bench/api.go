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

	"github.com/spark-apiserver/spark-apiserver/test/cluster"
)

// API measures requests for single objects: create, get, update, patch and delete, of every peer, with 1, 8 and more writers.
// No controller runs, since the peers have none.
func (o Options) API(ctx context.Context, report *Report) error {
	s, err := o.newStage(ctx, report, cluster.Options{WithoutKwok: true, WithoutSimulatedDriver: true}, cluster.ServerOptions{ExtraFlags: []string{"--controllers=-*"}})
	if err != nil {
		return err
	}
	defer s.Stop()
	if err := installCustomResource(ctx, s.dynamic); err != nil {
		return err
	}
	const namespace = "bench"
	if err := s.namespace(ctx, namespace); err != nil {
		return err
	}
	all, err := s.equalPeers(ctx, namespace)
	if err != nil {
		return err
	}
	warm := chosen(all, oursJSON, oursProtobuf, oursDirectJSON, oursDirectProtobuf, crdJSON, configMapJSON, configMapProtobuf)
	cold := chosen(all, oursCold, crdCold, configMapCold)
	for round := range o.Rounds {
		for _, writers := range o.Writers {
			s.say("bench: API, round %d of %d, %d writers", round+1, o.Rounds, writers)
			for _, p := range rotated(warm, round) {
				if err := s.objects(ctx, p, namespace, writers); err != nil {
					return fmt.Errorf("%s, %d writers: %w", p.name, writers, err)
				}
			}
		}
		for _, p := range rotated(cold, round) {
			if err := s.strangers(ctx, p, namespace); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
		for _, p := range rotated(warm, round) {
			if err := s.fanOut(ctx, p, namespace); err != nil {
				return fmt.Errorf("%s, watch: %w", p.name, err)
			}
		}
	}
	created := fmt.Sprintf("create, %d writers", o.Writers[len(o.Writers)-1])
	report.Promise("create: p99 beside a ConfigMap's", report.Ratio(created, "p99", oursJSON, configMapJSON), 1.5, false, "×")
	report.Promise("create: throughput beside the CRD's", report.Ratio(created, "rate", oursJSON, crdJSON), 1.3, true, "×")
	return nil
}

// objects writes and reads a round of objects.
func (s *stage) objects(ctx context.Context, p *peer, namespace string, writers int) error {
	names, bodies := make([]string, s.Objects), make([][]byte, s.Objects)
	for i := range names {
		names[i] = fmt.Sprintf("object-%06d", i)
		var err error
		if bodies[i], err = p.body(names[i]); err != nil {
			return err
		}
	}
	for _, step := range []struct {
		verb string
		call func(ctx context.Context, i int) ([]byte, error)
	}{
		{"create", func(ctx context.Context, i int) ([]byte, error) { return s.client.create(ctx, p, namespace, bodies[i]) }},
		{"get", func(ctx context.Context, i int) (answer []byte, err error) {
			bodies[i], err = s.client.get(ctx, p, namespace, names[i])
			return bodies[i], err
		}},
		{"update", func(ctx context.Context, i int) ([]byte, error) {
			return s.client.update(ctx, p, namespace, names[i], bodies[i])
		}},
		{"patch", func(ctx context.Context, i int) ([]byte, error) { return s.client.patch(ctx, p, namespace, names[i]) }},
		{"delete", func(ctx context.Context, i int) ([]byte, error) { return s.client.delete(ctx, p, namespace, names[i]) }},
	} {
		before, err := s.usage()
		if err != nil {
			return err
		}
		m, err := together(ctx, writers, s.Objects, step.call)
		if err != nil {
			return fmt.Errorf("%s: %w", step.verb, err)
		}
		after, err := s.usage()
		if err != nil {
			return err
		}
		topic := fmt.Sprintf("%s, %d writers", step.verb, writers)
		if writers == 1 {
			topic = step.verb + ", 1 writer"
		}
		s.add(topic, p, m)
		for _, program := range []cluster.Program{cluster.KubeAPIServer, cluster.SparkAPIServer, cluster.Etcd} {
			s.report.Add(topic, p.name, "CPU of "+string(program), "ms each", after.since(before, program)*1000/float64(s.Objects))
		}
	}
	return nil
}

func (s *stage) add(topic string, p *peer, m *measured) {
	s.report.Add(topic, p.name, "rate", "a second", m.rate())
	s.report.Add(topic, p.name, "p50", "ms", milliseconds(Percentile(m.latencies, 50)))
	s.report.Add(topic, p.name, "p99", "ms", milliseconds(Percentile(m.latencies, 99)))
	s.report.Add(topic, p.name, "answer", "bytes", float64(m.bytes)/float64(len(m.latencies)))
}

// strangers creates objects as users of whom the servers have not heard, whose rights no cache holds.
func (s *stage) strangers(ctx context.Context, p *peer, namespace string) error {
	count := max(s.Objects/4, 1)
	m, err := together(ctx, 1, count, func(ctx context.Context, i int) ([]byte, error) {
		body, err := p.body(fmt.Sprintf("stranger-%06d", i))
		if err != nil {
			return nil, err
		}
		return s.client.create(ctx, p, namespace, body)
	})
	if err != nil {
		return err
	}
	s.add("create by unknown users, 1 writer", p, m)
	return s.client.clear(ctx, p, namespace)
}
