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
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// fanOut creates objects while many watch, and measures until every watcher has been told of each of them.
func (s *stage) fanOut(ctx context.Context, p *peer, namespace string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var watching sync.WaitGroup
	var arrivals sync.Mutex
	var all []time.Duration
	var total int64
	created := make([]time.Time, s.Objects)
	errs := make(chan error, s.Watchers)
	open := make(chan struct{}, s.Watchers)
	for range s.Watchers {
		watching.Go(func() {
			errs <- s.watch(ctx, p, namespace, open, func(i int, size int) {
				arrivals.Lock()
				defer arrivals.Unlock()
				all = append(all, time.Since(created[i]))
				total += int64(size)
			})
		})
	}
	for range s.Watchers {
		select {
		case <-open:
		case err := <-errs:
			return err
		}
	}
	started := time.Now()
	if _, err := together(ctx, 8, s.Objects, func(ctx context.Context, i int) ([]byte, error) {
		body, err := p.body(fmt.Sprintf("watched-%06d", i))
		if err != nil {
			return nil, err
		}
		arrivals.Lock()
		created[i] = time.Now()
		arrivals.Unlock()
		return s.client.create(ctx, p, namespace, body)
	}); err != nil {
		return err
	}
	watching.Wait()
	elapsed := time.Since(started)
	for range s.Watchers {
		if err := <-errs; err != nil {
			return err
		}
	}
	topic := fmt.Sprintf("watch, %d watchers, 8 writers", s.Watchers)
	s.report.Add(topic, p.name, "rate", "events a second", float64(len(all))/elapsed.Seconds())
	s.report.Add(topic, p.name, "p50", "ms from request", milliseconds(Percentile(all, 50)))
	s.report.Add(topic, p.name, "p99", "ms from request", milliseconds(Percentile(all, 99)))
	s.report.Add(topic, p.name, "event", "bytes", float64(total)/float64(len(all)))
	return s.client.clear(ctx, p, namespace)
}

// watch reads the events of a watch until it has seen a creation of every object.
func (s *stage) watch(ctx context.Context, p *peer, namespace string, open chan<- struct{}, arrived func(i, size int)) error {
	current, err := s.client.do(ctx, p, http.MethodGet, p.path(namespace)+"?limit=1", "", nil)
	if err != nil || len(current) == 0 {
		return fmt.Errorf("list before the watch: %w", err)
	}
	// Nothing is stored in this namespace, so that a watch from "now on" misses nothing and starts with nothing.
	response, err := s.client.request(ctx, p, http.MethodGet, p.path(namespace)+"?watch=1", "", nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("watch: %s", response.Status)
	}
	open <- struct{}{}
	stream := bufio.NewReaderSize(response.Body, 64<<10)
	for seen := 0; seen < s.Objects; {
		event, err := readEvent(stream, p.protobuf)
		if err != nil {
			return fmt.Errorf("after %d events: %w", seen, err)
		}
		// The name stands in the event in every encoding. Updates by nobody: each event is a creation.
		var i int
		if at := bytes.Index(event, []byte("watched-")); at < 0 {
			continue
		} else if _, err := fmt.Sscanf(string(event[at:at+len("watched-000000")]), "watched-%06d", &i); err != nil {
			return err
		}
		arrived(i, len(event))
		seen++
	}
	return nil
}

// readEvent reads a line of JSON, or a frame of protobuf, which begins with its length in four bytes.
func readEvent(stream *bufio.Reader, protobuf bool) ([]byte, error) {
	if !protobuf {
		return stream.ReadBytes('\n')
	}
	var length [4]byte
	if _, err := io.ReadFull(stream, length[:]); err != nil {
		return nil, err
	}
	const most = 16 << 20
	size := binary.BigEndian.Uint32(length[:])
	if size > most {
		return nil, errors.New("a frame of more than 16 MiB")
	}
	event := make([]byte, size)
	_, err := io.ReadFull(stream, event)
	return event, err
}
