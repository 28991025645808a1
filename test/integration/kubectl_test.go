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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// manifest is what a user would have in a file.
func manifest(t *testing.T, app *v1beta2.SparkApplication) string {
	t.Helper()
	app = app.DeepCopy()
	app.APIVersion, app.Kind = "sparkoperator.k8s.io/v1beta2", "SparkApplication"
	out, err := yaml.Marshal(app)
	require.NoError(t, err)
	return string(out)
}

func (n *tenant) kubectl(stdin string, args ...string) (stdout, stderr string, err error) {
	n.t.Helper()
	return n.Kubectl(n.t.Context(), stdin, append([]string{"-n", n.namespace}, args...)...)
}

func (n *tenant) mustKubectl(stdin string, args ...string) string {
	n.t.Helper()
	out, errOut, err := n.kubectl(stdin, args...)
	require.NoError(n.t, err, out+errOut)
	return out
}

func suspended(app *v1beta2.SparkApplication) { app.Spec.Suspend = new(true) }

// kubectl treats our kind as it treats a built-in one.
func TestKubectl(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	file := manifest(t, n.application("pi", gang, executors(2), suspended))
	n.mustKubectl(file, "apply", "-f", "-")

	t.Run("a fresh object has no status", func(t *testing.T) {
		out := in(n, t).mustKubectl(manifest(t, n.application("fresh", suspended)), "create", "--dry-run=server", "-f", "-", "-o", "json")
		var fresh map[string]any
		require.NoError(t, json.Unmarshal([]byte(out), &fresh))
		assert.NotContains(t, fresh, "status")
		_, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Get(t.Context(), "fresh", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "a dry run stores nothing")
	})
	t.Run("explain", func(t *testing.T) {
		out := in(n, t).mustKubectl("", "explain", "sparkapp.spec.scheduling")
		for _, want := range []string{"schedulingPolicy", "batchScheduler", "admissionDeadlineSeconds", "immutable"} {
			assert.Contains(t, out, want)
		}
		out = in(n, t).mustKubectl("", "explain", "sparkapplication.spec.driver", "--recursive")
		assert.Contains(t, out, "terminationGracePeriodSeconds")
	})
	t.Run("get", func(t *testing.T) {
		n := in(n, t)
		n.untilState("pi", v1beta2.ApplicationStateSuspended)
		out := n.mustKubectl("", "get", "sparkapps")
		for _, column := range []string{"NAME", "SUSPEND", "STATUS", "ATTEMPTS", "START", "FINISH", "AGE"} {
			assert.Contains(t, out, column)
		}
		assert.Contains(t, out, "SUSPENDED")
		wide := n.mustKubectl("", "get", "sparkapplications", "-o", "wide")
		assert.Greater(t, len(strings.Fields(strings.Split(wide, "\n")[0])), len(strings.Fields(strings.Split(out, "\n")[0])))
		assert.Contains(t, n.mustKubectl("", "get", "sparkapp", "--field-selector", "metadata.name=pi", "-o", "name"), "sparkapplication.sparkoperator.k8s.io/pi")
		assert.Empty(t, n.mustKubectl("", "get", "sparkapp", "--field-selector", "metadata.name=other", "-o", "name"))
		out, errOut, err := n.Kubectl(t.Context(), "", "get", "sparkapp", "-A", "--field-selector", "metadata.namespace="+n.namespace, "-o", "name")
		require.NoError(t, err, errOut)
		assert.Len(t, strings.Fields(out), 1)
		_, errOut, err = n.kubectl("", "get", "sparkapp", "--field-selector", "spec.type=Scala")
		require.Error(t, err)
		assert.Contains(t, errOut, "spec.type")
	})
	t.Run("unknown fields", func(t *testing.T) {
		n := in(n, t)
		bad := strings.Replace(manifest(t, n.application("typo", suspended)), "sparkVersion:", "sparkVersoin: x\n  sparkVersion:", 1)
		_, errOut, err := n.kubectl(bad, "create", "--dry-run=server", "--validate=strict", "-f", "-")
		require.Error(t, err)
		assert.Contains(t, errOut, "sparkVersoin")
		// kubectl's own default is strict; the server's is to warn.
		out, errOut, err := n.kubectl(bad, "create", "--dry-run=server", "--validate=warn", "-f", "-")
		require.NoError(t, err, out)
		assert.Contains(t, errOut, `Warning: unknown field "spec.sparkVersoin"`)
		// A template keeps what this release doesn't know, and says so.
		withTemplate := strings.Replace(manifest(t, n.application("template", suspended)), "  driver:", "  driver:\n    template: {spec: {someNewField: 1, containers: [{name: spark-kubernetes-driver}]}}", 1)
		out, errOut, err = n.kubectl(withTemplate, "create", "--dry-run=server", "--validate=strict", "-f", "-", "-o", "yaml")
		require.NoError(t, err, errOut)
		assert.Contains(t, out, "someNewField: 1")
		assert.Contains(t, errOut, "someNewField")
	})
	t.Run("apply again is no change", func(t *testing.T) {
		n := in(n, t)
		before := n.get("pi")
		assert.Contains(t, n.mustKubectl(file, "apply", "-f", "-"), "pi")
		after := n.get("pi")
		assert.Equal(t, before.Generation, after.Generation)
		assert.Equal(t, before.Spec, after.Spec)
	})
	t.Run("server-side apply by two managers", func(t *testing.T) {
		n := in(n, t)
		ours := manifest(t, n.application("shared", suspended))
		n.mustKubectl(ours, "apply", "--server-side", "--field-manager=one", "-f", "-")
		other := "apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\nmetadata: {name: shared, labels: {team: data}}\nspec: {executor: {instances: 3}}\n"
		n.mustKubectl(other, "apply", "--server-side", "--field-manager=two", "-f", "-")
		app := n.get("shared")
		assert.EqualValues(t, 3, *app.Spec.Executor.Instances)
		assert.Equal(t, "data", app.Labels["team"])
		// The first manager now contradicts the second and is told so.
		_, errOut, err := n.kubectl(manifest(t, n.application("shared", suspended, executors(9))), "apply", "--server-side", "--field-manager=one", "-f", "-")
		require.Error(t, err)
		assert.Contains(t, errOut, "conflict with \"two\"")
		assert.Contains(t, errOut, ".spec.executor.instances")
		// What the second gives up goes.
		n.mustKubectl(strings.Replace(other, "labels: {team: data}", "labels: {}", 1), "apply", "--server-side", "--field-manager=two", "-f", "-")
		assert.NotContains(t, n.get("shared").Labels, "team")
	})
	t.Run("watch", func(t *testing.T) {
		n := in(n, t)
		out := n.mustKubectl("", "wait", "sparkapp/pi", "--for=condition=Suspended", "--timeout=60s")
		assert.Contains(t, out, "condition met")
		list, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		w, err := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion, TimeoutSeconds: new(int64(60))})
		require.NoError(t, err)
		defer w.Stop()
		n.mustKubectl("", "label", "sparkapp", "pi", "seen=yes")
		// The controller may have had a status to write in between.
		for event := range w.ResultChan() {
			app, ok := event.Object.(*v1beta2.SparkApplication)
			require.True(t, ok, "%T", event.Object)
			if app.Labels["seen"] == "yes" {
				return
			}
		}
		t.Fatal("the watch ended without the change")
	})
	t.Run("bad input is refused whole", func(t *testing.T) {
		n := in(n, t)
		bad := manifest(t, n.application("bad", func(app *v1beta2.SparkApplication) {
			app.Spec.Executor.Memory = new("1.5g")
			app.Spec.Type = "Cobol"
			app.Spec.Driver.VolumeMounts = nil
			app.Spec.SparkConf = map[string]string{"spark.master": "local[*]"}
		}))
		_, errOut, err := n.kubectl(bad, "apply", "-f", "-")
		require.Error(t, err)
		for _, want := range []string{"spec.type", "Cobol", "spec.executor.memory", "1.5g", "spark.master"} {
			assert.Contains(t, errOut, want)
		}
		_, err = n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace).Get(t.Context(), "bad", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err))
	})
}

// in is the same tenant in a subtest.
func in(n *tenant, t *testing.T) *tenant {
	return &tenant{environment: n.environment, t: t, namespace: n.namespace}
}

// .spec.scheduling can't be set, unset or edited, by whatever verb, through the aggregator.
func TestSchedulingIsImmutable(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	for name, c := range map[string]change{"none": func(*v1beta2.SparkApplication) {}, "gang": gang, "basic": basic} {
		n.create(n.application(name, c, suspended))
		// The status of the suspension is written first, or a PUT below would be a conflict.
		n.untilState(name, v1beta2.ApplicationStateSuspended)
	}
	const advice = "create a new SparkApplication"
	for _, row := range []struct{ app, what, path, merge string }{
		{"none", "set to empty", "spec.scheduling", `{"spec":{"scheduling":{}}}`},
		{"none", "set to gang", "spec.scheduling", `{"spec":{"scheduling":{"schedulingPolicy":{"gang":{}}}}}`},
		{"gang", "unset", "spec.scheduling", `{"spec":{"scheduling":null}}`},
		{"basic", "unset", "spec.scheduling", `{"spec":{"scheduling":null}}`},
		{"gang", "to basic", "spec.scheduling.schedulingPolicy", `{"spec":{"scheduling":{"schedulingPolicy":{"gang":null,"basic":{}}}}}`},
		{"gang", "a nested value", "spec.scheduling.admissionDeadlineSeconds", `{"spec":{"scheduling":{"admissionDeadlineSeconds":60}}}`},
		{"gang", "another scheduler", "spec.scheduling.batchScheduler", `{"spec":{"scheduling":{"schedulingPolicy":null,"batchScheduler":{"name":"volcano"}}}}`},
	} {
		t.Run(row.app+" "+row.what, func(t *testing.T) {
			n := in(n, t)
			before := n.get(row.app)
			refused := func(how string, err error) {
				t.Helper()
				require.Error(t, err, how)
				assert.True(t, apierrors.IsInvalid(err), "%s: %v", how, err)
				assert.Contains(t, err.Error(), row.path, how)
				assert.Contains(t, err.Error(), advice, how)
			}
			apps := n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace)
			_, err := apps.Patch(t.Context(), row.app, types.MergePatchType, []byte(row.merge), metav1.PatchOptions{})
			refused("merge patch", err)

			var edit struct {
				Spec struct {
					Scheduling map[string]any `json:"scheduling"`
				} `json:"spec"`
			}
			require.NoError(t, json.Unmarshal([]byte(row.merge), &edit))
			_, err = apps.Patch(t.Context(), row.app, types.JSONPatchType, []byte(jsonPatch(t, before, edit.Spec.Scheduling)), metav1.PatchOptions{})
			refused("JSON patch", err)

			put := before.DeepCopy()
			put.Spec.Scheduling = merged(t, before.Spec.Scheduling, edit.Spec.Scheduling)
			_, err = apps.Update(t.Context(), put, metav1.UpdateOptions{})
			refused("PUT", err)

			applied := put.DeepCopy()
			applied.ManagedFields, applied.ResourceVersion, applied.Status = nil, "", v1beta2.SparkApplicationStatus{}
			if applied.Spec.Scheduling != nil { // what an applier never owned it can't take away
				_, err = apps.Patch(t.Context(), row.app, types.ApplyPatchType, []byte(manifest(t, applied)), metav1.PatchOptions{FieldManager: "applier", Force: new(true)})
				refused("server-side apply", err)
			}
			assert.Equal(t, before.Spec.Scheduling, n.get(row.app).Spec.Scheduling)
		})
	}
	t.Run("the rest stays editable", func(t *testing.T) {
		n := in(n, t)
		n.mustKubectl("", "patch", "sparkapp", "gang", "--type=merge", "-p", `{"metadata":{"labels":{"a":"b"}},"spec":{"arguments":["1"],"timeToLiveSeconds":60}}`)
		assert.Equal(t, []string{"1"}, n.get("gang").Spec.Arguments)
	})
	t.Run("the same manifest again is no change", func(t *testing.T) {
		n := in(n, t)
		for name, c := range map[string]change{"gang": gang, "basic": basic} {
			n.mustKubectl(manifest(t, n.application("again-"+name, c, suspended)), "apply", "-f", "-")
			before := n.get("again-" + name)
			n.mustKubectl(manifest(t, n.application("again-"+name, c, suspended)), "apply", "-f", "-")
			assert.Equal(t, before.Generation, n.get("again-"+name).Generation)
		}
	})
}

// merged lays an edit over a scheduling block as a merge patch does; a nil edit removes the block.
func merged(t *testing.T, block *v1beta2.SparkSchedulingSpec, edit map[string]any) *v1beta2.SparkSchedulingSpec {
	t.Helper()
	if edit == nil {
		return nil
	}
	content := map[string]any{}
	if block != nil {
		raw, err := json.Marshal(block)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, &content))
	}
	lay(content, edit)
	raw, err := json.Marshal(content)
	require.NoError(t, err)
	out := &v1beta2.SparkSchedulingSpec{}
	require.NoError(t, json.Unmarshal(raw, out))
	return out
}

func lay(content, edit map[string]any) {
	for key, value := range edit {
		inner, isMap := value.(map[string]any)
		current, hasMap := content[key].(map[string]any)
		switch {
		case value == nil:
			delete(content, key)
		case isMap && hasMap:
			lay(current, inner)
		default:
			content[key] = value
		}
	}
}

func jsonPatch(t *testing.T, before *v1beta2.SparkApplication, edit map[string]any) string {
	t.Helper()
	if edit == nil {
		return `[{"op":"remove","path":"/spec/scheduling"}]`
	}
	raw, err := json.Marshal(merged(t, before.Spec.Scheduling, edit))
	require.NoError(t, err)
	return fmt.Sprintf(`[{"op":"add","path":"/spec/scheduling","value":%s}]`, raw)
}

// What kubectl spark render prints offline is what the controller makes, name for name.
func TestRenderedObjectsAreWhatTheControllerMakes(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.addNode("4")
	n.create(n.application("pi", gang, executors(2), outcome("hang")))
	app := n.untilState("pi", v1beta2.ApplicationStateRunning)

	path := filepath.Join(t.TempDir(), "pi.yaml")
	require.NoError(t, os.WriteFile(path, []byte(manifest(t, n.application("pi", gang, executors(2), outcome("hang")))), 0o600))
	render := exec.CommandContext(t.Context(), filepath.Join(n.Binaries.RepoRoot, "bin", "kubectl-spark"), "render", "-f", path,
		"--uid", string(app.UID), "--submission-id", app.Status.SubmissionID)
	out, err := render.Output()
	require.NoError(t, err)
	for _, name := range renderedNames(t, string(out)) {
		n.mustKubectl("", "get", name)
	}
}

// renderedNames are kind.group/name of every object in a stream of documents.
func renderedNames(t *testing.T, stream string) []string {
	t.Helper()
	var names []string
	for document := range strings.SplitSeq(stream, "\n---") {
		var object metav1.PartialObjectMetadata
		require.NoError(t, yaml.Unmarshal([]byte(document), &object))
		if object.Kind == "" {
			continue
		}
		kind := strings.ToLower(object.Kind)
		if group := object.GroupVersionKind().Group; group != "" {
			kind += "." + group
		}
		names = append(names, kind+"/"+object.Name)
	}
	require.GreaterOrEqual(t, len(names), 5)
	return names
}
