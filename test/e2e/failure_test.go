//go:build linux

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

package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// long is a job that runs until it is stopped: the tests that use it don't wait for its end.
var long = arguments("100000", "1000")

// An executor that dies when the gang runs is replaced by itself, and the job completes.
func TestExecutorIsReplaced(t *testing.T) {
	n := newTenant(t)
	// Longer than it takes to have a new executor, on any machine that can run the test at all.
	n.create(n.pi("jvm", newest, arguments("120", "1000")))
	n.untilScheduling("pi", metav1.ConditionTrue, "GangAdmitted")
	before := map[string]bool{}
	pods := n.untilExecutorsRun("pi", 3)
	for i := range pods {
		before[string(pods[i].UID)] = true
	}
	n.killJava(pods[0].Name, executorContainer)
	n.until("a new executor has a node", func(c *attempt) {
		fresh := 0
		for _, pod := range n.executors("pi") {
			if !before[string(pod.UID)] && pod.Spec.NodeName != "" {
				fresh++
			}
		}
		assert.Equal(c, 1, fresh)
	})
	n.untilState("pi", v1beta2.ApplicationStateCompleted)
	assert.Contains(t, n.driverLog("pi"), "Pi is roughly 3.1")
}

// A driver that dies fails the application, with what its container ended with.
func TestDriverIsKilled(t *testing.T) {
	n := newTenant(t)
	n.create(n.pi("jvm", newest, long))
	n.untilExecutorsRun("pi", 3)
	driver := n.driver("pi")
	n.killJava(driver.Name, driverContainer)
	app := n.untilState("pi", v1beta2.ApplicationStateFailed)
	// 128 and the number of the signal, as every shell has it.
	assert.Equal(t, "driver container failed with ExitCode: 137, Reason: Error", app.Status.AppState.ErrorMessage)
	n.until("executors are gone", func(c *attempt) {
		assert.Empty(c, n.executors("pi"))
	})
}

// Deletion in the middle of a run leaves nothing: no object and no container.
func TestDeletionLeavesNothing(t *testing.T) {
	n := newTenant(t)
	existing := n.objects()
	n.create(n.pi("jvm", newest, long))
	existing["configmaps/pi"] = true // the test's own
	n.untilExecutorsRun("pi", 3)
	require.NotEmpty(t, n.containers(), "containers of a running application")

	require.NoError(t, n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Delete(t.Context(), "pi", metav1.DeleteOptions{}))
	n.until("the application is gone", func(c *attempt) {
		_, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Get(t.Context(), "pi", metav1.GetOptions{})
		assert.True(c, apierrors.IsNotFound(err), "%v", err)
	})
	n.until("no object is left", func(c *attempt) {
		for name := range n.objects() {
			assert.True(c, existing[name], name)
		}
	})
	n.until("no container is left", func(c *attempt) {
		assert.Empty(c, n.containers())
	})
}

// objects are all objects of the namespace that an application could have, as kind/name; not Events.
func (n *tenant) objects() map[string]bool {
	n.t.Helper()
	found := map[string]bool{}
	for _, kind := range []string{"pods", "services", "configmaps", "secrets", "persistentvolumeclaims", "workloads.scheduling.k8s.io", "podgroups.scheduling.k8s.io"} {
		out, _, err := n.Kubectl(n.t.Context(), "", "-n", n.namespace, "get", kind, "-o", "jsonpath={.items[*].metadata.name}")
		require.NoError(n.t, err)
		for name := range strings.FieldsSeq(out) {
			found[kind+"/"+name] = true
		}
	}
	return found
}

// containers are the containers of the namespace that run on the node.
func (n *tenant) containers() []string {
	n.t.Helper()
	ids, err := n.Running(n.t.Context(), n.namespace)
	require.NoError(n.t, err)
	return ids
}
