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

package sparkdriver

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const (
	driverContainerName   = "spark-kubernetes-driver"
	executorContainerName = "spark-kubernetes-executor"
)

// command is what the driver container was told by its arguments, in the form that Spark's image understands.
type command struct {
	propertiesFile string
	mainClass      string
	resource       string // the primary file, or spark-internal
	appArgs        []string
}

// driverContainer finds the container that runs Spark: the one with Spark's name, else the last whose arguments are a
// driver's (Spark appends its container to those of a template).
func driverContainer(pod *corev1.Pod) (*corev1.Container, error) {
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == driverContainerName {
			return &pod.Spec.Containers[i], nil
		}
	}
	for i := range slices.Backward(pod.Spec.Containers) {
		if slices.Contains(pod.Spec.Containers[i].Args, "--properties-file") {
			return &pod.Spec.Containers[i], nil
		}
	}
	return nil, errors.New("no container of the pod is a Spark driver")
}

// parseCommand reads `driver [--flag value]... RESOURCE [ARGUMENT]...`. Flags end at the first word that isn't one, as
// in SparkSubmit.
func parseCommand(args []string) (command, error) {
	var c command
	i := slices.Index(args, "driver")
	if i < 0 {
		return c, fmt.Errorf("the container's arguments %q do not start a driver", args)
	}
	rest := args[i+1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0], "--") {
		if len(rest) < 2 {
			return c, fmt.Errorf("flag %s has no value", rest[0])
		}
		switch rest[0] {
		case "--properties-file":
			c.propertiesFile = rest[1]
		case "--class":
			c.mainClass = rest[1]
		}
		rest = rest[2:]
	}
	if len(rest) == 0 {
		return c, errors.New("missing application resource")
	}
	c.resource, c.appArgs = rest[0], rest[1:]
	return c, nil
}

// notFound says what of the application isn't in the image. A simulated image has every file and class except those
// whose name contains "non-existent".
func (c command) notFound() (string, bool) {
	const absent = "non-existent"
	switch {
	case strings.Contains(c.mainClass, absent):
		return "failed to load class " + c.mainClass, true
	case strings.Contains(c.resource, absent):
		return "no such file " + c.resource, true
	}
	return "", false
}
