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
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-base/featuregate"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/validation"
	"github.com/spark-apiserver/spark-apiserver/pkg/features"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// generatedNameSuffix stands for the five characters that a cluster appends to metadata.generateName.
const generatedNameSuffix = "xxxxx"

// maxGeneratedName is how long a generated name is at most (k8s.io/apiserver/pkg/storage/names): the base is cut, so that
// the suffix has room.
const maxGeneratedName = 63

// renderer turns applications into the objects that the server would create for them.
type renderer struct {
	scheme         *runtime.Scheme
	namespace      string
	namespaceGiven bool
	uid            string
	submissionID   string
	// placeholderTime stands for the time of the submission.
	placeholderTime time.Time
	gate            featuregate.FeatureGate
	schedulers      scheduling.Schedulers
	// side are the settings that the server would have for what stands beside an attempt.
	side spark.SideSettings
}

// result is what became of one application.
type result struct {
	application *v1beta2.SparkApplication
	// schedule is the name of the schedule that the application is a run of, and due when. Both are empty for others.
	schedule, due string
	// placeholders are the values that a cluster would choose, as name and value.
	placeholders [][2]string
	warnings     []string
	errors       []error
	objects      []object
}

// object is one of the objects, with a word about what it is for.
type object struct {
	runtime.Object
	purpose string
}

// render defaults, validates and compiles an application. The application is changed: it gets defaults, and stands in
// for what a cluster would have stored.
func (r *renderer) render(app *v1beta2.SparkApplication) *result {
	res := &result{application: app}
	if !r.complete(res, app) {
		return res
	}
	r.scheme.Default(app)
	hub := &sparkoperator.SparkApplication{}
	if err := r.scheme.Convert(app, hub, nil); err != nil {
		res.errors = append(res.errors, err)
		return res
	}
	res.warnings = validation.WarningsForSparkApplication(hub, nil)
	if r.validate(res, app, validation.ValidateSparkApplication(hub, r.validationOptions())) {
		r.compile(res)
	}
	return res
}

// complete gives an object the namespace and the name that it would have in a cluster.
func (r *renderer) complete(res *result, object metav1.Object) bool {
	if namespace := object.GetNamespace(); namespace != "" && r.namespaceGiven && namespace != r.namespace {
		res.errors = append(res.errors, fmt.Errorf(
			"metadata.namespace: the manifest says %q and --namespace says %q", namespace, r.namespace))
		return false
	}
	object.SetNamespace(cmp.Or(object.GetNamespace(), r.namespace))
	if base := object.GetGenerateName(); object.GetName() == "" && base != "" {
		if room := maxGeneratedName - len(generatedNameSuffix); len(base) > room {
			base = base[:room]
		}
		object.SetName(base + generatedNameSuffix)
		res.placeholder("name", object.GetName())
	}
	return true
}

func (r *renderer) validationOptions() validation.Options {
	return validation.Options{
		WorkloadAwareScheduling: r.gate.Enabled(features.SparkApplicationWorkloadAwareScheduling),
		Enabled:                 func(gate string) bool { return r.gate.Enabled(featuregate.Feature(gate)) },
		Schedulers:              r.schedulers,
	}
}

// validate runs what the server runs on a create, beside the hand-written rules whose errors are handed in: the rules for
// metadata of every object and the declarative ones. It says whether there are no errors.
func (r *renderer) validate(res *result, object interface {
	metav1.Object
	runtime.Object
}, byHand field.ErrorList) bool {
	errs := apivalidation.ValidateObjectMetaAccessor(object, true, anyName, field.NewPath("metadata"))
	for _, err := range r.scheme.Validate(context.Background(), nil, object) {
		// Alpha rules are only compared with hand-written ones and never enforced.
		if !err.IsAlpha() {
			errs = append(errs, err)
		}
	}
	for _, err := range validation.OncePerValue(append(byHand, errs...)) {
		res.errors = append(res.errors, err)
	}
	return len(res.errors) == 0
}

// anyName leaves names to the rules of the kind, which are stricter than those of every object.
func anyName(string, bool) []string { return nil }

func (r *renderer) compile(res *result) {
	app := res.application
	if uid := cmp.Or(r.uid, string(app.UID)); uid != "" {
		app.UID = types.UID(uid)
	} else {
		app.UID = types.UID(placeholderID("application", app))
		res.placeholder("UID of the application", string(app.UID))
	}
	submissionID := cmp.Or(r.submissionID, app.Status.SubmissionID)
	if submissionID == "" {
		submissionID = placeholderID("attempt", app)
		res.placeholder("submission ID", submissionID)
	}
	submitTime := app.Status.LastSubmissionAttemptTime.Time
	if submitTime.IsZero() {
		submitTime = r.placeholderTime
		res.placeholder("time of the submission", submitTime.Format(time.RFC3339))
	}
	submission, err := r.schedulers.CompileSubmission(app, submissionID, submitTime, recordedPriorityClass(app, submissionID), r.side)
	if err != nil {
		res.errors = append(res.errors, err)
		return
	}
	res.objects = inOrderOfCreation(submission)
	side, err := spark.BuildSide(submission.Application, spark.Attempt{SubmissionID: submissionID, Side: r.side})
	if err != nil {
		res.warnings = append(res.warnings, err.Error())
	}
	res.objects = append(res.objects, sideObjects(side)...)
}

// sideObjects are what the server makes beside an attempt once it has a driver.
func sideObjects(side *spark.SideObjects) []object {
	var objects []object
	for _, service := range side.Services {
		purpose := "a port of the driver"
		if service.Name == side.UI.ServiceName {
			purpose = "the Spark UI, while the driver lives"
		}
		objects = append(objects, object{service, purpose})
	}
	for _, ingress := range side.Ingresses {
		purpose := "a port of the driver from outside of the cluster"
		if ingress.Name == side.UI.IngressName {
			purpose = "the Spark UI from outside of the cluster: " + side.UI.IngressURL
		}
		objects = append(objects, object{ingress, purpose})
	}
	if side.PodDisruptionBudget != nil {
		objects = append(objects, object{side.PodDisruptionBudget, "a drain of nodes doesn't evict the driver"})
	}
	return objects
}

// recordedPriorityClass is the class that the cluster gave to the PodGroup of an attempt, from the attempt's record.
func recordedPriorityClass(app *v1beta2.SparkApplication, submissionID string) string {
	record := app.Status.WorkloadScheduling
	if record == nil || record.SubmissionID != submissionID {
		return ""
	}
	for _, group := range record.PodGroups {
		if group.TemplateName == scheduling.ExecutorsTemplate {
			return group.PriorityClassName
		}
	}
	return ""
}

func inOrderOfCreation(s *scheduling.Submission) []object {
	var objects []object
	if s.Native != nil {
		groupPurpose := "the group that the executors of this attempt join"
		if s.Native.Gang {
			groupPurpose = fmt.Sprintf("the gang that the executors of this attempt form: %d of them are placed together or none is", s.Native.MinCount)
		}
		objects = append(objects,
			object{s.Native.Workload, "what the cluster is told about the application's groups of pods"},
			object{s.Native.PodGroup, groupPurpose})
	}
	if s.Batch.PodGroupName() != "" {
		objects = append(objects, object{s.Batch.PodGroup, "what the batch scheduler " + s.Batch.Name + " is told of the application"})
	}
	for _, claim := range s.Objects.PersistentVolumeClaims {
		objects = append(objects, object{claim, "a volume made for the driver of this attempt"})
	}
	return append(objects,
		object{s.Objects.ConfigMap, "spark.properties, and the template from which the driver creates executors"},
		object{s.Objects.Service, "the name under which executors find the driver"},
		object{s.Objects.Driver, "the driver"})
}

func (res *result) placeholder(name, value string) {
	res.placeholders = append(res.placeholders, [2]string{name, value})
}

// placeholderID is a UUID that depends on nothing but the words given and the application's namespace and name.
func placeholderID(word string, app metav1.Object) string {
	space := uuid.NewSHA1(uuid.NameSpaceURL, []byte(v1beta2.SchemeGroupVersion.String()))
	return uuid.NewSHA1(space, []byte(word+"/"+app.GetNamespace()+"/"+app.GetName())).String()
}
