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

package render

import (
	"fmt"
	"io"
)

// report writes what is said beside the output, and counts.
type report struct {
	out io.Writer
	// rendered counts applications that were rendered, errors counts applications and documents that were not.
	rendered, errors int
}

func (r *report) notef(format string, args ...any) {
	fmt.Fprintf(r.out, "Note: "+format+"\n", args...)
}

func (r *report) warnf(format string, args ...any) {
	fmt.Fprintf(r.out, "Warning: "+format+"\n", args...)
}

// problemf tells one of several reasons why something is not rendered. It does not count.
func (r *report) problemf(format string, args ...any) {
	fmt.Fprintf(r.out, "error: "+format+"\n", args...)
}

func (r *report) errorf(format string, args ...any) {
	r.problemf(format, args...)
	r.errors++
}
