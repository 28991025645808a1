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
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// minTokenSeconds is the shortest life of a token of a service account.
const minTokenSeconds = 600

// volumeSource checks the sources that users write; those of single vendors are left to the cluster.
func (p podRules) volumeSource(s *corev1.VolumeSource, path *field.Path) {
	switch {
	case s.HostPath != nil:
		p.hostPath(s.HostPath, path.Child("hostPath"))
	case s.EmptyDir != nil:
		if size := s.EmptyDir.SizeLimit; size != nil && size.Sign() < 0 {
			p.rep.invalid(path.Child("emptyDir", "sizeLimit"), size.String(), "must not be negative")
		}
	case s.NFS != nil:
		path := path.Child("nfs")
		if s.NFS.Server == "" {
			p.required(path.Child("server"), "name the server")
		}
		if !strings.HasPrefix(s.NFS.Path, "/") {
			p.rep.invalid(path.Child("path"), s.NFS.Path, "must be an absolute path of the server")
		}
	case s.PersistentVolumeClaim != nil:
		p.objectName("PersistentVolumeClaim", s.PersistentVolumeClaim.ClaimName, path.Child("persistentVolumeClaim", "claimName"))
	case s.ConfigMap != nil:
		path := path.Child("configMap")
		p.objectName("ConfigMap", s.ConfigMap.Name, path.Child("name"))
		p.mode(s.ConfigMap.DefaultMode, path.Child("defaultMode"))
		p.items(s.ConfigMap.Items, path.Child("items"))
	case s.Secret != nil:
		path := path.Child("secret")
		p.objectName("Secret", s.Secret.SecretName, path.Child("secretName"))
		p.mode(s.Secret.DefaultMode, path.Child("defaultMode"))
		p.items(s.Secret.Items, path.Child("items"))
	case s.CSI != nil:
		if s.CSI.Driver == "" {
			p.required(path.Child("csi", "driver"), "name the driver")
		}
	case s.Image != nil:
		if s.Image.Reference == "" {
			p.required(path.Child("image", "reference"), "name the image")
		}
		p.image(s.Image.Reference, path.Child("image", "reference"))
	case s.DownwardAPI != nil:
		p.mode(s.DownwardAPI.DefaultMode, path.Child("downwardAPI", "defaultMode"))
		p.downward(s.DownwardAPI.Items, path.Child("downwardAPI", "items"))
	case s.Ephemeral != nil:
		p.ephemeral(s.Ephemeral, path.Child("ephemeral"))
	case s.Projected != nil:
		p.projected(s.Projected, path.Child("projected"))
	}
}

func (p podRules) hostPath(s *corev1.HostPathVolumeSource, path *field.Path) {
	switch {
	case s.Path == "":
		p.required(path.Child("path"), "name the path of the node")
	case slices.Contains(strings.Split(s.Path, "/"), ".."):
		p.rep.invalid(path.Child("path"), s.Path, "must not contain '..'")
	}
	oneOfPointer(p, path.Child("type"), s.Type, corev1.HostPathDirectoryOrCreate, corev1.HostPathDirectory, corev1.HostPathFileOrCreate,
		corev1.HostPathFile, corev1.HostPathSocket, corev1.HostPathCharDev, corev1.HostPathBlockDev)
}

// items place keys at paths below the mount.
func (p podRules) items(items []corev1.KeyToPath, path *field.Path) {
	for i := range items {
		if items[i].Key == "" {
			p.required(path.Index(i).Child("key"), "name the key")
		}
		p.relativePath(items[i].Path, path.Index(i).Child("path"))
		p.mode(items[i].Mode, path.Index(i).Child("mode"))
	}
}

func (p podRules) relativePath(file string, path *field.Path) {
	parts := strings.Split(file, "/")
	switch {
	case file == "":
		p.required(path, "name the path of the file within the volume")
	case strings.HasPrefix(file, "/"), slices.Contains(parts, ".."), strings.HasPrefix(parts[0], ".."):
		p.rep.invalid(path, file, "must be a relative path without '..'")
	}
}

func (p podRules) downward(items []corev1.DownwardAPIVolumeFile, path *field.Path) {
	for i := range items {
		f, path := &items[i], path.Index(i)
		p.relativePath(f.Path, path.Child("path"))
		p.mode(f.Mode, path.Child("mode"))
		p.exactlyOne(path, map[string]bool{"fieldRef": f.FieldRef != nil, "resourceFieldRef": f.ResourceFieldRef != nil})
		if f.FieldRef != nil {
			p.fieldRef(f.FieldRef, fileFields, path.Child("fieldRef"))
		}
		if f.ResourceFieldRef != nil {
			p.resourceFieldRef(f.ResourceFieldRef, path.Child("resourceFieldRef"))
			if f.ResourceFieldRef.ContainerName == "" {
				p.required(path.Child("resourceFieldRef", "containerName"), "name the container")
			}
		}
	}
}

func (p podRules) ephemeral(s *corev1.EphemeralVolumeSource, path *field.Path) {
	path = path.Child("volumeClaimTemplate")
	if s.VolumeClaimTemplate == nil {
		p.required(path, "describe the claim")
		return
	}
	claim, path := &s.VolumeClaimTemplate.Spec, path.Child("spec")
	if len(claim.AccessModes) == 0 {
		p.required(path.Child("accessModes"), "name at least one, such as ReadWriteOnce")
	}
	for i, mode := range claim.AccessModes {
		oneOfField(p, path.Child("accessModes").Index(i), mode,
			corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOncePod)
	}
	path = path.Child("resources", "requests").Key(string(corev1.ResourceStorage))
	if size, ok := claim.Resources.Requests[corev1.ResourceStorage]; !ok {
		p.required(path, "name the size of the claim")
	} else if size.Sign() <= 0 {
		p.rep.invalid(path, size.String(), "must be above 0")
	}
}

func (p podRules) projected(s *corev1.ProjectedVolumeSource, path *field.Path) {
	p.mode(s.DefaultMode, path.Child("defaultMode"))
	for i := range s.Sources {
		source, path := &s.Sources[i], path.Child("sources").Index(i)
		var kinds []string
		if c := source.ConfigMap; c != nil {
			kinds = append(kinds, "configMap")
			p.objectName("ConfigMap", c.Name, path.Child("configMap", "name"))
			p.items(c.Items, path.Child("configMap", "items"))
		}
		if c := source.Secret; c != nil {
			kinds = append(kinds, "secret")
			p.objectName("Secret", c.Name, path.Child("secret", "name"))
			p.items(c.Items, path.Child("secret", "items"))
		}
		if c := source.DownwardAPI; c != nil {
			kinds = append(kinds, "downwardAPI")
			p.downward(c.Items, path.Child("downwardAPI", "items"))
		}
		if c := source.ServiceAccountToken; c != nil {
			kinds = append(kinds, "serviceAccountToken")
			p.relativePath(c.Path, path.Child("serviceAccountToken", "path"))
			if s := c.ExpirationSeconds; s != nil && *s < minTokenSeconds {
				p.rep.invalid(path.Child("serviceAccountToken", "expirationSeconds"), *s, "must be at least %d", minTokenSeconds)
			}
		}
		if len(kinds) > 1 {
			p.rep.invalid(path, strings.Join(kinds, ", "), "must be of one kind: write a source for each")
		}
	}
}
