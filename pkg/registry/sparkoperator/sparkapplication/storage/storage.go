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

// Package storage serves SparkApplications and their subresources from the store.
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
	"github.com/spark-apiserver/spark-apiserver/pkg/registry/sparkoperator/sparkapplication"
)

// REST serves SparkApplications.
type REST struct {
	*genericregistry.Store
}

var (
	_ rest.StandardStorage      = &REST{}
	_ rest.CategoriesProvider   = &REST{}
	_ rest.ShortNamesProvider   = &REST{}
	_ rest.StorageWithReadiness = &REST{}
)

// StatusREST serves the status of SparkApplications.
type StatusREST struct {
	store *genericregistry.Store
}

var (
	_ rest.Patcher             = &StatusREST{}
	_ rest.ResetFieldsStrategy = &StatusREST{}
	_ rest.TableConvertor      = &StatusREST{}
)

// Storage is what serves SparkApplications and their subresources.
type Storage struct {
	SparkApplication *REST
	Status           *StatusREST
	Scale            *ScaleREST
}

// NewStorage returns what serves SparkApplications and their subresources. They share one store, and with it one watch
// cache.
func NewStorage(scheme *runtime.Scheme, gate featuregate.FeatureGate, schedulers validation.BatchSchedulers, optsGetter generic.RESTOptionsGetter) (Storage, error) {
	strategy := sparkapplication.NewStrategy(scheme, gate, schedulers)
	store := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &sparkoperator.SparkApplication{} },
		NewListFunc:               func() runtime.Object { return &sparkoperator.SparkApplicationList{} },
		DefaultQualifiedResource:  sparkoperator.Resource("sparkapplications"),
		SingularQualifiedResource: sparkoperator.Resource("sparkapplication"),

		CreateStrategy:      strategy,
		UpdateStrategy:      strategy,
		DeleteStrategy:      strategy,
		ResetFieldsStrategy: strategy,

		TableConvertor: sparkapplication.NewTableConvertor(),
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: optsGetter}); err != nil {
		return Storage{}, err
	}

	statusStore := *store
	statusStrategy := sparkapplication.NewStatusStrategy(strategy)
	statusStore.UpdateStrategy = statusStrategy
	statusStore.ResetFieldsStrategy = statusStrategy

	return Storage{SparkApplication: &REST{store}, Status: &StatusREST{store: &statusStore}, Scale: &ScaleREST{store: store}}, nil
}

// ShortNames implements rest.ShortNamesProvider. The first is the Spark Operator's; the second is what people type who
// think of several.
func (*REST) ShortNames() []string {
	return []string{"sparkapp", "sparkapps"}
}

// Categories implements rest.CategoriesProvider: an application is a workload, as a Job is.
func (*REST) Categories() []string {
	return []string{"all"}
}

// New returns an empty object for a request to be decoded into.
func (*StatusREST) New() runtime.Object {
	return &sparkoperator.SparkApplication{}
}

// Destroy does nothing: the store is REST's.
func (*StatusREST) Destroy() {}

// Get returns the whole application, which PATCH needs.
func (r *StatusREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return r.store.Get(ctx, name, options)
}

// Update changes the status of an application that exists.
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
