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

package spark

import (
	"math"
	"strings"

	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxArgument is how long one argument or one variable of a process may be on Linux with pages of 4 KiB, without its NUL
// (MAX_ARG_STRLEN).
const maxArgument = 128*1024 - 1

// checkLaunch refuses what keeps the processes of Spark from starting although the pods are fine.
func (a *Application) checkLaunch(rep *report) {
	a.checkJavaOptions(rep)
	a.checkTaskCPUs(rep)
	a.conf.integer(keyAllocationBatchSize, 1, 1, math.MaxInt32, rep)
	spec, path := &a.App.Spec, a.specPath
	text := func(path *field.Path, value *string) {
		if value != nil {
			checkText(path, *value, rep)
		}
	}
	text(path.Child("mainClass"), spec.MainClass)
	text(path.Child("mainApplicationFile"), spec.MainApplicationFile)
	text(path.Child("proxyUser"), spec.ProxyUser)
	for i := range spec.Arguments {
		text(path.Child("arguments").Index(i), &spec.Arguments[i])
	}
	for _, r := range []*role{&a.driver, &a.executor} {
		for i := range r.spec.Env {
			text(r.path.Child("env").Index(i).Child("value"), &r.spec.Env[i].Value)
		}
		for _, p := range a.conf.withPrefix(r.prefixEnv) {
			checkText(p.path, p.value, rep)
		}
		a.checkAnnotations(r, rep)
	}
}

// checkText is what the kernel does with arguments and variables.
func checkText(path *field.Path, value string, rep *report) {
	if strings.ContainsRune(value, 0) {
		rep.invalid(path, value, "must not contain the character NUL, with which the container can't be started")
	}
	if len(value) > maxArgument {
		rep.warnf(path, "has %d bytes, and Linux starts no process with an argument or a variable of more than %d: put it into a file", len(value), maxArgument)
	}
}

// checkJavaOptions is SparkConf.validateSettings and AbstractCommandBuilder.checkJavaOptions.
func (a *Application) checkJavaOptions(rep *report) {
	for _, o := range []struct{ key, memory string }{
		{keyDriverExtraJavaOptions, "spec.driver.memory"}, {keyDriverDefaultJavaOptions, "spec.driver.memory"},
		{keyExecutorExtraJavaOptions, "spec.executor.memory"},
	} {
		if s, ok := a.conf[o.key]; ok && strings.Contains(s.value, "-Xmx") {
			rep.invalid(s.path, s.value, "must not set -Xmx, with which Spark refuses to start: use %s", o.memory)
		}
	}
	if s, ok := a.conf[keyExecutorExtraJavaOptions]; ok && strings.Contains(s.value, "-Dspark") {
		rep.invalid(s.path, s.value, "must not set properties of Spark, with which Spark refuses to start: use spec.sparkConf")
	}
}

// checkTaskCPUs is ResourceUtils.validateTaskCpusLargeEnough.
func (a *Application) checkTaskCPUs(rep *report) {
	cores := a.conf.integer(a.executor.keyCores, 1, 1, math.MaxInt32, rep)
	tasks := a.conf.integer(keyTaskCPUs, 1, 1, math.MaxInt32, rep)
	if s := a.conf[keyTaskCPUs]; tasks > cores {
		rep.invalid(s.path, s.value, "must not be more than the cores of an executor, %d (%s)", cores, a.conf[a.executor.keyCores].path)
	}
}

// checkAnnotations bounds the annotations of a pod as the API server does.
func (a *Application) checkAnnotations(r *role, rep *report) {
	total := 0
	add := func(key, value string) { total += len(key) + len(value) }
	for _, p := range a.conf.withPrefix(r.prefixAnnotation) {
		add(p.name, p.value)
	}
	if t := a.templateOf(r); t.typed != nil {
		for key, value := range t.typed.Annotations {
			if _, ok := a.conf[r.prefixAnnotation+key]; !ok {
				add(key, value)
			}
		}
	}
	if total > apimachineryvalidation.TotalAnnotationSizeLimitB {
		rep.err(field.TooLong(r.path.Child("annotations"), "", apimachineryvalidation.TotalAnnotationSizeLimitB))
	}
}
