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
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // images need no time zones of their own, and every server knows the same ones

	"github.com/robfig/cron/v3"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// The two spellings of a time zone within a schedule.
const (
	zonePrefix     = "TZ="
	cronZonePrefix = "CRON_TZ="
)

// everyPrefix starts a schedule of a fixed interval.
const everyPrefix = "@every "

// localZone is the name that stands for the time zone of the server.
const localZone = "Local"

// minInterval is the shortest interval, and the unit of all of them: a run is due at a whole second.
const minInterval = time.Second

// Calendar says when runs are due: at slots, which are whole seconds.
type Calendar struct {
	// spec is the schedule of cron. Nil for an interval.
	spec *cron.SpecSchedule
	// interval and anchor are those of "@every": slots are whole intervals after the anchor.
	interval time.Duration
	anchor   time.Time
}

// Error is what is wrong with a schedule, and in which of its fields.
type Error struct {
	// TimeZone is true if timeZone is wrong, and false if schedule is.
	TimeZone bool
	// Detail says what is wrong.
	Detail string
}

func (e *Error) Error() string {
	if e.TimeZone {
		return "Invalid timezone: " + e.Detail
	}
	return "Invalid schedule: " + e.Detail
}

// Parse reads the schedule and the time zone of a spec as the Spark Operator does: by the standard parser of
// robfig/cron/v3, five fields or a descriptor, with an optional zone in front that takes the place of timeZone. local is
// the time zone of the server. "@every" has no slots before it is anchored.
func Parse(spec *v1beta2.ScheduledSparkApplicationSpec, local *time.Location) (*Calendar, *Error) {
	// A zone that isn't used must exist nevertheless, as it always had to.
	zone, err := location(spec.TimeZone, local)
	if err != nil {
		return nil, &Error{TimeZone: true, Detail: err.Error()}
	}
	text := spec.Schedule
	if HasZone(text) {
		name, rest, found := strings.Cut(text[strings.Index(text, "=")+1:], " ")
		if !found {
			return nil, &Error{Detail: fmt.Sprintf("%q has a time zone and no schedule after it", text)}
		}
		if zone, err = location(name, local); err != nil {
			return nil, &Error{Detail: err.Error()}
		}
		text = rest
	}
	text = strings.TrimSpace(text)
	if HasZone(text) {
		return nil, &Error{Detail: fmt.Sprintf("%q has more than one time zone", spec.Schedule)}
	}
	if interval, found := strings.CutPrefix(text, everyPrefix); found {
		return parseInterval(interval)
	}
	parsed, err := cron.ParseStandard(text)
	if err != nil {
		return nil, &Error{Detail: err.Error()}
	}
	fields, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, &Error{Detail: fmt.Sprintf("%q is no cron schedule", text)}
	}
	fields.Location = zone
	return &Calendar{spec: fields}, nil
}

// HasZone says whether a schedule brings its own time zone.
func HasZone(schedule string) bool {
	return strings.HasPrefix(schedule, zonePrefix) || strings.HasPrefix(schedule, cronZonePrefix)
}

func location(name string, local *time.Location) (*time.Location, error) {
	if name == "" || name == localZone {
		return local, nil
	}
	return time.LoadLocation(name)
}

func parseInterval(text string) (*Calendar, *Error) {
	interval, err := time.ParseDuration(text)
	if err != nil {
		return nil, &Error{Detail: err.Error()}
	}
	if interval <= 0 {
		return nil, &Error{Detail: fmt.Sprintf("the interval %s is not positive", text)}
	}
	return &Calendar{interval: max(interval.Truncate(minInterval), minInterval)}, nil
}

// FractionalInterval says that a schedule is an interval that isn't one of whole seconds, and which one is used instead.
func FractionalInterval(spec *v1beta2.ScheduledSparkApplicationSpec) (used time.Duration, fractional bool) {
	calendar, err := Parse(spec, time.UTC)
	if err != nil || calendar.interval == 0 {
		return 0, false
	}
	_, text, _ := strings.Cut(spec.Schedule, everyPrefix)
	interval, parseErr := time.ParseDuration(text)
	return calendar.interval, parseErr == nil && interval != calendar.interval
}

// Anchored returns the calendar with its intervals counted from the last run, or from the creation of the object when it
// hasn't run yet. Slots of cron have no need of it.
func (c *Calendar) Anchored(schedule *v1beta2.ScheduledSparkApplication) *Calendar {
	anchored := *c
	switch status := &schedule.Status; {
	case !status.LastScheduledTime.IsZero():
		anchored.anchor = status.LastScheduledTime.Time
	case !status.LastRun.IsZero(): // written by the Spark Operator
		anchored.anchor = status.LastRun.Time
	default:
		anchored.anchor = schedule.CreationTimestamp.Time
	}
	anchored.anchor = anchored.anchor.Truncate(time.Second)
	return &anchored
}

// Next returns the first slot after a time, or zero if there is none within the five years that cron looks ahead.
func (c *Calendar) Next(after time.Time) time.Time {
	if c.spec != nil {
		return c.spec.Next(after).UTC()
	}
	if after.Before(c.anchor) {
		after = c.anchor
	}
	// In seconds: differences of times are limited to 292 years as durations.
	step := int64(c.interval / time.Second)
	elapsed := after.Unix() - c.anchor.Unix()
	return time.Unix(c.anchor.Unix()+(elapsed/step+1)*step, 0).UTC()
}

// IsSlot says whether a time is a slot of the calendar.
func (c *Calendar) IsSlot(t time.Time) bool {
	return !t.IsZero() && c.Next(t.Add(-time.Second)).Equal(t)
}

// Latest returns the last slot that is after one time and not after another, or zero if there is none. It asks for few
// slots, however many there are: the first slot after a time never gets earlier as that time gets later, so that the last
// one is found by halving.
func (c *Calendar) Latest(after, notAfter time.Time) time.Time {
	isDue := func(slot time.Time) bool { return !slot.IsZero() && !slot.After(notAfter) }
	latest := c.Next(after)
	if !isDue(latest) {
		return time.Time{}
	}
	// Next(low) is due, and Next(high) is not.
	low, high := latest.Unix()-1, notAfter.Unix()
	for high-low > 1 {
		middle := low + (high-low)/2
		if slot := c.Next(time.Unix(middle, 0)); isDue(slot) {
			latest, low = slot, max(middle, slot.Unix()-1)
		} else {
			high = middle
		}
	}
	return latest
}

// maxCounted bounds how many slots are counted.
const maxCounted = 100

// CountBetween counts the slots from one slot on, itself included, to before another. It stops at a hundred and says so.
func (c *Calendar) CountBetween(first, before time.Time) (count int, more bool) {
	for slot := first; !slot.IsZero() && slot.Before(before); slot = c.Next(slot) {
		if count == maxCounted {
			return count, true
		}
		count++
	}
	return count, false
}
