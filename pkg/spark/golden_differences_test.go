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

import "strings"

// difference is a field that is not what spark-submit makes it, on purpose. In its texts * stands for anything.
type difference struct {
	// path is the path of the field.
	path string
	// spark and ours are its values, as JSON.
	spark, ours string
	// from and before are the lines that differ, all where they are empty.
	from, before string
	// only is the name of the one case that may differ so; empty for all cases.
	only string
	// random says that Spark throws dice, so that recordings may or may not differ.
	random bool
	// reason says why it is better here.
	reason string
}

const (
	absent   = "(absent)"
	anything = "*"
)

// Reasons that more than one row has.
const (
	reasonOwner     = "the application owns the objects of its attempts: they live as long as the attempt, and exist before the pod does"
	reasonLabels    = "the labels of the Spark operator, by which pods are found"
	reasonOneMap    = "executors always have a template, for fields that Spark has no property for and the membership in a gang, and it is in the ConfigMap that there is anyway"
	reasonDefaults  = "defaults of the API are visible in the application, so that they are settings"
	reasonShortName = "a name that is too long is cut, where Spark draws another one"
	reasonPodName   = "the driver's pod has the name that the Spark operator gives it"
	reasonMounted   = "the template is a part of the application, and not a file of the submitter's machine"
	reasonNamespace = "the namespace is in the object, and not just in the URL of the request"
	reasonBlockPort = "Spark reads spark.blockManager.port for the container's port alone, and the driver then listens at another; here it holds everywhere"
	reasonFields    = "what a field says of executors is in their template as well as in a property"
	reasonShuffled  = "Spark shuffles the folders; here the same application gives the same objects"
)

// differences is the table. docs/differences-from-spark-submit.md repeats it.
var differences = []difference{
	{path: "requests", spark: "POST Pod, *PATCH ConfigMap fieldManager=fabric8 force=true", ours: "*POST ConfigMap, POST Service, POST Pod", reason: "the pod comes last, so that the kubelet never waits for what it mounts"},
	{path: "Pod.metadata.name", spark: `"*-{uid}-driver"`, ours: `"*-driver"`, reason: reasonPodName},
	{path: "properties[spark.kubernetes.driver.pod.name]", spark: "*-{uid}-driver", ours: "*-driver", reason: reasonPodName},
	{path: "Pod.metadata.ownerReferences[0].*", spark: absent, ours: anything, reason: reasonOwner},
	{path: "*.metadata.ownerReferences[0].apiVersion", spark: `"v1"`, ours: `"sparkoperator.k8s.io/v1beta2"`, reason: reasonOwner},
	{path: "*.metadata.ownerReferences[0].kind", spark: `"Pod"`, ours: `"SparkApplication"`, reason: reasonOwner},
	{path: "*.metadata.ownerReferences[0].name", spark: `"*-driver"`, ours: anything, reason: reasonOwner},
	{path: "*.metadata.ownerReferences[0].blockOwnerDeletion", spark: absent, ours: "true", reason: reasonOwner},
	{path: "*.metadata.namespace", spark: absent, ours: `"jobs"`, reason: reasonNamespace},
	{path: "*.metadata.labels[sparkoperator.k8s.io/*]", spark: absent, ours: anything, reason: reasonLabels},
	{path: "Service.spec.selector[sparkoperator.k8s.io/*]", spark: absent, ours: anything, reason: reasonLabels},
	{path: "properties[spark.kubernetes.driver.label.sparkoperator.k8s.io/*]", spark: absent, ours: anything, reason: reasonLabels},
	{path: "properties[spark.kubernetes.executor.label.sparkoperator.k8s.io/*]", spark: absent, ours: anything, reason: reasonLabels},
	{path: "Pod.metadata.annotations[kubectl.kubernetes.io/default-container]", spark: absent, ours: anything, reason: "kubectl chooses the container of Spark, and not a sidecar"},
	{path: "*.spec.enableServiceLinks", spark: absent, ours: "false", reason: "variables for each of thousands of Services would make the start of a container fail"},

	{path: "Pod.spec.volumes[pod-template-volume].*", spark: absent, ours: anything, reason: reasonOneMap},
	{path: "Pod.spec.containers[*].volumeMounts[/opt/spark/pod-template].*", spark: absent, ours: anything, reason: reasonOneMap},
	{path: "Pod.spec.volumes[pod-template-volume].configMap.name", spark: `"spark-pi-{uid}-driver-podspec-conf-map"`, ours: `"spark-drv-{uid}-conf-map"`, reason: reasonOneMap},
	{path: "ConfigMap/executors.*", spark: anything, ours: absent, reason: reasonOneMap},
	{path: "ExecutorTemplate.spec.containers[spark-kubernetes-executor].name", spark: absent, ours: `"spark-kubernetes-executor"`, reason: reasonOneMap},
	{path: "ExecutorTemplate.spec.containers.order", spark: absent, ours: "spark-kubernetes-executor", reason: reasonOneMap},
	{path: "properties[spark.kubernetes.executor.podTemplateFile]", spark: absent, ours: "/opt/spark/pod-template/pod-spec-template.yml", reason: reasonOneMap},
	{path: "properties[spark.kubernetes.executor.podTemplateContainerName]", spark: absent, ours: anything, reason: reasonOneMap},
	{path: "properties[spark.kubernetes.driver.podTemplateFile]", spark: "{dir}/*", ours: absent, reason: reasonMounted},
	{path: "properties[spark.kubernetes.driver.podTemplateContainerName]", spark: "spark-kubernetes-driver", ours: absent, reason: reasonMounted},

	{path: "properties[spark.master]", spark: `k8s\:*`, ours: `k8s\://https\://kubernetes.default.svc`, reason: "how pods reach their own cluster; the address of the submitter means nothing to them"},
	{path: "properties[spark.kubernetes.submission.waitAppCompletion]", spark: "false", ours: absent, reason: "there is no process that could wait"},
	{path: "properties[spark.kubernetes.executor.podNamePrefix]", spark: absent, ours: "*-{uid}", reason: "the executors of an attempt are known by name"},
	{path: "properties[spark.kubernetes.driver.container.image]", spark: absent, ours: "example.com/*", reason: "as with the Spark operator, which names the image of driver and executors one by one"},
	{path: "properties[spark.kubernetes.executor.container.image]", spark: absent, ours: "example.com/*", reason: "as with the Spark operator, which names the image of driver and executors one by one"},
	{path: "properties[spark.driver.cores]", spark: absent, ours: "1", reason: reasonDefaults},
	{path: "properties[spark.driver.memory]", spark: absent, ours: "1g", reason: reasonDefaults},
	{path: "properties[spark.executor.cores]", spark: absent, ours: "1", reason: reasonDefaults},
	{path: "properties[spark.executor.memory]", spark: absent, ours: "1g", reason: reasonDefaults},
	{path: "properties[spark.executor.instances]", spark: absent, ours: "1", only: "defaults-of-the-api", reason: "one executor is the API's default, as with the Spark operator; Spark's own is two"},
	{path: "properties[spark.jars.ivy]", spark: absent, ours: "/tmp/.ivy2", reason: "official images have no home folder, in which packages could be kept"},

	{path: "properties[spark.driver.host]", spark: "spark-{uid}-driver-svc.jobs.svc", ours: "*-{uid}-driver-svc.jobs.svc", reason: reasonShortName},
	{path: "Service.metadata.name", spark: `"spark-{uid}-driver-svc"`, ours: `"*-{uid}-driver-svc"`, reason: reasonShortName},
	{path: "properties[spark.driver.blockManager.port]", spark: "7079", ours: "7100", only: "port-of-all-block-managers", reason: reasonBlockPort},
	{path: "Service.spec.ports[blockmanager].port", spark: "7079", ours: "7100", only: "port-of-all-block-managers", reason: reasonBlockPort},
	{path: "Service.spec.ports[blockmanager].targetPort", spark: "7079", ours: "7100", only: "port-of-all-block-managers", reason: reasonBlockPort},

	{path: "ExecutorTemplate.spec.serviceAccount*", spark: absent, ours: anything, reason: reasonFields},
	{path: "ExecutorTemplate.spec.nodeSelector*", spark: absent, ours: anything, reason: reasonFields},
	{path: "ExecutorTemplate.spec.schedulerName", spark: absent, ours: anything, reason: reasonFields},
	{path: "ExecutorTemplate.metadata.annotations[kubectl.kubernetes.io/default-container]", spark: absent, ours: anything, reason: "kubectl chooses the container of Spark, and not a sidecar"},
	{path: "ExecutorTemplate.spec.containers.order", spark: "spark-kubernetes-executor *", ours: "* spark-kubernetes-executor", reason: "where the driver puts the container of Spark anyway"},
	{path: "Pod.spec.serviceAccount", spark: absent, ours: anything, only: "driver-template-service-account-name", reason: "the older field of the two has the same value, as the API server makes it"},
	{path: "Pod.spec.containers[spark-kubernetes-driver].env.order", spark: "TYPED *", ours: "* TYPED", only: "fields-that-spark-has-only-in-a-template", reason: "a variable of spec.driver.env wins over one of Spark, as with the Spark operator"},
	{path: "Pod.spec.containers[spark-kubernetes-driver].env[SPARK_LOCAL_DIRS].value", spark: `"/two,/one"`, ours: `"/one,/two"`, only: "local-dirs", random: true, reason: reasonShuffled},
	{path: "Pod.spec.containers[spark-kubernetes-driver].volumeMounts[*].name", spark: `"spark-local-dir-*"`, ours: `"spark-local-dir-*"`, only: "local-dirs", random: true, reason: reasonShuffled},
	{path: "properties[spark.kubernetes.pyspark.pythonVersion]", spark: "3", ours: absent, from: "4.1", reason: "Spark no longer knows it; a warning says so"},
	{path: "Pod.spec.containers[spark-kubernetes-driver].securityContext.allowPrivilegeEscalation", spark: "false", ours: "true", from: "4.3", only: "privilege-escalation-of-the-template", reason: "what a template says wins over a default of Spark; a property that is given wins over both"},
	{path: "Pod.spec.containers[spark-kubernetes-driver].securityContext.allowPrivilegeEscalation", spark: "false", ours: absent, from: "4.3", only: "privilege-escalation-of-a-privileged-container", reason: "the API server refuses a privileged container that must not escalate"},
	{path: "properties[spark.kubernetes.executor.securityContext.allowPrivilegeEscalation]", spark: absent, ours: "true", from: "4.3", only: "privilege-escalation-of-executors", reason: "the driver would put the property's default over what the template says, and the API server refuse a privileged container that must not escalate"},
	{path: "properties[spark.kubernetes.executor.terminationGracePeriodSeconds]", spark: absent, ours: anything, from: "4.1", only: "executor-template", reason: "the driver would put the property's default over what the template says"},

	{path: "NetworkPolicy.*", spark: anything, ours: absent, from: "4.2", reason: "whether traffic is restricted is the administrator's choice"},
}

// explain returns the row of the table that says of a field that it may differ so.
func explain(line, name, path, spark, ours string) *difference {
	for i := range differences {
		d := &differences[i]
		if (d.from == "" || line >= d.from) && (d.before == "" || line < d.before) && (d.only == "" || d.only == name) &&
			globMatches(d.path, path) && valueMatches(d.spark, spark) && valueMatches(d.ours, ours) {
			return d
		}
	}
	return nil
}

// valueMatches takes anything for a value that is there.
func valueMatches(pattern, value string) bool {
	return pattern == value || value != absent && globMatches(pattern, value)
}

// globMatches says whether a text is a pattern in which * stands for any text.
func globMatches(pattern, text string) bool {
	parts := strings.Split(pattern, anything)
	if len(parts) == 1 {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		_, text, ok = strings.Cut(text, part)
		if !ok {
			return false
		}
	}
	return strings.HasSuffix(text, parts[len(parts)-1])
}

// lines are the lines of Spark for which the row holds.
func (d *difference) lines() string {
	switch {
	case d.from != "" && d.before != "":
		return d.from + " to before " + d.before
	case d.from != "":
		return d.from + " and later"
	case d.before != "":
		return "before " + d.before
	default:
		return "all"
	}
}
