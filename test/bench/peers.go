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

package bench

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

//go:embed testdata/application.yaml
var applicationManifest []byte

// peer is one way to store and read an object.
type peer struct {
	name string
	// resource that it is stored as.
	resource schema.GroupVersionResource
	// direct says that our server is asked itself, not through kube-apiserver.
	direct bool
	// protobuf says that bodies and answers are in protobuf; they are in JSON otherwise.
	protobuf bool
	// cold says that every request comes from a user of whom no server has heard before.
	cold bool
	// uncompressed says that answers are asked for as they are. Clients ask for gzip by default, and get it from 128 KiB on.
	uncompressed bool
	// body returns the object in the encoding of the peer.
	body func(name string) ([]byte, error)
}

// revision is part of every object. An update puts another text of the same length in its place, in whatever encoding.
const (
	revisionKey    = "bench.sparkoperator.k8s.io/revision"
	revisionBefore = "revision-before"
	revisionAfter  = "revision-after!"
)

func (p *peer) contentType() string {
	if p.protobuf {
		return runtime.ContentTypeProtobuf
	}
	return runtime.ContentTypeJSON
}

// path of the collection in a namespace.
func (p *peer) path(namespace string) string {
	prefix := "/apis/" + p.resource.Group + "/" + p.resource.Version
	if p.resource.Group == "" {
		prefix = "/api/" + p.resource.Version
	}
	return prefix + "/namespaces/" + namespace + "/" + p.resource.Resource
}

// Names of peers, as reports have them.
const (
	oursJSON           = "ours, JSON"
	oursProtobuf       = "ours, protobuf"
	oursDirectJSON     = "ours directly, JSON"
	oursDirectProtobuf = "ours directly, protobuf"
	oursCold           = "ours, JSON, unknown users"
	crdJSON            = "CRD, JSON"
	crdCold            = "CRD, JSON, unknown users"
	configMapJSON      = "ConfigMap, JSON"
	configMapProtobuf  = "ConfigMap, protobuf"
	configMapCold      = "ConfigMap, JSON, unknown users"
)

// peers returns all of them. The ConfigMap is longer by padding bytes than the application's settings make it.
func peers(padding int) ([]*peer, error) {
	application := &v1beta2.SparkApplication{}
	if err := yaml.UnmarshalStrict(applicationManifest, application); err != nil {
		return nil, fmt.Errorf("testdata/application.yaml: %w", err)
	}
	application.Annotations[revisionKey] = revisionBefore
	ours := v1beta2.SchemeGroupVersion.WithResource("sparkapplications")
	configMaps := corev1.SchemeGroupVersion.WithResource("configmaps")

	custom := application.DeepCopy()
	custom.APIVersion = customResource.GroupVersion().String()
	configMap := configMapOf(application, padding)

	scheme := runtime.NewScheme()
	if err := v1beta2.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	encoder := protobuf.NewSerializer(scheme, scheme)
	inJSON := func(object metav1.Object) func(string) ([]byte, error) {
		return func(name string) ([]byte, error) {
			copied := object.(runtime.Object).DeepCopyObject().(metav1.Object)
			copied.SetName(name)
			return json.Marshal(copied)
		}
	}
	inProtobuf := func(object metav1.Object) func(string) ([]byte, error) {
		return func(name string) ([]byte, error) {
			copied := object.(runtime.Object).DeepCopyObject().(metav1.Object)
			copied.SetName(name)
			var out bytes.Buffer
			err := encoder.Encode(copied.(runtime.Object), &out)
			return out.Bytes(), err
		}
	}
	return []*peer{
		{name: oursJSON, resource: ours, body: inJSON(application)},
		{name: oursProtobuf, resource: ours, protobuf: true, body: inProtobuf(application)},
		{name: oursDirectJSON, resource: ours, direct: true, body: inJSON(application)},
		{name: oursDirectProtobuf, resource: ours, direct: true, protobuf: true, body: inProtobuf(application)},
		{name: crdJSON, resource: customResource, body: inJSON(custom)},
		{name: configMapJSON, resource: configMaps, body: inJSON(configMap)},
		{name: configMapProtobuf, resource: configMaps, protobuf: true, body: inProtobuf(configMap)},
		{name: oursCold, resource: ours, cold: true, body: inJSON(application)},
		{name: crdCold, resource: customResource, cold: true, body: inJSON(custom)},
		{name: configMapCold, resource: configMaps, cold: true, body: inJSON(configMap)},
	}, nil
}

func chosen(all []*peer, names ...string) []*peer {
	return slices.DeleteFunc(slices.Clone(all), func(p *peer) bool { return !slices.Contains(names, p.name) })
}

// rotated returns peers in the order of a round: none of them is always the first, or always behind the same one.
func rotated[T any](all []T, round int) []T {
	if len(all) == 0 {
		return nil
	}
	first := round % len(all)
	order := slices.Concat(all[first:], all[:first])
	if round/len(all)%2 == 1 {
		slices.Reverse(order)
	}
	return order
}

// configMapOf returns a ConfigMap with the metadata of an application and as many keys as it has settings.
func configMapOf(application *v1beta2.SparkApplication, padding int) *corev1.ConfigMap {
	configMap := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: *application.ObjectMeta.DeepCopy(),
		Data:       maps.Clone(application.Spec.SparkConf),
	}
	configMap.Data["rest"] = strings.Repeat("x", padding)
	return configMap
}

// equalPeers returns peers of which all objects are stored in as many bytes of JSON, whatever the servers add to them.
func (s *stage) equalPeers(ctx context.Context, namespace string) ([]*peer, error) {
	all, err := peers(0)
	if err != nil {
		return nil, err
	}
	length := func(name string) (int, error) {
		p := chosen(all, name)[0]
		body, err := p.body("size")
		if err != nil {
			return 0, err
		}
		answer, err := s.client.do(ctx, p, http.MethodPost, p.path(namespace)+"?dryRun=All", p.contentType(), body)
		return len(answer), err
	}
	ours, err := length(oursJSON)
	if err != nil {
		return nil, err
	}
	theirs, err := length(configMapJSON)
	if err != nil {
		return nil, err
	}
	return peers(max(ours-theirs, 0))
}
