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
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/clustertest"
)

var (
	killLoops = flag.Int("kill-loops", 3, "how often the server is killed at a random moment")
	killSeed  = flag.Uint64("kill-seed", uint64(time.Now().UnixNano()), "chooses the moments")
)

// The real process with its embedded store is killed with SIGKILL, at moments that nobody has chosen. After each of them
// the applications that were under way come to their ends, each with one driver pod for an attempt, and what the store
// had confirmed is there.
func TestServerKilledAtRandomMoments(t *testing.T) {
	c := clustertest.New(t, cluster.Options{})
	server, err := c.StartSparkAPIServer(t.Context(), cluster.ServerOptions{FeatureGates: nativeScheduling, DataDir: filepath.Join(c.Dir, "store")})
	require.NoError(t, err)
	e, err := newEnvironment(c, server)
	require.NoError(t, err)
	t.Logf("-kill-seed=%d", *killSeed)
	chance := rand.New(rand.NewPCG(*killSeed, 0))
	n := e.tenant(t)
	n.addNode("32")
	once := func(app *v1beta2.SparkApplication) {
		app.Spec.RestartPolicy = v1beta2.RestartPolicy{
			Type: v1beta2.RestartPolicyOnFailure, OnFailureRetries: new(int32(1)), OnFailureRetryInterval: new(int64(1)),
		}
	}
	for loop := range *killLoops {
		name := func(kind string) string { return fmt.Sprintf("%s-%d", kind, loop) }
		n.create(n.application(name("gang"), gang, executors(2)))
		n.create(n.application(name("plain"), executors(1), withSideObjects))
		n.create(n.application(name("retried"), gang, executors(1), outcome("fail"), once))
		time.Sleep(time.Duration(chance.IntN(4000)) * time.Millisecond)
		server.Kill()
		require.NoError(t, server.Start(t.Context()))
		require.NoError(t, c.WaitAPIServiceAvailable(t.Context(), "v1beta2.sparkoperator.k8s.io"))
		for kind, attempts := range map[string]int{"gang": 1, "plain": 1, "retried": 2} {
			end := v1beta2.ApplicationStateCompleted
			if kind == "retried" {
				end = v1beta2.ApplicationStateFailed
			}
			app := n.untilState(name(kind), end)
			assert.EqualValues(t, attempts, app.Status.ExecutionAttempts, app.Name)
			assert.EqualValues(t, attempts, app.Status.SubmissionAttempts, app.Name)
			drivers := n.creations("pods", func(e *auditv1.Event) bool { return e.ObjectRef.Name == app.Name+"-driver" })
			assert.Len(t, drivers, attempts, "%s: driver pods that were created", app.Name)
			require.NoError(t, n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Delete(t.Context(), app.Name, metav1.DeleteOptions{}))
		}
		n.until("nothing is left of the applications", func(c *assert.CollectT) { assert.Empty(c, n.leftovers()) })
		require.False(t, t.Failed(), "loop %d of -kill-seed=%d", loop, *killSeed)
	}
}
