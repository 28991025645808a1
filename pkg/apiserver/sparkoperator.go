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

package apiserver

import (
	"context"
	"net/http"

	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	scheduledsparkapplicationstorage "github.com/spark-apiserver/spark-apiserver/pkg/registry/sparkoperator/scheduledsparkapplication/storage"
	sparkapplicationstorage "github.com/spark-apiserver/spark-apiserver/pkg/registry/sparkoperator/sparkapplication/storage"
	"github.com/spark-apiserver/spark-apiserver/pkg/sparkpods"
	"github.com/spark-apiserver/spark-apiserver/pkg/sparkui"
)

// sparkOperatorGroup returns the group with the storage of its resources. A resource has one storage, which every version
// that serves it shares.
func (c CompletedConfig) sparkOperatorGroup() (*genericapiserver.APIGroupInfo, error) {
	applications, err := sparkapplicationstorage.NewStorage(Scheme, c.extra.FeatureGate, c.extra.Schedulers, c.generic.RESTOptionsGetter)
	if err != nil {
		return nil, err
	}
	schedules, scheduleStatus, err := scheduledsparkapplicationstorage.NewREST(Scheme, c.extra.FeatureGate, c.extra.Schedulers, c.generic.RESTOptionsGetter)
	if err != nil {
		return nil, err
	}
	pods := &sparkpods.Finder{Client: c.extra.PodClient, AllowLoopback: c.extra.AllowLoopbackPodIPs}
	group := genericapiserver.NewDefaultAPIGroupInfo(sparkoperator.GroupName, Scheme, ParameterCodec, Codecs)
	// Around the one that is there: it has what feature gates add, such as lists that are encoded as they are sent.
	group.NegotiatedSerializer = requestSerializer{group.NegotiatedSerializer}
	group.VersionedResourcesStorageMap[v1beta2.SchemeGroupVersion.Version] = map[string]rest.Storage{
		"sparkapplications":                 applications.SparkApplication,
		"sparkapplications/status":          applications.Status,
		"sparkapplications/scale":           applications.Scale,
		"scheduledsparkapplications":        schedules,
		"scheduledsparkapplications/status": scheduleStatus,
		"sparkapplications/log":             sparkapplicationstorage.NewLogREST(applications.SparkApplication, pods),
		"sparkapplications/proxy": sparkapplicationstorage.NewProxyREST(applications.SparkApplication,
			&userInterfaces{pods: pods, proxy: sparkui.New(c.extra.DialPods)}),
	}
	return &group, nil
}

// userInterfaces serves the UI of the driver that an application has at the time of the request.
type userInterfaces struct {
	pods  *sparkpods.Finder
	proxy *sparkui.Proxy
}

// UI implements UISource of the storage.
func (u *userInterfaces) UI(ctx context.Context, app *sparkoperator.SparkApplication, path string, failed func(error)) (http.Handler, error) {
	address, err := u.pods.UI(ctx, app)
	if err != nil {
		return nil, err
	}
	return u.proxy.Handler(address, path, failed), nil
}
