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
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
)

// profileSeconds is how long a CPU profile looks.
const profileSeconds = 10

// profiled numbers the profiles of this run.
var profiled atomic.Int64

// profile writes CPU profiles of our server and of kube-apiserver while what follows is measured, if somebody wants them. What
// goes wrong is told and disturbs nothing.
func (s *stage) profile(ctx context.Context, what string) {
	if s.Profiles == "" {
		return
	}
	number := profiled.Add(1)
	for name, p := range map[string]*peer{"spark-apiserver": {direct: true}, "kube-apiserver": {}} {
		go func() {
			file := filepath.Join(s.Profiles, fmt.Sprintf("%02d-%s-%s.pprof", number, what, name))
			if err := s.writeProfile(ctx, p, fmt.Sprintf("profile?seconds=%d", profileSeconds), file); err != nil {
				s.say("bench: no profile of %s: %v", name, err)
			}
		}()
	}
}

// heap writes what our server holds in memory, if somebody wants it.
func (s *stage) heap(ctx context.Context, what string) {
	if s.Profiles == "" {
		return
	}
	file := filepath.Join(s.Profiles, fmt.Sprintf("%02d-%s-heap.pprof", profiled.Add(1), what))
	if err := s.writeProfile(ctx, &peer{direct: true}, "heap", file); err != nil {
		s.say("bench: no profile of the heap: %v", err)
	}
}

func (s *stage) writeProfile(ctx context.Context, p *peer, profile, file string) error {
	response, err := s.client.request(ctx, p, http.MethodGet, "/debug/pprof/"+profile, "", nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", response.Status, content)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644)
}
