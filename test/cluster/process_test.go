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
	"context"
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func shell(t *testing.T, script string) *Process {
	t.Helper()
	p := &Process{Name: "sh", path: "/bin/sh", args: []string{"-c", script}, LogPath: filepath.Join(t.TempDir(), "sh.log"), timeout: time.Minute}
	t.Cleanup(p.Kill)
	return p
}

func TestProcessLife(t *testing.T) {
	p := shell(t, "echo begun; exec sleep 600")
	assert.False(t, p.Running())
	require.Error(t, p.Pause(), "what doesn't run can't be paused")
	p.ready = func(context.Context) error {
		if content, err := p.Log(); err != nil || content != "begun\n" {
			return errors.New("not yet")
		}
		return nil
	}
	require.NoError(t, p.Start(t.Context()))
	require.True(t, p.Running())
	first := p.PID()
	require.NoError(t, p.Start(t.Context()))
	assert.Equal(t, first, p.PID(), "a second start does nothing")

	require.NoError(t, p.Pause())
	p.Stop()
	assert.False(t, p.Running(), "a paused program can be stopped")
	p.ready = nil
	require.NoError(t, p.Start(t.Context()))
	assert.NotEqual(t, first, p.PID())
	p.Kill()
	assert.False(t, p.Running())
}

func TestProcessThatEndsEarly(t *testing.T) {
	p := shell(t, "echo the reason; exit 3")
	p.ready = func(context.Context) error { return errors.New("no answer") }
	err := p.Start(t.Context())
	require.ErrorContains(t, err, "ended before it was ready: exit status 3")
	assert.ErrorContains(t, err, "the reason")
}

func TestProcessThatIsNeverReady(t *testing.T) {
	p := shell(t, "exec sleep 600")
	p.timeout = 100 * time.Millisecond
	p.ready = func(context.Context) error { return errors.New("no answer") }
	require.ErrorContains(t, p.Start(t.Context()), "no answer")
	assert.False(t, p.Running(), "nothing may be left behind")
}

// An id that was given to another program meanwhile must not be signalled.
func TestAttachedProcessIsRecognized(t *testing.T) {
	p := shell(t, "exec sleep 600")
	require.NoError(t, p.Start(t.Context()))
	recorded := p.record()

	stranger := &Process{Name: "sh", pid: recorded.PID, identity: recorded.Identity + "-earlier"}
	assert.False(t, stranger.Running())
	stranger.Stop()
	require.Error(t, stranger.signal(syscall.SIGTERM))
	assert.True(t, p.Running(), "a process that isn't the recorded one must live")

	attached := &Process{Name: "sh", pid: recorded.PID, identity: recorded.Identity}
	assert.True(t, attached.Running())
	attached.Stop()
	assert.False(t, attached.Running())
	require.Eventually(t, func() bool { return !p.Running() }, time.Minute, time.Millisecond, "whoever started it notices")
}
