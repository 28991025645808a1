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
	// Objects are the driver's pod and what it needs.
	Objects *spark.Objects
}

// CompileSubmission makes one attempt of a defaulted application, for the controller and for kubectl-spark alike. The
// priority class is the one read back from the created PodGroup; empty means the one asked for. An application that
// asks for a batch scheduler is an error: it must not be placed in another way.
func CompileSubmission(app *v1beta2.SparkApplication, submissionID string, submitTime time.Time, priorityClassName string) (*Submission, error) {
	specPath := field.NewPath("spec")
	if errs := validateBatchScheduler(&app.Spec, specPath, Choose(&app.Spec, specPath)); len(errs) > 0 {
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
	objects, err := spark.Build(application, spark.Attempt{
		SubmissionID: submissionID,
		SubmitTime:   submitTime,
		Group:        native.Group(priorityClassName),
	})
	if err != nil {
		return nil, fmt.Errorf("building the objects of the attempt: %w", err)
	}
	return &Submission{Application: application, Native: native, Objects: objects}, nil
}
