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
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// indexBySubmission finds what an attempt was made of by the submission ID in its labels. A driver makes a ConfigMap with
// the same labels itself, and side objects, such as the UI's Service, carry it beside a label of their own: both are left out.
const indexBySubmission = "bySubmission"

const kindSparkApplication = "SparkApplication"

func submissionOfLabels(object any) ([]string, error) {
	accessor, ok := object.(metav1.Object)
	if !ok {
		return nil, nil
	}
	if owner := metav1.GetControllerOf(accessor); owner == nil || owner.Kind != kindSparkApplication {
		return nil, nil
	}
	if accessor.GetLabels()[spark.LabelSideObject] != "" {
		return nil, nil
	}
	return []string{accessor.GetLabels()[spark.LabelSubmissionID]}, nil
}

// ownedObjects watches the ConfigMaps and Services of attempts, for one that somebody removes while its driver lives. Only
// their metadata is fetched and kept.
type ownedObjects struct {
	configMaps, services cache.SharedIndexInformer
}

func newOwnedObjects(client metadata.Interface, handler cache.ResourceEventHandler) (*ownedObjects, error) {
	o := &ownedObjects{}
	for _, kind := range []struct {
		resource string
		informer *cache.SharedIndexInformer
	}{{"configmaps", &o.configMaps}, {"services", &o.services}} {
		informer := metadatainformer.NewFilteredMetadataInformer(client, schema.GroupVersionResource{Version: "v1", Resource: kind.resource},
			metav1.NamespaceAll, 0, cache.Indexers{indexBySubmission: submissionOfLabels},
			func(options *metav1.ListOptions) { options.LabelSelector = spark.LabelSubmissionID }).Informer()
		if err := informer.SetTransform(trimManagedFields); err != nil {
			return nil, fmt.Errorf("trim cached %s: %w", kind.resource, err)
		}
		if _, err := informer.AddEventHandler(handler); err != nil {
			return nil, fmt.Errorf("handle events of %s: %w", kind.resource, err)
		}
		*kind.informer = informer
	}
	return o, nil
}

// objectsPatience is how long the ConfigMap or the Service of a living driver has to be missing. A driver that ends removes its
// Service itself, a moment before its container ends, and those of one that was just made are in no cache yet.
const objectsPatience = 15 * time.Second

// observe says whether the ConfigMap or the Service of a living driver is not there, and has not been for a while.
func (o *ownedObjects) observe(m *memory, s *Snapshot, now time.Time) {
	if o == nil || !o.configMaps.HasSynced() || !o.services.HasSynced() || !o.absent(s) {
		m.objectsMissing = time.Time{}
		return
	}
	s.waitForObjects(m, now)
}

func (s *Snapshot) waitForObjects(m *memory, now time.Time) {
	if m.objectsMissing.IsZero() {
		m.objectsMissing = now
	}
	rest := m.objectsMissing.Add(objectsPatience).Sub(now)
	if rest <= 0 {
		s.ObjectsMissing = true
		return
	}
	if s.LookAgain == 0 || rest < s.LookAgain {
		s.LookAgain = rest
	}
}

// observeLeft says whether the ConfigMap or the Service of an attempt that has ended is still there.
func (o *ownedObjects) observeLeft(s *Snapshot) {
	status := &s.Application.Status
	switch {
	case o == nil || status.SubmissionID == "" || !ended(s.Application):
	case !o.configMaps.HasSynced() || !o.services.HasSynced():
		s.lookAgain(objectsPatience)
	default:
		s.ObjectsLeft = o.count(o.configMaps, status.SubmissionID)+o.count(o.services, status.SubmissionID) > 0
	}
}

// absent says whether no cache shows the ConfigMap or the Service of a living driver.
func (o *ownedObjects) absent(s *Snapshot) bool {
	driver := s.Driver
	if driver == nil || deleting(driver) || !driverAlive(driver) {
		return false
	}
	status := &s.Application.Status
	if o.count(o.configMaps, status.SubmissionID) > 0 && o.count(o.services, status.SubmissionID) > 0 {
		return false
	}
	// Not every driver has both.
	submission, err := s.Compile(status.SubmissionID, status.LastSubmissionAttemptTime.Time, attemptPriorityClass(status))
	if err != nil {
		return false
	}
	return submission.Objects.ConfigMap != nil && !o.has(o.configMaps, submission.Objects.ConfigMap) ||
		submission.Objects.Service != nil && !o.has(o.services, submission.Objects.Service)
}

func (o *ownedObjects) count(informer cache.SharedIndexInformer, submissionID string) int {
	keys, _ := informer.GetIndexer().IndexKeys(indexBySubmission, submissionID)
	return len(keys)
}

func (o *ownedObjects) has(informer cache.SharedIndexInformer, want metav1.Object) bool {
	_, exists, err := informer.GetIndexer().GetByKey(want.GetNamespace() + "/" + want.GetName())
	return exists || err != nil
}

// run returns when both watches have ended.
func (o *ownedObjects) run(ctx context.Context) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		o.services.RunWithContext(ctx)
	}()
	o.configMaps.RunWithContext(ctx)
	<-ended
}

// onlyDeletions calls a function for objects that are gone.
func onlyDeletions(f func(object any)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{DeleteFunc: f}
}
