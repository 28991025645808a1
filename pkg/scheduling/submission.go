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

package scheduling

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// Submission is everything that one attempt of an application consists of.
type Submission struct {
	// Application is the resolved application.
	Application *spark.Application
	// Native are the scheduling objects; nil for an application that doesn't use the workload-aware scheduling of
	// Kubernetes. If it is not nil, the executors of Objects are members of its PodGroup.
	Native *Native
	// Batch is what the application's batch scheduler needs; nil for an application that doesn't use one.
	Batch *Batch
	// Objects are the driver's pod and what it needs.
	Objects *spark.Objects
}

// CompileSubmission makes one attempt of a defaulted application on a server that knows no batch schedulers but the usual
// ones, has no default, and makes nothing beside an attempt.
func CompileSubmission(app *v1beta2.SparkApplication, submissionID string, submitTime time.Time, priorityClassName string) (*Submission, error) {
	return Schedulers{KubeSchedulers: []string{DefaultKubeSchedulerName}}.CompileSubmission(app, submissionID, submitTime, priorityClassName, spark.SideSettings{})
}

// CompileSubmission makes one attempt of a defaulted application, for the controller and for kubectl-spark alike. The
// priority class is the one read back from the created PodGroup; empty means the one asked for. An application that asks
// for a batch scheduler which isn't known is an error: it must not be placed in another way. The attempt of the status
// keeps to the batch scheduler that it was begun with. side are the server's settings for what stands beside an attempt:
// the driver has to know of them below which path its UI is seen.
func (s Schedulers) CompileSubmission(app *v1beta2.SparkApplication, submissionID string, submitTime time.Time, priorityClassName string,
	side spark.SideSettings,
) (*Submission, error) {
	specPath := field.NewPath("spec")
	s = s.forAttempt(app, submissionID)
	choice := s.Choose(&app.Spec, specPath)
	if errs := s.validateChoice(&app.Spec, specPath, choice); len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	application, errs := spark.Resolve(app, specPath)
	if len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	native, err := Compile(application, submissionID)
	if err != nil {
		return nil, err
	}
	batch, err := s.compileBatch(application, submissionID, choice)
	if err != nil {
		return nil, err
	}
	attempt := spark.Attempt{SubmissionID: submissionID, SubmitTime: submitTime, Group: native.Group(priorityClassName), Side: side}
	if batch != nil {
		attempt.Placement = batch.Placement
	}
	objects, err := spark.Build(application, attempt)
	if err != nil {
		return nil, fmt.Errorf("building the objects of the attempt: %w", err)
	}
	return &Submission{Application: application, Native: native, Batch: batch, Objects: objects}, nil
}

// compileBatch makes what the batch scheduler of a choice needs, nil for another choice.
func (s Schedulers) compileBatch(app *spark.Application, submissionID string, choice Choice) (*Batch, error) {
	if choice.Kind != BatchScheduler {
		return nil, nil
	}
	scheduler, known := s.batchScheduler(choice.BatchScheduler)
	if !known {
		return nil, fmt.Errorf("there is no batch scheduler %q", choice.BatchScheduler)
	}
	batch, err := scheduler.place(app, optionsOf(&app.App.Spec, field.NewPath("spec")))
	if err != nil {
		return nil, err
	}
	if batch.PodGroup != nil {
		labels := batch.PodGroup.GetLabels()
		labels[spark.LabelSubmissionID] = submissionID
		batch.PodGroup.SetLabels(labels)
	}
	return batch, nil
}
