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
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// DefaultKubeSchedulerName is the name that manifests have always used for a kube-scheduler with the co-scheduling plugin
// of kubernetes-sigs/scheduler-plugins.
const DefaultKubeSchedulerName = "kube-scheduler"

// Schedulers are the batch schedulers that a server knows, and what it does for those who choose none. The zero value
// knows Volcano and YuniKorn, and chooses nothing for anybody.
type Schedulers struct {
	// Default is the batch scheduler of applications that choose none themselves. Empty: they have none.
	Default string
	// KubeSchedulers are the names of kube-schedulers that have the co-scheduling plugin.
	KubeSchedulers []string
}

// Names lists the known batch schedulers.
func (s Schedulers) Names() []string {
	names := []string{volcanoName, yunikornName}
	for _, name := range s.KubeSchedulers {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Choose answers which way a defaulted spec asks for. There is no other place that decides it. A field of the native
// blocks comes before scheduling.batchScheduler, that before the deprecated top-level batchScheduler, that before a
// scheduling block which names neither, and that before the default of the server. Validate refuses specs in which the
// order of the first three would matter.
func (s Schedulers) Choose(spec *v1beta2.SparkApplicationSpec, specPath *field.Path) Choice {
	path := specPath.Child("scheduling")
	scheduling := spec.Scheduling
	switch {
	case scheduling != nil && len(nativeChildren(scheduling, path)) > 0:
		return nativeChoice(scheduling, path)
	case scheduling != nil && scheduling.BatchScheduler != nil:
		return Choice{Kind: BatchScheduler, BatchScheduler: scheduling.BatchScheduler.Name, Path: path.Child("batchScheduler")}
	case deref(spec.BatchScheduler) != "":
		return Choice{Kind: BatchScheduler, BatchScheduler: *spec.BatchScheduler, Path: specPath.Child("batchScheduler")}
	case scheduling != nil:
		return nativeChoice(scheduling, path)
	case s.Default != "" && !namesScheduler(spec):
		return Choice{Kind: BatchScheduler, BatchScheduler: s.Default}
	default:
		return Choice{Kind: None}
	}
}

// namesScheduler says whether a spec names the scheduler of its pods itself. The default of a server is for those who say
// nothing.
func namesScheduler(spec *v1beta2.SparkApplicationSpec) bool {
	return len(spark.NamedSchedulers(spec, field.NewPath("spec"))) > 0
}

// forAttempt is what s comes to for an attempt: one that has begun keeps to the batch scheduler of its record, whatever
// the default of the server is by now.
func (s Schedulers) forAttempt(app *v1beta2.SparkApplication, submissionID string) Schedulers {
	if submissionID == "" || app.Status.SubmissionID != submissionID {
		return s
	}
	s.Default = ""
	if record := app.Status.BatchScheduling; record != nil {
		s.Default = record.Name
		if !slices.Contains(s.Names(), record.Name) {
			s.KubeSchedulers = append(slices.Clone(s.KubeSchedulers), record.Name)
		}
	}
	return s
}

// validateChoice keeps the ways to say the same thing apart, and refuses batch schedulers that nobody knows and options
// that the chosen one surely refuses.
func (s Schedulers) validateChoice(spec *v1beta2.SparkApplicationSpec, specPath *field.Path, choice Choice) field.ErrorList {
	errs := validateExclusive(spec, specPath, choice)
	if len(errs) > 0 || choice.Kind != BatchScheduler {
		return errs
	}
	scheduler, known := s.batchScheduler(choice.BatchScheduler)
	if !known {
		path := cmp.Or(choice.Path, specPath)
		if spec.Scheduling != nil {
			path = path.Child("name")
		}
		return append(errs, field.NotSupported(path, choice.BatchScheduler, s.Names()))
	}
	return append(errs, scheduler.validate(optionsOf(spec, specPath))...)
}

// validateExclusive refuses a spec that chooses in more than one way.
func validateExclusive(spec *v1beta2.SparkApplicationSpec, specPath *field.Path, choice Choice) field.ErrorList {
	var errs field.ErrorList
	path := specPath.Child("scheduling")
	nested := spec.Scheduling != nil && spec.Scheduling.BatchScheduler != nil
	if nested {
		if native := nativeChildren(spec.Scheduling, path); len(native) > 0 {
			names := []string{"batchScheduler"}
			for _, child := range native {
				names = append(names, strings.TrimPrefix(child.String(), path.String()+"."))
			}
			errs = append(errs, field.Invalid(path, strings.Join(names, ", "),
				"batchScheduler and the other fields of this block are mutually exclusive"))
		}
	}
	for _, top := range []struct {
		path  *field.Path
		used  bool
		value any
	}{
		{specPath.Child("batchScheduler"), deref(spec.BatchScheduler) != "", deref(spec.BatchScheduler)},
		{specPath.Child("batchSchedulerOptions"), spec.BatchSchedulerOptions != nil, spec.BatchSchedulerOptions},
	} {
		switch {
		case !top.used:
		case nested:
			errs = append(errs, field.Invalid(top.path, top.value,
				fmt.Sprintf("must not be set together with %s; keep the latter", path.Child("batchScheduler"))))
		case choice.Native():
			errs = append(errs, field.Invalid(top.path, top.value,
				fmt.Sprintf("must not be set together with %s: an application is placed by the one or by the other", choice.Path)))
		}
	}
	return errs
}
