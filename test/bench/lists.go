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
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/test/cluster"
)

// ListLengths measures lists of many objects.
func (o Options) ListLengths(ctx context.Context, report *Report) error {
	s, err := o.newStage(ctx, report, cluster.Options{WithoutKwok: true, WithoutSimulatedDriver: true}, cluster.ServerOptions{ExtraFlags: []string{"--controllers=-*"}})
	if err != nil {
		return err
	}
	defer s.Stop()
	if err := installCustomResource(ctx, s.dynamic); err != nil {
		return err
	}
	all, err := s.equalPeers(ctx, metav1.NamespaceDefault)
	if err != nil {
		return err
	}
	measured := chosen(all, oursJSON, oursProtobuf, oursDirectJSON, oursDirectProtobuf, crdJSON, configMapJSON, configMapProtobuf)
	for _, length := range o.Lists {
		namespace := fmt.Sprintf("bench-%d", length)
		if err := s.namespace(ctx, namespace); err != nil {
			return err
		}
		// Each resource is filled once; peers that differ in their encoding read the same objects.
		for _, p := range chosen(all, oursDirectProtobuf, crdJSON, configMapProtobuf) {
			s.say("bench: storing %d objects as %s", length, p.resource.GroupResource())
			if _, err := together(ctx, 16, length, func(ctx context.Context, i int) ([]byte, error) {
				body, err := p.body(fmt.Sprintf("object-%06d", i))
				if err != nil {
					return nil, err
				}
				return s.client.create(ctx, p, namespace, body)
			}); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
		if err := s.listAll(ctx, fmt.Sprintf("list of %d", length), namespace, measured); err != nil {
			return err
		}
		plain := make([]*peer, 0, len(measured))
		for _, p := range measured {
			copied := *p
			copied.uncompressed = true
			plain = append(plain, &copied)
		}
		if err := s.listAll(ctx, fmt.Sprintf("list of %d, uncompressed", length), namespace, plain); err != nil {
			return err
		}
	}
	return nil
}

// listAll lists with every peer in turn.
func (s *stage) listAll(ctx context.Context, topic, namespace string, measured []*peer) error {
	s.profile(ctx, strings.ReplaceAll(strings.ReplaceAll(topic, ",", ""), " ", "-"))
	for round := range s.Rounds {
		s.say("bench: %s, round %d of %d", topic, round+1, s.Rounds)
		for _, p := range rotated(measured, round) {
			before, err := s.usage()
			if err != nil {
				return err
			}
			const times = 3
			m, err := together(ctx, 1, times, func(ctx context.Context, _ int) ([]byte, error) { return s.client.list(ctx, p, namespace) })
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			after, err := s.usage()
			if err != nil {
				return err
			}
			s.report.Add(topic, p.name, "time", "ms", milliseconds(Percentile(m.latencies, 50)))
			s.report.Add(topic, p.name, "answer", "MiB", float64(m.bytes)/times/(1<<20))
			s.report.Add(topic, p.name, "CPU", "ms", after.since(before)*1000/times)
			s.report.Add(topic, p.name, "peak of kube-apiserver", "MiB", after[cluster.KubeAPIServer].PeakMiB)
			s.report.Add(topic, p.name, "peak of spark-apiserver", "MiB", after[cluster.SparkAPIServer].PeakMiB)
		}
	}
	s.report.Promise(topic+": the CRD's time beside ours, JSON", s.report.Ratio(topic, "time", crdJSON, oursJSON), 3, true, "×")
	s.report.Promise(topic+": the CRD's time beside ours, protobuf", s.report.Ratio(topic, "time", crdJSON, oursProtobuf), 8, true, "×")
	return nil
}
