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
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/spark-apiserver/spark-apiserver/test/cluster"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/clustertest"
)

// maxWaitingGangs is the limit of the shared server.
const maxWaitingGangs = 3

// shared is the control plane that most tests use, each in a namespace and on nodes of its own.
var shared *environment

func TestMain(m *testing.M) {
	os.Exit(clustertest.Main(m, cluster.Options{SchedulerProfiles: batchSchedulerProfiles}, func(ctx context.Context, c *cluster.Cluster) error {
		audit, err := auditFlags(c)
		if err != nil {
			return err
		}
		server, err := c.StartSparkAPIServer(ctx, cluster.ServerOptions{
			FeatureGates: nativeScheduling,
			Manifests:    withBatchSchedulers(c),
			// Short enough to be waited for, and without effect on whoever has no such trouble.
			ExtraFlags: append(audit, "--container-error-grace=5s", fmt.Sprintf("--max-waiting-gangs=%d", maxWaitingGangs)),
		})
		if err != nil {
			return err
		}
		shared, err = newEnvironment(c, server)
		return err
	}, serverIsNeverRefused))
}
