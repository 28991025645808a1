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
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
)

// UISource serves the UIs of drivers. Its errors are answers to the user.
type UISource interface {
	// UI returns what serves a page of the UI of an application's driver. What goes wrong later is told to failed.
	UI(ctx context.Context, app *sparkoperator.SparkApplication, path string, failed func(error)) (http.Handler, error)
}

// ProxyREST serves the Spark UIs of running SparkApplications.
type ProxyREST struct {
	store *genericregistry.Store
	uis   UISource
}

var _ rest.Connecter = &ProxyREST{}

// NewProxyREST returns what serves the UIs of the applications of a store.
func NewProxyREST(applications *REST, uis UISource) *ProxyREST {
	return &ProxyREST{store: applications.Store, uis: uis}
}

// New returns the kind of the options, as for the proxies of Kubernetes.
func (*ProxyREST) New() runtime.Object {
	return &sparkoperator.SparkApplicationProxyOptions{}
}

// Destroy does nothing: the store is REST's.
func (*ProxyREST) Destroy() {}

// ConnectMethods are those that a Spark UI knows. They are authorized as the verbs get (GET and HEAD) and create (POST).
func (*ProxyREST) ConnectMethods() []string {
	return []string{http.MethodGet, http.MethodHead, http.MethodPost}
}

// NewConnectOptions implements rest.Connecter: what follows proxy in the path becomes the option path.
func (*ProxyREST) NewConnectOptions() (runtime.Object, bool, string) {
	return &sparkoperator.SparkApplicationProxyOptions{}, true, "path"
}

// Connect implements rest.Connecter.
func (r *ProxyREST) Connect(ctx context.Context, name string, options runtime.Object, responder rest.Responder) (http.Handler, error) {
	wanted, ok := options.(*sparkoperator.SparkApplicationProxyOptions)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("not the options of a proxy: %T", options))
	}
	app, err := currentApplication(ctx, r.store, name)
	if err != nil {
		return nil, err
	}
	return r.uis.UI(ctx, app, wanted.Path, responder.Error)
}
