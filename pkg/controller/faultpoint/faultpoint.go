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

// Package faultpoint lets tests stop a controller before or after any of its writes: every write may be the last one before
// a crash. In an ordinary build nothing stops anything; with the build tag faultpoints, the environment may stop the
// process.
package faultpoint

// Point is a place before or after a write.
type Point string

// Before is the point before a write.
func Before(write string) Point { return Point("before-" + write) }

// After is the point after a write.
func After(write string) Point { return Point("after-" + write) }

// Hook is called at every point. An error from it stops the controller there. Nil stops nothing.
type Hook func(Point) error

// Write does one write between its two points.
func (h Hook) Write(name string, do func() error) error {
	if err := h.at(Before(name)); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return h.at(After(name))
}

func (h Hook) at(point Point) error {
	stopProcess(point)
	if h != nil {
		if err := h(point); err != nil {
			return &Stop{err}
		}
	}
	return nil
}

// Stop is the end of a controller that a test has stopped. Nothing may pass over it.
type Stop struct{ error }

// Unwrap returns what the hook said.
func (s *Stop) Unwrap() error { return s.error }
