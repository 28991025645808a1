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
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func specOf(schedule, zone string) *v1beta2.ScheduledSparkApplicationSpec {
	return &v1beta2.ScheduledSparkApplicationSpec{Schedule: schedule, TimeZone: zone}
}

func parse(t *testing.T, schedule, zone string) *Calendar {
	t.Helper()
	calendar, err := Parse(specOf(schedule, zone), time.UTC)
	require.Nil(t, err)
	return calendar
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return parsed
}

// TestSlots holds the calendar's oddities: days that a clock is set forward or back, ends of months, leap years.
func TestSlots(t *testing.T) {
	for name, test := range map[string]struct {
		schedule, zone, after string
		want                  []string
	}{
		"hourly":             {"@hourly", "UTC", "2026-03-01T10:30:00Z", []string{"2026-03-01T11:00:00Z", "2026-03-01T12:00:00Z"}},
		"a slot is not next": {"0 * * * *", "UTC", "2026-03-01T10:00:00Z", []string{"2026-03-01T11:00:00Z"}},
		"descriptors":        {"@monthly", "UTC", "2026-01-31T23:59:59Z", []string{"2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"}},
		"names":              {"0 6 * JAN mon-FRI", "UTC", "2026-01-02T07:00:00Z", []string{"2026-01-05T06:00:00Z"}},
		"either day":         {"0 0 13 * 5", "UTC", "2026-02-01T00:00:00Z", []string{"2026-02-06T00:00:00Z", "2026-02-13T00:00:00Z"}},

		"months without a 31st are passed over": {"0 0 31 * *", "UTC", "2026-01-31T00:00:00Z",
			[]string{"2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z", "2026-07-31T00:00:00Z", "2026-08-31T00:00:00Z"}},
		"February passes over a 30th":          {"15 4 30 * *", "UTC", "2026-01-30T05:00:00Z", []string{"2026-03-30T04:15:00Z"}},
		"leap days":                            {"0 12 29 2 *", "UTC", "2026-01-01T00:00:00Z", []string{"2028-02-29T12:00:00Z", "2032-02-29T12:00:00Z"}},
		"no leap day within what is looked at": {"0 12 29 2 *", "UTC", "2096-03-01T00:00:00Z", []string{""}},
		"the turn of the year":                 {"59 23 31 12 *", "UTC", "2026-12-31T23:59:00Z", []string{"2027-12-31T23:59:00Z"}},
		"a month ends in its own zone":         {"0 0 1 * *", "Asia/Tokyo", "2026-02-28T14:59:59Z", []string{"2026-02-28T15:00:00Z", "2026-03-31T15:00:00Z"}},
		"a zone of half an hour":               {"30 9 * * *", "Asia/Kolkata", "2026-03-01T00:00:00Z", []string{"2026-03-01T04:00:00Z"}},
		"a zone in the schedule comes first":   {"CRON_TZ=Asia/Tokyo 0 9 * * *", "America/New_York", "2026-03-01T01:00:00Z", []string{"2026-03-02T00:00:00Z"}},
		"the other spelling, and more spaces":  {"TZ=Asia/Tokyo   0 9 * * *", "", "2026-03-01T01:00:00Z", []string{"2026-03-02T00:00:00Z"}},
		"spaces in front":                      {"  @daily", "UTC", "2026-03-01T01:00:00Z", []string{"2026-03-02T00:00:00Z"}},
		"the clock goes forward: 2:30 is no time": {"30 2 * * *", "America/New_York", "2026-03-07T08:00:00Z",
			// 8 March has no 2:30; the run of that day is left out.
			[]string{"2026-03-09T06:30:00Z", "2026-03-10T06:30:00Z"}},
		"the clock goes forward: hourly runs go on": {"0 * * * *", "America/New_York", "2026-03-08T06:00:00Z",
			[]string{"2026-03-08T07:00:00Z", "2026-03-08T08:00:00Z"}},
		"the clock goes back: 1:30 comes twice": {"30 1 * * *", "America/New_York", "2026-11-01T04:00:00Z",
			[]string{"2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z", "2026-11-02T06:30:00Z"}},
		"the clock goes back: hourly runs go on": {"0 * * * *", "America/New_York", "2026-11-01T04:00:00Z",
			[]string{"2026-11-01T05:00:00Z", "2026-11-01T06:00:00Z", "2026-11-01T07:00:00Z"}},
		"the clock goes forward at midnight": {"0 0 * * *", "Africa/Cairo", "2026-04-23T00:00:00Z",
			// 24 April begins at 1:00.
			[]string{"2026-04-24T21:00:00Z", "2026-04-25T21:00:00Z"}},
		"another half of the world": {"30 2 * * *", "Australia/Sydney", "2026-10-03T00:00:00Z",
			// 4 October has no 2:30.
			[]string{"2026-10-04T15:30:00Z"}},
		"a clock that is set by half an hour": {"15 2 * * *", "Australia/Lord_Howe", "2026-10-02T16:00:00Z",
			// 4 October has no 2:15: 2:00 is 2:30.
			[]string{"2026-10-04T15:15:00Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			calendar, after := parse(t, test.schedule, test.zone), at(t, test.after)
			for _, want := range test.want {
				after = calendar.Next(after)
				if want == "" {
					assert.True(t, after.IsZero())
					return
				}
				assert.Equal(t, want, after.Format(time.RFC3339))
				assert.True(t, calendar.IsSlot(after))
				assert.False(t, calendar.IsSlot(after.Add(time.Second)))
			}
		})
	}
}

func TestZoneOfTheServer(t *testing.T) {
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	require.NoError(t, err)
	for _, spec := range []*v1beta2.ScheduledSparkApplicationSpec{
		specOf("0 9 * * *", ""), specOf("0 9 * * *", "Local"), specOf("CRON_TZ=Local 0 9 * * *", "UTC"),
	} {
		calendar, parseErr := Parse(spec, tokyo)
		require.Nil(t, parseErr)
		assert.Equal(t, "2026-03-02T00:00:00Z", calendar.Next(at(t, "2026-03-01T01:00:00Z")).Format(time.RFC3339), spec)
	}
}

func TestIntervals(t *testing.T) {
	created := metav1.NewTime(at(t, "2026-03-01T10:07:30Z"))
	schedule := &v1beta2.ScheduledSparkApplication{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: created}}
	calendar := parse(t, "@every 1h", "").Anchored(schedule)
	assert.Equal(t, "2026-03-01T11:07:30Z", calendar.Next(created.Time).Format(time.RFC3339))
	assert.Equal(t, "2026-03-01T11:07:30Z", calendar.Next(created.Add(-time.Hour)).Format(time.RFC3339), "nothing is due before")
	assert.Equal(t, "2026-03-01T15:07:30Z", calendar.Next(at(t, "2026-03-01T14:08:00.5Z")).Format(time.RFC3339), "no drift")
	assert.False(t, calendar.IsSlot(created.Time))

	schedule.Status.LastRun = metav1.NewTime(at(t, "2026-03-01T12:00:01Z"))
	assert.Equal(t, "2026-03-01T13:00:01Z", calendar.Anchored(schedule).Next(schedule.Status.LastRun.Time).Format(time.RFC3339),
		"as the Spark Operator, which counts from when the last run was started, left it")
	schedule.Status.LastScheduledTime = metav1.NewTime(at(t, "2026-03-01T12:00:00Z"))
	assert.Equal(t, "2026-03-01T13:00:00Z", calendar.Anchored(schedule).Next(schedule.Status.LastRun.Time).Format(time.RFC3339),
		"from when it was due, if that is known")

	// More than a duration can hold.
	assert.Equal(t, "2500-01-01T00:00:00Z", parse(t, "@every 1s", "").Next(at(t, "2499-12-31T23:59:59Z")).Format(time.RFC3339))

	used, fractional := FractionalInterval(specOf("@every 1500ms", ""))
	assert.True(t, fractional)
	assert.Equal(t, time.Second, used)
	used, fractional = FractionalInterval(specOf("CRON_TZ=UTC @every 10ms", ""))
	assert.True(t, fractional)
	assert.Equal(t, time.Second, used)
	for _, whole := range []string{"@every 1m", "@hourly", "0 * * * *", "nonsense"} {
		_, fractional = FractionalInterval(specOf(whole, ""))
		assert.False(t, fractional, whole)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		schedule, zone string
		wantZone       bool
		want           string
	}{
		"nothing":                     {"", "", false, "empty spec string"},
		"words":                       {"every day", "", false, "expected exactly 5 fields"},
		"seconds":                     {"0 0 * * * *", "", false, "expected exactly 5 fields, found 6"},
		"a minute too many":           {"60 * * * *", "", false, "end of range (60) above maximum (59)"},
		"a step of nothing":           {"*/0 * * * *", "", false, "step of range should be a positive number"},
		"an unknown descriptor":       {"@reboot", "", false, "unrecognized descriptor"},
		"an interval of nothing":      {"@every 0s", "", false, "is not positive"},
		"an interval into the past":   {"@every -5m", "", false, "is not positive"},
		"an interval without a unit":  {"@every 5", "", false, "missing unit"},
		"an interval of eternity":     {"@every 99999999999h", "", false, "invalid duration"},
		"a time zone that isn't":      {"@hourly", "Mars/Olympus", true, "unknown time zone Mars/Olympus"},
		"an unused one that isn't":    {"CRON_TZ=UTC @hourly", "Mars/Olympus", true, "unknown time zone Mars/Olympus"},
		"one in front that isn't":     {"CRON_TZ=Mars/Olympus @hourly", "", false, "unknown time zone Mars/Olympus"},
		"a time zone alone":           {"TZ=UTC", "", false, "no schedule after it"},
		"a time zone and a space":     {"TZ=UTC ", "", false, "empty spec string"},
		"a time zone of nothing":      {"TZ=", "", false, "no schedule after it"},
		"two time zones":              {"TZ=UTC CRON_TZ=UTC @hourly", "", false, "more than one time zone"},
		"a way out of the zone files": {"@hourly", "../../etc/passwd", true, "invalid location name"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(specOf(test.schedule, test.zone), time.UTC)
			require.NotNil(t, err)
			assert.Equal(t, test.wantZone, err.TimeZone)
			assert.Contains(t, err.Error(), test.want)
		})
	}
}

// TestLatest compares the search with a walk over every slot, on both sides of clock changes of several zones. Zones whose
// clock is set by half an hour are left out: there a walk by the parser's own steps loses the slot after the change, which
// the search finds.
func TestLatest(t *testing.T) {
	schedules := []string{"* * * * *", "*/7 1-3 * * *", "30 1 * * *", "30 2 * * *", "0 0 * * *", "0 * * * *", "0 0 31 * *", "59 23 * * 0", "@every 13m"}
	zones := []string{"UTC", "America/New_York", "Europe/Berlin", "Africa/Cairo", "Australia/Sydney", "America/Sao_Paulo"}
	starts := []string{"2026-03-07T12:00:00Z", "2026-03-28T20:00:00Z", "2026-04-04T10:00:00Z", "2026-10-03T10:00:00Z", "2026-10-24T20:00:00Z", "2026-10-31T20:00:00Z"}
	found := 0
	for _, schedule := range schedules {
		for _, zone := range zones {
			calendar := parse(t, schedule, zone)
			for _, start := range starts {
				after := at(t, start)
				for _, span := range []time.Duration{0, 59 * time.Second, time.Minute, 90 * time.Minute, 7*time.Hour + 31*time.Minute, 30 * time.Hour} {
					now := after.Add(span + 300*time.Millisecond)
					var want time.Time
					for slot := calendar.Next(after); !slot.IsZero() && !slot.After(now); slot = calendar.Next(slot) {
						want = slot
						found++
					}
					require.Equal(t, want, calendar.Latest(after, now), "%s in %s after %s until %s", schedule, zone, after, now)
				}
			}
		}
	}
	assert.Greater(t, found, 1000)
}

func TestLatestAfterYears(t *testing.T) {
	after := at(t, "2020-01-01T00:00:00Z")
	assert.Equal(t, "2026-03-01T10:00:00Z", parse(t, "@every 1s", "").Latest(after, at(t, "2026-03-01T10:00:00.9Z")).Format(time.RFC3339))
	january := parse(t, "* * * 1 *", "UTC")
	assert.Equal(t, "2026-01-31T23:59:00Z", january.Latest(after, at(t, "2026-12-01T00:00:00Z")).Format(time.RFC3339))
	assert.True(t, january.Latest(at(t, "2026-02-01T00:00:00Z"), at(t, "2026-12-01T00:00:00Z")).IsZero())
}

func TestCountBetween(t *testing.T) {
	minutely := parse(t, "* * * * *", "UTC")
	first := at(t, "2026-03-01T10:00:00Z")
	count, more := minutely.CountBetween(first, first.Add(5*time.Minute))
	assert.Equal(t, 5, count)
	assert.False(t, more)
	count, more = minutely.CountBetween(first, first)
	assert.Zero(t, count)
	assert.False(t, more)
	count, more = minutely.CountBetween(first, first.AddDate(3, 0, 0))
	assert.Equal(t, 100, count)
	assert.True(t, more)
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"@every 3m", "CRON_TZ=Asia/Tokyo 0 9 * * 1-5", "TZ=", "TZ=UTC", "*/5 0-23/2 1,15 jan-DEC ?", "0 0 30 2 *", "@every -1ns", "@every 2562047h47m16s"} {
		f.Add(seed, "America/New_York", int64(1772359200))
	}
	f.Fuzz(func(t *testing.T, schedule, zone string, seconds int64) {
		calendar, err := Parse(specOf(schedule, zone), time.UTC)
		if err != nil {
			return
		}
		// The years that objects can be stored in.
		now := time.Unix(seconds%(200*365*24*3600), 0)
		slot := calendar.Next(now)
		if slot.IsZero() {
			return
		}
		if !slot.After(now) || slot.Nanosecond() != 0 {
			t.Fatalf("%q: the slot after %s is %s", schedule, now, slot)
		}
		if !calendar.IsSlot(slot) {
			t.Fatalf("%q: %s is a slot and is not", schedule, slot)
		}
		if latest := calendar.Latest(now, slot); !latest.Equal(slot) {
			t.Fatalf("%q: the latest slot from %s to %s is %s", schedule, now, slot, latest)
		}
	})
}
