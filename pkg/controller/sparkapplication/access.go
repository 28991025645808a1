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
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
)

const (
	// accessTTL is how long it is believed that a service account has the rights of a driver.
	accessTTL = 5 * time.Minute
	// accessGrace is how long after its submission an attempt waits for rights that its service account lacks. A role that
	// was applied together with the application, and a kube-apiserver that has just started, need a moment.
	accessGrace = 15 * time.Second
)

// driverRights is what every Spark driver does: it looks up its own pod, creates executors, follows and deletes them
// (KubernetesClusterSchedulerBackend, ExecutorPodsAllocator, ExecutorPodsWatchSnapshotSource).
var driverRights = []authorizationv1.ResourceAttributes{
	{Verb: "get", Resource: "pods"},
	{Verb: "list", Resource: "pods"},
	{Verb: "watch", Resource: "pods"},
	{Verb: "create", Resource: "pods"},
	{Verb: "delete", Resource: "pods"},
}

// executorConfigMapRight is needed unless the ConfigMap of the executors is turned off.
var executorConfigMapRight = authorizationv1.ResourceAttributes{Verb: "create", Resource: "configmaps"}

const (
	confDisableExecutorConfigMap = "spark.kubernetes.executor.disableConfigMap"
	// confDriverCredentials begins the properties by which a driver works under another identity than its service account.
	confDriverCredentials = "spark.kubernetes.authenticate.driver."
	confServiceAccount    = "spark.kubernetes.authenticate.driver.serviceAccountName"
)

// accessChecker asks the cluster what the service accounts of drivers may do.
type accessChecker struct {
	client kubernetes.Interface
	clock  clock.PassiveClock

	mu      sync.Mutex
	allowed map[string]time.Time
}

// check returns an Obstacle for an attempt whose driver could not create its executors. A question that can't be answered
// is no obstacle.
func (c *accessChecker) check(ctx context.Context, app *v1beta2.SparkApplication, submission *scheduling.Submission) error {
	rights, account := neededRights(app, submission)
	if len(rights) == 0 {
		return nil
	}
	key := fmt.Sprintf("%s/%s/%d", app.Namespace, account, len(rights))
	c.mu.Lock()
	at, known := c.allowed[key]
	c.mu.Unlock()
	if known && c.clock.Since(at) < accessTTL {
		return nil
	}
	var denied []string
	for i := range rights {
		allowed, err := c.ask(ctx, app.Namespace, account, rights[i])
		if err != nil {
			klog.FromContext(ctx).V(2).Info("The rights of the driver's service account are not known", "serviceAccount", account, "reason", err.Error())
			return nil
		}
		if !allowed {
			denied = append(denied, rights[i].Verb+" "+rights[i].Resource)
		}
	}
	if len(denied) == 0 {
		c.mu.Lock()
		if c.allowed == nil {
			c.allowed = map[string]time.Time{}
		}
		c.allowed[key] = c.clock.Now()
		c.mu.Unlock()
		return nil
	}
	obstacle := refused(ReasonServiceAccountForbidden, fmt.Sprintf(
		"service account %s may not %s in namespace %s, which Spark's driver needs; bind it to a role like that of artifacts/spark-driver",
		account, strings.Join(denied, ", "), app.Namespace))
	if c.clock.Since(app.Status.LastSubmissionAttemptTime.Time) < accessGrace {
		obstacle.Kind, obstacle.RetryAfter = ObstacleWaiting, authorizationRetry
	}
	return obstacle
}

// neededRights returns what the driver's service account must be allowed, and its name. Nothing is known of a driver with
// credentials of its own, or with another master.
func neededRights(app *v1beta2.SparkApplication, submission *scheduling.Submission) ([]authorizationv1.ResourceAttributes, string) {
	if app.Spec.Driver.KubernetesMaster != nil {
		return nil, ""
	}
	properties := submission.Objects.Properties
	for name := range properties {
		if strings.HasPrefix(name, confDriverCredentials) && name != confServiceAccount {
			return nil, ""
		}
	}
	account := submission.Objects.Driver.Spec.ServiceAccountName
	if account == "" {
		account = "default"
	}
	rights := driverRights
	if !strings.EqualFold(properties[confDisableExecutorConfigMap], "true") {
		rights = append(slices.Clip(rights), executorConfigMapRight)
	}
	return rights, account
}

func (c *accessChecker) ask(ctx context.Context, namespace, account string, right authorizationv1.ResourceAttributes) (bool, error) {
	right.Namespace = namespace
	review, err := c.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               "system:serviceaccount:" + namespace + ":" + account,
			Groups:             []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
			ResourceAttributes: &right,
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}
