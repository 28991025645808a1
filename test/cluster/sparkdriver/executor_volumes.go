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

package sparkdriver

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// onDemandClaim is the claim name that asks Spark to create a claim for every executor.
const onDemandClaim = "OnDemand"

// volumeSpec is one volume asked for by spark.kubernetes.executor.volumes.TYPE.NAME.*.
type volumeSpec struct {
	kind, name string
	settings   map[string]string
}

func (c Conf) executorVolumes() ([]volumeSpec, error) {
	const prefix = "spark.kubernetes.executor.volumes."
	settings, names := c.withPrefix(prefix)
	byName := map[string]*volumeSpec{}
	var order []string
	for _, n := range names {
		parts := strings.SplitN(n, ".", 3)
		if len(parts) != 3 || !isVolumeType(parts[0]) {
			return nil, fmt.Errorf("%s%s is not a valid volume setting", prefix, n)
		}
		id := parts[0] + "." + parts[1]
		if byName[id] == nil {
			byName[id] = &volumeSpec{kind: parts[0], name: parts[1], settings: map[string]string{}}
			order = append(order, id)
		}
		byName[id].settings[parts[2]] = settings[n]
	}
	specs := make([]volumeSpec, 0, len(order))
	for _, id := range order {
		if byName[id].settings["mount.path"] == "" {
			return nil, fmt.Errorf("%s%s.mount.path is missing", prefix, id)
		}
		specs = append(specs, *byName[id])
	}
	return specs, nil
}

// volumes is MountVolumesFeatureStep.
func (s *executorSource) volumes(b *podBuilder, id int) error {
	specs, err := s.conf.executorVolumes()
	if err != nil {
		return err
	}
	for i, v := range specs {
		mount := map[string]any{"name": v.name, "mountPath": s.substitute(v.settings["mount.path"], id)}
		if p := v.settings["mount.subPath"]; p != "" {
			mount["subPath"] = s.substitute(p, id)
		}
		if p := v.settings["mount.subPathExpr"]; p != "" {
			mount["subPathExpr"] = s.substitute(p, id)
		}
		if readOnly, _ := strconv.ParseBool(v.settings["mount.readOnly"]); readOnly {
			mount["readOnly"] = true
		}
		b.addVolume(map[string]any{"name": v.name, v.kind: s.volumeSource(v, i, id)}, mount)
	}
	return nil
}

func (s *executorSource) volumeSource(v volumeSpec, index, id int) map[string]any {
	source := map[string]any{}
	set := func(field, setting string) {
		if value := v.settings[setting]; value != "" {
			source[field] = value
		}
	}
	switch v.kind {
	case "hostPath":
		set("path", "options.path")
		set("type", "options.type")
	case "nfs":
		set("path", "options.path")
		set("server", "options.server")
	case "emptyDir":
		set("medium", "options.medium")
		set("sizeLimit", "options.sizeLimit")
	case "persistentVolumeClaim":
		source["claimName"] = s.claimName(v, index, id)
		if readOnly, _ := strconv.ParseBool(v.settings["mount.readOnly"]); readOnly {
			source["readOnly"] = true
		}
	}
	return source
}

func (s *executorSource) claimName(v volumeSpec, index, id int) string {
	name := v.settings["options.claimName"]
	if name == onDemandClaim {
		return fmt.Sprintf("%s-pvc-%d", s.name(id), index)
	}
	return s.substitute(name, id)
}

// claims returns the claims that Spark creates before executor id. The driver owns them, which is Spark's default (property
// spark.kubernetes.driver.ownPersistentVolumeClaim).
func (s *executorSource) claims(id int) ([]*unstructured.Unstructured, error) {
	specs, err := s.conf.executorVolumes()
	if err != nil {
		return nil, err
	}
	var claims []*unstructured.Unstructured
	for i, v := range specs {
		size, class := v.settings["options.sizeLimit"], v.settings["options.storageClass"]
		if v.kind != "persistentVolumeClaim" || size == "" || class == "" {
			continue
		}
		mode := "ReadWriteOnce"
		if major, _ := s.sparkVersion(); major >= 4 && !s.conf.boolean("spark.kubernetes.legacy.useReadWriteOnceAccessMode", false) {
			mode = "ReadWriteOncePod"
		}
		claims = append(claims, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "PersistentVolumeClaim",
			"metadata": map[string]any{
				"name":            s.claimName(v, i, id),
				"labels":          map[string]any{labelAppSelector: s.appID()},
				"ownerReferences": []any{ownerReference(s.driver)},
			},
			"spec": map[string]any{
				"storageClassName": class,
				"accessModes":      []any{mode},
				"resources":        map[string]any{"requests": map[string]any{"storage": size}},
			},
		}})
	}
	return claims, nil
}

func (s *executorSource) substitute(text string, id int) string {
	return strings.NewReplacer("{{APP_ID}}", s.appID(), "{{EXECUTOR_ID}}", strconv.Itoa(id)).Replace(text)
}
