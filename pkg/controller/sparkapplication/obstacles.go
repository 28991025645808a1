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
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// maxMessage is how long a message of an API server may get in a status. A refused pod can be quoted whole.
const maxMessage = 4096

func refused(reason, message string) *Obstacle {
	if len(message) > maxMessage {
		message = message[:maxMessage-3] + "..."
	}
	return &Obstacle{Kind: ObstacleRefused, Reason: reason, Message: message}
}

func waiting(message string) *Obstacle {
	return &Obstacle{Kind: ObstacleWaiting, Reason: ReasonWaitingForCleanup, Message: message}
}

// asObstacle returns the Obstacle in an error, or the error if it is none.
func asObstacle(err error) (*Obstacle, error) {
	if obstacle, ok := errors.AsType[*Obstacle](err); ok {
		return obstacle, nil
	}
	return nil, err
}

// classify makes an Obstacle of an answer that would be the same the next time, such as a quota, an admission plugin or
// a missing right. Anything else passes: overload, time-outs, conflicts, an API server that is being restarted. It is
// tried again, and never shown as a failed submission.
func classify(what string, err error) error {
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return waiting("the namespace is being deleted")
	}
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return fmt.Errorf("%s: %w", what, err)
	}
	switch status.Status().Code {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusNotAcceptable, http.StatusGone, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
		http.StatusUnprocessableEntity:
		return refused(ReasonSubmissionFailed, fmt.Sprintf("%s: %v", what, err))
	default:
		return fmt.Errorf("%s: %w", what, err)
	}
}

func isAlreadyExists(err error) bool { return apierrors.IsAlreadyExists(err) }
