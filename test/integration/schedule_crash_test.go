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
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/schedules"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/clustertest"
)

// The server is killed at every write around a slot. Whenever that is, the slot has one run in the end.
func TestServerKilledAtASlot(t *testing.T) {
	c := clustertest.New(t, cluster.Options{})
	binary := faultyServer(t, c)
	// One store for all: another one would not be accepted by the guard of the store's identity.
	store := filepath.Join(c.Dir, "store")
	for _, point := range []string{"before-run-create", "after-run-create", "before-schedule-status", "after-schedule-status"} {
		t.Run(point, func(t *testing.T) {
			// The schedule becomes due while nobody looks after it.
			o := cluster.ServerOptions{Binary: binary, Name: point + "-before", DataDir: store, ExtraFlags: []string{"--controllers=*,-scheduledsparkapplication"}}
			server, err := c.StartSparkAPIServer(t.Context(), o)
			require.NoError(t, err)
			e, err := newEnvironment(c, server)
			require.NoError(t, err)
			n := e.tenant(t)
			n.addNode("4")
			n.createSchedule(n.schedule("pi", "@every 1h", executors(1)))
			slot := n.dueOnce("pi", time.Hour)
			server.Stop()

			o.Env, o.Name, o.ExtraFlags = []string{"SPARK_APISERVER_FAULT=" + point + "=kill"}, point, nil
			// Nobody asks it anything, and it may be dead before it was seen to be ready.
			o.WithoutRegistration = true
			if faulty, err := c.StartSparkAPIServer(t.Context(), o); err == nil {
				e.server = faulty
				n.until("the server has killed itself", func(c *assert.CollectT) { assert.False(c, faulty.Running()) })
			}

			o.Env, o.Name, o.WithoutRegistration = nil, point+"-again", false
			e.server, err = c.StartSparkAPIServer(t.Context(), o)
			require.NoError(t, err)
			defer e.server.Stop()
			n.untilRun("pi", slot)
			n.until("the status names the run", func(c *assert.CollectT) {
				assert.Equal(c, []string{schedules.RunName("pi", slot)}, n.getSchedule("pi").Status.PastSuccessfulRunNames)
			})
			status := n.getSchedule("pi").Status
			assert.Equal(t, schedules.RunName("pi", slot), status.LastRunName)
			assert.True(t, status.NextRun.Time.Equal(slot.Add(time.Hour)))
			runs := n.scheduledRuns("pi")
			require.Len(t, runs, 1)
			assert.True(t, status.LastRun.Equal(&runs[0].CreationTimestamp))
			drivers := n.creations("pods", func(e *auditv1.Event) bool { return strings.Contains(e.ObjectRef.Name, "driver") })
			assert.Len(t, drivers, 1, "one driver: %v", drivers)
		})
	}
}
