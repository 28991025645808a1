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

package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// SparkApplicationType is the language of an application. It chooses nothing but sizing defaults: how an application is
// launched follows from its main file, as in SparkSubmit.
// +enum
// +k8s:enum
type SparkApplicationType string

const (
	// JavaApplicationType is an application written in Java.
	JavaApplicationType SparkApplicationType = "Java"
	// PythonApplicationType is an application written in Python.
	PythonApplicationType SparkApplicationType = "Python"
	// ScalaApplicationType is an application written in Scala.
	ScalaApplicationType SparkApplicationType = "Scala"
	// RApplicationType is an application written in R.
	RApplicationType SparkApplicationType = "R"
)

// DeployMode says where the driver of an application runs.
// +enum
// +k8s:enum
type DeployMode string

const (
	// ClusterMode runs the driver in a pod of its own.
	ClusterMode DeployMode = "cluster"
	// ClientMode runs the driver outside of the pods made for the application. It is part of the API for the sake of old
	// manifests and is refused by validation.
	ClientMode DeployMode = "client"
)

// RestartPolicyType says after which outcome an application runs again.
// +enum
// +k8s:enum
type RestartPolicyType string

const (
	// RestartPolicyNever ends the application with its first run.
	RestartPolicyNever RestartPolicyType = "Never"
	// RestartPolicyOnFailure runs the application again after a failure.
	RestartPolicyOnFailure RestartPolicyType = "OnFailure"
	// RestartPolicyAlways runs the application again after every end.
	RestartPolicyAlways RestartPolicyType = "Always"
)

// ApplicationStateType is the state of an application as a whole.
// +enum
type ApplicationStateType string

const (
	// ApplicationStateNew is the state of an application that the controller has not handled yet.
	ApplicationStateNew ApplicationStateType = ""
	// ApplicationStateSubmitted says that the driver pod is being created, or exists and does not run yet.
	ApplicationStateSubmitted ApplicationStateType = "SUBMITTED"
	// ApplicationStateRunning says that the driver runs.
	ApplicationStateRunning ApplicationStateType = "RUNNING"
	// ApplicationStateCompleted says that the application has ended well and will not run again.
	ApplicationStateCompleted ApplicationStateType = "COMPLETED"
	// ApplicationStateFailed says that the application has failed and will not run again.
	ApplicationStateFailed ApplicationStateType = "FAILED"
	// ApplicationStateFailedSubmission says that the objects of an attempt could not be created.
	ApplicationStateFailedSubmission ApplicationStateType = "SUBMISSION_FAILED"
	// ApplicationStatePendingRerun says that the objects of the last attempt are being removed before the next one.
	ApplicationStatePendingRerun ApplicationStateType = "PENDING_RERUN"
	// ApplicationStateInvalidating says that an edit of the spec ends the current attempt.
	ApplicationStateInvalidating ApplicationStateType = "INVALIDATING"
	// ApplicationStateSucceeding says that the driver ended well and that it is being decided what follows.
	ApplicationStateSucceeding ApplicationStateType = "SUCCEEDING"
	// ApplicationStateFailing says that the attempt failed and that it is being decided what follows.
	ApplicationStateFailing ApplicationStateType = "FAILING"
	// ApplicationStateSuspending says that the objects of the attempt are being removed because of spec.suspend.
	ApplicationStateSuspending ApplicationStateType = "SUSPENDING"
	// ApplicationStateSuspended says that the application holds no resources until spec.suspend is lifted.
	ApplicationStateSuspended ApplicationStateType = "SUSPENDED"
	// ApplicationStateResuming says that spec.suspend was lifted and the next attempt is about to be submitted.
	ApplicationStateResuming ApplicationStateType = "RESUMING"
	// ApplicationStateUnknown says that the state of the driver can't be found out.
	ApplicationStateUnknown ApplicationStateType = "UNKNOWN"
)

// ExecutorState is the state of one executor.
// +enum
type ExecutorState string

const (
	// ExecutorStatePending says that the executor's pod does not run yet.
	ExecutorStatePending ExecutorState = "PENDING"
	// ExecutorStateRunning says that the executor's pod runs.
	ExecutorStateRunning ExecutorState = "RUNNING"
	// ExecutorStateCompleted says that the executor ended well, or was removed after its driver had ended well.
	ExecutorStateCompleted ExecutorState = "COMPLETED"
	// ExecutorStateFailed says that the executor ended with an error, or was lost.
	ExecutorStateFailed ExecutorState = "FAILED"
	// ExecutorStateUnknown says that the node which holds the executor doesn't report it.
	ExecutorStateUnknown ExecutorState = "UNKNOWN"
)

// +genclient
// +genclient:method=GetScale,verb=get,subresource=scale,result=k8s.io/api/autoscaling/v1.Scale
// +genclient:method=UpdateScale,verb=update,subresource=scale,input=k8s.io/api/autoscaling/v1.Scale,result=k8s.io/api/autoscaling/v1.Scale
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SparkApplication is one Apache Spark application that runs on this cluster: what to run, with which resources, and
// what has become of it.
type SparkApplication struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata. The name is a DNS-1035 label of at most 63 characters.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// spec is what the user wants to run. An edit of a running application takes effect with its next attempt.
	Spec SparkApplicationSpec `json:"spec" protobuf:"bytes,2,opt,name=spec"`

	// status is what the controller has observed. It is absent until the first attempt starts.
	// +optional
	Status SparkApplicationStatus `json:"status,omitzero" protobuf:"bytes,3,opt,name=status"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SparkApplicationList is a list of SparkApplications.
type SparkApplicationList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// items are the applications.
	Items []SparkApplication `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// SparkApplicationSpec says what to run and how.
type SparkApplicationSpec struct {
	// suspend stops the application and removes its pods while it is true. Queueing systems such as Kueue drive it.
	// Changing it is never an edit that restarts the application.
	// +optional
	Suspend *bool `json:"suspend,omitempty" protobuf:"varint,1,opt,name=suspend"`

	// type is the language of the application: Java, Scala, Python or R. Default: Scala. It chooses how much memory is
	// added beside the heap where Spark's own default depends on the language.
	// +optional
	// +k8s:optional
	Type SparkApplicationType `json:"type" protobuf:"bytes,2,opt,name=type,casttype=SparkApplicationType"`

	// sparkVersion is the version of Spark inside the image, for example "4.0.1". Its first two numbers choose which
	// objects and settings are made for the driver.
	// +k8s:required
	SparkVersion string `json:"sparkVersion" protobuf:"bytes,3,opt,name=sparkVersion"`

	// mode is the deploy mode. Only "cluster", the default, can be run.
	// +optional
	// +k8s:optional
	Mode DeployMode `json:"mode,omitempty" protobuf:"bytes,4,opt,name=mode,casttype=DeployMode"`

	// proxyUser is the user whom the driver impersonates inside of Hadoop and Spark.
	// +optional
	ProxyUser *string `json:"proxyUser,omitempty" protobuf:"bytes,5,opt,name=proxyUser"`

	// image is the container image of driver and executors where they don't name one of their own.
	// +optional
	Image *string `json:"image,omitempty" protobuf:"bytes,6,opt,name=image"`

	// imagePullPolicy is Always, IfNotPresent or Never, for driver and executors. Spark's default is IfNotPresent.
	// +optional
	ImagePullPolicy *string `json:"imagePullPolicy,omitempty" protobuf:"bytes,7,opt,name=imagePullPolicy"`

	// imagePullSecrets are the names of secrets of this namespace with which images are pulled.
	// +optional
	// +listType=atomic
	ImagePullSecrets []string `json:"imagePullSecrets,omitempty" protobuf:"bytes,8,rep,name=imagePullSecrets"`

	// mainClass is the class whose main method is run, for Java and Scala applications.
	// +optional
	MainClass *string `json:"mainClass,omitempty" protobuf:"bytes,9,opt,name=mainClass"`

	// mainApplicationFile is the URI of the jar, Python or R file that is run. "local://" means a path inside of the
	// image; other schemes are fetched by the driver.
	// +k8s:required
	MainApplicationFile *string `json:"mainApplicationFile" protobuf:"bytes,10,opt,name=mainApplicationFile"`

	// arguments are handed to the application as they are.
	// +optional
	// +listType=atomic
	Arguments []string `json:"arguments,omitempty" protobuf:"bytes,11,rep,name=arguments"`

	// sparkConf holds Spark properties. Where a typed field of this spec says the same thing, the typed field wins and
	// the request is answered with a warning.
	// +optional
	SparkConf map[string]string `json:"sparkConf,omitempty" protobuf:"bytes,12,rep,name=sparkConf"`

	// hadoopConf holds Hadoop properties. Each becomes a Spark property with the prefix "spark.hadoop.".
	// +optional
	HadoopConf map[string]string `json:"hadoopConf,omitempty" protobuf:"bytes,13,rep,name=hadoopConf"`

	// sparkConfigMap is the name of a ConfigMap with Spark configuration files such as log4j2.properties. It is mounted
	// at /etc/spark/conf in driver and executors, and SPARK_CONF_DIR points there.
	// +optional
	SparkConfigMap *string `json:"sparkConfigMap,omitempty" protobuf:"bytes,14,opt,name=sparkConfigMap"`

	// hadoopConfigMap is the name of a ConfigMap with Hadoop configuration files such as core-site.xml. It is mounted at
	// /etc/hadoop/conf in driver and executors, and HADOOP_CONF_DIR points there.
	// +optional
	HadoopConfigMap *string `json:"hadoopConfigMap,omitempty" protobuf:"bytes,15,opt,name=hadoopConfigMap"`

	// volumes can be mounted by driver and executors. Those whose name starts with "spark-local-dir-" become Spark's
	// scratch space.
	// +optional
	// +listType=atomic
	Volumes []corev1.Volume `json:"volumes,omitempty" protobuf:"bytes,16,rep,name=volumes"`

	// driver describes the driver's pod.
	Driver DriverSpec `json:"driver" protobuf:"bytes,17,opt,name=driver"`

	// executor describes the executors' pods.
	Executor ExecutorSpec `json:"executor" protobuf:"bytes,18,opt,name=executor"`

	// deps are files that the application needs beside its main file.
	// +optional
	Deps Dependencies `json:"deps,omitzero" protobuf:"bytes,19,opt,name=deps"`

	// restartPolicy says when the application is run again.
	// +optional
	RestartPolicy RestartPolicy `json:"restartPolicy,omitzero" protobuf:"bytes,20,opt,name=restartPolicy"`

	// nodeSelector are labels that a node must have, for driver and executors. It excludes the nodeSelector of either.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty" protobuf:"bytes,21,rep,name=nodeSelector"`

	// failureRetries has no effect. Use restartPolicy.onFailureRetries.
	// +optional
	FailureRetries *int32 `json:"failureRetries,omitempty" protobuf:"varint,22,opt,name=failureRetries"`

	// retryInterval has no effect. Use restartPolicy.onFailureRetryInterval.
	// +optional
	RetryInterval *int64 `json:"retryInterval,omitempty" protobuf:"varint,23,opt,name=retryInterval"`

	// pythonVersion is the major version of Python, "2" or "3". Spark reads it up to 4.0 and ignores it later.
	// +optional
	// +enum
	PythonVersion *string `json:"pythonVersion,omitempty" protobuf:"bytes,24,opt,name=pythonVersion"`

	// memoryOverheadFactor is the share of the heap, as a decimal number, that is added as memory outside of the heap.
	// Spark's defaults are 0.1 for Java and Scala, 0.4 for Python and R.
	// +optional
	MemoryOverheadFactor *string `json:"memoryOverheadFactor,omitempty" protobuf:"bytes,25,opt,name=memoryOverheadFactor"`

	// monitoring exposes metrics to Prometheus through the JMX exporter agent.
	// +optional
	// +k8s:optional
	Monitoring *MonitoringSpec `json:"monitoring,omitempty" protobuf:"bytes,26,opt,name=monitoring"`

	// batchScheduler is deprecated: use scheduling.batchScheduler.name.
	// +optional
	BatchScheduler *string `json:"batchScheduler,omitempty" protobuf:"bytes,27,opt,name=batchScheduler"`

	// timeToLiveSeconds is the time in seconds after its end at which the application is deleted. Zero or less deletes
	// it as soon as it has ended. Without it the application is kept. Changing it is never an edit that restarts the
	// application.
	// +optional
	TimeToLiveSeconds *int64 `json:"timeToLiveSeconds,omitempty" protobuf:"varint,28,opt,name=timeToLiveSeconds"`

	// batchSchedulerOptions is deprecated: use the fields of scheduling.batchScheduler.
	// +optional
	BatchSchedulerOptions *BatchSchedulerConfiguration `json:"batchSchedulerOptions,omitempty" protobuf:"bytes,29,opt,name=batchSchedulerOptions"`

	// sparkUIOptions shapes the Service and the Ingress of the Spark UI.
	// +optional
	SparkUIOptions *SparkUIConfiguration `json:"sparkUIOptions,omitempty" protobuf:"bytes,30,opt,name=sparkUIOptions"`

	// driverIngressOptions are further ports of the driver, each with a Service and an Ingress of its own.
	// +optional
	// +listType=atomic
	DriverIngressOptions []DriverIngressConfiguration `json:"driverIngressOptions,omitempty" protobuf:"bytes,31,rep,name=driverIngressOptions"`

	// dynamicAllocation lets Spark change the number of executors while the application runs.
	// +optional
	DynamicAllocation *DynamicAllocation `json:"dynamicAllocation,omitempty" protobuf:"bytes,32,opt,name=dynamicAllocation"`

	// driverPodDisruptionBudget asks for a PodDisruptionBudget that keeps the driver from being evicted.
	// +optional
	DriverPodDisruptionBudget *bool `json:"driverPodDisruptionBudget,omitempty" protobuf:"varint,33,opt,name=driverPodDisruptionBudget"`

	// scheduling says how the executors are placed: by the workload-aware scheduling of Kubernetes, or by a batch
	// scheduler. It can't be set, changed or removed once the application exists.
	// +optional
	// +k8s:optional
	Scheduling *SparkSchedulingSpec `json:"scheduling,omitempty" protobuf:"bytes,34,opt,name=scheduling"`
}

// SparkPodSpec is what can be said of the driver's and of the executors' pods alike.
type SparkPodSpec struct {
	// template is a pod template that everything else is laid over. Fields that this release does not know are kept.
	// The container of Spark is the one named spark-kubernetes-driver or spark-kubernetes-executor, else the first.
	// +optional
	Template *runtime.RawExtension `json:"template,omitempty" protobuf:"bytes,1,opt,name=template"`

	// cores is the number of cores that Spark uses, and the CPU request unless coreRequest is set. Default: 1.
	// +optional
	// +k8s:optional
	// +k8s:minimum=1
	Cores *int32 `json:"cores,omitempty" protobuf:"varint,2,opt,name=cores"`

	// coreLimit is the CPU limit of the container of Spark, as a quantity such as "1200m". Without it there is none.
	// +optional
	CoreLimit *string `json:"coreLimit,omitempty" protobuf:"bytes,3,opt,name=coreLimit"`

	// memory is the size of the heap in Java's notation, for example "512m" or "4g". A bare number means MiB.
	// Default: 1g.
	// +optional
	Memory *string `json:"memory,omitempty" protobuf:"bytes,4,opt,name=memory"`

	// memoryLimit is the memory limit of the container of Spark, in Java's notation or as a quantity. It must not be
	// below the request, which Spark computes from memory and its overhead.
	// +optional
	MemoryLimit *string `json:"memoryLimit,omitempty" protobuf:"bytes,5,opt,name=memoryLimit"`

	// memoryOverhead is the memory outside of the heap in Java's notation. It takes the place of
	// memoryOverheadFactor.
	// +optional
	MemoryOverhead *string `json:"memoryOverhead,omitempty" protobuf:"bytes,6,opt,name=memoryOverhead"`

	// gpu adds devices to the limits of the container of Spark. It does not make Spark itself aware of them; that takes
	// the properties spark.driver.resource.* and spark.executor.resource.*.
	// +optional
	// +k8s:optional
	GPU *GPUSpec `json:"gpu,omitempty" protobuf:"bytes,7,opt,name=gpu"`

	// image is the container image. It takes the place of the application's image.
	// +optional
	Image *string `json:"image,omitempty" protobuf:"bytes,8,opt,name=image"`

	// configMaps are mounted as read-only folders.
	// +optional
	// +listType=atomic
	// +k8s:optional
	ConfigMaps []NamePath `json:"configMaps,omitempty" protobuf:"bytes,9,rep,name=configMaps"`

	// secrets are mounted as folders.
	// +optional
	// +listType=atomic
	// +k8s:optional
	Secrets []SecretInfo `json:"secrets,omitempty" protobuf:"bytes,10,rep,name=secrets"`

	// env are environment variables of the container of Spark.
	// +optional
	// +listType=atomic
	Env []corev1.EnvVar `json:"env,omitempty" protobuf:"bytes,11,rep,name=env"`

	// envVars are environment variables as plain name and value. Prefer env.
	// +optional
	EnvVars map[string]string `json:"envVars,omitempty" protobuf:"bytes,12,rep,name=envVars"`

	// envFrom are ConfigMaps and secrets whose keys become environment variables.
	// +optional
	// +listType=atomic
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty" protobuf:"bytes,13,rep,name=envFrom"`

	// envSecretKeyRefs are environment variables whose values come from keys of secrets. Prefer env.
	// +optional
	// +k8s:optional
	EnvSecretKeyRefs map[string]NameKey `json:"envSecretKeyRefs,omitempty" protobuf:"bytes,14,rep,name=envSecretKeyRefs"`

	// labels are added to the pod.
	// +optional
	Labels map[string]string `json:"labels,omitempty" protobuf:"bytes,15,rep,name=labels"`

	// annotations are added to the pod.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty" protobuf:"bytes,16,rep,name=annotations"`

	// volumeMounts mount volumes of the application into the container of Spark.
	// +optional
	// +listType=atomic
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty" protobuf:"bytes,17,rep,name=volumeMounts"`

	// affinity takes the place of the template's affinity.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty" protobuf:"bytes,18,opt,name=affinity"`

	// tolerations are added to those of the template.
	// +optional
	// +listType=atomic
	// +k8s:optional
	// +k8s:eachVal=+k8s:opaqueType
	Tolerations []corev1.Toleration `json:"tolerations,omitempty" protobuf:"bytes,19,rep,name=tolerations"`

	// podSecurityContext takes the place of the template's security context of the pod.
	// +optional
	PodSecurityContext *corev1.PodSecurityContext `json:"podSecurityContext,omitempty" protobuf:"bytes,20,opt,name=podSecurityContext"`

	// securityContext takes the place of the template's security context of the container of Spark.
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty" protobuf:"bytes,21,opt,name=securityContext"`

	// schedulerName is the scheduler that places the pod.
	// +optional
	SchedulerName *string `json:"schedulerName,omitempty" protobuf:"bytes,22,opt,name=schedulerName"`

	// sidecars are further containers of the pod.
	// +optional
	// +listType=atomic
	Sidecars []corev1.Container `json:"sidecars,omitempty" protobuf:"bytes,23,rep,name=sidecars"`

	// initContainers run before the containers of the pod.
	// +optional
	// +listType=atomic
	InitContainers []corev1.Container `json:"initContainers,omitempty" protobuf:"bytes,24,rep,name=initContainers"`

	// hostNetwork puts the pod into the network of its node.
	// +optional
	HostNetwork *bool `json:"hostNetwork,omitempty" protobuf:"varint,25,opt,name=hostNetwork"`

	// nodeSelector are labels that a node must have. It excludes the nodeSelector of the application.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty" protobuf:"bytes,26,rep,name=nodeSelector"`

	// dnsConfig takes the place of the template's DNS settings.
	// +optional
	DNSConfig *corev1.PodDNSConfig `json:"dnsConfig,omitempty" protobuf:"bytes,27,opt,name=dnsConfig"`

	// terminationGracePeriodSeconds is the time in seconds that the pod has to end by itself when it is deleted.
	// +optional
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty" protobuf:"varint,28,opt,name=terminationGracePeriodSeconds"`

	// serviceAccount is the service account of the pod.
	// +optional
	ServiceAccount *string `json:"serviceAccount,omitempty" protobuf:"bytes,29,opt,name=serviceAccount"`

	// hostAliases are added to the hosts file of the pod.
	// +optional
	// +listType=atomic
	HostAliases []corev1.HostAlias `json:"hostAliases,omitempty" protobuf:"bytes,30,rep,name=hostAliases"`

	// shareProcessNamespace lets the containers of the pod see each other's processes.
	// +optional
	ShareProcessNamespace *bool `json:"shareProcessNamespace,omitempty" protobuf:"varint,31,opt,name=shareProcessNamespace"`
}

// DriverSpec describes the driver's pod.
type DriverSpec struct {
	SparkPodSpec `json:",inline" protobuf:"bytes,1,opt,name=sparkPodSpec"`

	// podName is the name of the driver's pod. Default: the application's name with "-driver".
	// +optional
	PodName *string `json:"podName,omitempty" protobuf:"bytes,2,opt,name=podName"`

	// coreRequest is the CPU request of the container of Spark, as a quantity such as "500m".
	// +optional
	CoreRequest *string `json:"coreRequest,omitempty" protobuf:"bytes,3,opt,name=coreRequest"`

	// javaOptions are options of the driver's JVM.
	// +optional
	JavaOptions *string `json:"javaOptions,omitempty" protobuf:"bytes,4,opt,name=javaOptions"`

	// lifecycle are the hooks of the container of Spark.
	// +optional
	Lifecycle *corev1.Lifecycle `json:"lifecycle,omitempty" protobuf:"bytes,5,opt,name=lifecycle"`

	// kubernetesMaster is the URL of the API server as the driver reaches it. Default: https://kubernetes.default.svc.
	// +optional
	KubernetesMaster *string `json:"kubernetesMaster,omitempty" protobuf:"bytes,6,opt,name=kubernetesMaster"`

	// serviceAnnotations are added to the driver's headless Service.
	// +optional
	ServiceAnnotations map[string]string `json:"serviceAnnotations,omitempty" protobuf:"bytes,7,rep,name=serviceAnnotations"`

	// serviceLabels are added to the driver's headless Service.
	// +optional
	ServiceLabels map[string]string `json:"serviceLabels,omitempty" protobuf:"bytes,8,rep,name=serviceLabels"`

	// ports are further ports of the container of Spark.
	// +optional
	// +listType=atomic
	// +k8s:optional
	Ports []Port `json:"ports,omitempty" protobuf:"bytes,9,rep,name=ports"`

	// priorityClassName is the priority class of the pod.
	// +optional
	PriorityClassName *string `json:"priorityClassName,omitempty" protobuf:"bytes,10,opt,name=priorityClassName"`
}

// ExecutorSpec describes the executors' pods.
type ExecutorSpec struct {
	SparkPodSpec `json:",inline" protobuf:"bytes,1,opt,name=sparkPodSpec"`

	// instances is the number of executors. Default: 1, unless dynamic allocation is on. A gang has as many members.
	// +optional
	// +k8s:optional
	// +k8s:minimum=1
	Instances *int32 `json:"instances,omitempty" protobuf:"varint,2,opt,name=instances"`

	// coreRequest is the CPU request of the container of Spark, as a quantity such as "500m".
	// +optional
	CoreRequest *string `json:"coreRequest,omitempty" protobuf:"bytes,3,opt,name=coreRequest"`

	// javaOptions are options of the executors' JVMs.
	// +optional
	JavaOptions *string `json:"javaOptions,omitempty" protobuf:"bytes,4,opt,name=javaOptions"`

	// lifecycle are the hooks of the container of Spark.
	// +optional
	Lifecycle *corev1.Lifecycle `json:"lifecycle,omitempty" protobuf:"bytes,5,opt,name=lifecycle"`

	// deleteOnTermination says whether the driver deletes the pods of executors that have ended. Spark's default is true.
	// +optional
	DeleteOnTermination *bool `json:"deleteOnTermination,omitempty" protobuf:"varint,6,opt,name=deleteOnTermination"`

	// ports are further ports of the container of Spark.
	// +optional
	// +listType=atomic
	// +k8s:optional
	Ports []Port `json:"ports,omitempty" protobuf:"bytes,7,rep,name=ports"`

	// priorityClassName is the priority class of the pods. It is the priority of the gang as well.
	// +optional
	PriorityClassName *string `json:"priorityClassName,omitempty" protobuf:"bytes,8,opt,name=priorityClassName"`
}

// Dependencies are files that the application needs beside its main file.
type Dependencies struct {
	// jars are URIs of jars for the class paths of driver and executors.
	// +optional
	// +listType=atomic
	Jars []string `json:"jars,omitempty" protobuf:"bytes,1,rep,name=jars"`

	// files are URIs of files that are placed into the working folder of every executor.
	// +optional
	// +listType=atomic
	Files []string `json:"files,omitempty" protobuf:"bytes,2,rep,name=files"`

	// pyFiles are URIs of .zip, .egg and .py files for the PYTHONPATH.
	// +optional
	// +listType=atomic
	PyFiles []string `json:"pyFiles,omitempty" protobuf:"bytes,3,rep,name=pyFiles"`

	// packages are Maven coordinates (group:artifact:version) that the driver resolves when it starts.
	// +optional
	// +listType=atomic
	Packages []string `json:"packages,omitempty" protobuf:"bytes,4,rep,name=packages"`

	// excludePackages are coordinates (group:artifact) that are left out when packages are resolved.
	// +optional
	// +listType=atomic
	ExcludePackages []string `json:"excludePackages,omitempty" protobuf:"bytes,5,rep,name=excludePackages"`

	// repositories are further Maven repositories in which packages are looked for.
	// +optional
	// +listType=atomic
	Repositories []string `json:"repositories,omitempty" protobuf:"bytes,6,rep,name=repositories"`

	// archives are URIs of archives that are unpacked into the working folder of every executor.
	// +optional
	// +listType=atomic
	Archives []string `json:"archives,omitempty" protobuf:"bytes,7,rep,name=archives"`
}

// RestartPolicy says when an application is run again.
type RestartPolicy struct {
	// type is Never, OnFailure or Always. Default: Never.
	// +optional
	// +k8s:optional
	Type RestartPolicyType `json:"type,omitempty" protobuf:"bytes,1,opt,name=type,casttype=RestartPolicyType"`

	// onSubmissionFailureRetries is how many more times a submission is tried that failed. Default: none.
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	OnSubmissionFailureRetries *int32 `json:"onSubmissionFailureRetries,omitempty" protobuf:"varint,2,opt,name=onSubmissionFailureRetries"`

	// onFailureRetries is how many more times an application is run that failed, with type OnFailure. Default: none.
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	OnFailureRetries *int32 `json:"onFailureRetries,omitempty" protobuf:"varint,3,opt,name=onFailureRetries"`

	// onSubmissionFailureRetryInterval is the wait in seconds before a failed submission is tried again, multiplied by
	// the number of attempts. Default: 5.
	// +optional
	// +k8s:optional
	// +k8s:minimum=1
	OnSubmissionFailureRetryInterval *int64 `json:"onSubmissionFailureRetryInterval,omitempty" protobuf:"varint,4,opt,name=onSubmissionFailureRetryInterval"`

	// onFailureRetryInterval is the wait in seconds before a failed application is run again, multiplied by the number of
	// attempts. Default: 5.
	// +optional
	// +k8s:optional
	// +k8s:minimum=1
	OnFailureRetryInterval *int64 `json:"onFailureRetryInterval,omitempty" protobuf:"varint,5,opt,name=onFailureRetryInterval"`
}

// MonitoringSpec exposes metrics of driver and executors.
type MonitoringSpec struct {
	// exposeDriverMetrics exposes the metrics of the driver.
	ExposeDriverMetrics bool `json:"exposeDriverMetrics" protobuf:"varint,1,opt,name=exposeDriverMetrics"`

	// exposeExecutorMetrics exposes the metrics of the executors.
	ExposeExecutorMetrics bool `json:"exposeExecutorMetrics" protobuf:"varint,2,opt,name=exposeExecutorMetrics"`

	// metricsProperties is the content of Spark's metrics.properties. Default: a JMX sink with the JVM source.
	// +optional
	MetricsProperties *string `json:"metricsProperties,omitempty" protobuf:"bytes,3,opt,name=metricsProperties"`

	// metricsPropertiesFile is the path of a metrics.properties inside of the image. It takes the place of
	// metricsProperties.
	// +optional
	MetricsPropertiesFile *string `json:"metricsPropertiesFile,omitempty" protobuf:"bytes,4,opt,name=metricsPropertiesFile"`

	// prometheus runs the JMX exporter agent. Without it nothing is exposed.
	// +optional
	// +k8s:optional
	Prometheus *PrometheusSpec `json:"prometheus,omitempty" protobuf:"bytes,5,opt,name=prometheus"`
}

// PrometheusSpec describes the JMX exporter agent.
type PrometheusSpec struct {
	// jmxExporterJar is the path of the agent's jar inside of the image.
	// +k8s:required
	JmxExporterJar string `json:"jmxExporterJar" protobuf:"bytes,1,opt,name=jmxExporterJar"`

	// port is the port on which the agent answers, from 1024 to 49151. Default: 8090.
	// +optional
	// +k8s:optional
	// +k8s:minimum=1024
	// +k8s:maximum=49151
	Port *int32 `json:"port,omitempty" protobuf:"varint,2,opt,name=port"`

	// portName is the name of the container port. Default: jmx-exporter.
	// +optional
	PortName *string `json:"portName,omitempty" protobuf:"bytes,3,opt,name=portName"`

	// configFile is the path of the agent's configuration inside of the image. It takes the place of configuration.
	// +optional
	ConfigFile *string `json:"configFile,omitempty" protobuf:"bytes,4,opt,name=configFile"`

	// configuration is the content of the agent's configuration. Default: rules that name Spark's metrics.
	// +optional
	Configuration *string `json:"configuration,omitempty" protobuf:"bytes,5,opt,name=configuration"`
}

// GPUSpec is a number of devices.
type GPUSpec struct {
	// name is the resource name of the device, for example nvidia.com/gpu.
	// +k8s:required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// quantity is how many devices each pod gets.
	Quantity int64 `json:"quantity" protobuf:"varint,2,opt,name=quantity"`
}

// SecretInfo mounts a secret.
type SecretInfo struct {
	// name is the name of the secret.
	// +k8s:required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// path is the folder at which the secret is mounted.
	// +k8s:required
	Path string `json:"path" protobuf:"bytes,2,opt,name=path"`

	// secretType is Generic, GCPServiceAccount (GOOGLE_APPLICATION_CREDENTIALS is set to key.json of the folder) or
	// HadoopDelegationToken (HADOOP_TOKEN_FILE_LOCATION is set to hadoop.token of the folder). Anything else is taken for
	// Generic.
	Type SecretType `json:"secretType" protobuf:"bytes,3,opt,name=secretType,casttype=SecretType"`
}

// SecretType says what a secret is for.
type SecretType string

const (
	// SecretTypeGeneric is a secret that is only mounted.
	SecretTypeGeneric SecretType = "Generic"
	// SecretTypeGCPServiceAccount is a secret with the key of a Google Cloud service account.
	SecretTypeGCPServiceAccount SecretType = "GCPServiceAccount"
	// SecretTypeHadoopDelegationToken is a secret with Hadoop delegation tokens.
	SecretTypeHadoopDelegationToken SecretType = "HadoopDelegationToken"
)

// NamePath mounts a ConfigMap.
type NamePath struct {
	// name is the name of the ConfigMap.
	// +k8s:required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// path is the folder at which the ConfigMap is mounted.
	// +k8s:required
	Path string `json:"path" protobuf:"bytes,2,opt,name=path"`
}

// NameKey is a key of a secret.
type NameKey struct {
	// name is the name of the secret.
	// +k8s:required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// key is the key inside of the secret.
	// +k8s:required
	Key string `json:"key" protobuf:"bytes,2,opt,name=key"`
}

// Port is a port of a container.
type Port struct {
	// name is the name of the port.
	// +k8s:required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// protocol is TCP, UDP or SCTP.
	// +k8s:required
	Protocol string `json:"protocol" protobuf:"bytes,2,opt,name=protocol"`

	// containerPort is the number of the port.
	ContainerPort int32 `json:"containerPort" protobuf:"varint,3,opt,name=containerPort"`
}

// BatchSchedulerConfiguration are the options of a batch scheduler.
type BatchSchedulerConfiguration struct {
	// queue is the queue in which the application waits.
	// +optional
	Queue *string `json:"queue,omitempty" protobuf:"bytes,1,opt,name=queue"`

	// priorityClassName is the priority class of the application in its queue.
	// +optional
	PriorityClassName *string `json:"priorityClassName,omitempty" protobuf:"bytes,2,opt,name=priorityClassName"`

	// resources take the place of the computed sum of what the application needs.
	// +optional
	Resources corev1.ResourceList `json:"resources,omitempty" protobuf:"bytes,3,rep,name=resources,casttype=k8s.io/api/core/v1.ResourceList,castkey=k8s.io/api/core/v1.ResourceName"`
}

// SparkUIConfiguration shapes the Service and the Ingress of the Spark UI.
type SparkUIConfiguration struct {
	// servicePort is the port of the Service. Default: 4040.
	// +optional
	ServicePort *int32 `json:"servicePort,omitempty" protobuf:"varint,1,opt,name=servicePort"`

	// servicePortName is the name of that port. Default: spark-driver-ui-port.
	// +optional
	ServicePortName *string `json:"servicePortName,omitempty" protobuf:"bytes,2,opt,name=servicePortName"`

	// serviceType is the type of the Service. Default: ClusterIP.
	// +optional
	ServiceType *corev1.ServiceType `json:"serviceType,omitempty" protobuf:"bytes,3,opt,name=serviceType,casttype=k8s.io/api/core/v1.ServiceType"`

	// serviceAnnotations are added to the Service.
	// +optional
	ServiceAnnotations map[string]string `json:"serviceAnnotations,omitempty" protobuf:"bytes,4,rep,name=serviceAnnotations"`

	// serviceLabels are added to the Service.
	// +optional
	ServiceLabels map[string]string `json:"serviceLabels,omitempty" protobuf:"bytes,5,rep,name=serviceLabels"`

	// ingressAnnotations are the annotations of the Ingress. They take the place of the server's default.
	// +optional
	IngressAnnotations map[string]string `json:"ingressAnnotations,omitempty" protobuf:"bytes,6,rep,name=ingressAnnotations"`

	// ingressTLS is the TLS configuration of the Ingress. It takes the place of the server's default.
	// +optional
	// +listType=atomic
	IngressTLS []networkingv1.IngressTLS `json:"ingressTLS,omitempty" protobuf:"bytes,7,rep,name=ingressTLS"`
}

// DriverIngressConfiguration is a port of the driver with a Service and an Ingress of its own.
type DriverIngressConfiguration struct {
	// servicePort is the port of the Service and of the driver.
	// +optional
	ServicePort *int32 `json:"servicePort" protobuf:"varint,1,opt,name=servicePort"`

	// servicePortName is the name of that port.
	// +optional
	ServicePortName *string `json:"servicePortName" protobuf:"bytes,2,opt,name=servicePortName"`

	// serviceType is the type of the Service. Default: ClusterIP.
	// +optional
	ServiceType *corev1.ServiceType `json:"serviceType,omitempty" protobuf:"bytes,3,opt,name=serviceType,casttype=k8s.io/api/core/v1.ServiceType"`

	// serviceAnnotations are added to the Service.
	// +optional
	ServiceAnnotations map[string]string `json:"serviceAnnotations,omitempty" protobuf:"bytes,4,rep,name=serviceAnnotations"`

	// serviceLabels are added to the Service.
	// +optional
	ServiceLabels map[string]string `json:"serviceLabels,omitempty" protobuf:"bytes,5,rep,name=serviceLabels"`

	// ingressURLFormat is the URL of the Ingress. {{$appName}}, {{$appNamespace}} and {{$appId}} are replaced.
	// +optional
	IngressURLFormat string `json:"ingressURLFormat,omitempty" protobuf:"bytes,6,opt,name=ingressURLFormat"`

	// ingressAnnotations are the annotations of the Ingress. They take the place of the server's default.
	// +optional
	IngressAnnotations map[string]string `json:"ingressAnnotations,omitempty" protobuf:"bytes,7,rep,name=ingressAnnotations"`

	// ingressTLS is the TLS configuration of the Ingress. It takes the place of the server's default.
	// +optional
	// +listType=atomic
	IngressTLS []networkingv1.IngressTLS `json:"ingressTLS,omitempty" protobuf:"bytes,8,rep,name=ingressTLS"`
}

// DynamicAllocation lets Spark change the number of executors while the application runs.
type DynamicAllocation struct {
	// enabled turns dynamic allocation on.
	// +optional
	Enabled bool `json:"enabled,omitempty" protobuf:"varint,1,opt,name=enabled"`

	// initialExecutors is the number of executors to start with.
	// +optional
	InitialExecutors *int32 `json:"initialExecutors,omitempty" protobuf:"varint,2,opt,name=initialExecutors"`

	// minExecutors is the lower bound of the number of executors.
	// +optional
	MinExecutors *int32 `json:"minExecutors,omitempty" protobuf:"varint,3,opt,name=minExecutors"`

	// maxExecutors is the upper bound of the number of executors.
	// +optional
	MaxExecutors *int32 `json:"maxExecutors,omitempty" protobuf:"varint,4,opt,name=maxExecutors"`

	// shuffleTrackingEnabled keeps executors that hold shuffle data which is still needed. Default: true.
	// +optional
	ShuffleTrackingEnabled *bool `json:"shuffleTrackingEnabled,omitempty" protobuf:"varint,5,opt,name=shuffleTrackingEnabled"`

	// shuffleTrackingTimeout is the time in milliseconds after which executors that hold shuffle data are given up.
	// +optional
	ShuffleTrackingTimeout *int64 `json:"shuffleTrackingTimeout,omitempty" protobuf:"varint,6,opt,name=shuffleTrackingTimeout"`
}
