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

// Package golden knows what spark-submit made of a matrix of applications: the form of the cases, the form of the
// recordings, and how either side of a comparison is brought into one form. The cases and the recordings are test data
// of pkg/spark.
package golden

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Namespace is the namespace of every case.
const Namespace = "jobs"

// Image is the image of every case that names none.
const Image = "example.com/spark:1"

// Case is one application, told twice: as a manifest and as spark-submit is to be told the same thing.
type Case struct {
	// Name is the name of the case and of its recording.
	Name string `json:"name"`
	// Base is java, python or r: what manifest and command line start from.
	Base string `json:"base"`
	// From is the first line that knows what the case is about, Before the first that doesn't know it any more. Both may
	// be empty.
	From   string `json:"from,omitempty"`
	Before string `json:"before,omitempty"`
	// App is laid over the manifest of the base as a merge patch. {version} stands for the version of Spark.
	App map[string]any `json:"app,omitempty"`
	// Submit is what spark-submit is told besides the base.
	Submit Submit `json:"submit,omitzero"`
	// Refused is the path at which the manifest is refused here; empty where it is accepted.
	Refused string `json:"refused,omitempty"`
	// Why says why it is refused here although spark-submit accepts it.
	Why string `json:"why,omitempty"`
	// NamesOnly says that the application's name is one that no object of Kubernetes can have, so that only what is made
	// of it is compared.
	NamesOnly bool `json:"namesOnly,omitempty"`
}

// Submit is a command line of spark-submit. In all of its texts {dir} stands for a new folder and {version} for the
// version of Spark.
type Submit struct {
	// Name is the application's name, where it isn't the base's.
	Name string `json:"name,omitempty"`
	// Flags come before the properties.
	Flags []string `json:"flags,omitempty"`
	// Conf are properties. A null takes one of the base away.
	Conf map[string]*string `json:"conf,omitempty"`
	// Primary is the main file, where it isn't the base's.
	Primary string `json:"primary,omitempty"`
	// Args are the application's arguments.
	Args []string `json:"args,omitempty"`
	// Files are written into the folder first.
	Files map[string]string `json:"files,omitempty"`
	// Home says that the folder is also the home of the user.
	Home bool `json:"home,omitempty"`
}

var primaries = map[string]string{
	"java": "local:///opt/app.jar", "python": "local:///opt/app.py", "r": "local:///opt/app.R",
}

const (
	baseName  = "spark-pi"
	mainClass = "org.example.Main"
)

// LoadCases reads the cases of a folder in the order of its files.
func LoadCases(folder string) ([]Case, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var all []Case
	seen := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var cases []Case
		if err := yaml.UnmarshalStrict(text, &cases); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		for i := range cases {
			c := &cases[i]
			if c.Base == "" {
				c.Base = "java"
			}
			if seen[c.Name] || c.Name == "" || primaries[c.Base] == "" {
				return nil, fmt.Errorf("%s: the case %q has no base that is known, or its name is another's", filepath.Base(file), c.Name)
			}
			seen[c.Name] = true
		}
		all = append(all, cases...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no cases in %s", folder)
	}
	return all, nil
}

// In says whether the case is about a line.
func (c *Case) In(line string) bool {
	return (c.From == "" || line >= c.From) && (c.Before == "" || line < c.Before)
}

// Manifest is the SparkApplication of the case as JSON.
func (c *Case) Manifest(version string) ([]byte, error) {
	spec := map[string]any{
		"sparkVersion": version, "image": Image, "mainApplicationFile": primaries[c.Base], "executor": map[string]any{"instances": 2},
	}
	switch c.Base {
	case "java":
		spec["type"], spec["mainClass"] = "Scala", mainClass
	case "python":
		spec["type"] = "Python"
	case "r":
		spec["type"] = "R"
	}
	app := mergePatch(map[string]any{
		"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
		"metadata": map[string]any{"name": baseName, "namespace": Namespace, "uid": "8c1a2d34-0000-4000-8000-0123456789ab"},
		"spec":     spec,
	}, c.App)
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(app); err != nil {
		return nil, err
	}
	return bytes.ReplaceAll(text.Bytes(), []byte("{version}"), []byte(version)), nil
}

// mergePatch is RFC 7386.
func mergePatch(target map[string]any, patch map[string]any) map[string]any {
	for key, value := range patch {
		object, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(target, key)
		case isObject:
			below, ok := target[key].(map[string]any)
			if !ok {
				below = map[string]any{}
			}
			target[key] = mergePatch(below, object)
		default:
			target[key] = value
		}
	}
	return target
}

// CommandLine is what spark-submit is told after the master and the deploy mode.
func (c *Case) CommandLine(folder, version string) []string {
	conf := map[string]*string{
		"spark.kubernetes.namespace":                    new(Namespace),
		"spark.kubernetes.container.image":              new(Image),
		"spark.kubernetes.submission.waitAppCompletion": new("false"),
		"spark.executor.instances":                      new("2"),
	}
	keys := slices.Sorted(maps.Keys(conf))
	for _, key := range slices.Sorted(maps.Keys(c.Submit.Conf)) {
		if _, ok := conf[key]; !ok {
			keys = append(keys, key)
		}
		conf[key] = c.Submit.Conf[key]
	}
	args := []string{"--name", orElse(c.Submit.Name, baseName)}
	if c.Base == "java" {
		args = append(args, "--class", mainClass)
	}
	args = append(args, c.Submit.Flags...)
	for _, key := range keys {
		if value := conf[key]; value != nil {
			args = append(args, "--conf", key+"="+*value)
		}
	}
	args = append(args, orElse(c.Submit.Primary, primaries[c.Base]))
	args = append(args, c.Submit.Args...)
	fill := strings.NewReplacer("{dir}", folder, "{version}", version)
	for i := range args {
		args[i] = fill.Replace(args[i])
	}
	return args
}

func orElse(text, fallback string) string {
	if text == "" {
		return fallback
	}
	return text
}
