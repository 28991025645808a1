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
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// Application is a SparkApplication with everything worked out that Spark needs to know of it, apart from the attempt.
// It is never changed once Resolve has made it.
type Application struct {
	// App is what it was made from. It must not be changed.
	App *v1beta2.SparkApplication
	// Line is the line of Spark whose rules are followed.
	Line Line
	// Language is what the application is written in, as SparkSubmit finds out: by its main file.
	Language Language
	// DriverPodName is the name of the driver's pod, the same for every attempt.
	DriverPodName string
	// Executors is how many executors the application starts with.
	Executors Executors
	// ExecutorPriorityClassName is the priority class of the executors: the typed field, else their template's.
	ExecutorPriorityClassName string

	specPath         *field.Path
	conf             conf
	warnings         []string
	driver           role
	executor         role
	driverTemplate   template
	executorTemplate template
	main             mainResource
	// sample are the objects of an attempt with a placeholder for its id.
	sample     *Objects
	monitoring monitoring
}

// Executors is the number of executors that an application starts with.
type Executors struct {
	// Initial is the number. Without dynamic allocation it is the number of executors as such.
	Initial int32
	// Dynamic says whether Spark may change the number while the application runs.
	Dynamic bool
	// Path is where the number comes from.
	Path *field.Path
}

// Resolve works out what Spark needs to know of an application, which must have been defaulted. Whatever would make
// Build or the start of the driver fail is an error at the path of the field that is to blame. specPath is the path of
// the application's spec. The application is not changed; the result refers to it.
//
// Errors come with a usable Application wherever possible, so that callers can look for further problems.
func Resolve(app *v1beta2.SparkApplication, specPath *field.Path) (*Application, field.ErrorList) {
	rep := &report{}
	a := resolve(app, specPath, rep)
	a.warnings = rep.warnings
	return a, rep.errs
}

// Warnings returns what will have no effect or hardly the one that was meant, each with its path, value and a remedy.
func (a *Application) Warnings() []string { return slices.Clone(a.warnings) }

// Conf returns a Spark property as the driver will get it, apart from what an attempt adds, and where its value comes
// from.
func (a *Application) Conf(key string) (value string, path *field.Path, ok bool) {
	s, ok := a.conf[key]
	return s.value, s.path, ok
}

// DriverResources are the resources of the driver's container of Spark.
func (a *Application) DriverResources() corev1.ResourceRequirements {
	return *a.driver.resources.DeepCopy()
}

// ExecutorResources are the resources of an executor's container of Spark, by the formula with which Spark's driver
// computes them.
func (a *Application) ExecutorResources() corev1.ResourceRequirements {
	return *a.executor.resources.DeepCopy()
}

const maxDriverPodName = 253

func resolve(app *v1beta2.SparkApplication, specPath *field.Path, rep *report) *Application {
	a := &Application{App: app, specPath: specPath, conf: conf{}}
	a.Line = resolveLine(app.Spec.SparkVersion, specPath.Child("sparkVersion"), rep)
	a.driver, a.executor = driverRole(app, specPath), executorRole(app, specPath)
	a.main, a.Language = resolveMain(app, specPath, rep)
	if app.Spec.Mode == v1beta2.ClientMode {
		rep.err(field.Forbidden(specPath.Child("mode"), "only cluster mode can be run: there is no machine for a driver outside of the cluster"))
	}
	a.driverTemplate = decodeTemplate(app.Spec.Driver.Template, a.driver.path.Child("template"), "it is left out of the driver's pod", rep)
	a.executorTemplate = decodeTemplate(app.Spec.Executor.Template, a.executor.path.Child("template"), "it is handed to the executors as it is, and a cluster that doesn't know it either drops it", rep)
	a.collectConf(rep)
	a.checkImages(rep)
	a.checkKerberos(rep)
	a.resolveExecutors(rep)
	a.resolveVolumes(&a.driver, rep)
	a.resolveVolumes(&a.executor, rep)
	a.resolveResources(rep)
	a.resolvePriorityClass()
	a.warnOfIneffective(rep)
	// What can only be seen of the finished objects is found by making them once, with a group and an id of full length.
	a.sample = assemble(a, Attempt{
		SubmissionID: "00000000-0000-4000-8000-000000000000", SubmitTime: time.Unix(0, 0),
		Group: &Group{Gang: true, MinCount: a.Executors.Initial, PodGroupName: strings.Repeat("x", 253)},
	}, rep)
	a.checkPods(rep)
	a.checkLaunch(rep)
	return a
}

func (a *Application) resolvePriorityClass() {
	if class := a.executor.priorityClassName; given(class) {
		a.ExecutorPriorityClassName = *class
		return
	}
	if v, _, ok := a.TemplateField(Executor, "spec", "priorityClassName"); ok {
		a.ExecutorPriorityClassName, _ = v.(string)
	}
}
