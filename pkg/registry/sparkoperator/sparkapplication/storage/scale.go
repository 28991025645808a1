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

package storage

import (
	"context"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/registry/sparkoperator/sparkapplication"
)

var scaleKind = autoscalingv1.SchemeGroupVersion.WithKind("Scale")

// ScaleREST serves the scale of SparkApplications, which is the number of their executors. A change of it is a change of
// the spec: it is validated, warned about and counted as one.
type ScaleREST struct {
	store *genericregistry.Store
}

var (
	_ rest.Patcher                  = &ScaleREST{}
	_ rest.GroupVersionKindProvider = &ScaleREST{}
	_ rest.TableConvertor           = &ScaleREST{}
)

// GroupVersionKind implements rest.GroupVersionKindProvider: a scale is of the kind that scales everything.
func (*ScaleREST) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return scaleKind
}

// New returns an empty object for a request to be decoded into.
func (*ScaleREST) New() runtime.Object {
	return &autoscalingv1.Scale{}
}

// Destroy does nothing: the store is REST's.
func (*ScaleREST) Destroy() {}

// Get returns the scale of an application.
func (r *ScaleREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	obj, err := r.store.Get(ctx, name, options)
	if err != nil {
		return nil, err
	}
	return scaleOf(obj)
}

// Update changes the number of executors of an application that exists.
func (r *ScaleREST) Update(ctx context.Context, name string, objInfo rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc,
	updateValidation rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions,
) (runtime.Object, bool, error) {
	// A subresource never creates its object. Admission sees the scale that the user sent, not the application.
	obj, _, err := r.store.Update(ctx, name, &scaledApplicationInfo{name: name, scale: objInfo},
		func(ctx context.Context, obj runtime.Object) error {
			scale, err := scaleOf(obj)
			if err != nil {
				return err
			}
			return createValidation(ctx, scale)
		},
		func(ctx context.Context, obj, old runtime.Object) error {
			scale, err := scaleOf(obj)
			if err != nil {
				return err
			}
			oldScale, err := scaleOf(old)
			if err != nil {
				return err
			}
			return updateValidation(ctx, scale, oldScale)
		}, false, options)
	if err != nil {
		return nil, false, err
	}
	scale, err := scaleOf(obj)
	return scale, false, err
}

// ConvertToTable implements rest.TableConvertor.
func (*ScaleREST) ConvertToTable(ctx context.Context, object runtime.Object, tableOptions runtime.Object) (*metav1.Table, error) {
	return rest.NewDefaultTableConvertor(schema.GroupResource{Group: scaleKind.Group, Resource: "scales"}).ConvertToTable(ctx, object, tableOptions)
}

func scaleOf(obj runtime.Object) (*autoscalingv1.Scale, error) {
	app, ok := obj.(*sparkoperator.SparkApplication)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("the store of SparkApplications holds a %T", obj))
	}
	return sparkapplication.ScaleFromSparkApplication(app), nil
}

// scaledApplicationInfo makes of the stored application its scale, lets the request change that, and makes the changed
// application of the outcome. Who owns which field is carried along, so that whoever scales comes to own the number.
type scaledApplicationInfo struct {
	name  string
	scale rest.UpdatedObjectInfo
}

var _ rest.UpdatedObjectInfo = &scaledApplicationInfo{}

// Preconditions implements rest.UpdatedObjectInfo.
func (i *scaledApplicationInfo) Preconditions() *metav1.Preconditions {
	return i.scale.Preconditions()
}

// UpdatedObject implements rest.UpdatedObjectInfo.
func (i *scaledApplicationInfo) UpdatedObject(ctx context.Context, old runtime.Object) (runtime.Object, error) {
	stored, ok := old.(*sparkoperator.SparkApplication)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("the store of SparkApplications holds a %T", old))
	}
	if stored.ResourceVersion == "" {
		return nil, apierrors.NewNotFound(sparkoperator.Resource("sparkapplications/scale"), i.name)
	}
	app := stored.DeepCopy()
	owners := managedfields.NewScaleHandler(app.ManagedFields, v1beta2.SchemeGroupVersion, sparkapplication.ReplicasPaths)
	oldScale := sparkapplication.ScaleFromSparkApplication(app)
	var err error
	if oldScale.ManagedFields, err = owners.ToSubresource(); err != nil {
		return nil, err
	}

	obj, err := i.scale.UpdatedObject(ctx, oldScale)
	if err != nil {
		return nil, err
	}
	scale, ok := obj.(*autoscalingv1.Scale)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected a Scale, got a %T", obj))
	}
	if scale.UID != "" && scale.UID != app.UID {
		return nil, apierrors.NewConflict(sparkoperator.Resource("sparkapplications/scale"), app.Name,
			fmt.Errorf("the UID %s was asked for, and the application has the UID %s", scale.UID, app.UID))
	}
	if errs := sparkapplication.SetScale(app, scale); len(errs) > 0 {
		return nil, apierrors.NewInvalid(scaleKind.GroupKind(), app.Name, errs)
	}
	if scale.ResourceVersion != "" {
		app.ResourceVersion = scale.ResourceVersion
	}
	if app.ManagedFields, err = owners.ToParent(scale.ManagedFields); err != nil {
		return nil, err
	}
	return app, nil
}
