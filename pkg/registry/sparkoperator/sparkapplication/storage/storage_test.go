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
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistrytest "k8s.io/apiserver/pkg/registry/generic/testing"
	"k8s.io/apiserver/pkg/registry/rest"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	etcd3testing "k8s.io/apiserver/pkg/storage/etcd3/testing"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/install"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/validation"
	"github.com/spark-apiserver/spark-apiserver/pkg/features"
)

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return scheme
}

func newStorage(t *testing.T) Storage {
	t.Helper()
	scheme := newScheme()
	_, config := etcd3testing.NewUnsecuredEtcd3TestClientServer(t)
	factory := serverstorage.NewDefaultStorageFactory(*config, runtime.ContentTypeProtobuf, serializer.NewCodecFactory(scheme),
		serverstorage.NewDefaultResourceEncodingConfig(scheme), serverstorage.NewResourceConfig(), nil)
	storageConfig, err := factory.NewConfig(sparkoperator.Resource("sparkapplications"), nil)
	require.NoError(t, err)
	storage, err := NewStorage(scheme, features.NewFeatureGate(), validation.BatchSchedulers{}, generic.RESTOptions{
		StorageConfig:           storageConfig,
		Decorator:               generic.UndecoratedStorage,
		DeleteCollectionWorkers: 1,
		ResourcePrefix:          "sparkoperator.k8s.io/sparkapplications",
	})
	require.NoError(t, err)
	t.Cleanup(storage.SparkApplication.Destroy)
	return storage
}

func newTester(t *testing.T, applications *REST) *genericregistrytest.Tester {
	t.Helper()
	return genericregistrytest.New(t, applications.Store).SetRequestInfo(requestInfo(""))
}

func requestInfo(subresource string) *genericapirequest.RequestInfo {
	return &genericapirequest.RequestInfo{
		IsResourceRequest: true,
		APIGroup:          sparkoperator.GroupName,
		APIVersion:        v1beta2.SchemeGroupVersion.Version,
		Resource:          "sparkapplications",
		Subresource:       subresource,
	}
}

func newApplication() *sparkoperator.SparkApplication {
	versioned := &v1beta2.SparkApplication{
		ObjectMeta: metav1.ObjectMeta{Name: "pi", Namespace: metav1.NamespaceDefault},
		Spec: v1beta2.SparkApplicationSpec{
			SparkVersion:        "4.0.1",
			Image:               new("spark:4.0.1"),
			MainClass:           new("org.apache.spark.examples.SparkPi"),
			MainApplicationFile: new("local:///opt/spark/examples/jars/spark-examples.jar"),
		},
	}
	newScheme().Default(versioned)
	hub := &sparkoperator.SparkApplication{}
	if err := v1beta2.Convert_v1beta2_SparkApplication_To_sparkoperator_SparkApplication(versioned, hub, nil); err != nil {
		panic(err)
	}
	return hub
}

func TestCreate(t *testing.T) {
	applications := newStorage(t).SparkApplication
	valid := newApplication()
	valid.ObjectMeta = metav1.ObjectMeta{}
	noVersion := newApplication()
	noVersion.ObjectMeta = metav1.ObjectMeta{Name: "no-version"}
	noVersion.Spec.SparkVersion = ""
	newTester(t, applications).TestCreate(valid,
		&sparkoperator.SparkApplication{ObjectMeta: metav1.ObjectMeta{Name: "*badName"}}, noVersion)
}

func TestUpdate(t *testing.T) {
	applications := newStorage(t).SparkApplication
	newTester(t, applications).TestUpdate(newApplication(),
		func(obj runtime.Object) runtime.Object {
			app := obj.(*sparkoperator.SparkApplication)
			app.Spec.Arguments = []string{"1000"}
			return app
		},
		func(obj runtime.Object) runtime.Object {
			app := obj.(*sparkoperator.SparkApplication)
			app.Spec.SparkVersion = ""
			return app
		},
	)
}

func TestDelete(t *testing.T) {
	applications := newStorage(t).SparkApplication
	newTester(t, applications).TestDelete(newApplication())
}

func TestGet(t *testing.T) {
	applications := newStorage(t).SparkApplication
	newTester(t, applications).TestGet(newApplication())
}

func TestList(t *testing.T) {
	applications := newStorage(t).SparkApplication
	newTester(t, applications).TestList(newApplication())
}

func TestWatch(t *testing.T) {
	applications := newStorage(t).SparkApplication
	app := newApplication()
	app.Labels = map[string]string{"team": "a"}
	newTester(t, applications).TestWatch(app,
		[]labels.Set{{}, {"team": "a"}},
		[]labels.Set{{"team": "b"}},
		[]fields.Set{{"metadata.name": "pi"}},
		[]fields.Set{{"metadata.name": "other"}},
	)
}

func TestNames(t *testing.T) {
	applications := newStorage(t).SparkApplication
	assert.Equal(t, []string{"sparkapp", "sparkapps"}, applications.ShortNames())
	assert.Equal(t, []string{"all"}, applications.Categories())
	assert.Equal(t, "sparkapplication", applications.GetSingularName())
}

func TestStatusIsKeptApart(t *testing.T) {
	storage := newStorage(t)
	applications, status := storage.SparkApplication, storage.Status
	ctx := genericapirequest.WithRequestInfo(genericapirequest.WithNamespace(t.Context(), metav1.NamespaceDefault), requestInfo(""))
	forged := newApplication()
	forged.Status.SubmissionID = "forged"
	obj, err := applications.Create(ctx, forged, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	require.NoError(t, err)
	created := obj.(*sparkoperator.SparkApplication)
	assert.Empty(t, created.Status.SubmissionID)

	changed := created.DeepCopy()
	changed.Status.SubmissionID = "real"
	changed.Spec.Arguments = []string{"forged"}
	statusCtx := genericapirequest.WithRequestInfo(ctx, requestInfo("status"))
	obj, _, err = status.Update(statusCtx, "pi", rest.DefaultUpdatedObjectInfo(changed), rest.ValidateAllObjectFunc,
		rest.ValidateAllObjectUpdateFunc, true, &metav1.UpdateOptions{})
	require.NoError(t, err)
	updated := obj.(*sparkoperator.SparkApplication)
	assert.Equal(t, "real", updated.Status.SubmissionID)
	assert.Empty(t, updated.Spec.Arguments)
	assert.EqualValues(t, 1, updated.Generation)

	// A subresource creates nothing, even if it is asked to.
	missing := changed.DeepCopy()
	missing.Name, missing.ResourceVersion = "missing", ""
	_, _, err = status.Update(statusCtx, "missing", rest.DefaultUpdatedObjectInfo(missing), rest.ValidateAllObjectFunc,
		rest.ValidateAllObjectUpdateFunc, true, &metav1.UpdateOptions{})
	assert.True(t, apierrors.IsNotFound(err), err)
}
