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
	"reflect"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// Where the ConfigMaps of the application are mounted, and the names of their volumes, as the operator has them.
const (
	sparkConfigMapVolume  = "spark-configmap-volume"
	sparkConfigMapDir     = "/etc/spark/conf"
	hadoopConfigMapVolume = "hadoop-configmap-volume"
	hadoopConfigMapDir    = "/etc/hadoop/conf"

	envSparkConfDir   = "SPARK_CONF_DIR"
	envSparkLocalDirs = "SPARK_LOCAL_DIRS"
	envHadoopConfDir  = "HADOOP_CONF_DIR"

	configMapVolumeSuffix = "-vol"
	secretVolumeSuffix    = "-volume"
)

// podFields lays the typed fields of a role over its template. What the operator's webhook did to pods after Spark had
// made them is done before that, since Spark leaves alone what a template says; the few things over which Spark would
// win are handled where they are.
//
// It works on JSON values for both roles alike: a template may hold fields that are unknown here.
type podFields struct {
	a         *Application
	role      *role
	rep       *report
	ledger    *ledger
	pod       map[string]any
	spec      map[string]any
	container map[string]any
	// others are the containers besides that of Spark.
	others []any
	// template is the path of the role's template.
	template *field.Path
}

// newPodFields starts from a copy of the template. The container of Spark is the one of that name, else the first, and
// is taken out of the list (KubernetesUtils.selectSparkContainer).
func newPodFields(a *Application, r *role, t template, rep *report) *podFields {
	f := &podFields{a: a, role: r, rep: rep, ledger: newLedger(rep, r.path), pod: t.copied(), template: t.path}
	f.spec = child(f.pod, "spec")
	containers := objectsAt(f.spec, "containers")
	at := sparkContainer(containers, r.containerName)
	delete(f.spec, "containers")
	f.container = map[string]any{}
	if at >= 0 {
		f.container = containers[at]
		if len(containers) > 1 && text(f.container, "name") != r.containerName {
			rep.warnf(t.path.Child("spec", "containers"), "none is named %s, so that Spark runs in the first, %q: name the one for Spark", r.containerName, text(f.container, "name"))
		}
	}
	if text(f.container, "name") == "" {
		f.container["name"] = r.containerName
	}
	f.ledger.enter(f.ledger.containers, "a container of this name", f.containerName(), f.container, t.path)
	for i, c := range containers {
		if i != at {
			f.addContainer(&f.others, c, indexed(t.path.Child("spec"), "containers", i))
		}
	}
	f.cleanMetadata()
	f.noteTemplate()
	return f
}

// foreignMetadata is what a template can't say of its pods' metadata, because Spark or the API server sets it. A namespace
// would make Spark's own client refuse to create the pod.
var foreignMetadata = []string{
	"name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
	"deletionGracePeriodSeconds", "managedFields", "selfLink",
}

func (f *podFields) cleanMetadata() {
	meta, _ := f.pod["metadata"].(map[string]any)
	if namespace := text(meta, "namespace"); namespace != "" && namespace != f.a.App.Namespace {
		f.rep.warnf(f.template.Child("metadata", "namespace"), "%q has no effect: the pods of an application are in its namespace, %q", namespace, f.a.App.Namespace)
	}
	maps.DeleteFunc(meta, func(key string, _ any) bool { return slices.Contains(foreignMetadata, key) })
}

// sparkContainer returns the index of the container of Spark, or -1.
func sparkContainer(containers []map[string]any, name string) int {
	if len(containers) == 0 {
		return -1
	}
	return max(0, slices.IndexFunc(containers, func(c map[string]any) bool { return text(c, "name") == name }))
}

// templateContainer returns the container of Spark in a role's template, nil without one.
func (a *Application) templateContainer(r *role) (map[string]any, *field.Path, bool) {
	t := a.templateOf(r)
	spec, _ := lookup(t.object, "spec")
	object, _ := spec.(map[string]any)
	containers := objectsAt(object, "containers")
	at := sparkContainer(containers, r.containerName)
	if at < 0 {
		return nil, nil, false
	}
	return containers[at], indexed(t.path.Child("spec"), "containers", at), true
}

func (f *podFields) containerName() string { return text(f.container, "name") }

// noteTemplate enters what the template has.
func (f *podFields) noteTemplate() {
	spec, meta := f.template.Child("spec"), child(f.pod, "metadata")
	for _, list := range []string{"labels", "annotations"} {
		values, _ := meta[list].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(values)) {
			path := f.template.Child("metadata", list).Key(key)
			if list == "labels" {
				f.ledger.label(key, text(values, key), path)
			} else {
				f.ledger.annotation(key, path)
			}
		}
	}
	for i, v := range objectsAt(f.spec, "volumes") {
		path := indexed(spec, "volumes", i).Child("name")
		f.checkSource(v, path)
		f.ledger.once(f.ledger.volumes, text(v, "name"), path, func() bool { return f.ledger.volume(text(v, "name"), v, path) })
	}
	for i, c := range objectsAt(f.spec, "initContainers") {
		path := indexed(spec, "initContainers", i)
		f.wantVolumes(c, path)
		f.ledger.once(f.ledger.containers, text(c, "name"), path.Child("name"), func() bool {
			return f.ledger.container(text(c, "name"), text(c, "image"), c, path)
		})
	}
	_, container, ok := f.a.templateContainer(f.role)
	if !ok {
		return
	}
	if problems := validation.IsDNS1123Label(f.containerName()); len(problems) > 0 {
		f.rep.invalid(container.Child("name"), f.containerName(), "is no name of a container: %s", strings.Join(problems, "; "))
	}
	if args, ok := f.container["args"].([]any); ok && len(args) > 0 && f.container["command"] == nil {
		f.rep.warnf(container.Child("args"), "%q comes before Spark's own arguments and is what the entrypoint of Spark's images runs: move it to spec.arguments if it is meant for the application", args)
	}
	f.wantVolumes(f.container, container)
	for i, m := range objectsAt(f.container, "volumeMounts") {
		path := indexed(container, "volumeMounts", i).Child("mountPath")
		f.ledger.once(f.ledger.mounts, text(m, "mountPath"), path, func() bool { return f.ledger.mount(text(m, "mountPath"), m, path) })
	}
	for i, p := range objectsAt(f.container, "ports") {
		number, _ := p["containerPort"].(int64)
		path := indexed(container, "ports", i)
		f.ledger.once(f.ledger.ports, text(p, "name"), path.Child("name"), func() bool {
			return f.ledger.port(text(p, "name"), int32(number), p, path)
		})
	}
	for i, e := range objectsAt(f.container, "env") {
		f.ledger.env(text(e, "name"), indexed(container, "env", i).Child("name"))
	}
}

// apply lays all typed fields over the template, but for the environment.
func (f *podFields) apply() {
	f.containers()
	f.configMaps()
	f.secrets()
	f.volumeMounts()
	f.extraPorts()
	f.network()
	f.placement()
	f.security()
	f.devices()
	f.lifecycle()
	// Thousands of driver Services in one namespace otherwise make the environment of every container too large for its
	// entrypoint.
	if _, ok := f.spec["enableServiceLinks"]; !ok {
		f.spec["enableServiceLinks"] = false
	}
	if len(f.others) > 0 {
		if annotations := child(f.pod, "metadata", "annotations"); annotations[AnnotationDefaultContainer] == nil {
			annotations[AnnotationDefaultContainer] = f.containerName()
		}
	}
}

// json turns a typed value into JSON values.
func (f *podFields) json(v any, path *field.Path) any {
	out, err := toJSON(v)
	if err != nil {
		f.rep.err(field.InternalError(path, err))
	}
	return out
}

func (f *podFields) addContainer(list *[]any, c map[string]any, path *field.Path) {
	f.wantVolumes(c, path)
	if f.ledger.container(text(c, "name"), text(c, "image"), c, path) {
		*list = append(*list, c)
	}
}

// wantVolumes notes what a container mounts.
func (f *podFields) wantVolumes(c map[string]any, path *field.Path) {
	for _, key := range []string{"volumeMounts", "volumeDevices"} {
		for i, m := range objectsAt(c, key) {
			f.ledger.want(text(m, "name"), indexed(path, key, i).Child("name"))
		}
	}
}

// containers adds sidecars and init containers. One that the template has already is left out, as with the operator.
func (f *podFields) containers() {
	var inits []any
	for i := range f.role.spec.Sidecars {
		path := indexed(f.role.path, "sidecars", i)
		if c, ok := f.json(f.role.spec.Sidecars[i], path).(map[string]any); ok {
			f.addContainer(&f.others, c, path)
		}
	}
	for i := range f.role.spec.InitContainers {
		path := indexed(f.role.path, "initContainers", i)
		if c, ok := f.json(f.role.spec.InitContainers[i], path).(map[string]any); ok {
			f.addContainer(&inits, c, path)
		}
	}
	appendAt(f.spec, "initContainers", inits...)
}

// addVolume adds a volume and its mount to the container of Spark. A mount without a path mounts nothing.
func (f *podFields) addVolume(volume *corev1.Volume, mount *corev1.VolumeMount, volumePath, mountPath *field.Path) {
	if f.ledger.volume(volume.Name, volume, volumePath) {
		appendAt(f.spec, "volumes", f.json(volume, volumePath))
	}
	if f.ledger.mount(mount.MountPath, mount, mountPath) {
		appendAt(f.container, "volumeMounts", f.json(mount, mountPath))
	}
}

func (f *podFields) configMaps() {
	add := func(name, volume, dir string, namePath, mountPath *field.Path) {
		f.ledger.objectName("ConfigMap", name, namePath)
		f.addVolume(
			&corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}},
			&corev1.VolumeMount{Name: volume, MountPath: dir, ReadOnly: true}, namePath, mountPath)
	}
	spec, path := &f.a.App.Spec, f.a.specPath
	if given(spec.HadoopConfigMap) {
		path := path.Child("hadoopConfigMap")
		add(*spec.HadoopConfigMap, hadoopConfigMapVolume, hadoopConfigMapDir, path, path)
	}
	if given(spec.SparkConfigMap) {
		path := path.Child("sparkConfigMap")
		add(*spec.SparkConfigMap, sparkConfigMapVolume, sparkConfigMapDir, path, path)
	}
	for i, c := range f.role.spec.ConfigMaps {
		path := indexed(f.role.path, "configMaps", i)
		add(c.Name, volumeName(c.Name, configMapVolumeSuffix), c.Path, path.Child("name"), path.Child("path"))
	}
}

// secretByConf says whether a secret can be left to a property of Spark: the property has room for one path for each
// secret, and Spark makes the name of the volume from the name of the secret as it is.
func secretByConf(secrets []v1beta2.SecretInfo, i int) bool {
	name := secrets[i].Name
	first := slices.IndexFunc(secrets, func(s v1beta2.SecretInfo) bool { return s.Name == name })
	return first == i && len(validation.IsDNS1123Label(name+secretVolumeSuffix)) == 0
}

// secrets mounts those secrets that no property of Spark can express.
func (f *podFields) secrets() {
	list := f.role.spec.Secrets
	for i := range list {
		path, name := indexed(f.role.path, "secrets", i), list[i].Name
		f.ledger.objectName("Secret", name, path.Child("name"))
		if secretByConf(list, i) {
			continue
		}
		volume := secretVolume(name)
		mount := &corev1.VolumeMount{Name: volume.Name, MountPath: list[i].Path}
		if len(validation.IsDNS1123Label(name+secretVolumeSuffix)) == 0 {
			// The volume is Spark's, only the further path is ours.
			if f.ledger.mount(mount.MountPath, mount, path.Child("path")) {
				appendAt(f.container, "volumeMounts", f.json(mount, path))
			}
			continue
		}
		f.addVolume(volume, mount, path.Child("name"), path.Child("path"))
	}
}

func secretVolume(secret string) *corev1.Volume {
	return &corev1.Volume{
		Name:         volumeName(secret, secretVolumeSuffix),
		VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret}},
	}
}

// volumeMounts adds the role's mounts with the application's volumes that they and the further containers name. Volumes
// for scratch space go the same way: Spark's LocalDirsFeatureStep takes them from the template of executors, with
// sources for which there are no properties.
func (f *podFields) volumeMounts() {
	wanted := f.mountedByOthers()
	for i := range f.role.spec.VolumeMounts {
		m, path := &f.role.spec.VolumeMounts[i], indexed(f.role.path, "volumeMounts", i)
		wanted[m.Name] = true
		f.checkSubPath(m, path)
		if !f.hasVolume(m.Name) {
			f.rep.invalid(path.Child("name"), m.Name, "no volume has this name: add it to %s or to the template", f.a.specPath.Child("volumes"))
			continue
		}
		if f.ledger.mount(m.MountPath, m, path.Child("mountPath")) {
			appendAt(f.container, "volumeMounts", f.json(m, path))
		}
	}
	for i := range f.a.App.Spec.Volumes {
		v, path := &f.a.App.Spec.Volumes[i], indexed(f.a.specPath, "volumes", i)
		if !wanted[v.Name] {
			continue
		}
		if object, ok := f.json(v, path).(map[string]any); ok && f.ledger.volume(v.Name, v, path.Child("name")) {
			f.checkSource(object, path.Child("name"))
			podRules{rep: f.rep}.volumeSource(&v.VolumeSource, path)
			appendAt(f.spec, "volumes", object)
		}
	}
}

func (f *podFields) checkSubPath(m *corev1.VolumeMount, path *field.Path) {
	if m.SubPath != "" && m.SubPathExpr != "" {
		f.rep.invalid(path.Child("subPathExpr"), m.SubPathExpr, "must not be given together with subPath")
	}
	for _, name := range []string{"subPath", "subPathExpr"} {
		sub := m.SubPath
		if name == "subPathExpr" {
			sub = m.SubPathExpr
		}
		if strings.HasPrefix(sub, "/") || slices.Contains(strings.Split(sub, "/"), "..") {
			f.rep.invalid(path.Child(name), sub, "must be a relative path without '..'")
		}
	}
}

// checkSource refuses a volume of two types. One without any is an emptyDir to the API server.
func (f *podFields) checkSource(volume map[string]any, path *field.Path) {
	sources := slices.Sorted(maps.Keys(volume))
	sources = slices.DeleteFunc(sources, func(key string) bool { return key == "name" })
	if len(sources) > 1 {
		f.rep.invalid(path, text(volume, "name"), "must have one source, and has %s", strings.Join(sources, " and "))
	}
}

// mountedByOthers are the names of the volumes that the other containers mount.
func (f *podFields) mountedByOthers() map[string]bool {
	names := map[string]bool{}
	inits, _ := f.spec["initContainers"].([]any)
	for _, c := range slices.Concat(f.others, inits) {
		if object, ok := c.(map[string]any); ok {
			for _, key := range []string{"volumeMounts", "volumeDevices"} {
				for _, m := range objectsAt(object, key) {
					names[text(m, "name")] = true
				}
			}
		}
	}
	return names
}

func (f *podFields) hasVolume(name string) bool {
	if _, ok := f.ledger.volumes[name]; ok {
		return true
	}
	if slices.ContainsFunc(f.a.App.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == name }) {
		return true
	}
	if slices.ContainsFunc(f.role.volumes, func(v confVolume) bool { return v.name == name }) {
		return true
	}
	secret, ok := strings.CutSuffix(name, secretVolumeSuffix)
	_, mounted := f.a.conf[f.role.prefixSecrets+secret]
	return ok && mounted
}

func (f *podFields) extraPorts() {
	for i, p := range f.role.ports {
		path := indexed(f.role.path, "ports", i)
		port := corev1.ContainerPort{Name: p.Name, ContainerPort: p.ContainerPort, Protocol: corev1.Protocol(strings.ToUpper(p.Protocol))}
		switch port.Protocol {
		case "":
			port.Protocol = corev1.ProtocolTCP
		case corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP:
		default:
			f.rep.err(field.NotSupported(path.Child("protocol"), p.Protocol, []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP}))
		}
		if f.ledger.port(p.Name, p.ContainerPort, port, path) {
			appendAt(f.container, "ports", f.json(port, path))
		}
	}
}

func (f *podFields) network() {
	spec, path := f.role.spec, f.role.path
	if spec.HostNetwork != nil {
		f.spec["hostNetwork"] = *spec.HostNetwork
		if *spec.HostNetwork {
			f.spec["dnsPolicy"] = string(corev1.DNSClusterFirstWithHostNet)
		}
	}
	for i := range spec.HostAliases {
		f.appendNew("hostAliases", f.json(spec.HostAliases[i], indexed(path, "hostAliases", i)))
	}
	if spec.DNSConfig != nil {
		f.spec["dnsConfig"] = f.json(spec.DNSConfig, path.Child("dnsConfig"))
	}
}

// appendNew appends to a list of the pod what it doesn't have yet.
func (f *podFields) appendNew(key string, value any) {
	list, _ := f.spec[key].([]any)
	if !slices.ContainsFunc(list, func(v any) bool { return reflect.DeepEqual(v, value) }) {
		appendAt(f.spec, key, value)
	}
}

func (f *podFields) placement() {
	spec, path := f.role.spec, f.role.path
	if spec.Affinity != nil {
		f.spec["affinity"] = f.json(spec.Affinity, path.Child("affinity"))
	}
	for i := range spec.Tolerations {
		f.appendNew("tolerations", f.json(spec.Tolerations[i], indexed(path, "tolerations", i)))
	}
	for _, key := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		f.ledger.label(key, spec.NodeSelector[key], path.Child("nodeSelector").Key(key))
		child(f.spec, "nodeSelector")[key] = spec.NodeSelector[key]
	}
	if given(spec.SchedulerName) {
		f.spec["schedulerName"] = *spec.SchedulerName
	}
	if given(f.role.priorityClassName) {
		f.ledger.objectName("PriorityClass", *f.role.priorityClassName, path.Child("priorityClassName"))
		setPriorityClass(f.spec, *f.role.priorityClassName)
	}
}

// setPriorityClass sets the class and removes what the API server derives from it.
func setPriorityClass(spec map[string]any, class string) {
	spec["priorityClassName"] = class
	delete(spec, "priority")
	delete(spec, "preemptionPolicy")
}

func (f *podFields) security() {
	spec, path := f.role.spec, f.role.path
	if spec.PodSecurityContext != nil {
		f.spec["securityContext"] = f.json(spec.PodSecurityContext, path.Child("podSecurityContext"))
	}
	if spec.SecurityContext != nil {
		f.container["securityContext"] = f.json(spec.SecurityContext, path.Child("securityContext"))
	}
	if given(spec.ServiceAccount) {
		f.ledger.objectName("ServiceAccount", *spec.ServiceAccount, path.Child("serviceAccount"))
		f.spec["serviceAccountName"] = *spec.ServiceAccount
	}
	// Spark looks at the old field alone, and overwrites the account of a template that has only the new one. The API
	// server refuses a pod whose two fields differ, and takes the new one for the true one.
	for _, key := range []string{"serviceAccountName", "serviceAccount"} {
		if account := text(f.spec, key); account != "" {
			f.spec["serviceAccountName"], f.spec["serviceAccount"] = account, account
			break
		}
	}
}

func (f *podFields) devices() {
	gpu, path := f.role.spec.GPU, f.role.path.Child("gpu")
	if gpu == nil {
		return
	}
	if gpu.Name == "" || gpu.Quantity <= 0 {
		f.rep.warnf(path, "%q with quantity %d has no effect: name a resource such as nvidia.com/gpu and a quantity above 0", gpu.Name, gpu.Quantity)
		return
	}
	if problems := resourceName(corev1.ResourceName(gpu.Name)); problems != "" || !strings.Contains(gpu.Name, "/") {
		f.rep.invalid(path.Child("name"), gpu.Name, "must be the name of a resource with its vendor, such as nvidia.com/gpu")
		return
	}
	child(f.container, "resources", "limits")[gpu.Name] = strconv.FormatInt(gpu.Quantity, 10)
	// The template may ask for another number of the same device; requests and limits of devices must be equal.
	if requests, ok := lookup(f.container, "resources", "requests"); ok {
		if object, ok := requests.(map[string]any); ok {
			delete(object, gpu.Name)
		}
	}
}

func (f *podFields) lifecycle() {
	spec, path := f.role.spec, f.role.path
	if s := spec.TerminationGracePeriodSeconds; s != nil {
		if *s < 0 {
			f.rep.invalid(path.Child("terminationGracePeriodSeconds"), *s, "must not be negative")
		}
		f.spec["terminationGracePeriodSeconds"] = *s
	}
	if f.role.lifecycle != nil {
		f.container["lifecycle"] = f.json(f.role.lifecycle, path.Child("lifecycle"))
	}
	if spec.ShareProcessNamespace != nil {
		f.spec["shareProcessNamespace"] = *spec.ShareProcessNamespace
	}
}
