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
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The types of volumes that properties can express (KubernetesVolumeUtils).
const (
	volumeHostPath = "hostPath"
	volumeClaim    = "persistentVolumeClaim"
	volumeEmptyDir = "emptyDir"
	volumeNFS      = "nfs"
)

// onDemand is the claim name that makes Spark create a claim (Config OnDemand).
const onDemand = "OnDemand"

// confVolume is a volume that properties ask for.
type confVolume struct {
	kind, name, mountPath, subPath, subPathExpr string
	readOnly                                    bool
	options, labels, annotations                map[string]string
	path                                        *field.Path
}

// resolveVolumes reads the properties of a role's volumes (KubernetesVolumeUtils.parseVolumesWithPrefix).
func (a *Application) resolveVolumes(r *role, rep *report) {
	byID := map[string]int{}
	for _, p := range a.conf.withPrefix(r.prefixVolumes) {
		parts := strings.SplitN(p.name, ".", 3)
		if len(parts) < 3 {
			rep.invalid(p.path, p.name, "must go on with TYPE.NAME.mount.path or the like")
			continue
		}
		switch parts[0] {
		case volumeHostPath, volumeClaim, volumeEmptyDir, volumeNFS:
		default:
			rep.err(field.NotSupported(p.path, parts[0], []string{volumeEmptyDir, volumeHostPath, volumeNFS, volumeClaim}))
			continue
		}
		id := parts[0] + "." + parts[1]
		i, ok := byID[id]
		if !ok {
			i = len(r.volumes)
			byID[id] = i
			r.volumes = append(r.volumes, confVolume{
				kind: parts[0], name: parts[1], path: p.path,
				options: map[string]string{}, labels: map[string]string{}, annotations: map[string]string{},
			})
		}
		a.volumeSetting(&r.volumes[i], r.prefixVolumes, parts[2], p, rep)
	}
	for i := range r.volumes {
		a.checkVolume(r, &r.volumes[i], rep)
	}
}

func (a *Application) volumeSetting(v *confVolume, prefix, key string, p named, rep *report) {
	details := a.Line.readsVolumeDetails()
	switch {
	case key == "mount.path":
		v.mountPath, v.path = p.value, p.path
	case key == "mount.subPath":
		v.subPath = p.value
	case key == "mount.subPathExpr" && details:
		v.subPathExpr = p.value
	case key == "mount.readOnly":
		v.readOnly = a.conf.boolean(prefix+p.name, false, rep)
	case key == "options.type" && !details:
		rep.warnf(p.path, "has no effect before Spark 4.0")
	case strings.HasPrefix(key, "options."):
		v.options[strings.TrimPrefix(key, "options.")] = p.value
	case strings.HasPrefix(key, "label.") && details:
		v.labels[strings.TrimPrefix(key, "label.")] = p.value
	case strings.HasPrefix(key, "annotation.") && details:
		v.annotations[strings.TrimPrefix(key, "annotation.")] = p.value
	default:
		rep.warnf(p.path, "has no effect: Spark %s knows no such setting of a volume", a.Line)
	}
}

var allDigits = regexp.MustCompile(`^[0-9]+$`)

func (a *Application) checkVolume(r *role, v *confVolume, rep *report) {
	required := func(option string) {
		if v.options[option] == "" {
			rep.err(field.Required(a.sparkConfPath(r.prefixVolumes+v.kind+"."+v.name+".options."+option), "a volume of type "+v.kind+" needs it"))
		}
	}
	if v.mountPath == "" {
		rep.err(field.Required(a.sparkConfPath(r.prefixVolumes+v.kind+"."+v.name+".mount.path"), "a volume needs a path at which it is mounted"))
	}
	if v.subPath != "" && v.subPathExpr != "" {
		rep.invalid(v.path, v.subPathExpr, "subPath and subPathExpr exclude each other")
	}
	switch v.kind {
	case volumeHostPath:
		required("path")
	case volumeNFS:
		required("path")
		required("server")
	case volumeClaim:
		required("claimName")
		if v.options["claimName"] == onDemand && !v.makesClaim() {
			required("storageClass")
			required("sizeLimit")
		}
	}
	if size, ok := v.options["sizeLimit"]; ok {
		q, err := resource.ParseQuantity(size)
		switch {
		case err != nil || q.Sign() <= 0:
			rep.invalid(v.path, size, "options.sizeLimit must be a size above 0, such as 10Gi")
		case a.Line.readsVolumeDetails() && allDigits.MatchString(size) && q.CmpInt64(1024) < 0:
			rep.invalid(v.path, size, "options.sizeLimit is in bytes and must not be below 1024: add a unit such as Gi")
		}
	}
}

// makesClaim says whether Spark creates the claim (MountVolumesFeatureStep.getAdditionalKubernetesResources).
func (v *confVolume) makesClaim() bool {
	return v.kind == volumeClaim && v.options["storageClass"] != "" && v.options["sizeLimit"] != ""
}

// mountVolumes is MountVolumesFeatureStep.
func mountVolumes(b *driverBuilder) {
	for i := range b.a.driver.volumes {
		v := &b.a.driver.volumes[i]
		claim := v.options["claimName"]
		if claim == onDemand {
			claim = b.names.prefix + "-driver-pvc-" + strconv.Itoa(i)
		}
		volume := corev1.Volume{Name: v.name, VolumeSource: v.source(claim)}
		b.addVolume(volume, corev1.VolumeMount{
			MountPath: v.mountPath, SubPath: v.subPath, SubPathExpr: v.subPathExpr, ReadOnly: v.readOnly,
		}, v.path)
		if v.makesClaim() {
			b.ledger.objectName("PersistentVolumeClaim", claim, v.path)
			b.objects.PersistentVolumeClaims = append(b.objects.PersistentVolumeClaims, b.claim(v, claim))
		}
	}
}

func (v *confVolume) source(claim string) corev1.VolumeSource {
	switch v.kind {
	case volumeHostPath:
		s := &corev1.HostPathVolumeSource{Path: v.options["path"]}
		if t := v.options["type"]; t != "" {
			s.Type = new(corev1.HostPathType(t))
		}
		return corev1.VolumeSource{HostPath: s}
	case volumeNFS:
		return corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Path: v.options["path"], Server: v.options["server"]}}
	case volumeClaim:
		return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim, ReadOnly: v.readOnly}}
	default:
		s := &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMedium(v.options["medium"])}
		if size, ok := v.options["sizeLimit"]; ok {
			s.SizeLimit = new(quantityOrZero(size))
		}
		return corev1.VolumeSource{EmptyDir: s}
	}
}

func (b *driverBuilder) claim(v *confVolume, name string) *corev1.PersistentVolumeClaim {
	mode := corev1.ReadWriteOnce
	if !b.conf.boolean(keyLegacyReadWriteOnce, !b.a.Line.claimsReadWriteOncePod(), b.rep) {
		mode = corev1.ReadWriteOncePod
	}
	meta := b.objectMeta(name)
	for _, key := range slices.Sorted(maps.Keys(v.labels)) {
		value := v.labels[key]
		b.ledger.label(key, value, v.path)
		if _, own := meta.Labels[key]; !own {
			meta.Labels[key] = value
		}
	}
	meta.Labels[LabelSparkAppSelector] = b.names.appID
	if len(v.annotations) > 0 {
		meta.Annotations = map[string]string{}
		for _, key := range slices.Sorted(maps.Keys(v.annotations)) {
			b.ledger.annotation(key, v.path)
			meta.Annotations[key] = v.annotations[key]
		}
	}
	return &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: meta,
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: new(v.options["storageClass"]),
			AccessModes:      []corev1.PersistentVolumeAccessMode{mode},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: quantityOrZero(v.options["sizeLimit"])},
			},
		},
	}
}
