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

// Labels of SparkApplications' objects. The first group is the contract of the Kubeflow Spark operator with everything
// that selects its pods; the second is Spark's own (org.apache.spark.deploy.k8s.Constants, the same in 3.5 to 4.3).
const (
	// LabelAppName holds the name of the SparkApplication; it is on every object of an application.
	LabelAppName = "sparkoperator.k8s.io/app-name"
	// LabelScheduledAppName holds the name of the ScheduledSparkApplication that made the application, if one did.
	LabelScheduledAppName = "sparkoperator.k8s.io/scheduled-app-name"
	// LabelSubmissionID holds the id of the attempt that an object was made for; it is on every object of an attempt.
	LabelSubmissionID = "sparkoperator.k8s.io/submission-id"
	// LabelLaunchedBy is "true" on the pods of driver and executors.
	LabelLaunchedBy = "sparkoperator.k8s.io/launched-by-spark-operator"
	// LabelMutatedBy is "true" on pods whose role has no template, where the operator's webhook used to say so.
	LabelMutatedBy = "sparkoperator.k8s.io/mutated-by-spark-operator"
	// LabelCreatedBy is "true" on the objects of an application that aren't pods.
	LabelCreatedBy = "sparkoperator.k8s.io/created-by-spark-operator"
	// LabelSideObject is "true" on what stands beside an attempt while its driver lives.
	LabelSideObject = "sparkoperator.k8s.io/side-object"

	// LabelSparkRole holds "driver" or "executor".
	LabelSparkRole = "spark-role"
	// LabelSparkAppSelector holds Spark's application id.
	LabelSparkAppSelector = "spark-app-selector"
	// LabelSparkAppName holds the application's name, cut to the form of a label.
	LabelSparkAppName = "spark-app-name"
	// LabelSparkVersion holds the version of Spark.
	LabelSparkVersion = "spark-version"
	// LabelSparkExecutorID holds the number of an executor.
	LabelSparkExecutorID = "spark-exec-id"
	// LabelSparkExecutorResourceProfileID holds the number of an executor's resource profile.
	LabelSparkExecutorResourceProfileID = "spark-exec-resourceprofile-id"
)

// Values of labels.
const (
	// LabelTrue is the value of the labels that only mark.
	LabelTrue = "true"
	// SparkRoleDriver is the role of a driver.
	SparkRoleDriver = "driver"
	// SparkRoleExecutor is the role of an executor.
	SparkRoleExecutor = "executor"
)

// LabelPrefixKueue starts the labels of an application that are meant for Kueue and not for its pods.
const LabelPrefixKueue = "kueue.x-k8s.io/"

// AnnotationDefaultContainer names the container that kubectl logs and exec choose.
const AnnotationDefaultContainer = "kubectl.kubernetes.io/default-container"

// Names of the container of Spark, as Spark gives them where a template doesn't.
const (
	// DriverContainerName is the name of the driver's container.
	DriverContainerName = "spark-kubernetes-driver"
	// ExecutorContainerName is the name of an executor's container.
	ExecutorContainerName = "spark-kubernetes-executor"
)

// UIPortName is the name of the port at which the driver serves its UI, of its container and of its Service alike.
const UIPortName = "spark-ui"

// reservedDriverLabels can't be given by users: Spark refuses them (KubernetesDriverConf.labels).
var reservedDriverLabels = []string{LabelSparkVersion, LabelSparkAppSelector, LabelSparkAppName, LabelSparkRole}

// reservedExecutorLabels can't be given by users: Spark refuses them (KubernetesExecutorConf.labels).
var reservedExecutorLabels = []string{
	LabelSparkVersion, LabelSparkAppSelector, LabelSparkAppName, LabelSparkRole, LabelSparkExecutorID,
	LabelSparkExecutorResourceProfileID,
}
