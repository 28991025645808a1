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
	"maps"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// ReasonBatchSchedulerNotServed is the reason of the condition Running of an application that waits until the cluster
// serves the PodGroups of its batch scheduler.
const ReasonBatchSchedulerNotServed = "BatchSchedulerNotServed"

// batchDiscoveryTTL is how long it is believed which PodGroups of batch schedulers the cluster serves, and how often an
// application that misses them asks again.
const batchDiscoveryTTL = 10 * time.Second

// batchGroups reaches the PodGroups of batch schedulers, which only clusters have that have the scheduler.
type batchGroups struct {
	client    dynamic.Interface
	discovery discovery.ServerResourcesInterface
	clock     clock.PassiveClock

	mu    sync.Mutex
	known map[schema.GroupVersionResource]servedAt
}

type servedAt struct {
	served bool
	at     time.Time
}

func newBatchGroups(client dynamic.Interface, discovery discovery.ServerResourcesInterface, clock clock.PassiveClock) *batchGroups {
	return &batchGroups{client: client, discovery: discovery, clock: clock, known: map[schema.GroupVersionResource]servedAt{}}
}

// served says whether the cluster serves a kind. All applications that wait for it share one answer.
func (b *batchGroups) served(resource schema.GroupVersionResource) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if last, ok := b.known[resource]; ok && b.clock.Since(last.at) < batchDiscoveryTTL {
		return last.served, nil
	}
	list, err := b.discovery.ServerResourcesForGroupVersion(resource.GroupVersion().String())
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("ask whether the cluster serves %s: %w", resource.GroupResource(), err)
	}
	found := false
	if err == nil {
		for i := range list.APIResources {
			found = found || list.APIResources[i].Name == resource.Resource
		}
	}
	b.known[resource] = servedAt{served: found, at: b.clock.Now()}
	return found, nil
}

// forget makes the next question be asked anew.
func (b *batchGroups) forget(resource schema.GroupVersionResource) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.known, resource)
}

// batchGroupClient makes a dynamic client one of createOrAdopt's.
type batchGroupClient struct {
	groups   *batchGroups
	batch    *scheduling.Batch
	resource dynamic.ResourceInterface
}

func (b *batchGroups) of(batch *scheduling.Batch, namespace string) batchGroupClient {
	return batchGroupClient{groups: b, batch: batch, resource: b.client.Resource(batch.Resource).Namespace(namespace)}
}

// Create creates a PodGroup. "Not found" may be the kind, which has gone since it was last asked for.
func (c batchGroupClient) Create(ctx context.Context, group *unstructured.Unstructured, options metav1.CreateOptions) (*unstructured.Unstructured, error) {
	created, err := c.resource.Create(ctx, group, options)
	if !apierrors.IsNotFound(err) {
		return created, err
	}
	c.groups.forget(c.batch.Resource)
	if obstacle := c.groups.require(c.batch); obstacle != nil {
		return nil, obstacle
	}
	return nil, err
}

// Get reads a PodGroup.
func (c batchGroupClient) Get(ctx context.Context, name string, options metav1.GetOptions) (*unstructured.Unstructured, error) {
	return c.resource.Get(ctx, name, options)
}

// require returns an obstacle if the cluster doesn't serve the PodGroups of a batch scheduler.
func (b *batchGroups) require(batch *scheduling.Batch) error {
	if b == nil || b.client == nil {
		return refused(ReasonBatchSchedulerNotServed, "this controller has no access to the PodGroups of batch schedulers")
	}
	served, err := b.served(batch.Resource)
	if err != nil || served {
		return err
	}
	return &Obstacle{
		Kind: ObstacleWaiting, Reason: ReasonBatchSchedulerNotServed, RetryAfter: batchDiscoveryTTL,
		Message: fmt.Sprintf("the cluster does not serve %s in version %s, which the batch scheduler %q needs; the application waits for it",
			batch.Resource.GroupResource(), batch.Resource.Version, batch.Name),
	}
}

// submitBatch makes sure of the PodGroup of an attempt's batch scheduler, before there is a driver. Without it there is
// none: an application is never placed in another way.
func (a *applier) submitBatch(ctx context.Context, app *v1beta2.SparkApplication, batch *scheduling.Batch) error {
	if err := agreeBatch(&app.Status, batch); err != nil {
		return err
	}
	if batch.PodGroupName() == "" {
		return nil
	}
	if err := a.batch.require(batch); err != nil {
		return err
	}
	client := a.batch.of(batch, app.Namespace)
	got, created, err := createOrAdopt(ctx, a, app, writeBatchGroup, "PodGroup", batch.PodGroup, client)
	switch {
	case err != nil:
		return err
	case created:
		a.event(app, normal(eventReasonPodGroupCreated, actionSchedule, fmt.Sprintf("created PodGroup %s for %s", got.GetName(), batch.Name)))
		return nil
	case deleting(got):
		return waiting("PodGroup " + got.GetName() + " is being removed")
	case got.GetLabels()[spark.LabelSubmissionID] == app.Status.SubmissionID:
		return nil
	}
	return a.write(writeBatchGroupUpdate, func() error {
		_, err := client.resource.Update(ctx, renewedGroup(got, batch.PodGroup), metav1.UpdateOptions{})
		if err != nil {
			return classify("update PodGroup "+got.GetName(), err)
		}
		return nil
	})
}

// renewedGroup is a PodGroup of an earlier attempt as this one needs it. What the scheduler keeps in it stays.
func renewedGroup(got, want *unstructured.Unstructured) *unstructured.Unstructured {
	renewed := got.DeepCopy()
	spec, _, _ := unstructured.NestedMap(renewed.Object, "spec")
	if spec == nil {
		spec = map[string]any{}
	}
	wanted, _, _ := unstructured.NestedMap(want.Object, "spec")
	for _, name := range scheduling.OwnedFields() {
		if value, ok := wanted[name]; ok {
			spec[name] = value
		} else {
			delete(spec, name)
		}
	}
	renewed.Object["spec"] = spec
	labels := renewed.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, want.GetLabels())
	renewed.SetLabels(labels)
	return renewed
}

// agreeBatch makes sure that the record of the attempt and what is compiled speak of the same batch scheduler.
func agreeBatch(status *v1beta2.SparkApplicationStatus, batch *scheduling.Batch) error {
	record := status.BatchScheduling
	if record == nil && batch == nil || record != nil && batch != nil && record.Name == batch.Name && record.PodGroupName == batch.PodGroupName() {
		return nil
	}
	return &Obstacle{Kind: ObstacleStaleIdentity, Reason: ReasonPreparingAttempt, Message: "the record of the attempt names another batch scheduler than its application compiles to"}
}

// deleteBatchPodGroup removes the PodGroup of an attempt's batch scheduler. Where it can't be reached any more it goes with
// the application, which owns it.
func (a *applier) deleteBatchPodGroup(ctx context.Context, app *v1beta2.SparkApplication, name string) error {
	record := app.Status.BatchScheduling
	if record == nil || a.batch == nil || a.batch.client == nil {
		return nil
	}
	resource, ok := scheduling.PodGroupResource(record.Name)
	if !ok {
		return nil
	}
	client := a.batch.client.Resource(resource).Namespace(app.Namespace)
	got, err := client.Get(ctx, name, metav1.GetOptions{})
	if err == nil && (!metav1.IsControlledBy(got, app) || deleting(got)) {
		return nil
	}
	if err == nil {
		err = a.write(writeBatchGroupDelete, func() error { return gone(client.Delete(ctx, name, byUID(got.GetUID()))) })
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsForbidden(err) && deniedToUs(err.Error()):
		klog.FromContext(ctx).Info("A PodGroup is left to the garbage collector, because this server may not delete it", "podGroup", klog.KRef(app.Namespace, name), "reason", err.Error())
		return nil
	case err != nil:
		return fmt.Errorf("delete PodGroup %s: %w", name, err)
	}
	klog.FromContext(ctx).V(2).Info("Deleted the PodGroup of a batch scheduler", "podGroup", klog.KRef(app.Namespace, name))
	return nil
}
