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

// Package storage serves ScheduledSparkApplications and their subresources from the store.
package storage

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/validation"
	"github.com/spark-apiserver/spark-apiserver/pkg/registry/sparkoperator/scheduledsparkapplication"
)

// REST serves ScheduledSparkApplications.
type REST struct {
	*genericregistry.Store
}

var (
	_ rest.StandardStorage      = &REST{}
	_ rest.CategoriesProvider   = &REST{}
	_ rest.ShortNamesProvider   = &REST{}
	_ rest.StorageWithReadiness = &REST{}
)

// StatusREST serves the status of ScheduledSparkApplications.
type StatusREST struct {
	store *genericregistry.Store
}

var (
	_ rest.Patcher             = &StatusREST{}
	_ rest.ResetFieldsStrategy = &StatusREST{}
	_ rest.TableConvertor      = &StatusREST{}
)

// NewREST returns what serves ScheduledSparkApplications and their status. The two share one store, and with it one watch cache.
func NewREST(scheme *runtime.Scheme, gate featuregate.FeatureGate, schedulers validation.BatchSchedulers, optsGetter generic.RESTOptionsGetter) (*REST, *StatusREST, error) {
	strategy := scheduledsparkapplication.NewStrategy(scheme, gate, schedulers)
	store := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &sparkoperator.ScheduledSparkApplication{} },
		NewListFunc:               func() runtime.Object { return &sparkoperator.ScheduledSparkApplicationList{} },
		DefaultQualifiedResource:  sparkoperator.Resource("scheduledsparkapplications"),
		SingularQualifiedResource: sparkoperator.Resource("scheduledsparkapplication"),

		CreateStrategy:      strategy,
		UpdateStrategy:      strategy,
		DeleteStrategy:      strategy,
		ResetFieldsStrategy: strategy,

		TableConvertor: scheduledsparkapplication.NewTableConvertor(),
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: optsGetter}); err != nil {
		return nil, nil, err
	}

	statusStore := *store
	statusStrategy := scheduledsparkapplication.NewStatusStrategy(strategy)
	statusStore.UpdateStrategy = statusStrategy
	statusStore.ResetFieldsStrategy = statusStrategy

	return &REST{store}, &StatusREST{store: &statusStore}, nil
}

// ShortNames implements rest.ShortNamesProvider. The first is the Spark Operator's; the second is what people type who
// think of several.
func (*REST) ShortNames() []string {
	return []string{"scheduledsparkapp", "scheduledsparkapps"}
}

// Categories implements rest.CategoriesProvider: a schedule is a workload, as a CronJob is.
func (*REST) Categories() []string {
	return []string{"all"}
}

// New returns an empty object for a request to be decoded into.
func (*StatusREST) New() runtime.Object {
	return &sparkoperator.ScheduledSparkApplication{}
}

// Destroy does nothing: the store is REST's.
func (*StatusREST) Destroy() {}

// Get returns the whole schedule, which PATCH needs.
func (r *StatusREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return r.store.Get(ctx, name, options)
}

// Update changes the status of a schedule that exists.
func (r *StatusREST) Update(ctx context.Context, name string, objInfo rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc,
	updateValidation rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions,
) (runtime.Object, bool, error) {
	// A subresource never creates its object.
	return r.store.Update(ctx, name, objInfo, createValidation, updateValidation, false, options)
}

// GetResetFields implements rest.ResetFieldsStrategy.
func (r *StatusREST) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return r.store.GetResetFields()
}

// ConvertToTable implements rest.TableConvertor.
func (r *StatusREST) ConvertToTable(ctx context.Context, object runtime.Object, tableOptions runtime.Object) (*metav1.Table, error) {
	return r.store.ConvertToTable(ctx, object, tableOptions)
}
