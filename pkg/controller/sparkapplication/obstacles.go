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
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/spark-apiserver/spark-apiserver/pkg/controller/tell"
)

// maxMessage is how long a message of an API server may get in a status. A refused pod can be quoted whole.
const maxMessage = 4096

func refused(reason, message string) *Obstacle {
	return &Obstacle{Kind: ObstacleRefused, Reason: reason, Message: tell.Shortened(message, maxMessage)}
}

func waiting(message string) *Obstacle {
	return &Obstacle{Kind: ObstacleWaiting, Reason: ReasonWaitingForCleanup, Message: message}
}

// authorizationRetry is how soon it is tried again what this server had no right to do. Every application that waits asks
// for itself, so it is not often.
const authorizationRetry = 5 * time.Second

func notAuthorized(message string) *Obstacle {
	obstacle := refused(ReasonNotAuthorized, message)
	obstacle.Kind, obstacle.RetryAfter = ObstacleWaiting, authorizationRetry
	return obstacle
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
	if apierrors.IsForbidden(err) {
		switch message := status.Status().Message; {
		case forbiddenForNow(message):
			return fmt.Errorf("%s: %w", what, err)
		case deniedToUs(message):
			return notAuthorized(fmt.Sprintf("this server lacks a right: %s: %v", what, err))
		}
	}
	switch status.Status().Code {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusNotAcceptable, http.StatusGone, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
		http.StatusUnprocessableEntity:
		return refused(refusalReason(status.Status().Message), fmt.Sprintf("%s: %v", what, err))
	default:
		return fmt.Errorf("%s: %w", what, err)
	}
}

// forbiddenForNow says whether an answer "forbidden" says that the API server does not know yet. Admission plugins give it
// while their caches are filled (k8s.io/apiserver/pkg/admission), and the one for quotas until a new quota has been counted
// (k8s.io/apiserver/pkg/admission/plugin/resourcequota).
func forbiddenForNow(message string) bool {
	return strings.Contains(message, "not yet ready to handle request") || strings.Contains(message, "status unknown for quota")
}

// deniedToUs says whether an answer "forbidden" comes from authorization, and so is about the rights of this server and
// not about the application. It passes: a kube-apiserver that has just started denies everything until its authorizer's
// caches are filled, and missing rights are granted by an administrator. No application fails by it.
func deniedToUs(message string) bool {
	return strings.Contains(message, ` forbidden: User "`) || strings.Contains(message, "cannot set blockOwnerDeletion")
}

func isAlreadyExists(err error) bool { return apierrors.IsAlreadyExists(err) }
