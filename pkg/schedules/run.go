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

package schedules

import (
	"maps"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// AnnotationScheduledTime is the annotation of a run that holds the time it was due at (RFC 3339, UTC), which may be
// earlier than the time it was created.
const AnnotationScheduledTime = "sparkoperator.k8s.io/scheduled-time"

// RunName returns the name of the run of a slot: the name of the schedule and the seconds since 1970. It is a function of
// the two alone, so that a slot can't be run twice. Names that are too long for it are cut, and told apart by a hash.
func RunName(schedule string, slot time.Time) string {
	suffix := "-" + strconv.FormatInt(slot.Unix(), 10)
	return spark.Truncated(schedule, validation.DNS1035LabelMaxLength-len(suffix)) + suffix
}

// Run returns the application of a slot. Its labels are those of the schedule and the one that names it; the latter is the
// schedule's even if it has a label of that name itself, because runs are found by it.
func Run(schedule *v1beta2.ScheduledSparkApplication, slot time.Time) *v1beta2.SparkApplication {
	labels := maps.Clone(schedule.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[spark.LabelScheduledAppName] = schedule.Name
	return &v1beta2.SparkApplication{
		TypeMeta: metav1.TypeMeta{APIVersion: v1beta2.SchemeGroupVersion.String(), Kind: "SparkApplication"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   schedule.Namespace,
			Name:        RunName(schedule.Name, slot),
			Labels:      labels,
			Annotations: map[string]string{AnnotationScheduledTime: slot.UTC().Format(time.RFC3339)},
			// No controller, as it has always been: whoever looks for the controller of an application finds a queueing system.
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion:         v1beta2.SchemeGroupVersion.String(),
				Kind:               "ScheduledSparkApplication",
				Name:               schedule.Name,
				UID:                schedule.UID,
				BlockOwnerDeletion: new(true),
			}},
		},
		Spec: *schedule.Spec.Template.DeepCopy(),
	}
}

// Owns says whether an application is a run of the schedule.
func Owns(schedule *v1beta2.ScheduledSparkApplication, app *v1beta2.SparkApplication) bool {
	for _, owner := range app.OwnerReferences {
		if owner.UID == schedule.UID {
			return true
		}
	}
	return false
}

// SlotOf returns the time that a run was due at, or when it was created if it doesn't say so: as the runs of the Spark
// Operator.
func SlotOf(app *v1beta2.SparkApplication) time.Time {
	if slot, err := time.Parse(time.RFC3339, app.Annotations[AnnotationScheduledTime]); err == nil {
		return slot
	}
	return app.CreationTimestamp.Time
}
