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

package sparkapplication

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	k8stesting "k8s.io/client-go/testing"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// TestForbiddenIsNotAlwaysFinal refuses the driver pod for as long as a test says, in the words of kube-apiserver.
func TestForbiddenIsNotAlwaysFinal(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		final  bool
		// condition is the reason of the condition Running meanwhile.
		condition string
	}{
		"authorization": {
			reason:    `User "system:serviceaccount:spark-system:spark-apiserver" cannot create resource "pods" in API group "" in the namespace "jobs"`,
			condition: ReasonNotAuthorized,
		},
		"right on finalizers": {
			reason:    "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>",
			condition: ReasonNotAuthorized,
		},
		"admission plugin that starts":     {reason: "not yet ready to handle request", condition: ReasonSubmitting},
		"quota that was not counted":       {reason: "status unknown for quota: q, resources: pods", condition: ReasonSubmitting},
		"quota that is used up":            {reason: "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1", final: true},
		"missing service account":          {reason: `error looking up service account jobs/x: serviceaccount "x" not found`, final: true},
		"webhook that quotes a permission": {reason: `admission webhook "w" denied the request: User "a" cannot create that`, final: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newApp())
			refuses := true
			w.onWrite = func(action k8stesting.Action) error {
				if refuses && action.Matches("create", "pods") {
					return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "pi-driver", errors.New(test.reason))
				}
				return nil
			}
			for range 5 {
				w.sync()
				_ = w.reconcile()
				w.clock.Step(authorizationRetry)
			}
			if test.final {
				assert.Equal(t, v1beta2.ApplicationStateFailed, w.state())
				assert.Contains(t, w.app().Status.AppState.ErrorMessage, test.reason)
				return
			}
			require.Equal(t, v1beta2.ApplicationStateSubmitted, w.state())
			assert.Equal(t, test.condition, w.condition(v1beta2.ConditionRunning).Reason)
			writes := w.count("update sparkapplications/status")
			for range 5 {
				w.sync()
				_ = w.reconcile()
				w.clock.Step(authorizationRetry)
			}
			assert.Equal(t, writes, w.count("update sparkapplications/status"), "waiting causes no writes")
			refuses = false
			w.settle()
			require.NotNil(t, w.driver())
			assert.Equal(t, int32(1), w.app().Status.SubmissionAttempts)
		})
	}
}
