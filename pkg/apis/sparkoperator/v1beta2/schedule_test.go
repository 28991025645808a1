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

package v1beta2_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func TestScheduleDefaults(t *testing.T) {
	scheme := newScheme()
	got := &v1beta2.ScheduledSparkApplication{}
	scheme.Default(got)
	assert.Equal(t, v1beta2.ScheduledSparkApplicationSpec{
		Template:                  defaulted(),
		ConcurrencyPolicy:         v1beta2.ConcurrencyAllow,
		SuccessfulRunHistoryLimit: new(int32(1)),
		FailedRunHistoryLimit:     new(int32(1)),
	}, got.Spec)

	set := v1beta2.ScheduledSparkApplicationSpec{
		Schedule: "@hourly", TimeZone: "Europe/Berlin", Template: defaulted(), Suspend: new(true),
		ConcurrencyPolicy:         v1beta2.ConcurrencyForbid,
		SuccessfulRunHistoryLimit: new(int32(0)),
		FailedRunHistoryLimit:     new(int32(7)),
		StartingDeadlineSeconds:   new(int64(60)),
	}
	got = &v1beta2.ScheduledSparkApplication{Spec: *set.DeepCopy()}
	scheme.Default(got)
	assert.Equal(t, set, got.Spec, "what is set is kept")
}

// TestScheduleDeclarativeRules has a row for each rule that is written as a tag beside a field of a schedule.
func TestScheduleDeclarativeRules(t *testing.T) {
	scheme := newScheme()
	type want struct {
		Type  field.ErrorType
		Field string
	}
	for _, tc := range []struct {
		name string
		edit func(*v1beta2.ScheduledSparkApplicationSpec)
		want []want
	}{
		{"valid", func(*v1beta2.ScheduledSparkApplicationSpec) {}, nil},
		{"schedule", func(s *v1beta2.ScheduledSparkApplicationSpec) { s.Schedule = "" }, []want{{field.ErrorTypeRequired, "spec.schedule"}}},
		{"concurrencyPolicy", func(s *v1beta2.ScheduledSparkApplicationSpec) { s.ConcurrencyPolicy = "Queue" }, []want{{field.ErrorTypeNotSupported, "spec.concurrencyPolicy"}}},
		{"history limits", func(s *v1beta2.ScheduledSparkApplicationSpec) {
			s.SuccessfulRunHistoryLimit, s.FailedRunHistoryLimit = new(int32(-1)), new(int32(-1))
		}, []want{{field.ErrorTypeInvalid, "spec.successfulRunHistoryLimit"}, {field.ErrorTypeInvalid, "spec.failedRunHistoryLimit"}}},
		{"startingDeadlineSeconds", func(s *v1beta2.ScheduledSparkApplicationSpec) { s.StartingDeadlineSeconds = new(int64(0)) }, []want{{field.ErrorTypeInvalid, "spec.startingDeadlineSeconds"}}},
		{"rules of the template", func(s *v1beta2.ScheduledSparkApplicationSpec) {
			s.Template.Type, s.Template.Driver.Cores = "Go", new(int32(0))
		},
			[]want{{field.ErrorTypeNotSupported, "spec.template.type"}, {field.ErrorTypeInvalid, "spec.template.driver.cores"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			schedule := &v1beta2.ScheduledSparkApplication{
				ObjectMeta: metav1.ObjectMeta{Name: "spark-pi", Namespace: "team-a"},
				Spec:       v1beta2.ScheduledSparkApplicationSpec{Schedule: "@hourly", Template: validSpec().Spec},
			}
			tc.edit(&schedule.Spec)
			scheme.Default(schedule)
			var got []want
			for _, err := range scheme.Validate(t.Context(), nil, schedule) {
				got = append(got, want{err.Type, err.Field})
			}
			assert.ElementsMatch(t, tc.want, got)

			// What was stored like that stays updatable, and a subresource doesn't look at the spec.
			changed := schedule.DeepCopy()
			changed.Labels = map[string]string{"a": "b"}
			assert.Empty(t, scheme.ValidateUpdate(t.Context(), nil, changed, schedule))
			assert.Empty(t, scheme.Validate(t.Context(), nil, schedule, "status"))
		})
	}
}
