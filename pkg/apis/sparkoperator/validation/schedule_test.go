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

package validation

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/test/corpus"
)

type scheduleEdit = func(*sparkoperator.ScheduledSparkApplication)

// newSchedule returns a valid schedule after the edits and after defaulting, as a strategy gets it.
func newSchedule(edits ...scheduleEdit) *sparkoperator.ScheduledSparkApplication {
	schedule := &sparkoperator.ScheduledSparkApplication{
		ObjectMeta: newApplication().ObjectMeta,
		Spec:       sparkoperator.ScheduledSparkApplicationSpec{Schedule: "@hourly", Template: newApplication().Spec},
	}
	for _, edit := range edits {
		edit(schedule)
	}
	out := &v1beta2.ScheduledSparkApplication{}
	if err := scheme.Convert(schedule, out, nil); err != nil {
		panic(err)
	}
	scheme.Default(out)
	hub := &sparkoperator.ScheduledSparkApplication{}
	if err := scheme.Convert(out, hub, nil); err != nil {
		panic(err)
	}
	return hub
}

// inTemplate makes an edit of an application one of a schedule's template.
func inTemplate(edit edit) scheduleEdit {
	return func(schedule *sparkoperator.ScheduledSparkApplication) {
		app := &sparkoperator.SparkApplication{Spec: schedule.Spec.Template}
		edit(app)
		schedule.Spec.Template = app.Spec
	}
}

func due(schedule, zone string) scheduleEdit {
	return func(s *sparkoperator.ScheduledSparkApplication) { s.Spec.Schedule, s.Spec.TimeZone = schedule, zone }
}

func TestValidateScheduledSparkApplication(t *testing.T) {
	for _, tc := range []struct {
		name string
		edit scheduleEdit
		want []want
	}{
		{name: "valid", edit: func(*sparkoperator.ScheduledSparkApplication) {}},
		{name: "a zone", edit: due("0 9 * * 1-5", "Europe/Berlin")},
		{name: "a zone in front", edit: due("CRON_TZ=Asia/Tokyo 0 9 * * 1-5", "")},
		{name: "the zone of the server", edit: due("@every 3m", "Local")},
		{name: "only in leap years", edit: due("0 0 29 2 *", "")},
		{name: "no cron", edit: due("every day", ""), want: []want{
			{field.ErrorTypeInvalid, "spec.schedule", "expected exactly 5 fields"},
		}},
		{name: "never", edit: due("0 0 30 2 *", ""), want: []want{
			{field.ErrorTypeInvalid, "spec.schedule", "no day of any year"},
		}},
		{name: "no zone", edit: due("@hourly", "Europe/Atlantis"), want: []want{
			{field.ErrorTypeInvalid, "spec.timeZone", "unknown time zone Europe/Atlantis; it is the name of a zone"},
		}},
		{name: "no zone in front", edit: due("TZ=Europe/Atlantis @hourly", ""), want: []want{
			{field.ErrorTypeInvalid, "spec.schedule", "unknown time zone Europe/Atlantis"},
		}},
		{name: "no name", edit: func(s *sparkoperator.ScheduledSparkApplication) { s.Name = "" }, want: []want{
			{field.ErrorTypeRequired, "metadata.name", ""},
		}},
		{name: "dots", edit: func(s *sparkoperator.ScheduledSparkApplication) { s.Name = "spark.pi" }, want: []want{
			{field.ErrorTypeInvalid, "metadata.name", "a DNS-1035 label"},
		}},
		{name: "63 characters leave no room, and need none", edit: func(s *sparkoperator.ScheduledSparkApplication) { s.Name = strings.Repeat("a", 63) }},

		// The template is an application's spec, under its own path.
		{name: "a denied property", edit: inTemplate(withConf("spark.master", "local")), want: []want{
			{field.ErrorTypeForbidden, "spec.template.sparkConf[spark.master]", ""},
		}},
		{name: "a size", edit: inTemplate(func(app *sparkoperator.SparkApplication) { app.Spec.Driver.Memory = new("1.5g") }), want: []want{
			{field.ErrorTypeInvalid, "spec.template.driver.memory", ""},
		}},
		{name: "another namespace", edit: inTemplate(withConf("spark.kubernetes.namespace", "team-b")), want: []want{
			{field.ErrorTypeInvalid, "spec.template.sparkConf[spark.kubernetes.namespace]", ""},
		}},
		{name: "client mode", edit: inTemplate(func(app *sparkoperator.SparkApplication) { app.Spec.Mode = sparkoperator.ClientMode }), want: []want{
			{field.ErrorTypeForbidden, "spec.template.mode", ""},
		}},
		{name: "node selectors at both levels", edit: inTemplate(func(app *sparkoperator.SparkApplication) {
			app.Spec.NodeSelector, app.Spec.Driver.NodeSelector = map[string]string{"a": "b"}, map[string]string{"c": "d"}
		}), want: []want{{field.ErrorTypeInvalid, "spec.template.driver.nodeSelector", "together with spec.template.nodeSelector"}}},
		{name: "gang", edit: inTemplate(gang)},
		{name: "gang with dynamic allocation", edit: inTemplate(func(app *sparkoperator.SparkApplication) {
			gang(app)
			app.Spec.DynamicAllocation = &sparkoperator.DynamicAllocation{Enabled: true}
		}), want: []want{{field.ErrorTypeForbidden, "spec.template.dynamicAllocation.enabled", ""}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			schedule := newSchedule(tc.edit)
			before := schedule.DeepCopy()
			assertErrors(t, tc.want, ValidateScheduledSparkApplication(schedule, gateOn))
			assert.Equal(t, before, schedule, "validation changes nothing")
		})
	}
	assertErrors(t, []want{{field.ErrorTypeForbidden, "spec.template.scheduling", "feature gate"}},
		ValidateScheduledSparkApplication(newSchedule(inTemplate(gang)), Options{}))
}

func TestValidateScheduledSparkApplicationUpdate(t *testing.T) {
	now := metav1.Now()
	deleting := func(s *sparkoperator.ScheduledSparkApplication) { s.DeletionTimestamp = &now }
	broken := newSchedule(due("0 0 30 2 *", "Europe/Atlantis"), inTemplate(withConf("spark.master", "local")))
	for _, tc := range []struct {
		name     string
		old, new *sparkoperator.ScheduledSparkApplication
		want     []want
	}{
		{name: "the scheduling block is set", old: newSchedule(), new: newSchedule(inTemplate(gang))},
		{name: "the scheduling block is unset", old: newSchedule(inTemplate(gang)), new: newSchedule(inTemplate(noScheduling))},
		{name: "the scheduling block is edited", old: newSchedule(inTemplate(gang)), new: newSchedule(inTemplate(emptyScheduling))},
		{name: "the schedule", old: newSchedule(), new: newSchedule(due("@every 3m", "UTC"))},
		{name: "the schedule, to nonsense", old: newSchedule(), new: newSchedule(due("soon", "")), want: []want{
			{field.ErrorTypeInvalid, "spec.schedule", "expected exactly 5 fields"},
		}},
		{name: "what was stored under older rules stays updatable", old: broken, new: func() *sparkoperator.ScheduledSparkApplication {
			schedule := broken.DeepCopy()
			schedule.Spec.Template.Arguments = []string{"1000"}
			return schedule
		}()},
		{name: "it can be suspended", old: broken, new: func() *sparkoperator.ScheduledSparkApplication {
			schedule := broken.DeepCopy()
			schedule.Spec.Suspend = new(true)
			return schedule
		}()},
		{name: "and gets no worse", old: broken, new: func() *sparkoperator.ScheduledSparkApplication {
			schedule := broken.DeepCopy()
			schedule.Spec.Template.Driver.Memory = new("1.5g")
			return schedule
		}(), want: []want{{field.ErrorTypeInvalid, "spec.template.driver.memory", ""}}},
		{name: "the name", old: newSchedule(), new: newSchedule(func(s *sparkoperator.ScheduledSparkApplication) { s.Name = "another" }), want: []want{
			{field.ErrorTypeInvalid, "metadata.name", "immutable"},
		}},
		{name: "it is being deleted", old: newSchedule(deleting), new: newSchedule(deleting, due("soon", ""))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assertErrors(t, tc.want, ValidateScheduledSparkApplicationUpdate(tc.new, tc.old, gateOn))
		})
	}
}

func TestWarningsForScheduledSparkApplication(t *testing.T) {
	for _, tc := range []struct {
		name string
		edit scheduleEdit
		want []string
	}{
		{"nothing", func(*sparkoperator.ScheduledSparkApplication) {}, nil},
		{"two zones", due("TZ=UTC @hourly", "Europe/Berlin"), []string{`spec.timeZone: "Europe/Berlin" has no effect`}},
		{"half seconds", due("@every 1500ms", ""), []string{`spec.schedule: "@every 1500ms" is no interval of whole seconds; runs are due every 1s`}},
		{"a suspended template", inTemplate(func(app *sparkoperator.SparkApplication) { app.Spec.Suspend = new(true) }),
			[]string{"spec.template.suspend: every run is created suspended"}},
		{"a shadowed property", inTemplate(func(app *sparkoperator.SparkApplication) {
			withConf("spark.driver.memory", "4g")(app)
			app.Spec.Driver.Memory = new("2g")
		}), []string{"spec.template.sparkConf[spark.driver.memory]"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			schedule := newSchedule(tc.edit)
			warnings := WarningsForScheduledSparkApplication(schedule, nil)
			require.Len(t, warnings, len(tc.want), warnings)
			for i := range tc.want {
				assert.Contains(t, warnings[i], tc.want[i])
			}
			assert.Empty(t, WarningsForScheduledSparkApplication(schedule, schedule), "whoever labels it can't help it")
			old := schedule.DeepCopy()
			old.Spec.Template.Arguments = []string{"1"}
			assert.Equal(t, warnings, WarningsForScheduledSparkApplication(schedule, old))
		})
	}
	endless := func(policy sparkoperator.ConcurrencyPolicy) string {
		return strings.Join(WarningsForScheduledSparkApplication(newSchedule(func(s *sparkoperator.ScheduledSparkApplication) {
			s.Spec.ConcurrencyPolicy, s.Spec.Template.RestartPolicy.Type = policy, sparkoperator.RestartPolicyAlways
		}), nil), "\n")
	}
	assert.Contains(t, endless(""), "there are ever more of them")
	assert.Contains(t, endless(sparkoperator.ConcurrencyForbid), "the first run is the last one")
	assert.NotContains(t, endless(sparkoperator.ConcurrencyReplace), "never ends")
}

func TestValidateScheduledSparkApplicationStatusUpdate(t *testing.T) {
	old := newSchedule()
	schedule := old.DeepCopy()
	schedule.Status = sparkoperator.ScheduledSparkApplicationStatus{ScheduleState: sparkoperator.ScheduleStateScheduled, ObservedGeneration: 1}
	assert.Empty(t, ValidateScheduledSparkApplicationStatusUpdate(schedule, old))
	schedule.Status = sparkoperator.ScheduledSparkApplicationStatus{ScheduleState: "Tomorrow", ObservedGeneration: -1}
	assertErrors(t, []want{
		{field.ErrorTypeNotSupported, "status.scheduleState", `"Scheduled"`},
		{field.ErrorTypeInvalid, "status.observedGeneration", ""},
	}, ValidateScheduledSparkApplicationStatusUpdate(schedule, old))
	assert.Empty(t, ValidateScheduledSparkApplicationStatusUpdate(schedule, schedule))
}

func TestScheduleOfTheCorpus(t *testing.T) {
	found := 0
	for _, file := range corpus.Files(t) {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		if !strings.Contains(string(content), "kind: ScheduledSparkApplication") {
			continue
		}
		found++
		object, _, err := serializer.NewCodecFactory(scheme).UniversalDecoder(sparkoperator.SchemeGroupVersion).Decode(content, nil, nil)
		require.NoError(t, err, file)
		assert.Empty(t, ValidateScheduledSparkApplication(object.(*sparkoperator.ScheduledSparkApplication), Options{}), file)
	}
	assert.Positive(t, found)
}

// TestScheduleValidationNeverPanics validates random schedules, and those that a valid one becomes by a random part.
func TestScheduleValidationNeverPanics(t *testing.T) {
	filler := newFiller(14)
	for range 30 {
		random := &sparkoperator.ScheduledSparkApplication{}
		filler.Fill(random)
		valid := newSchedule(inTemplate(gang))
		half := newSchedule(func(s *sparkoperator.ScheduledSparkApplication) {
			filler.Fill(&s.Spec.Template.Driver)
			filler.Fill(&s.Spec.Schedule)
			filler.Fill(&s.Spec.TimeZone)
		})
		before := random.DeepCopy()
		for _, object := range []*sparkoperator.ScheduledSparkApplication{random, half} {
			ValidateScheduledSparkApplication(object, gateOn)
			ValidateScheduledSparkApplicationUpdate(object, valid, gateOn)
			ValidateScheduledSparkApplicationUpdate(valid, object, gateOn)
			ValidateScheduledSparkApplicationStatusUpdate(object, valid)
			WarningsForScheduledSparkApplication(object, nil)
			WarningsForScheduledSparkApplication(object, valid)
		}
		assert.Equal(t, before, random, "validation changes nothing")
	}
}
