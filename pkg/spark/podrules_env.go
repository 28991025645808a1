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

package spark

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (p podRules) env(list []corev1.EnvVar, path *field.Path) {
	for i := range list {
		e, path := &list[i], path.Index(i)
		if e.Name == "" {
			p.required(path.Child("name"), "name the environment variable")
		} else {
			p.named(path.Child("name"), e.Name, validation.IsRelaxedEnvVarName(e.Name))
		}
		if e.ValueFrom == nil {
			continue
		}
		if e.Value != "" {
			p.rep.invalid(path.Child("valueFrom"), e.Value, "must not be given together with value")
		}
		p.envSource(e.ValueFrom, path.Child("valueFrom"))
	}
}

func (p podRules) envSource(s *corev1.EnvVarSource, path *field.Path) {
	p.exactlyOne(path, map[string]bool{
		"fieldRef": s.FieldRef != nil, "resourceFieldRef": s.ResourceFieldRef != nil, "configMapKeyRef": s.ConfigMapKeyRef != nil,
		"secretKeyRef": s.SecretKeyRef != nil, "fileKeyRef": s.FileKeyRef != nil,
	})
	if s.FieldRef != nil {
		p.fieldRef(s.FieldRef, envFields, path.Child("fieldRef"))
	}
	if s.ResourceFieldRef != nil {
		p.resourceFieldRef(s.ResourceFieldRef, path.Child("resourceFieldRef"))
	}
	if r := s.ConfigMapKeyRef; r != nil {
		p.keyRef("ConfigMap", r.Name, r.Key, path.Child("configMapKeyRef"))
	}
	if r := s.SecretKeyRef; r != nil {
		p.keyRef("Secret", r.Name, r.Key, path.Child("secretKeyRef"))
	}
}

func (p podRules) keyRef(kind, name, key string, path *field.Path) {
	p.objectName(kind, name, path.Child("name"))
	if key == "" {
		p.required(path.Child("key"), "name the key of the "+kind)
		return
	}
	p.named(path.Child("key"), key, validation.IsConfigMapKey(key))
}

// The fields of a pod that its containers can be told of, by variables and by files.
var (
	envFields = []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
		"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
	}
	fileFields   = []string{"metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels", "metadata.annotations"}
	fieldWithKey = regexp.MustCompile(`^metadata\.(labels|annotations)\['.+'\]$`)
)

func (p podRules) fieldRef(r *corev1.ObjectFieldSelector, valid []string, path *field.Path) {
	path = path.Child("fieldPath")
	switch {
	case r.FieldPath == "":
		p.required(path, "name a field of the pod, such as metadata.name")
	case !slices.Contains(valid, r.FieldPath) && !fieldWithKey.MatchString(r.FieldPath):
		p.rep.err(field.NotSupported(path, r.FieldPath, append(slices.Clone(valid), "metadata.labels['KEY']", "metadata.annotations['KEY']")))
	}
}

func (p podRules) resourceFieldRef(r *corev1.ResourceFieldSelector, path *field.Path) {
	path = path.Child("resource")
	kind, name, _ := strings.Cut(r.Resource, ".")
	switch {
	case r.Resource == "":
		p.required(path, "name a resource of the container, such as limits.memory")
	case kind != "limits" && kind != "requests",
		!slices.Contains(containerResources, corev1.ResourceName(name)) && !isHugePages(corev1.ResourceName(name)):
		p.rep.err(field.NotSupported(path, r.Resource, []string{
			"limits.cpu", "limits.memory", "limits.ephemeral-storage", "limits.hugepages-SIZE",
			"requests.cpu", "requests.memory", "requests.ephemeral-storage", "requests.hugepages-SIZE",
		}))
	}
}

func (p podRules) envFrom(list []corev1.EnvFromSource, path *field.Path) {
	for i := range list {
		e, path := &list[i], path.Index(i)
		if e.Prefix != "" {
			p.named(path.Child("prefix"), e.Prefix, validation.IsRelaxedEnvVarName(e.Prefix))
		}
		p.exactlyOne(path, map[string]bool{"configMapRef": e.ConfigMapRef != nil, "secretRef": e.SecretRef != nil})
		if e.ConfigMapRef != nil {
			p.objectName("ConfigMap", e.ConfigMapRef.Name, path.Child("configMapRef", "name"))
		}
		if e.SecretRef != nil {
			p.objectName("Secret", e.SecretRef.Name, path.Child("secretRef", "name"))
		}
	}
}
