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
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/validation"
)

// LogSource knows the logs of applications' pods. Its errors are answers to the user.
type LogSource interface {
	// Log opens the log of the driver or of an executor of the current attempt of an application.
	Log(ctx context.Context, app *sparkoperator.SparkApplication, executor *int64, options *corev1.PodLogOptions) (io.ReadCloser, error)
}

// LogREST serves the logs of the drivers and executors of SparkApplications.
type LogREST struct {
	store *genericregistry.Store
	logs  LogSource
}

var (
	_ rest.GetterWithOptions = &LogREST{}
	_ rest.StorageMetadata   = &LogREST{}
)

// NewLogREST returns what serves the logs of the applications of a store.
func NewLogREST(applications *REST, logs LogSource) *LogREST {
	return &LogREST{store: applications.Store, logs: logs}
}

// New returns the kind that the subresource belongs to.
func (*LogREST) New() runtime.Object {
	return &sparkoperator.SparkApplication{}
}

// Destroy does nothing: the store is REST's.
func (*LogREST) Destroy() {}

// ProducesMIMETypes implements rest.StorageMetadata.
func (*LogREST) ProducesMIMETypes(string) []string {
	return []string{"text/plain"}
}

// ProducesObject implements rest.StorageMetadata.
func (*LogREST) ProducesObject(string) any {
	return ""
}

// NewGetOptions implements rest.GetterWithOptions.
func (*LogREST) NewGetOptions() (runtime.Object, bool, string) {
	return &sparkoperator.SparkApplicationLogOptions{}, false, ""
}

// Get returns the log, to be sent as it comes.
func (r *LogREST) Get(ctx context.Context, name string, options runtime.Object) (runtime.Object, error) {
	wanted, ok := options.(*sparkoperator.SparkApplicationLogOptions)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("not the options of a log: %T", options))
	}
	if errs := validation.ValidateSparkApplicationLogOptions(wanted); len(errs) > 0 {
		return nil, apierrors.NewInvalid(sparkoperator.Kind("SparkApplicationLogOptions"), name, errs)
	}
	app, err := currentApplication(ctx, r.store, name)
	if err != nil {
		return nil, err
	}
	return &logStream{open: func(ctx context.Context) (io.ReadCloser, error) {
		return r.logs.Log(ctx, app, wanted.Executor, podLogOptions(wanted))
	}}, nil
}

// podLogOptions are the parameters that a pod's log has too.
func podLogOptions(o *sparkoperator.SparkApplicationLogOptions) *corev1.PodLogOptions {
	return &corev1.PodLogOptions{
		Container: o.Container, Follow: o.Follow, Previous: o.Previous, SinceSeconds: o.SinceSeconds, SinceTime: o.SinceTime,
		Timestamps: o.Timestamps, TailLines: o.TailLines, LimitBytes: o.LimitBytes,
	}
}

// currentApplication returns an application as the store has it: a new attempt has another pod.
func currentApplication(ctx context.Context, store *genericregistry.Store, name string) (*sparkoperator.SparkApplication, error) {
	object, err := store.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	app, ok := object.(*sparkoperator.SparkApplication)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("not a SparkApplication: %T", object))
	}
	return app, nil
}

// logStream is a log that is sent as it comes.
type logStream struct {
	open func(context.Context) (io.ReadCloser, error)
}

var _ rest.ResourceStreamer = &logStream{}

// InputStream implements rest.ResourceStreamer. Every piece is passed on at once, whether or not the log is followed.
func (s *logStream) InputStream(ctx context.Context, _, _ string) (io.ReadCloser, bool, string, error) {
	stream, err := s.open(ctx)
	if err != nil {
		var status apierrors.APIStatus
		if !errors.As(err, &status) && ctx.Err() == nil {
			err = apierrors.NewInternalError(err)
		}
		return nil, false, "", err
	}
	return stream, true, "text/plain", nil
}

// GetObjectKind implements runtime.Object: a stream has no kind.
func (*logStream) GetObjectKind() schema.ObjectKind {
	return schema.EmptyObjectKind
}

// DeepCopyObject implements runtime.Object. Nobody copies an answer.
func (*logStream) DeepCopyObject() runtime.Object {
	panic("a stream can't be copied")
}
