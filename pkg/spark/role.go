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
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// role is what differs between driver and executors where both are handled alike.
type role struct {
	name              Role
	spec              *v1beta2.SparkPodSpec
	coreRequest       *string
	javaOptions       *string
	lifecycle         *corev1.Lifecycle
	ports             []v1beta2.Port
	priorityClassName *string
	path              *field.Path
	containerName     string
	reservedLabels    []string

	keyCores, keyMemory, keyMemoryOverhead              string
	keyMemoryOverheadFactor, keyMinMemoryOverhead       string
	keyRequestCores, keyLimitCores, keyImage            string
	keyServiceAccount, keySchedulerName, keyJavaOptions string
	prefixLabel, prefixAnnotation, prefixEnv            string
	prefixSecrets, prefixSecretKeyRef, prefixVolumes    string
	prefixNodeSelector, prefixResource                  string

	resources corev1.ResourceRequirements
	volumes   []confVolume
}

func driverRole(app *v1beta2.SparkApplication, specPath *field.Path) role {
	d := &app.Spec.Driver
	r := newRole(Driver, &d.SparkPodSpec, specPath.Child("driver"))
	r.coreRequest, r.javaOptions, r.lifecycle, r.ports, r.priorityClassName = d.CoreRequest, d.JavaOptions, d.Lifecycle, d.Ports, d.PriorityClassName
	r.containerName, r.reservedLabels = DriverContainerName, reservedDriverLabels
	r.keyServiceAccount, r.keySchedulerName, r.keyJavaOptions = keyDriverServiceAccount, keyDriverSchedulerName, keyDriverExtraJavaOptions
	r.prefixEnv = prefixDriverEnv
	return r
}

func executorRole(app *v1beta2.SparkApplication, specPath *field.Path) role {
	e := &app.Spec.Executor
	r := newRole(Executor, &e.SparkPodSpec, specPath.Child("executor"))
	r.coreRequest, r.javaOptions, r.lifecycle, r.ports, r.priorityClassName = e.CoreRequest, e.JavaOptions, e.Lifecycle, e.Ports, e.PriorityClassName
	r.containerName, r.reservedLabels = ExecutorContainerName, reservedExecutorLabels
	r.keyServiceAccount, r.keySchedulerName, r.keyJavaOptions = keyExecutorServiceAccount, keyExecutorSchedulerName, keyExecutorExtraJavaOptions
	r.prefixEnv = prefixExecutorEnv
	return r
}

func newRole(name Role, spec *v1beta2.SparkPodSpec, path *field.Path) role {
	plain, k8s := "spark."+string(name)+".", "spark.kubernetes."+string(name)+"."
	return role{
		name: name, spec: spec, path: path,
		keyCores: plain + "cores", keyMemory: plain + "memory", keyMemoryOverhead: plain + "memoryOverhead",
		keyMemoryOverheadFactor: plain + "memoryOverheadFactor", keyMinMemoryOverhead: plain + "minMemoryOverhead",
		keyRequestCores: k8s + "request.cores", keyLimitCores: k8s + "limit.cores", keyImage: k8s + "container.image",
		prefixLabel: k8s + "label.", prefixAnnotation: k8s + "annotation.",
		prefixSecrets: k8s + "secrets.", prefixSecretKeyRef: k8s + "secretKeyRef.", prefixVolumes: k8s + "volumes.",
		prefixNodeSelector: k8s + "node.selector.", prefixResource: plain + "resource.",
	}
}
