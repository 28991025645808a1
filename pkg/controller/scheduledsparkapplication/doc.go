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

// Package scheduledsparkapplication starts the runs of ScheduledSparkApplications. It observes a schedule and its runs as one
// Snapshot, decides what should be (Decide, which is pure), and applies the Plan.
//
// A slot, the time that a run is due at, is run once at most: the name of a run follows from its schedule and its slot
// alone, and the status moves on to the next slot only when the run is seen to exist. Whatever is interrupted in between is
// found again and taken up. Everything is looked at as it is, never as a sequence of events, so that what runs twice
// changes nothing.
package scheduledsparkapplication
