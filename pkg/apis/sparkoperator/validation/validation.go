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

// Package validation holds the rules for SparkApplications that can't be written as tags beside the fields. Those that
// can are generated into v1beta2 and run by the registry, and are not repeated here.
package validation

import (
	"k8s.io/apimachinery/pkg/api/equality"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
)

// Options is what validation depends on beside the object.
type Options struct {
	// WorkloadAwareScheduling says whether the feature gate SparkApplicationWorkloadAwareScheduling is on.
	WorkloadAwareScheduling bool
	// Enabled says whether one of the gates is on that let an application use more than a group, by its name. Nil: none is.
	Enabled func(gate string) bool
	// Schedulers are the batch schedulers that the server knows.
	Schedulers BatchSchedulers
}

// BatchSchedulers are the batch schedulers that a server knows.
type BatchSchedulers = scheduling.Schedulers

var (
	metadataPath = field.NewPath("metadata")
	specPath     = field.NewPath("spec")
	statusPath   = field.NewPath("status")
)

// ValidateSparkApplication validates a new, defaulted application.
func ValidateSparkApplication(app *sparkoperator.SparkApplication, opts Options) field.ErrorList {
	// The name becomes a label and a part of names of Services, so that it is a DNS-1035 label as it has always been.
	errs := apimachineryvalidation.ValidateObjectMeta(&app.ObjectMeta, true, apimachineryvalidation.NameIsDNS1035Label, metadataPath)
	return appendNew(errs, validateSpec(versioned(app), specPath, opts))
}

// ValidateSparkApplicationUpdate validates an update of an application by anything but a subresource. Both are
// defaulted. What is wrong with the stored object already, under rules that came after it, doesn't stand in the way of
// edits that leave it alone.
func ValidateSparkApplicationUpdate(app, old *sparkoperator.SparkApplication, opts Options) field.ErrorList {
	errs := apimachineryvalidation.ValidateObjectMetaUpdate(&app.ObjectMeta, &old.ObjectMeta, metadataPath)
	newVersioned, oldVersioned := versioned(app), versioned(old)

	if immutable := validateSchedulingUnchanged(&newVersioned.Spec, &oldVersioned.Spec, specPath); len(immutable) > 0 {
		return append(errs, immutable...) // whatever else could be said of the new block would only distract
	}
	// An object that is being deleted must stay updatable until its finalizers are gone.
	if app.DeletionTimestamp != nil || !restartRelevantChange(&app.Spec, &old.Spec) {
		return errs
	}
	return append(errs, withoutOldErrors(validateSpec(newVersioned, specPath, opts), func() field.ErrorList {
		return validateSpec(oldVersioned, specPath, opts)
	})...)
}

// restartRelevantChange says whether a spec differs in more than what acts in place: suspend, timeToLiveSeconds and
// restartPolicy.
func restartRelevantChange(spec, old *sparkoperator.SparkApplicationSpec) bool {
	a, b := *spec, *old
	a.Suspend, b.Suspend = nil, nil
	a.TimeToLiveSeconds, b.TimeToLiveSeconds = nil, nil
	a.RestartPolicy, b.RestartPolicy = sparkoperator.RestartPolicy{}, sparkoperator.RestartPolicy{}
	return !equality.Semantic.DeepEqual(&a, &b)
}

// versioned returns the same object as the type that the pure packages read. It shares its memory and must not be
// changed.
func versioned(app *sparkoperator.SparkApplication) *v1beta2.SparkApplication {
	out := &v1beta2.SparkApplication{}
	// The two are equal field for field; the generated conversion copies pointers and can't fail.
	_ = v1beta2.Convert_sparkoperator_SparkApplication_To_v1beta2_SparkApplication(app, out, nil)
	return out
}
