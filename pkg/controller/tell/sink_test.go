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

package tell

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
)

type answer struct {
	events.EventSink
	err error
}

func (a *answer) Create(_ context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	return event, a.err
}

// Hundreds of applications may end with their namespace, and none of what they say then can be stored.
func TestEventsOfANamespaceThatEnds(t *testing.T) {
	event := &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "pi.1"}}
	terminating := apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "pi.1", errors.New("it is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	got, err := (&sink{&answer{err: terminating}}).Create(t.Context(), event)
	require.NoError(t, err)
	assert.Equal(t, event, got)

	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "pi.1", errors.New("no rights"))
	_, err = (&sink{&answer{err: forbidden}}).Create(t.Context(), event)
	require.ErrorIs(t, err, forbidden)
}
