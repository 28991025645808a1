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

package sparkoperator

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// SparkApplicationType is the language of an application. It chooses nothing but sizing defaults: how an application is
// launched follows from its main file, as in SparkSubmit.
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
type DeployMode string

const (
	// ClusterMode runs the driver in a pod of its own.
	ClusterMode DeployMode = "cluster"
	// ClientMode runs the driver outside of the pods made for the application. It is part of the API for the sake of old
	// manifests and is refused by validation.
	ClientMode DeployMode = "client"
)

// RestartPolicyType says after which outcome an application runs again.
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

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SparkApplication is one Apache Spark application that runs on this cluster: what to run, with which resources, and
// what has become of it.
type SparkApplication struct {
	metav1.TypeMeta
	// metadata is the standard object metadata. The name is a DNS-1035 label of at most 63 characters.
	metav1.ObjectMeta

	// spec is what the user wants to run. An edit of a running application takes effect with its next attempt.
	Spec SparkApplicationSpec

	// status is what the controller has observed. It is absent until the first attempt starts.
	Status SparkApplicationStatus
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SparkApplicationList is a list of SparkApplications.
type SparkApplicationList struct {
	metav1.TypeMeta
	// metadata is the standard list metadata.
	metav1.ListMeta

	// items are the applications.
	Items []SparkApplication
}

// SparkApplicationSpec says what to run and how.
type SparkApplicationSpec struct {
	// suspend stops the application and removes its pods while it is true. Queueing systems such as Kueue drive it.
	// Changing it is never an edit that restarts the application.
	Suspend *bool

	// type is the language of the application: Java, Scala, Python or R. Default: Scala. It chooses how much memory is
	// added beside the heap where Spark's own default depends on the language.
	Type SparkApplicationType

	// sparkVersion is the version of Spark inside the image, for example "4.0.1". Its first two numbers choose which
	// objects and settings are made for the driver.
	SparkVersion string

	// mode is the deploy mode. Only "cluster", the default, can be run.
	Mode DeployMode

	// proxyUser is the user whom the driver impersonates inside of Hadoop and Spark.
	ProxyUser *string

	// image is the container image of driver and executors where they don't name one of their own.
	Image *string

	// imagePullPolicy is Always, IfNotPresent or Never, for driver and executors. Spark's default is IfNotPresent.
	ImagePullPolicy *string

	// imagePullSecrets are the names of secrets of this namespace with which images are pulled.
	ImagePullSecrets []string

	// mainClass is the class whose main method is run, for Java and Scala applications.
	MainClass *string

	// mainApplicationFile is the URI of the jar, Python or R file that is run. "local://" means a path inside of the
	// image; other schemes are fetched by the driver.
	MainApplicationFile *string

	// arguments are handed to the application as they are.
	Arguments []string

	// sparkConf holds Spark properties. Where a typed field of this spec says the same thing, the typed field wins and
	// the request is answered with a warning.
	SparkConf map[string]string

	// hadoopConf holds Hadoop properties. Each becomes a Spark property with the prefix "spark.hadoop.".
	HadoopConf map[string]string

	// sparkConfigMap is the name of a ConfigMap with Spark configuration files such as log4j2.properties. It is mounted
	// at /etc/spark/conf in driver and executors, and SPARK_CONF_DIR points there.
	SparkConfigMap *string

	// hadoopConfigMap is the name of a ConfigMap with Hadoop configuration files such as core-site.xml. It is mounted at
	// /etc/hadoop/conf in driver and executors, and HADOOP_CONF_DIR points there.
	HadoopConfigMap *string

	// volumes can be mounted by driver and executors. Those whose name starts with "spark-local-dir-" become Spark's
	// scratch space.
	Volumes []corev1.Volume

	// driver describes the driver's pod.
	Driver DriverSpec

	// executor describes the executors' pods.
	Executor ExecutorSpec

	// deps are files that the application needs beside its main file.
	Deps Dependencies

	// restartPolicy says when the application is run again.
	RestartPolicy RestartPolicy

	// nodeSelector are labels that a node must have, for driver and executors. It excludes the nodeSelector of either.
	NodeSelector map[string]string

	// failureRetries has no effect. Use restartPolicy.onFailureRetries.
	FailureRetries *int32

	// retryInterval has no effect. Use restartPolicy.onFailureRetryInterval.
	RetryInterval *int64

	// pythonVersion is the major version of Python, "2" or "3". Spark reads it up to 4.0 and ignores it later.
	PythonVersion *string

	// memoryOverheadFactor is the share of the heap, as a decimal number, that is added as memory outside of the heap.
	// Spark's defaults are 0.1 for Java and Scala, 0.4 for Python and R.
	MemoryOverheadFactor *string

	// monitoring exposes metrics to Prometheus through the JMX exporter agent.
	Monitoring *MonitoringSpec

	// batchScheduler is deprecated: use scheduling.batchScheduler.name.
	BatchScheduler *string

	// timeToLiveSeconds is the time in seconds after its end at which the application is deleted. Zero or less deletes
	// it as soon as it has ended. Without it the application is kept. Changing it is never an edit that restarts the
	// application.
	TimeToLiveSeconds *int64

	// batchSchedulerOptions is deprecated: use the fields of scheduling.batchScheduler.
	BatchSchedulerOptions *BatchSchedulerConfiguration

	// sparkUIOptions shapes the Service and the Ingress of the Spark UI.
	SparkUIOptions *SparkUIConfiguration

	// driverIngressOptions are further ports of the driver, each with a Service and an Ingress of its own.
	DriverIngressOptions []DriverIngressConfiguration

	// dynamicAllocation lets Spark change the number of executors while the application runs.
	DynamicAllocation *DynamicAllocation

	// driverPodDisruptionBudget asks for a PodDisruptionBudget that keeps the driver from being evicted.
	DriverPodDisruptionBudget *bool

	// scheduling says how the executors are placed: by the workload-aware scheduling of Kubernetes, or by a batch
	// scheduler. It can't be set, changed or removed once the application exists.
	Scheduling *SparkSchedulingSpec
}

// SparkPodSpec is what can be said of the driver's and of the executors' pods alike.
type SparkPodSpec struct {
	// template is a pod template that everything else is laid over. Fields that this release does not know are kept.
	// The container of Spark is the one named spark-kubernetes-driver or spark-kubernetes-executor, else the first.
	Template *runtime.RawExtension

	// cores is the number of cores that Spark uses, and the CPU request unless coreRequest is set. Default: 1.
	Cores *int32

	// coreLimit is the CPU limit of the container of Spark, as a quantity such as "1200m". Without it there is none.
	CoreLimit *string

	// memory is the size of the heap in Java's notation, for example "512m" or "4g". A bare number means MiB.
	// Default: 1g.
	Memory *string

	// memoryLimit is the memory limit of the container of Spark, in Java's notation or as a quantity. It must not be
	// below the request, which Spark computes from memory and its overhead.
	MemoryLimit *string

	// memoryOverhead is the memory outside of the heap in Java's notation. It takes the place of
	// memoryOverheadFactor.
	MemoryOverhead *string

	// gpu adds devices to the limits of the container of Spark. It does not make Spark itself aware of them; that takes
	// the properties spark.driver.resource.* and spark.executor.resource.*.
	GPU *GPUSpec

	// image is the container image. It takes the place of the application's image.
	Image *string

	// configMaps are mounted as read-only folders.
	ConfigMaps []NamePath

	// secrets are mounted as folders.
	Secrets []SecretInfo

	// env are environment variables of the container of Spark.
	Env []corev1.EnvVar

	// envVars are environment variables as plain name and value. Prefer env.
	EnvVars map[string]string

	// envFrom are ConfigMaps and secrets whose keys become environment variables.
	EnvFrom []corev1.EnvFromSource

	// envSecretKeyRefs are environment variables whose values come from keys of secrets. Prefer env.
	EnvSecretKeyRefs map[string]NameKey

	// labels are added to the pod.
	Labels map[string]string

	// annotations are added to the pod.
	Annotations map[string]string

	// volumeMounts mount volumes of the application into the container of Spark.
	VolumeMounts []corev1.VolumeMount

	// affinity takes the place of the template's affinity.
	Affinity *corev1.Affinity

	// tolerations are added to those of the template.
	Tolerations []corev1.Toleration

	// podSecurityContext takes the place of the template's security context of the pod.
	PodSecurityContext *corev1.PodSecurityContext

	// securityContext takes the place of the template's security context of the container of Spark.
	SecurityContext *corev1.SecurityContext

	// schedulerName is the scheduler that places the pod.
	SchedulerName *string

	// sidecars are further containers of the pod.
	Sidecars []corev1.Container

	// initContainers run before the containers of the pod.
	InitContainers []corev1.Container

	// hostNetwork puts the pod into the network of its node.
	HostNetwork *bool

	// nodeSelector are labels that a node must have. It excludes the nodeSelector of the application.
	NodeSelector map[string]string

	// dnsConfig takes the place of the template's DNS settings.
	DNSConfig *corev1.PodDNSConfig

	// terminationGracePeriodSeconds is the time in seconds that the pod has to end by itself when it is deleted.
	TerminationGracePeriodSeconds *int64

	// serviceAccount is the service account of the pod.
	ServiceAccount *string

	// hostAliases are added to the hosts file of the pod.
	HostAliases []corev1.HostAlias

	// shareProcessNamespace lets the containers of the pod see each other's processes.
	ShareProcessNamespace *bool
}

// DriverSpec describes the driver's pod.
type DriverSpec struct {
	SparkPodSpec

	// podName is the name of the driver's pod. Default: the application's name with "-driver".
	PodName *string

	// coreRequest is the CPU request of the container of Spark, as a quantity such as "500m".
	CoreRequest *string

	// javaOptions are options of the driver's JVM.
	JavaOptions *string

	// lifecycle are the hooks of the container of Spark.
	Lifecycle *corev1.Lifecycle

	// kubernetesMaster is the URL of the API server as the driver reaches it. Default: https://kubernetes.default.svc.
	KubernetesMaster *string

	// serviceAnnotations are added to the driver's headless Service.
	ServiceAnnotations map[string]string

	// serviceLabels are added to the driver's headless Service.
	ServiceLabels map[string]string

	// ports are further ports of the container of Spark.
	Ports []Port

	// priorityClassName is the priority class of the pod.
	PriorityClassName *string
}

// ExecutorSpec describes the executors' pods.
type ExecutorSpec struct {
	SparkPodSpec

	// instances is the number of executors. Default: 1, unless dynamic allocation is on. A gang has as many members.
	Instances *int32

	// coreRequest is the CPU request of the container of Spark, as a quantity such as "500m".
	CoreRequest *string

	// javaOptions are options of the executors' JVMs.
	JavaOptions *string

	// lifecycle are the hooks of the container of Spark.
	Lifecycle *corev1.Lifecycle

	// deleteOnTermination says whether the driver deletes the pods of executors that have ended. Spark's default is true.
	DeleteOnTermination *bool

	// ports are further ports of the container of Spark.
	Ports []Port

	// priorityClassName is the priority class of the pods. It is the priority of the gang as well.
	PriorityClassName *string
}

// Dependencies are files that the application needs beside its main file.
type Dependencies struct {
	// jars are URIs of jars for the class paths of driver and executors.
	Jars []string

	// files are URIs of files that are placed into the working folder of every executor.
	Files []string

	// pyFiles are URIs of .zip, .egg and .py files for the PYTHONPATH.
	PyFiles []string

	// packages are Maven coordinates (group:artifact:version) that the driver resolves when it starts.
	Packages []string

	// excludePackages are coordinates (group:artifact) that are left out when packages are resolved.
	ExcludePackages []string

	// repositories are further Maven repositories in which packages are looked for.
	Repositories []string

	// archives are URIs of archives that are unpacked into the working folder of every executor.
	Archives []string
}

// RestartPolicy says when an application is run again.
type RestartPolicy struct {
	// type is Never, OnFailure or Always. Default: Never.
	Type RestartPolicyType

	// onSubmissionFailureRetries is how many more times a submission is tried that failed. Default: none.
	OnSubmissionFailureRetries *int32

	// onFailureRetries is how many more times an application is run that failed, with type OnFailure. Default: none.
	OnFailureRetries *int32

	// onSubmissionFailureRetryInterval is the wait in seconds before a failed submission is tried again, multiplied by
	// the number of attempts. Default: 5.
	OnSubmissionFailureRetryInterval *int64

	// onFailureRetryInterval is the wait in seconds before a failed application is run again, multiplied by the number of
	// attempts. Default: 5.
	OnFailureRetryInterval *int64
}

// MonitoringSpec exposes metrics of driver and executors.
type MonitoringSpec struct {
	// exposeDriverMetrics exposes the metrics of the driver.
	ExposeDriverMetrics bool

	// exposeExecutorMetrics exposes the metrics of the executors.
	ExposeExecutorMetrics bool

	// metricsProperties is the content of Spark's metrics.properties. Default: a JMX sink with the JVM source.
	MetricsProperties *string

	// metricsPropertiesFile is the path of a metrics.properties inside of the image. It takes the place of
	// metricsProperties.
	MetricsPropertiesFile *string

	// prometheus runs the JMX exporter agent. Without it nothing is exposed.
	Prometheus *PrometheusSpec
}

// PrometheusSpec describes the JMX exporter agent.
type PrometheusSpec struct {
	// jmxExporterJar is the path of the agent's jar inside of the image.
	JmxExporterJar string

	// port is the port on which the agent answers, from 1024 to 49151. Default: 8090.
	Port *int32

	// portName is the name of the container port. Default: jmx-exporter.
	PortName *string

	// configFile is the path of the agent's configuration inside of the image. It takes the place of configuration.
	ConfigFile *string

	// configuration is the content of the agent's configuration. Default: rules that name Spark's metrics.
	Configuration *string
}

// GPUSpec is a number of devices.
type GPUSpec struct {
	// name is the resource name of the device, for example nvidia.com/gpu.
	Name string

	// quantity is how many devices each pod gets.
	Quantity int64
}

// SecretInfo mounts a secret.
type SecretInfo struct {
	// name is the name of the secret.
	Name string

	// path is the folder at which the secret is mounted.
	Path string

	// secretType is Generic, GCPServiceAccount (GOOGLE_APPLICATION_CREDENTIALS is set to key.json of the folder) or
	// HadoopDelegationToken (HADOOP_TOKEN_FILE_LOCATION is set to hadoop.token of the folder). Anything else is taken for
	// Generic.
	Type SecretType
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
	Name string

	// path is the folder at which the ConfigMap is mounted.
	Path string
}

// NameKey is a key of a secret.
type NameKey struct {
	// name is the name of the secret.
	Name string

	// key is the key inside of the secret.
	Key string
}

// Port is a port of a container.
type Port struct {
	// name is the name of the port.
	Name string

	// protocol is TCP, UDP or SCTP.
	Protocol string

	// containerPort is the number of the port.
	ContainerPort int32
}

// BatchSchedulerConfiguration are the options of a batch scheduler.
type BatchSchedulerConfiguration struct {
	// queue is the queue in which the application waits.
	Queue *string

	// priorityClassName is the priority class of the application in its queue.
	PriorityClassName *string

	// resources take the place of the computed sum of what the application needs.
	Resources corev1.ResourceList
}

// SparkUIConfiguration shapes the Service and the Ingress of the Spark UI.
type SparkUIConfiguration struct {
	// servicePort is the port of the Service. Default: 4040.
	ServicePort *int32

	// servicePortName is the name of that port. Default: spark-driver-ui-port.
	ServicePortName *string

	// serviceType is the type of the Service. Default: ClusterIP.
	ServiceType *corev1.ServiceType

	// serviceAnnotations are added to the Service.
	ServiceAnnotations map[string]string

	// serviceLabels are added to the Service.
	ServiceLabels map[string]string

	// ingressAnnotations are the annotations of the Ingress. They take the place of the server's default.
	IngressAnnotations map[string]string

	// ingressTLS is the TLS configuration of the Ingress. It takes the place of the server's default.
	IngressTLS []networkingv1.IngressTLS
}

// DriverIngressConfiguration is a port of the driver with a Service and an Ingress of its own.
type DriverIngressConfiguration struct {
	// servicePort is the port of the Service and of the driver.
	ServicePort *int32

	// servicePortName is the name of that port.
	ServicePortName *string

	// serviceType is the type of the Service. Default: ClusterIP.
	ServiceType *corev1.ServiceType

	// serviceAnnotations are added to the Service.
	ServiceAnnotations map[string]string

	// serviceLabels are added to the Service.
	ServiceLabels map[string]string

	// ingressURLFormat is the URL of the Ingress. {{$appName}}, {{$appNamespace}} and {{$appId}} are replaced.
	IngressURLFormat string

	// ingressAnnotations are the annotations of the Ingress. They take the place of the server's default.
	IngressAnnotations map[string]string

	// ingressTLS is the TLS configuration of the Ingress. It takes the place of the server's default.
	IngressTLS []networkingv1.IngressTLS
}

// DynamicAllocation lets Spark change the number of executors while the application runs.
type DynamicAllocation struct {
	// enabled turns dynamic allocation on.
	Enabled bool

	// initialExecutors is the number of executors to start with.
	InitialExecutors *int32

	// minExecutors is the lower bound of the number of executors.
	MinExecutors *int32

	// maxExecutors is the upper bound of the number of executors.
	MaxExecutors *int32

	// shuffleTrackingEnabled keeps executors that hold shuffle data which is still needed. Default: true.
	ShuffleTrackingEnabled *bool

	// shuffleTrackingTimeout is the time in milliseconds after which executors that hold shuffle data are given up.
	ShuffleTrackingTimeout *int64
}
