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

package scheduledsparkapplication

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/schedules"
)

// noon is when the schedule of these tests was created: 2026-03-01T12:00:00Z, a Sunday.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func hour(h int) time.Time { return noon.Add(time.Duration(h-12) * time.Hour) }

// newSchedule is an hourly schedule as it is read from the server, before the controller has seen it.
func newSchedule(edits ...func(*v1beta2.ScheduledSparkApplication)) *v1beta2.ScheduledSparkApplication {
	schedule := &v1beta2.ScheduledSparkApplication{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "jobs", Name: "pi", UID: "schedule-uid", Generation: 1, ResourceVersion: "1",
			CreationTimestamp: metav1.NewTime(noon), Labels: map[string]string{"team": "a"},
		},
		Spec: v1beta2.ScheduledSparkApplicationSpec{Schedule: "0 * * * *", Template: v1beta2.SparkApplicationSpec{SparkVersion: "4.0.1"}},
	}
	for _, edit := range edits {
		edit(schedule)
	}
	v1beta2.SetDefaults_ScheduledSparkApplicationSpec(&schedule.Spec)
	return schedule
}

// waiting is the status of a schedule whose next run is due.
func waiting(next time.Time) func(*v1beta2.ScheduledSparkApplication) {
	return func(s *v1beta2.ScheduledSparkApplication) {
		s.Status = v1beta2.ScheduledSparkApplicationStatus{
			ScheduleState: v1beta2.ScheduleStateScheduled, ObservedGeneration: s.Generation, NextRun: metav1.NewTime(next),
		}
	}
}

func policy(p v1beta2.ConcurrencyPolicy) func(*v1beta2.ScheduledSparkApplication) {
	return func(s *v1beta2.ScheduledSparkApplication) { s.Spec.ConcurrencyPolicy = p }
}

func every(text string) func(*v1beta2.ScheduledSparkApplication) {
	return func(s *v1beta2.ScheduledSparkApplication) { s.Spec.Schedule = text }
}

func deadline(seconds int64) func(*v1beta2.ScheduledSparkApplication) {
	return func(s *v1beta2.ScheduledSparkApplication) { s.Spec.StartingDeadlineSeconds = new(seconds) }
}

func suspend(s *v1beta2.ScheduledSparkApplication) { s.Spec.Suspend = new(true) }

// edited raises the generation, as an edit of the spec does.
func edited(s *v1beta2.ScheduledSparkApplication) { s.Generation++ }

func runOf(slot time.Time, state v1beta2.ApplicationStateType) *v1beta2.SparkApplication {
	run := schedules.Run(newSchedule(), slot)
	run.UID = "uid-of-" + run.UID
	run.CreationTimestamp = metav1.NewTime(slot.Add(2 * time.Second))
	run.Status.AppState.State = state
	return run
}

func decide(now time.Time, schedule *v1beta2.ScheduledSparkApplication, runs ...*v1beta2.SparkApplication) Plan {
	return Decide(&Snapshot{Schedule: schedule, Runs: runs, Local: time.UTC}, now)
}

func reasons(plan Plan) []string {
	var reasons []string
	for _, event := range plan.Events {
		reasons = append(reasons, event.Reason)
	}
	return reasons
}

func created(plan Plan) string {
	if plan.Create == nil {
		return ""
	}
	return plan.Create.Name
}

const (
	completed = v1beta2.ApplicationStateCompleted
	failed    = v1beta2.ApplicationStateFailed
	running   = v1beta2.ApplicationStateRunning
)

// TestDecide has a row for each thing that may become of a slot.
func TestDecide(t *testing.T) {
	allow, forbid, replace := policy(v1beta2.ConcurrencyAllow), policy(v1beta2.ConcurrencyForbid), policy(v1beta2.ConcurrencyReplace)
	for name, test := range map[string]struct {
		schedule *v1beta2.ScheduledSparkApplication
		runs     []*v1beta2.SparkApplication
		now      time.Time

		wantNext    time.Time // the next run in the status
		wantRequeue time.Duration
		wantCreate  string
		wantReplace []string
		wantEvents  []string
		wantReason  string // a part of it
		wantState   v1beta2.ScheduleState
	}{
		"a new schedule waits": {
			schedule: newSchedule(), now: noon.Add(30 * time.Minute),
			wantNext: hour(13), wantRequeue: safetyRequeue,
		},
		"a sleep ends with the slot": {
			schedule: newSchedule(waiting(hour(13))), now: hour(13).Add(-1500 * time.Millisecond),
			wantNext: hour(13), wantRequeue: 1500 * time.Millisecond,
		},
		"a first look that is a little late": {
			schedule: newSchedule(func(s *v1beta2.ScheduledSparkApplication) {
				s.CreationTimestamp = metav1.NewTime(hour(13).Add(-time.Second))
			}), now: hour(13).Add(20 * time.Second),
			wantNext: hour(13), wantCreate: "pi-1772370000",
		},
		"a status that was lost makes up for nothing": {
			schedule: newSchedule(), now: hour(20).Add(30 * time.Minute),
			wantNext: hour(21), wantRequeue: safetyRequeue,
		},
		"due": {
			schedule: newSchedule(waiting(hour(13))), now: hour(13),
			wantNext: hour(13), wantCreate: "pi-1772370000",
		},
		"due, in a zone": {
			schedule: newSchedule(func(s *v1beta2.ScheduledSparkApplication) {
				s.Spec.Schedule, s.Spec.TimeZone = "0 14 * * *", "Europe/Berlin"
			}, waiting(hour(13))), now: hour(13),
			wantNext: hour(13), wantCreate: "pi-1772370000",
		},
		"it exists": {
			schedule: newSchedule(waiting(hour(13))), runs: []*v1beta2.SparkApplication{runOf(hour(13), running)}, now: hour(13).Add(3 * time.Second),
			wantNext: hour(14), wantEvents: []string{"RunStarted"},
		},
		"it exists, and its annotation is gone": {
			schedule: newSchedule(waiting(hour(13))), now: hour(13).Add(3 * time.Second),
			runs: func() []*v1beta2.SparkApplication {
				run := runOf(hour(13), running)
				run.Annotations = nil
				return []*v1beta2.SparkApplication{run}
			}(),
			wantNext: hour(14), wantEvents: []string{"RunStarted"},
		},
		"it was created before a downtime": {
			schedule: newSchedule(waiting(hour(13))), runs: []*v1beta2.SparkApplication{runOf(hour(13), completed)}, now: hour(15).Add(time.Minute),
			wantNext: hour(14), wantEvents: []string{"RunStarted"},
		},
		"after a downtime the last one is made up for": {
			schedule: newSchedule(waiting(hour(13))), now: hour(23).Add(time.Minute),
			wantNext: hour(13), wantCreate: "pi-1772406000",
		},
		"and the others are told of": {
			schedule: newSchedule(waiting(hour(13))), runs: []*v1beta2.SparkApplication{runOf(hour(23), running)}, now: hour(23).Add(time.Minute),
			wantNext: hour(24), wantEvents: []string{"RunsMissed", "RunStarted"},
		},
		"in time": {
			schedule: newSchedule(waiting(hour(13)), deadline(60)), now: hour(13).Add(time.Minute),
			wantNext: hour(13), wantCreate: "pi-1772370000",
		},
		"too late": {
			schedule: newSchedule(waiting(hour(13)), deadline(60)), now: hour(13).Add(61 * time.Second),
			wantNext: hour(14), wantEvents: []string{"RunsMissed"}, wantReason: "the run due at 2026-03-01T13:00:00Z was not started within 60 seconds",
		},
		"too late for the last of many": {
			schedule: newSchedule(waiting(hour(13)), deadline(60)), now: hour(15).Add(30 * time.Minute),
			wantNext: hour(16), wantEvents: []string{"RunsMissed", "RunsMissed"}, wantReason: "due at 2026-03-01T15:00:00Z",
		},
		"a run that was created in time is no late one": {
			schedule: newSchedule(waiting(hour(13)), deadline(60)), runs: []*v1beta2.SparkApplication{runOf(hour(13), running)}, now: hour(13).Add(5 * time.Minute),
			wantNext: hour(14), wantEvents: []string{"RunStarted"},
		},

		"Allow": {
			schedule: newSchedule(waiting(hour(14)), allow), runs: []*v1beta2.SparkApplication{runOf(hour(13), running)}, now: hour(14),
			wantNext: hour(14), wantCreate: "pi-1772373600",
		},
		"no policy is Allow": {
			schedule: func() *v1beta2.ScheduledSparkApplication {
				s := newSchedule(waiting(hour(14)))
				s.Spec.ConcurrencyPolicy = ""
				return s
			}(), runs: []*v1beta2.SparkApplication{runOf(hour(13), running)}, now: hour(14),
			wantNext: hour(14), wantCreate: "pi-1772373600",
		},
		"Forbid, and one runs": {
			schedule: newSchedule(waiting(hour(14)), forbid), runs: []*v1beta2.SparkApplication{runOf(hour(13), running)}, now: hour(14),
			wantNext: hour(15), wantEvents: []string{"RunSkipped"}, wantReason: "was left out, because pi-1772370000 had not ended",
		},
		"Forbid, and one is new": {
			schedule: newSchedule(waiting(hour(14)), forbid), runs: []*v1beta2.SparkApplication{runOf(hour(13), "")}, now: hour(14),
			wantNext: hour(15), wantEvents: []string{"RunSkipped"}, wantReason: "was left out",
		},
		"Forbid, and all have ended": {
			schedule: newSchedule(waiting(hour(15)), forbid), runs: []*v1beta2.SparkApplication{runOf(hour(13), completed), runOf(hour(14), failed)}, now: hour(15),
			wantNext: hour(15), wantCreate: "pi-1772377200",
		},
		"Replace": {
			schedule: newSchedule(waiting(hour(15)), replace), now: hour(15),
			runs:     []*v1beta2.SparkApplication{runOf(hour(12), completed), runOf(hour(13), running), runOf(hour(14), "")},
			wantNext: hour(15), wantCreate: "pi-1772377200", wantReplace: []string{"pi-1772370000", "pi-1772373600"},
		},
		"Replace doesn't replace the run itself": {
			schedule: newSchedule(waiting(hour(15)), replace), now: hour(15), runs: []*v1beta2.SparkApplication{runOf(hour(15), running)},
			wantNext: hour(16), wantEvents: []string{"RunStarted"},
		},
		"another policy": {
			schedule: newSchedule(waiting(hour(14)), policy("Queue")), now: hour(14),
			wantState: v1beta2.ScheduleStateFailedValidation, wantReason: `"Queue" is none of`, wantEvents: []string{"ScheduleInvalid"},
		},

		"suspended": {
			schedule: newSchedule(waiting(hour(13)), suspend), now: hour(13),
			wantNext: hour(13),
		},
		"suspended when its run had just been created": {
			schedule: newSchedule(waiting(hour(13)), suspend), runs: []*v1beta2.SparkApplication{runOf(hour(13), running)}, now: hour(13).Add(3 * time.Second),
			wantNext: hour(14), wantEvents: []string{"RunStarted"},
		},
		"suspended from the start": {schedule: newSchedule(suspend), now: hour(13)},

		"no schedule": {
			schedule: newSchedule(waiting(hour(13)), every("soon")), now: hour(13),
			wantState: v1beta2.ScheduleStateFailedValidation, wantReason: "Invalid schedule: ", wantEvents: []string{"ScheduleInvalid"},
		},
		"no schedule, as before": {
			schedule: newSchedule(every("TZ=UTC"), func(s *v1beta2.ScheduledSparkApplication) {
				s.Status.ScheduleState, s.Status.ObservedGeneration = v1beta2.ScheduleStateFailedValidation, 1
				s.Status.Reason = `Invalid schedule: "TZ=UTC" has a time zone and no schedule after it`
			}), now: hour(13),
			wantState: v1beta2.ScheduleStateFailedValidation, wantReason: "no schedule after it",
		},
		"no time zone": {
			schedule:  newSchedule(func(s *v1beta2.ScheduledSparkApplication) { s.Spec.TimeZone = "Mars" }),
			wantState: v1beta2.ScheduleStateFailedValidation, wantReason: "Invalid timezone: ", wantEvents: []string{"ScheduleInvalid"},
		},
		"a mended schedule goes on": {
			schedule: newSchedule(edited, func(s *v1beta2.ScheduledSparkApplication) {
				s.Status.ScheduleState, s.Status.Reason, s.Status.ObservedGeneration = v1beta2.ScheduleStateFailedValidation, "Invalid schedule", 1
			}), now: hour(20).Add(time.Minute),
			wantNext: hour(21), wantRequeue: safetyRequeue,
		},
		"a time zone that is known by now": {
			schedule: newSchedule(func(s *v1beta2.ScheduledSparkApplication) {
				s.Status.ScheduleState, s.Status.Reason, s.Status.ObservedGeneration = v1beta2.ScheduleStateFailedValidation, "Invalid timezone", 1
			}), now: hour(20).Add(time.Minute),
			wantNext: hour(21), wantRequeue: safetyRequeue,
		},
		"a schedule that has no more days": {
			schedule: newSchedule(every("0 0 30 2 *")), now: hour(13), wantReason: "Nothing is due",
		},

		"an earlier time takes effect at once": {
			schedule: newSchedule(waiting(hour(13)), every("*/10 * * * *"), edited), now: noon.Add(5 * time.Minute),
			wantNext: noon.Add(10 * time.Minute), wantRequeue: safetyRequeue,
		},
		"a later one as well": {
			schedule: newSchedule(waiting(hour(13)), every("0 0 * * *"), edited), now: noon.Add(5 * time.Minute),
			wantNext: hour(24), wantRequeue: safetyRequeue,
		},
		"what is due no more is not run": {
			schedule: newSchedule(waiting(hour(13)), every("30 * * * *"), edited), now: hour(13).Add(time.Minute),
			wantNext: hour(13).Add(30 * time.Minute), wantRequeue: safetyRequeue,
		},
		"an edit of the template loses no slot": {
			schedule: newSchedule(waiting(hour(13)), edited), now: hour(13),
			wantNext: hour(13), wantCreate: "pi-1772370000",
		},
		"an interval counts from the last slot": {
			schedule: newSchedule(every("@every 90m"), waiting(hour(15)), func(s *v1beta2.ScheduledSparkApplication) {
				s.Status.LastRun, s.Status.LastScheduledTime = metav1.NewTime(hour(13).Add(time.Hour)), metav1.NewTime(hour(13).Add(30*time.Minute))
			}), now: hour(15),
			wantNext: hour(15), wantCreate: "pi-1772377200",
		},
		"as the Spark Operator left it": {
			schedule: newSchedule(every("@every 90m"), waiting(hour(15).Add(time.Second)), func(s *v1beta2.ScheduledSparkApplication) {
				s.Status.LastRun, s.Status.ObservedGeneration = metav1.NewTime(hour(13).Add(30*time.Minute+time.Second)), 0
			}), now: hour(14).Add(57 * time.Minute),
			wantNext: hour(15).Add(time.Second), wantRequeue: 3*time.Minute + time.Second,
		},
		"it is being deleted": {
			schedule: newSchedule(waiting(hour(13)), func(s *v1beta2.ScheduledSparkApplication) { s.DeletionTimestamp = new(metav1.NewTime(noon)) }), now: hour(13),
			wantNext: hour(13),
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := test.schedule.DeepCopy()
			plan := decide(test.now, test.schedule, test.runs...)
			assert.Equal(t, before, test.schedule, "pure")
			assert.Equal(t, test.wantCreate, created(plan))
			assert.Equal(t, test.wantEvents, reasons(plan))
			assert.True(t, plan.Status.NextRun.Time.Equal(test.wantNext), "next run at %s", plan.Status.NextRun)
			assert.Equal(t, test.wantRequeue, plan.RequeueAfter)
			if test.wantReason == "" {
				assert.Empty(t, plan.Status.Reason)
			}
			assert.Contains(t, plan.Status.Reason, test.wantReason)
			if test.wantState == "" {
				test.wantState = v1beta2.ScheduleStateScheduled
			}
			assert.Equal(t, test.wantState, plan.Status.ScheduleState)
			var replaced []string
			for _, run := range plan.Replace {
				replaced = append(replaced, run.Name)
			}
			assert.ElementsMatch(t, test.wantReplace, replaced)
			assert.Equal(t, plan.Events != nil && test.wantState == v1beta2.ScheduleStateScheduled, plan.Again, "there is more to decide")
			if test.schedule.DeletionTimestamp == nil {
				assert.Equal(t, test.schedule.Generation, plan.Status.ObservedGeneration)
			}
		})
	}
}

func TestStatusOfARun(t *testing.T) {
	schedule, run := newSchedule(waiting(hour(13))), runOf(hour(13), running)
	schedule.Status.ScheduleState, schedule.Status.Reason = v1beta2.ScheduleStateFailedValidation, "the run before was refused"
	plan := decide(hour(13).Add(3*time.Second), schedule, run)
	assert.Equal(t, v1beta2.ScheduledSparkApplicationStatus{
		LastRun: run.CreationTimestamp, LastScheduledTime: metav1.NewTime(hour(13)), LastRunName: "pi-1772370000",
		NextRun: metav1.NewTime(hour(14)), ScheduleState: v1beta2.ScheduleStateScheduled, ObservedGeneration: 1,
	}, plan.Status)
	assert.Equal(t, map[result]int{resultStarted: 1}, plan.Counts)
}

func TestRefusals(t *testing.T) {
	decideRefused := func(invalid bool, slot time.Time) Plan {
		return Decide(&Snapshot{
			Schedule: newSchedule(waiting(hour(13))), Local: time.UTC, Refusal: &Refusal{Slot: slot, Message: "no room", Invalid: invalid},
		}, hour(13).Add(time.Second))
	}
	plan := decideRefused(false, hour(13))
	assert.Equal(t, v1beta2.ScheduleStateScheduled, plan.Status.ScheduleState)
	assert.Equal(t, "the run due at 2026-03-01T13:00:00Z was refused: no room", plan.Status.Reason)
	assert.True(t, plan.Status.NextRun.Time.Equal(hour(14)), "the next slot is tried again")
	assert.Equal(t, []string{"RunRefused"}, reasons(plan))
	assert.Empty(t, created(plan))
	assert.Equal(t, map[result]int{resultRefused: 1}, plan.Counts)

	plan = decideRefused(true, hour(13))
	assert.Equal(t, v1beta2.ScheduleStateFailedValidation, plan.Status.ScheduleState)
	schedule := newSchedule()
	schedule.Status = plan.Status
	plan = decide(hour(13).Add(time.Minute), schedule)
	assert.Equal(t, schedule.Status, plan.Status, "it stays until the next slot")
	plan = decide(hour(14), schedule)
	assert.Equal(t, "pi-1772373600", created(plan), "which is tried")
	edited(schedule)
	plan = decide(hour(13).Add(time.Minute), schedule)
	assert.Equal(t, v1beta2.ScheduleStateScheduled, plan.Status.ScheduleState, "or until an edit")

	assert.Equal(t, "pi-1772370000", created(decideRefused(true, noon)), "a refusal of another slot says nothing of this one")
}

func TestHistory(t *testing.T) {
	deleted := runOf(hour(9), completed)
	deleted.DeletionTimestamp = new(metav1.NewTime(noon))
	runs := []*v1beta2.SparkApplication{
		runOf(hour(8), completed), runOf(hour(5), failed), runOf(hour(10), completed), runOf(hour(6), completed), runOf(hour(7), failed), runOf(hour(11), running), deleted,
	}
	for name, test := range map[string]struct {
		successful, failed         *int32
		wantSuccessful, wantFailed []string
		wantPruned                 []string
	}{
		"defaults":   {nil, nil, []string{"pi-1772359200"}, []string{"pi-1772348400"}, []string{"pi-1772352000", "pi-1772344800", "pi-1772341200"}},
		"none":       {new(int32(0)), new(int32(0)), nil, nil, []string{"pi-1772359200", "pi-1772352000", "pi-1772344800", "pi-1772348400", "pi-1772341200"}},
		"the latest": {new(int32(2)), new(int32(9)), []string{"pi-1772359200", "pi-1772352000"}, []string{"pi-1772348400", "pi-1772341200"}, []string{"pi-1772344800"}},
	} {
		t.Run(name, func(t *testing.T) {
			schedule := newSchedule(waiting(hour(13)))
			schedule.Spec.SuccessfulRunHistoryLimit, schedule.Spec.FailedRunHistoryLimit = test.successful, test.failed
			plan := decide(noon, schedule, runs...)
			assert.Equal(t, test.wantSuccessful, plan.Status.PastSuccessfulRunNames)
			assert.Equal(t, test.wantFailed, plan.Status.PastFailedRunNames)
			var pruned []string
			for _, run := range plan.Prune {
				pruned = append(pruned, run.Name)
			}
			assert.Equal(t, test.wantPruned, pruned)
		})
	}
}

// TestYearsOfDowntime: nothing is walked through one by one, and one run is made.
func TestYearsOfDowntime(t *testing.T) {
	schedule := newSchedule(every("@every 1s"), waiting(noon.Add(time.Second)))
	now := noon.AddDate(5, 0, 0).Add(300 * time.Millisecond)
	plan := decide(now, schedule)
	require.NotNil(t, plan.Create)
	assert.True(t, plan.CreateSlot.Equal(now.Truncate(time.Second)))
	plan = decide(now, schedule, schedules.Run(schedule, plan.CreateSlot))
	assert.Equal(t, []string{"RunsMissed", "RunStarted"}, reasons(plan))
	assert.Contains(t, plan.Events[0].Message, "more than 100 runs")
	assert.True(t, plan.Status.NextRun.Time.Equal(now.Truncate(time.Second).Add(time.Second)))
}
