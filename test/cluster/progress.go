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

package cluster

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// signOfLife is how often a long step says that it is still at work.
const signOfLife = 15 * time.Second

// step reports a piece of work that may take long: its name at once, a sign of life now and then, and its end.
type step struct {
	name    string
	out     io.Writer
	started time.Time
	stop    chan struct{}
	wg      sync.WaitGroup
}

func newStep(out io.Writer, name string) *step {
	s := &step{name: name, out: out, started: time.Now(), stop: make(chan struct{})}
	fmt.Fprintf(out, "test cluster: %s\n", name)
	s.wg.Go(func() {
		ticker := time.NewTicker(signOfLife)
		defer ticker.Stop()
		for {
			select {
			case <-s.stop:
				return
			case <-ticker.C:
				fmt.Fprintf(out, "test cluster: %s: still at it after %s\n", name, s.elapsed())
			}
		}
	})
	return s
}

func (s *step) done(err error) {
	close(s.stop)
	s.wg.Wait()
	if err != nil {
		fmt.Fprintf(s.out, "test cluster: %s: failed after %s\n", s.name, s.elapsed())
		return
	}
	fmt.Fprintf(s.out, "test cluster: %s: done in %s\n", s.name, s.elapsed())
}

func (s *step) elapsed() time.Duration { return time.Since(s.started).Round(100 * time.Millisecond) }
