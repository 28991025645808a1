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

// Package tell keeps what controllers say in events and statuses within its bounds.
package tell

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
)

// maxNote is how many bytes the text of an event may have (events.k8s.io/v1).
const maxNote = 1024

// Event is an event that is to be sent.
type Event struct {
	Type, Reason, Action, Message string
}

// Send sends the event about an object.
func (e Event) Send(recorder events.EventRecorder, regarding runtime.Object) {
	recorder.Eventf(regarding, nil, e.Type, e.Reason, e.Action, "%s", Shortened(e.Message, maxNote))
}

// Shortened cuts a text to so many bytes, and no character in two.
func Shortened(text string, bytes int) string {
	const end = "..."
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[:bytes-len(end)], "") + end
}
