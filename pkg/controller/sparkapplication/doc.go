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

// Package sparkapplication runs SparkApplications. It observes an application and all that belongs to it as one
// Snapshot, decides what should be (Decide, which is pure), and applies the Plan.
//
// Three rules hold everywhere. The status with an attempt's identity is stored before anything is created for it, so
// that a restart finds what it left behind. Everything is looked at as it is, never as a sequence of events, so that
// what runs twice changes nothing. And nothing falls back: an application that asks for workload-aware scheduling gets
// it, or gets no driver and a condition that says why.
package sparkapplication
