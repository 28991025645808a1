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
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/schedules"
)

// safetyRequeue bounds how long is slept until a slot: clocks are set, and a sleep doesn't notice it.
const safetyRequeue = 5 * time.Minute

// firstLook is how late the first look at a schedule may be without that it misses a slot: another replica has to take
// over, caches have to be filled. What was due earlier is not made up for, so that a schedule whose status was lost doesn't
// run again what has run.
const firstLook = time.Minute

// decision is a Plan in the making.
type decision struct {
	*Snapshot
	now      time.Time
	spec     *v1beta2.ScheduledSparkApplicationSpec
	status   *v1beta2.ScheduledSparkApplicationStatus
	calendar *schedules.Calendar
	plan     Plan
}

// Decide says what should be, given what is. It is pure: the same snapshot and time give the same plan.
func Decide(s *Snapshot, now time.Time) Plan {
	d := &decision{Snapshot: s, now: now, spec: &s.Schedule.Spec, status: s.Schedule.Status.DeepCopy()}
	// Owner references take the runs along. While the schedule lingers nothing is started any more.
	if s.Schedule.DeletionTimestamp == nil {
		d.decide()
	}
	d.plan.Status = *d.status
	return d.plan
}

func (d *decision) decide() {
	d.keepHistory()
	if !d.readCalendar() {
		return
	}
	if suspend := d.spec.Suspend; suspend != nil && *suspend {
		// A run that was created just before is still told of, or the status would name the one before it as the last.
		d.tellStarted()
		return
	}
	d.settleNextRun()
	if d.status.NextRun.IsZero() {
		return
	}
	if wait := d.status.NextRun.Sub(d.now); wait > 0 {
		d.plan.RequeueAfter = min(wait, safetyRequeue)
		return
	}
	d.decideDue()
}

// readCalendar reads the schedule, whenever it is looked at: one that was wrong and was mended goes on.
func (d *decision) readCalendar() bool {
	calendar, wrong := d.parse()
	if wrong != "" {
		if d.status.ScheduleState != v1beta2.ScheduleStateFailedValidation || d.status.Reason != wrong {
			d.event(warning(eventReasonScheduleInvalid, actionSchedule, wrong))
		}
		d.status.ScheduleState = v1beta2.ScheduleStateFailedValidation
		d.status.Reason = wrong
		d.status.NextRun = metav1.Time{}
		d.status.ObservedGeneration = d.Schedule.Generation
		return false
	}
	// A refused run keeps its state until another one is started or the spec is edited. A schedule that could not be read
	// has no next run.
	unread := d.status.ScheduleState == v1beta2.ScheduleStateFailedValidation && d.status.NextRun.IsZero()
	if unread || d.status.ObservedGeneration != d.Schedule.Generation || d.status.ScheduleState == v1beta2.ScheduleStateNew {
		d.status.ScheduleState = v1beta2.ScheduleStateScheduled
		d.status.Reason = ""
		d.status.ObservedGeneration = d.Schedule.Generation
	}
	d.calendar = calendar.Anchored(d.Schedule)
	return true
}

func (d *decision) parse() (calendar *schedules.Calendar, wrong string) {
	calendar, err := schedules.Parse(d.spec, d.Local)
	if err != nil {
		return nil, err.Error()
	}
	switch d.spec.ConcurrencyPolicy {
	case "", v1beta2.ConcurrencyAllow, v1beta2.ConcurrencyForbid, v1beta2.ConcurrencyReplace:
		return calendar, ""
	default:
		return nil, fmt.Sprintf("Invalid concurrencyPolicy: %q is none of Allow, Forbid and Replace", d.spec.ConcurrencyPolicy)
	}
}

// settleNextRun says which slot is next. One that is due stays until something has become of it, unless the schedule was
// edited and it is a slot no longer. One that is yet to come is found anew, so that an edit takes effect at once.
func (d *decision) settleNextRun() {
	next := d.status.NextRun.Time
	switch {
	case next.IsZero():
		next = d.calendar.Next(d.firstAfter())
	case next.After(d.now) || !d.calendar.IsSlot(next):
		next = d.calendar.Next(d.now)
	}
	d.setNextRun(next)
}

func (d *decision) setNextRun(next time.Time) {
	if next.IsZero() {
		d.status.NextRun = metav1.Time{}
		d.status.Reason = fmt.Sprintf("Nothing is due: %q has no day within five years", d.spec.Schedule)
		return
	}
	if !d.status.NextRun.Time.Equal(next) { // the same time is not to be written in another zone
		d.status.NextRun = metav1.NewTime(next)
	}
}

// firstAfter is the time after which slots count for a schedule that has no next run yet.
func (d *decision) firstAfter() time.Time {
	after := d.Schedule.CreationTimestamp.Time
	for _, run := range d.Runs {
		if slot := schedules.SlotOf(run); slot.After(after) {
			after = slot
		}
	}
	if earliest := d.now.Add(-firstLook); after.Before(earliest) {
		after = earliest
	}
	return after
}

// decideDue decides on the last of the slots that are due. The others were missed, while nobody looked, and are not made
// up for one by one.
func (d *decision) decideDue() {
	if d.tellStarted() {
		return
	}
	first, slot := d.due()
	if refusal := d.Refusal; refusal != nil && refusal.Slot.Equal(slot) {
		d.refused(first, refusal)
		return
	}
	if deadline := d.spec.StartingDeadlineSeconds; deadline != nil && d.now.Sub(slot) > time.Duration(*deadline)*time.Second {
		d.missed(first, slot, *deadline)
		return
	}
	active := d.active()
	if len(active) > 0 {
		switch d.spec.ConcurrencyPolicy {
		case v1beta2.ConcurrencyForbid:
			d.skipped(first, slot, active)
			return
		case v1beta2.ConcurrencyReplace:
			d.plan.Replace = slices.DeleteFunc(slices.Clone(active), deleting)
		}
	}
	d.plan.Create, d.plan.CreateSlot = schedules.Run(d.Schedule, slot), slot
}

// due returns the first and the last slot that are due.
func (d *decision) due() (first, last time.Time) {
	first = d.status.NextRun.Time
	last = d.calendar.Latest(first.Add(-time.Second), d.now)
	if last.IsZero() {
		last = first
	}
	return first, last
}

// tellStarted records the run of a slot that is due, if there is one already.
func (d *decision) tellStarted() bool {
	if d.status.NextRun.IsZero() || d.status.NextRun.After(d.now) {
		return false
	}
	first, last := d.due()
	run := d.runSince(first, last)
	if run == nil {
		return false
	}
	d.started(first, last, run)
	return true
}

// runSince finds the latest run of the slots from the first that is due to the last. There is one if the status could not
// be written after it was created.
func (d *decision) runSince(first, last time.Time) *v1beta2.SparkApplication {
	var found *v1beta2.SparkApplication
	name := schedules.RunName(d.Schedule.Name, last)
	for _, run := range d.Runs {
		slot := schedules.SlotOf(run)
		due := !slot.Before(first) && !slot.After(last) && run.Name == schedules.RunName(d.Schedule.Name, slot)
		// The name counts and not the annotation, which anybody may have edited.
		if (due || run.Name == name) && (found == nil || later(run, found) < 0) {
			found = run
		}
	}
	return found
}

func (d *decision) started(first, last time.Time, run *v1beta2.SparkApplication) {
	slot := schedules.SlotOf(run)
	if run.Name == schedules.RunName(d.Schedule.Name, last) {
		slot = last
	}
	d.tellMissed(first, slot)
	d.event(normal(eventReasonRunStarted, actionRun, fmt.Sprintf("SparkApplication %s, due at %s, was created", run.Name, stamp(slot))))
	d.count(resultStarted, 1)
	d.status.LastRun = run.CreationTimestamp
	d.status.LastRunName = run.Name
	d.status.LastScheduledTime = metav1.NewTime(slot)
	d.moveOn(slot, v1beta2.ScheduleStateScheduled, "")
}

func (d *decision) refused(first time.Time, refusal *Refusal) {
	d.tellMissed(first, refusal.Slot)
	reason := fmt.Sprintf("the run due at %s was refused: %s", stamp(refusal.Slot), refusal.Message)
	d.event(warning(eventReasonRunRefused, actionRun, reason))
	d.count(resultRefused, 1)
	state := v1beta2.ScheduleStateScheduled
	if refusal.Invalid {
		state = v1beta2.ScheduleStateFailedValidation
	}
	d.moveOn(refusal.Slot, state, reason)
}

func (d *decision) missed(first, slot time.Time, deadline int64) {
	d.tellMissed(first, slot)
	reason := fmt.Sprintf("the run due at %s was not started within %d seconds", stamp(slot), deadline)
	d.event(warning(eventReasonRunsMissed, actionSchedule, reason))
	d.count(resultMissed, 1)
	d.moveOn(slot, d.status.ScheduleState, reason)
}

func (d *decision) skipped(first, slot time.Time, active []*v1beta2.SparkApplication) {
	d.tellMissed(first, slot)
	reason := fmt.Sprintf("the run due at %s was left out, because %s had not ended", stamp(slot), names(active))
	d.event(normal(eventReasonRunSkipped, actionSchedule, reason))
	d.count(resultSkipped, 1)
	d.moveOn(slot, d.status.ScheduleState, reason)
}

// moveOn turns to the slot after the one that something has become of. It may be due as well.
func (d *decision) moveOn(slot time.Time, state v1beta2.ScheduleState, reason string) {
	d.status.ScheduleState, d.status.Reason = state, reason
	d.setNextRun(d.calendar.Next(slot))
	d.plan.Again = true
}

// tellMissed tells of slots that were passed over.
func (d *decision) tellMissed(first, slot time.Time) {
	missed, more := d.calendar.CountBetween(first, slot)
	if missed == 0 {
		return
	}
	number := fmt.Sprint(missed)
	if more {
		number = "more than " + number
	}
	d.event(warning(eventReasonRunsMissed, actionSchedule, fmt.Sprintf("%s runs, the first of them due at %s, were missed and are not made up for",
		number, stamp(first))))
	d.count(resultMissed, missed)
}

// active returns the runs that have not ended.
func (d *decision) active() []*v1beta2.SparkApplication {
	return slices.DeleteFunc(slices.Clone(d.Runs), ended)
}

// keepHistory names the runs that have ended and are kept, and has the others deleted.
func (d *decision) keepHistory() {
	d.status.PastSuccessfulRunNames = d.keep(v1beta2.ApplicationStateCompleted, d.spec.SuccessfulRunHistoryLimit)
	d.status.PastFailedRunNames = d.keep(v1beta2.ApplicationStateFailed, d.spec.FailedRunHistoryLimit)
}

// defaultHistoryLimit is for schedules that were stored without the default.
const defaultHistoryLimit = 1

func (d *decision) keep(state v1beta2.ApplicationStateType, limit *int32) []string {
	runs := slices.DeleteFunc(slices.Clone(d.Runs), func(run *v1beta2.SparkApplication) bool {
		return run.Status.AppState.State != state || deleting(run)
	})
	slices.SortFunc(runs, later)
	kept := defaultHistoryLimit
	if limit != nil {
		kept = max(0, int(*limit))
	}
	kept = min(kept, len(runs))
	d.plan.Prune = append(d.plan.Prune, runs[kept:]...)
	var names []string
	for _, run := range runs[:kept] {
		names = append(names, run.Name)
	}
	return names
}

func (d *decision) event(e Event) {
	d.plan.Events = append(d.plan.Events, e)
}

func (d *decision) count(r result, n int) {
	if d.plan.Counts == nil {
		d.plan.Counts = map[result]int{}
	}
	d.plan.Counts[r] += n
}

func deleting(run *v1beta2.SparkApplication) bool { return run.DeletionTimestamp != nil }

func names(runs []*v1beta2.SparkApplication) string {
	names := make([]string, 0, len(runs))
	for _, run := range runs {
		names = append(names, run.Name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
