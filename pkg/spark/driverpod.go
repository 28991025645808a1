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
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// driverBuilder holds what the feature steps of the driver work on.
type driverBuilder struct {
	a         *Application
	conf      conf
	attempt   Attempt
	names     attemptNames
	rep       *report
	ledger    *ledger
	pod       *corev1.Pod
	container *corev1.Container // of Spark; it becomes the last one
	objects   *Objects
	labels    map[string]string // of the configuration, which the driver's Service selects by
}

// driverSteps are Spark's feature steps in its order (KubernetesDriverBuilder.buildFromFeatures), each in a file of its
// name, and then what Spark has no step for. Two are left out: DriverKubernetesCredentialsFeatureStep, because the service account is set with the other typed
// fields and other credentials can't be given, and NetworkPolicyFeatureStep of 4.2 and later, because whether pods may talk
// is the cluster's to say. driverMetrics and driverEnvironment are ours.
var driverSteps = []func(*driverBuilder){
	basicDriver,
	driverService,
	mountSecrets,
	envSecrets,
	mountVolumes,
	driverCommand,
	hadoopConfDriver,
	kerberosConfDriver,
	podTemplateConfigMap,
	localDirs,
	driverConfVolume,
	driverMetrics,
	driverEnvironment,
	batchPlacement,
}

// assemble makes the objects of an attempt. Problems go into the report; the objects are only good without any.
func assemble(a *Application, at Attempt, rep *report) *Objects {
	b := &driverBuilder{
		a: a, conf: a.conf, attempt: at, rep: rep, labels: map[string]string{},
		names:   namesOf(a.App.Name, a.App.UID, at.SubmissionID),
		objects: &Objects{Properties: map[string]string{}},
	}
	if err := checkSubmissionID(at.SubmissionID); err != nil {
		rep.err(field.InternalError(a.specPath, err))
	}
	for key, s := range a.conf {
		b.objects.Properties[key] = s.value
	}
	b.objects.ExecutorTemplate = executorTemplateObject(a, at, rep)
	b.start()
	for _, step := range driverSteps {
		step(b)
	}
	b.ledger.checkWanted()
	b.pod.Spec.Containers = append(b.pod.Spec.Containers, *b.container)
	b.objects.Driver = b.pod
	b.properties()
	b.configMap()
	return b.objects
}

// start makes the pod from the template and the typed fields.
func (b *driverBuilder) start() {
	f := newPodFields(b.a, &b.a.driver, b.a.driverTemplate, b.rep)
	f.apply()
	b.ledger = f.ledger
	f.spec["containers"] = slices.Concat(f.others, []any{f.container})
	b.pod = &corev1.Pod{}
	encoded, err := json.Marshal(f.pod)
	if err == nil {
		err = kjson.UnmarshalCaseSensitivePreserveInts(encoded, b.pod)
	}
	if err != nil { // the template was type-checked, and the rest is typed
		b.rep.err(field.InternalError(f.template, fmt.Errorf("the template and the typed fields make no pod: %w", err)))
		b.pod = &corev1.Pod{}
	}
	last := len(b.pod.Spec.Containers) - 1
	if last < 0 {
		b.container = &corev1.Container{Name: DriverContainerName}
	} else {
		b.container = &b.pod.Spec.Containers[last]
		b.pod.Spec.Containers = b.pod.Spec.Containers[:last:last]
	}
	// Only what a template may say of a pod's metadata is kept.
	m := b.pod.ObjectMeta
	b.pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	b.pod.ObjectMeta = metav1.ObjectMeta{
		Name: b.a.DriverPodName, Namespace: b.a.App.Namespace, Labels: m.Labels, Annotations: m.Annotations, Finalizers: m.Finalizers,
		OwnerReferences: append(m.OwnerReferences, b.owner()),
	}
	b.pod.Status = corev1.PodStatus{}
	for i := range m.OwnerReferences {
		if c := m.OwnerReferences[i].Controller; c != nil && *c {
			b.rep.err(field.Forbidden(f.template.Child("metadata", "ownerReferences").Index(i), "the SparkApplication is the controller of the driver"))
		}
	}
}

// owner is the reference of an attempt's objects to their application.
func (b *driverBuilder) owner() metav1.OwnerReference {
	return *metav1.NewControllerRef(b.a.App, v1beta2.SchemeGroupVersion.WithKind("SparkApplication"))
}

// objectMeta is the metadata of an attempt's objects other than the pod.
func (b *driverBuilder) objectMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: name, Namespace: b.a.App.Namespace,
		Labels: map[string]string{
			LabelAppName: b.a.App.Name, LabelSubmissionID: b.attempt.SubmissionID, LabelCreatedBy: LabelTrue,
		},
		OwnerReferences: []metav1.OwnerReference{b.owner()},
	}
}

// addVolume adds a volume and mounts it into the container of Spark. path is where it comes from, nil for Spark itself.
func (b *driverBuilder) addVolume(volume corev1.Volume, mount corev1.VolumeMount, path *field.Path) {
	mount.Name = volume.Name
	if b.ledger.volume(volume.Name, volume, path) {
		b.pod.Spec.Volumes = append(b.pod.Spec.Volumes, volume)
	}
	if b.ledger.mount(mount.MountPath, mount, path) {
		b.container.VolumeMounts = append(b.container.VolumeMounts, mount)
	}
}

func (b *driverBuilder) addEnv(name, value string) {
	b.container.Env = append(b.container.Env, corev1.EnvVar{Name: name, Value: value})
}

// property lets a step decide on a property. What the user wrote instead has no effect.
func (b *driverBuilder) property(key, value string) {
	if s, ok := b.conf[key]; ok && s.free && s.value != value {
		b.rep.warnf(s.path, "the value %q has no effect: the property is set for every attempt: remove it", s.value)
	}
	b.objects.Properties[key] = value
}
