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

package storeidentity

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// Filter answers requests for resources with 503 until the identity is confirmed: not every way to a server that is not
// ready is closed at once. Discovery, health and metrics are answered, since they say nothing of the store.
func (g *Guard) Filter(handler http.Handler, serializer runtime.NegotiatedSerializer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		select {
		case <-g.confirmed:
			handler.ServeHTTP(w, req)
			return
		default:
		}
		info, ok := genericapirequest.RequestInfoFrom(req.Context())
		if ok && !info.IsResourceRequest {
			handler.ServeHTTP(w, req)
			return
		}
		err := apierrors.NewServiceUnavailable(g.unavailable())
		version := schema.GroupVersion{}
		if ok {
			version = schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}
		}
		w.Header().Set("Retry-After", "1")
		responsewriters.ErrorNegotiated(err, serializer, version, w, req)
	})
}

func (g *Guard) unavailable() string {
	if err := g.Check(nil); err != nil {
		return err.Error()
	}
	return "the identity of the store was being confirmed"
}
