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

package render

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const minimal = `apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata:
  name: pi
spec:
  sparkVersion: 4.0.1
  image: spark:4.0.1
  mainClass: org.example.Pi
  mainApplicationFile: local:///opt/app.jar
  driver: {}
  executor: {}
`

const gang = minimal + `  scheduling:
    schedulingPolicy:
      gang: {}
`

const configMap = `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
`

func names(t *testing.T, stdin string, args ...string) []string {
	t.Helper()
	stdout, stderr, err := run(t, stdin, append([]string{"-f", "-", "-o", "name"}, args...)...)
	require.NoError(t, err, stderr)
	return strings.Split(strings.TrimSpace(stdout), "\n")
}

func kinds(lines []string) []string {
	var kinds []string
	for _, line := range lines {
		kind, _, _ := strings.Cut(line, "/")
		kinds = append(kinds, kind)
	}
	return kinds
}

func TestObjectsAreInOrderOfCreation(t *testing.T) {
	assert.Equal(t, []string{"configmap", "service", "pod", "service"}, kinds(names(t, minimal)))
	assert.Equal(t, []string{"workload.scheduling.k8s.io", "podgroup.scheduling.k8s.io", "configmap", "service", "pod", "service"}, kinds(names(t, gang)))
}

func TestIngressOfTheUI(t *testing.T) {
	lines := names(t, minimal, "--ingress-url-format={{$appName}}.example.com")
	assert.Equal(t, []string{"configmap", "service", "pod", "service", "ingress.networking.k8s.io"}, kinds(lines))
	_, _, err := run(t, minimal, "-f", "-", "--ingress-url-format={{$name}}.example.com")
	require.ErrorContains(t, err, "--ingress-url-format")
}

func TestOutputIsStable(t *testing.T) {
	first, _, err := run(t, gang, "-f", "-")
	require.NoError(t, err)
	second, _, err := run(t, gang, "-f", "-")
	require.NoError(t, err)
	assert.Equal(t, first, second)

	other, _, err := run(t, gang, "-f", "-", "-n", "elsewhere")
	require.NoError(t, err)
	assert.NotEqual(t, first, other, "the placeholders are made of namespace and name")
}

func TestSeveralDocuments(t *testing.T) {
	second := strings.Replace(minimal, "name: pi", "name: second", 1)
	broken := strings.Replace(minimal, "sparkVersion: 4.0.1", "sparkVersion: [", 1)
	for name, test := range map[string]struct {
		stdin      string
		wantPods   []string
		wantStderr []string
		wantErr    string
	}{
		"one": {stdin: minimal, wantPods: []string{"pod/pi-driver"}},
		"separators around and comments between": {
			stdin: "---\n# nothing\n---\n" + minimal + "---\n---\n" + second, wantPods: []string{"pod/pi-driver", "pod/second-driver"},
		},
		"another kind is passed over with a note": {
			stdin: configMap + "---\n" + minimal, wantPods: []string{"pod/pi-driver"},
			wantStderr: []string{"Note: standard input: ConfigMap settings is passed over"},
		},
		"a broken document doesn't stop the others": {
			stdin: broken + "---\n" + second, wantPods: []string{"pod/second-driver"},
			wantStderr: []string{"error: standard input: "}, wantErr: "1 rendered, 1 not",
		},
		"the document of an error is named": {
			stdin: minimal + "---\n" + broken, wantPods: []string{"pod/pi-driver"},
			wantStderr: []string{"error: standard input, document 2: "}, wantErr: "1 rendered, 1 not",
		},
		"no Kubernetes object": {stdin: "greeting: hello\n", wantStderr: []string{"apiVersion and kind must be set"}, wantErr: "0 rendered, 1 not"},
		"a version that isn't served": {
			stdin:      strings.Replace(minimal, "v1beta2", "v1beta1", 1),
			wantStderr: []string{"sparkoperator.k8s.io/v1beta1 is not served; use sparkoperator.k8s.io/v1beta2"}, wantErr: "0 rendered, 1 not",
		},
		"nothing":                  {stdin: "", wantErr: "no SparkApplication or ScheduledSparkApplication found"},
		"nothing of ours":          {stdin: configMap, wantStderr: []string{"ConfigMap settings"}, wantErr: "no SparkApplication or ScheduledSparkApplication found"},
		"a list":                   {stdin: "apiVersion: v1\nkind: List\nitems:\n- " + indent(minimal) + "- " + indent(second), wantPods: []string{"pod/pi-driver", "pod/second-driver"}},
		"a list of our group":      {stdin: "apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplicationList\nitems:\n- " + indent(minimal), wantPods: []string{"pod/pi-driver"}},
		"a list of something else": {stdin: "apiVersion: v1\nkind: List\nitems:\n- " + indent(configMap), wantErr: "no SparkApplication or ScheduledSparkApplication found"},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, err := run(t, test.stdin, "-f", "-", "-o", "name")
			if test.wantErr == "" {
				require.NoError(t, err, stderr)
			} else {
				require.EqualError(t, err, test.wantErr)
			}
			var pods []string
			for line := range strings.Lines(stdout) {
				if strings.HasPrefix(line, "pod/") {
					pods = append(pods, strings.TrimSpace(line))
				}
			}
			assert.Equal(t, test.wantPods, pods)
			for _, want := range test.wantStderr {
				assert.Contains(t, stderr, want)
			}
		})
	}
}

func indent(manifest string) string {
	return strings.TrimPrefix(strings.ReplaceAll("  "+strings.TrimSuffix(manifest, "\n"), "\n", "\n  "), "  ") + "\n"
}

func TestJSONIsReadAndWritten(t *testing.T) {
	application := `{"apiVersion":"sparkoperator.k8s.io/v1beta2","kind":"SparkApplication","metadata":{"name":"pi"},
		"spec":{"sparkVersion":"4.0.1","image":"i","mainClass":"m","mainApplicationFile":"local:///a.jar","driver":{},"executor":{}}}`
	stdout, stderr, err := run(t, application+"\n"+strings.Replace(application, `"pi"`, `"second"`, 1), "-f", "-", "-o", "json")
	require.NoError(t, err, stderr)
	var list struct {
		Kind  string
		Items []struct {
			Kind     string
			Metadata struct{ Name string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &list))
	assert.Equal(t, "List", list.Kind)
	require.Len(t, list.Items, 8)
	assert.Equal(t, "pi-driver", list.Items[2].Metadata.Name)
	assert.Equal(t, "second-driver", list.Items[6].Metadata.Name)
}

func TestFieldValidation(t *testing.T) {
	unknown := strings.Replace(minimal, "  driver: {}\n", "  driver:\n    cors: 1\n", 1)
	twice := strings.Replace(minimal, "  image: spark:4.0.1\n", "  image: spark:4.0.1\n  image: spark:4.0.2\n", 1)
	for name, test := range map[string]struct {
		stdin, flag, want string
		refused           bool
	}{
		"unknown, by default":  {unknown, "", `Warning: standard input: sparkapplication "pi": unknown field "spec.driver.cors"`, false},
		"unknown, warn":        {unknown, "--validate=warn", `Warning: standard input: sparkapplication "pi": unknown field "spec.driver.cors"`, false},
		"unknown, strict":      {unknown, "--validate=strict", `error: standard input: sparkapplication "pi": unknown field "spec.driver.cors"`, true},
		"unknown, true":        {unknown, "--validate=true", `unknown field "spec.driver.cors"`, true},
		"unknown, no value":    {unknown, "--validate", `unknown field "spec.driver.cors"`, true},
		"unknown, ignore":      {unknown, "--validate=ignore", "", false},
		"given twice, warn":    {twice, "--validate=warn", `Warning: standard input: sparkapplication "pi": yaml: unmarshal errors`, false},
		"given twice, strict":  {twice, "--validate=strict", `key "image" already set in map`, true},
		"given twice, ignored": {twice, "--validate=false", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"-f", "-"}
			if test.flag != "" {
				args = append(args, test.flag)
			}
			stdout, stderr, err := run(t, test.stdin, args...)
			if test.refused {
				require.EqualError(t, err, "0 rendered, 1 not")
				assert.Empty(t, stdout)
			} else {
				require.NoError(t, err, stderr)
				assert.NotEmpty(t, stdout)
			}
			if test.want == "" {
				assert.NotContains(t, stderr, "field")
				assert.NotContains(t, stderr, "already set")
			} else {
				assert.Contains(t, stderr, test.want)
			}
		})
	}
}

func TestErrorsCarryFieldPaths(t *testing.T) {
	for name, test := range map[string]struct {
		replace, by string
		args        []string
		want        string
	}{
		"declarative rule":                {"executor: {}", "executor: {instances: 0}", nil, "spec.executor.instances: Invalid value: \"0\": must be a whole number"},
		"enumeration":                     {"sparkVersion:", "type: Cobol\n  sparkVersion:", nil, "spec.type: Unsupported value: \"Cobol\""},
		"hand-written rule":               {"driver: {}", "driver: {memory: lots}", nil, "spec.driver.memory: Invalid value: \"lots\""},
		"name":                            {"name: pi", "name: Pi", nil, "metadata.name: Invalid value: \"Pi\""},
		"label":                           {"name: pi", "name: pi\n  labels: {a: 'b c'}", nil, "metadata.labels: Invalid value: \"b c\""},
		"namespace":                       {"name: pi", "name: pi\n  namespace: here", []string{"-n", "there"}, "metadata.namespace: the manifest says \"here\" and --namespace says \"there\""},
		"wrong type":                      {"driver: {}", "driver: {cores: one}", nil, "sparkapplication \"pi\": spec.driver.cores: Invalid value: \"one\": must be an integer"},
		"native scheduling, gate off":     {"driver: {}", "driver: {}\n  scheduling: {}", []string{"--feature-gates=SparkApplicationWorkloadAwareScheduling=false"}, "spec.scheduling: Forbidden"},
		"what this release doesn't do":    {"driver: {}", "driver: {}\n  scheduling: {priorityClassName: high}", nil, "spec.scheduling.priorityClassName: Forbidden"},
		"the size of a gang is computed":  {"driver: {}", "driver: {}\n  scheduling: {schedulingPolicy: {gang: {minCount: 2}}}", nil, "spec.scheduling.schedulingPolicy.gang.minCount"},
		"neither policy":                  {"driver: {}", "driver: {}\n  scheduling: {schedulingPolicy: {}}", nil, "spec.scheduling.schedulingPolicy"},
		"a gang and dynamic allocation":   {"driver: {}", "driver: {}\n  dynamicAllocation: {enabled: true}\n  scheduling: {schedulingPolicy: {gang: {}}}", nil, "spec.dynamicAllocation"},
		"a template of the wrong type":    {"driver: {}", "driver: {template: {spec: {hostNetwork: perhaps}}}", nil, "spec.driver.template"},
		"a required field is not there":   {"sparkVersion: 4.0.1", "mode: cluster", nil, "spec.sparkVersion: Required value"},
		"property that isn't the user's":  {"driver: {}", "driver: {}\n  sparkConf: {spark.master: local}", nil, "spec.sparkConf[spark.master]"},
		"batch scheduler nobody knows":    {"driver: {}", "driver: {}\n  batchScheduler: slurm", nil, "spec.batchScheduler: Unsupported value: \"slurm\""},
		"client mode can't be played out": {"driver: {}", "driver: {}\n  mode: client", nil, "spec.mode"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, minimal, test.replace)
			stdout, stderr, err := run(t, strings.Replace(minimal, test.replace, test.by, 1), append([]string{"-f", "-"}, test.args...)...)
			require.EqualError(t, err, "0 rendered, 1 not")
			assert.Contains(t, stderr, test.want)
			assert.Empty(t, stdout)
			lines := strings.Split(strings.TrimSpace(stderr), "\n")
			seen := map[string]bool{}
			for _, line := range lines {
				place, _, _ := strings.Cut(line, " value")
				assert.False(t, seen[place], "said twice: %s", line)
				seen[place] = true
			}
		})
	}
}

func TestIdentity(t *testing.T) {
	const (
		uid        = "0a9a5d4e-7d3c-4d55-8a3f-0d2d1c5a6b7c"
		submission = "5e1f2f0e-3f3d-4b62-9b1f-8f0b0d7c9a11"
	)
	readBack := strings.Replace(minimal, "name: pi", "name: pi\n  uid: "+uid, 1) +
		"status:\n  submissionID: " + submission + "\n  lastSubmissionAttemptTime: \"2026-11-30T20:00:00Z\"\n" +
		"  driverInfo: {}\n  applicationState:\n    state: RUNNING\n"

	fromFlags, _, err := run(t, minimal, "-f", "-", "--uid", uid, "--submission-id", submission)
	require.NoError(t, err)
	assert.Contains(t, fromFlags, "uid: "+uid)
	assert.Contains(t, fromFlags, "sparkoperator.k8s.io/submission-id: "+submission)
	assert.Contains(t, fromFlags, "time of the submission: 1970-01-01T00:00:00Z")
	assert.NotContains(t, fromFlags, "#   submission ID")

	fromManifest, stderr, err := run(t, readBack, "-f", "-")
	require.NoError(t, err, stderr)
	assert.NotContains(t, fromManifest, "Placeholders")
	assert.Contains(t, fromManifest, "sparkoperator.k8s.io/submission-id: "+submission)
	assert.Contains(t, fromManifest, "spark.app.submitTime=1796068800000")

	generated, stderr, err := run(t, strings.Replace(minimal, "name: pi", "generateName: pi-", 1), "-f", "-")
	require.NoError(t, err, stderr)
	assert.Contains(t, generated, "name: pi-xxxxx")

	// A cluster cuts a long base, so that what it accepts is not refused here.
	long := strings.Repeat("a", 62) + "-"
	generated, stderr, err = run(t, strings.Replace(minimal, "name: pi", "generateName: "+long, 1), "-f", "-")
	require.NoError(t, err, stderr)
	assert.Contains(t, generated, "sparkoperator.k8s.io/app-name: "+strings.Repeat("a", 58)+"xxxxx")
}

func TestFilesAndFolders(t *testing.T) {
	folder := t.TempDir()
	write := func(name, content string) {
		file := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	}
	write("b.yaml", strings.Replace(minimal, "name: pi", "name: b", 1))
	write("a.yml", strings.Replace(minimal, "name: pi", "name: a", 1))
	write("README.md", "not a manifest")
	write("deeper/c.yaml", strings.Replace(minimal, "name: pi", "name: c", 1))

	flat, stderr, err := run(t, "", "-f", folder, "-o", "name")
	require.NoError(t, err, stderr)
	assert.Less(t, strings.Index(flat, "pod/a-driver"), strings.Index(flat, "pod/b-driver"), "in order of names")
	assert.NotContains(t, flat, "pod/c-driver")

	deep, stderr, err := run(t, "", "-R", "-f", folder, "-o", "name")
	require.NoError(t, err, stderr)
	assert.Contains(t, deep, "pod/c-driver")

	both, stderr, err := run(t, "", "-f", filepath.Join(folder, "absent.yaml"), "-f", filepath.Join(folder, "b.yaml"), "-o", "name")
	require.EqualError(t, err, "1 rendered, 1 not")
	assert.Contains(t, stderr, "absent.yaml")
	assert.Contains(t, both, "pod/b-driver")

	_, stderr, err = run(t, "", "-f", "https://example.com/pi.yaml")
	require.Error(t, err)
	assert.Contains(t, stderr, "works offline")
}

func TestFlagsAreChecked(t *testing.T) {
	for name, args := range map[string][]string{
		"no file":          {},
		"unknown output":   {"-f", "-", "-o", "table"},
		"unknown validate": {"-f", "-", "--validate=perhaps"},
		"unknown gate":     {"-f", "-", "--feature-gates=Nonsense=true"},
		"an argument":      {"-f", "-", "pi"},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, _, err := run(t, minimal, args...)
			require.Error(t, err)
			assert.Empty(t, stdout)
		})
	}
}

const scheduled = `apiVersion: sparkoperator.k8s.io/v1beta2
kind: ScheduledSparkApplication
metadata:
  name: nightly
spec:
  schedule: "30 2 * * *"
  timeZone: Asia/Tokyo
  template:
    sparkVersion: 4.0.1
    image: spark:4.0.1
    mainClass: org.example.Pi
    mainApplicationFile: local:///opt/app.jar
    driver: {}
    executor: {}
`

// A schedule is rendered as its next run.
func TestSchedules(t *testing.T) {
	stdout, stderr, err := run(t, scheduled, "-f", "-")
	require.NoError(t, err, stderr)
	assert.Contains(t, stdout, "# The run of ScheduledSparkApplication nightly that is due at 2026-01-01T17:30:00Z\n")
	assert.Contains(t, stdout, "#   time that the run is due at: 2026-01-01T17:30:00Z\n")
	assert.Equal(t, []string{
		"sparkapplication.sparkoperator.k8s.io/nightly-1767288600", "configmap", "service", "pod/nightly-1767288600-driver", "service",
	}, kindsOf(names(t, scheduled), "configmap", "service"))

	stdout, stderr, err = run(t, scheduled+"status:\n  nextRun: \"2026-12-01T17:30:00Z\"\n", "-f", "-")
	require.NoError(t, err, stderr)
	assert.Contains(t, stdout, "due at 2026-12-01T17:30:00Z\n", "the one that the status names")
	assert.Contains(t, stdout, "sparkoperator.k8s.io/scheduled-app-name: nightly\n")

	generated, stderr, err := run(t, strings.Replace(scheduled, "name: nightly", "generateName: nightly-", 1), "-f", "-", "-o", "name")
	require.NoError(t, err, stderr)
	assert.Contains(t, generated, "pod/nightly-xxxxx-1767288600-driver")

	for name, test := range map[string]struct{ replace, by, want string }{
		"the schedule":          {"30 2 * * *", "every day", "spec.schedule: Invalid value"},
		"the zone":              {"Asia/Tokyo", "Mars", "spec.timeZone: Invalid value"},
		"a tag":                 {"  timeZone:", "  concurrencyPolicy: Queue\n  timeZone:", "spec.concurrencyPolicy: Unsupported value"},
		"a tag of the template": {"sparkVersion:", "type: Cobol\n    sparkVersion:", "spec.template.type: Unsupported value"},
		"the template":          {"driver: {}", "driver: {memory: lots}", "spec.template.driver.memory: Invalid value"},
		"a wrong type":          {"driver: {}", "driver: {cores: one}", "spec.template.driver.cores: Invalid value: \"one\": must be an integer"},
	} {
		_, stderr, err = run(t, strings.Replace(scheduled, test.replace, test.by, 1), "-f", "-")
		require.EqualError(t, err, "0 rendered, 1 not", name)
		assert.Contains(t, stderr, test.want, name)
		assert.Contains(t, stderr, `scheduledsparkapplication "nightly"`, name)
	}
}

// kindsOf leaves the kind alone of the names that begin with one of the kinds: the rest of them is a hash.
func kindsOf(names []string, kinds ...string) []string {
	for i, name := range names {
		for _, kind := range kinds {
			if strings.HasPrefix(name, kind+"/") {
				names[i] = kind
			}
		}
	}
	return names
}
