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
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/clustertest"
)

const (
	survivingCompleted = 1000
	survivingRunning   = 20
)

// Nothing runs again because the server was restarted, or because a newer one came and an older one came back, though the
// newer one has another default. A default applies to what is stored as well: an object that was stored without the field
// has it from then on, in every comparison.
func TestStoredApplicationsSurviveRestartAndUpgrade(t *testing.T) {
	c := clustertest.New(t, cluster.Options{})
	newer := serverWithAnotherDefault(t, c)
	run := func(name, binary string, flags ...string) *environment {
		server, err := c.StartSparkAPIServer(t.Context(), cluster.ServerOptions{
			Name: name, Binary: binary, DataDir: filepath.Join(c.Dir, "store"), FeatureGates: nativeScheduling, ExtraFlags: flags,
		})
		require.NoError(t, err)
		e, err := newEnvironment(c, server)
		require.NoError(t, err)
		return e
	}
	e := run("first", "")
	n := e.tenant(t)
	n.addNode("64")
	n.create(n.application("pi", gang, executors(2)))
	for i := range survivingRunning {
		n.create(n.application(fmt.Sprintf("running-%02d", i), gang, executors(1), outcome("hang")))
	}
	completed := n.untilState("pi", v1beta2.ApplicationStateCompleted)
	n.until("the end of pi is accounted for", func(c *assert.CollectT) {
		completed = n.get("pi")
		if assert.NotNil(c, completed.Status.ExecutorCounts) {
			assert.EqualValues(c, 2, completed.Status.ExecutorCounts.Completed)
		}
	})
	for i := range survivingRunning {
		n.untilCondition(fmt.Sprintf("running-%02d", i), v1beta2.ConditionWorkloadSchedulingReady, metav1.ConditionTrue, "GangAdmitted")
	}
	n.server.Stop()

	n.environment = run("without-controllers", "", "--controllers=-*")
	n.storeCompleted(completed, survivingCompleted-1)
	n.server.Stop()

	n.environment = run("again", "")
	n.quiet()
	before := n.picture()
	require.Len(t, before.versions, survivingCompleted+survivingRunning)
	n.server.Stop()
	for _, step := range []struct{ name, binary string }{
		{"restarted", ""}, {"upgraded", newer}, {"back", ""},
	} {
		n.environment = run(step.name, step.binary)
		n.quiet()
		assert.Equal(t, before, n.picture(), "%s: something was written or made", step.name)
		if step.name == "upgraded" {
			n.editInPlace(t)
			before = n.picture()
		}
		n.server.Stop()
	}
}

// editInPlace edits what acts in place, under a server with another default: the edit is one of what the user has
// edited, and the default is none.
func (n *tenant) editInPlace(t *testing.T) {
	t.Helper()
	before := n.get("running-00")
	_, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Patch(t.Context(), "running-00", types.MergePatchType,
		[]byte(`{"spec":{"timeToLiveSeconds":86400}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	n.until("the edit is taken over", func(c *assert.CollectT) {
		app := n.get("running-00")
		assert.Equal(c, app.Generation, app.Status.ObservedGeneration)
	})
	after := n.get("running-00")
	assert.NotEqual(t, before.Generation, after.Generation)
	assert.Equal(t, before.Status.SubmissionID, after.Status.SubmissionID, "an edit that acts in place has begun another attempt")
	assert.Equal(t, v1beta2.ApplicationStateRunning, after.Status.AppState.State)
}

// quiet waits until the controller has looked at every application. They take turns, and one that has more to do comes
// last again each time; so all were looked at when one that is created now has come to its end.
func (n *tenant) quiet() {
	n.t.Helper()
	const last = "last"
	n.create(n.application(last, executors(1)))
	n.untilState(last, v1beta2.ApplicationStateCompleted)
	require.NoError(n.t, n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Delete(n.t.Context(), last, metav1.DeleteOptions{}))
	n.until("nothing of the last one is left", func(c *assert.CollectT) { assert.Empty(c, n.pods(labelApp+"="+last)) })
}

// picture is what would show that something was done.
type picture struct {
	versions map[string]string
	attempts map[string]int32
	pods     map[string]types.UID
}

func (n *tenant) picture() picture {
	n.t.Helper()
	p := picture{versions: map[string]string{}, attempts: map[string]int32{}, pods: map[string]types.UID{}}
	list, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).List(n.t.Context(), metav1.ListOptions{})
	require.NoError(n.t, err)
	for i := range list.Items {
		app := &list.Items[i]
		p.versions[app.Name] = app.ResourceVersion
		p.attempts[app.Name] = app.Status.SubmissionAttempts
	}
	for _, pod := range n.pods("") {
		p.pods[pod.Name] = pod.UID
	}
	return p
}

// storeCompleted stores applications that have completed as the given one has. No controller may run meanwhile.
func (n *tenant) storeCompleted(like *v1beta2.SparkApplication, count int) {
	n.t.Helper()
	status, err := json.Marshal(like.Status)
	require.NoError(n.t, err)
	applications := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace)
	for i := range count {
		app, err := applications.Create(n.t.Context(), n.application(fmt.Sprintf("stored-%04d", i), gang, executors(2)), metav1.CreateOptions{})
		require.NoError(n.t, err)
		id := uuid.NewString()
		replaced := strings.NewReplacer(like.Status.SubmissionID, id, strings.ReplaceAll(like.Status.SubmissionID, "-", ""), strings.ReplaceAll(id, "-", ""),
			like.Status.DriverInfo.PodName, app.Name+"-driver").Replace(string(status))
		app.Status = v1beta2.SparkApplicationStatus{}
		require.NoError(n.t, json.Unmarshal([]byte(replaced), &app.Status))
		_, err = applications.UpdateStatus(n.t.Context(), app, metav1.UpdateOptions{})
		require.NoError(n.t, err)
	}
}

// serverWithAnotherDefault builds our server as a next release would be that has one default more, and that therefore
// raises the version of the restart hash, as the code asks whoever changes a default.
func serverWithAnotherDefault(t *testing.T, c *cluster.Cluster) string {
	t.Helper()
	root := c.Binaries.RepoRoot
	dir := filepath.Join(root, ".cache", "another-default")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for file, edit := range map[string][2]string{
		"pkg/apis/sparkoperator/v1beta2/defaults.go": {
			"\tsetRestartPolicyDefaults(&spec.RestartPolicy)\n",
			"\tsetRestartPolicyDefaults(&spec.RestartPolicy)\n\tif spec.ImagePullPolicy == nil {\n\t\tspec.ImagePullPolicy = new(\"IfNotPresent\")\n\t}\n",
		},
		"pkg/controller/sparkapplication/restarthash.go": {
			`restartHashVersion = "v1"`, `restartHashVersion = "v2"`,
		},
	} {
		content, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(content), edit[0]), "%s: the place of the edit", file)
		edited := filepath.Join(dir, filepath.Base(file))
		require.NoError(t, os.WriteFile(edited, []byte(strings.Replace(string(content), edit[0], edit[1], 1)), 0o600))
		overlay.Replace[filepath.Join(root, file)] = edited
	}
	encoded, err := json.Marshal(overlay)
	require.NoError(t, err)
	overlayFile := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(overlayFile, encoded, 0o600))
	path := filepath.Join(dir, "spark-apiserver")
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlayFile, "-o", path, "./cmd/spark-apiserver")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}
