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

package realdriver

// row says of a field of executors how it reaches their pods. The docs show the rows, and the real driver of each line
// proves them.
type row struct {
	// field, in Markdown, is below spec.executor, unless it starts with a dot: then it is below spec.
	field string
	// travels is how: in the template, or as which property.
	travels string
	// spark is what Spark itself sets there, and who wins.
	spark string
	// app is the application of testdata that shows it, and pod and container what its executors must have, of the pod
	// and of the container of Spark, as YAML. A null must be absent.
	app, pod, container string
	// from is the first line for which it holds, before the first for which it no longer does; empty for all.
	from, before string
}

func (r *row) in(line string) bool {
	return (r.from == "" || line >= r.from) && (r.before == "" || line < r.before)
}

// lines is for the docs.
func (r *row) lines() string {
	switch {
	case r.from != "" && r.before != "":
		return r.from + " up to before " + r.before
	case r.from != "":
		return r.from + " and later"
	case r.before != "":
		return "before " + r.before
	}
	return "all"
}

const (
	nothing  = "nothing"
	template = "template"
	addsOwn  = "adds its own after those of the template"
)

// rows are in the order in which the operator's webhook changes pods; then what Spark has properties for.
var rows = []row{
	{field: "`env`", travels: template, app: "fields",
		spark:     "adds its own after those of the template, and the last of one name counts: variables that Spark sets can't be set (warning). A property of the same name is left out in favour of the field (warning)",
		container: `env: [{name: PLAIN, value: "1"}, {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]`},
	{field: "`envFrom`", travels: template, app: "fields", spark: nothing,
		container: `envFrom: [{configMapRef: {name: more}, prefix: MORE_}, {secretRef: {name: keys}}]`},
	{field: "`.hadoopConfigMap`", travels: "template; property `spark.executorEnv.HADOOP_CONF_DIR`", app: "fields", spark: nothing,
		pod:       `spec: {volumes: [{name: hadoop-configmap-volume, configMap: {name: hadoop-conf}}]}`,
		container: `{env: [{name: HADOOP_CONF_DIR, value: /etc/hadoop/conf}], volumeMounts: [{name: hadoop-configmap-volume, mountPath: /etc/hadoop/conf, readOnly: true}]}`},
	{field: "`.sparkConfigMap`", travels: "template; property `spark.executorEnv.SPARK_CONF_DIR`", app: "fields",
		spark:     "sets SPARK_CONF_DIR to the folder of its own ConfigMap; the property comes after it and wins",
		pod:       `spec: {volumes: [{name: spark-configmap-volume, configMap: {name: spark-conf}}, {name: spark-conf-volume-exec}]}`,
		container: `{env: [{name: SPARK_CONF_DIR, value: /etc/spark/conf}], volumeMounts: [{name: spark-configmap-volume, mountPath: /etc/spark/conf, readOnly: true}, {name: spark-conf-volume-exec, mountPath: /opt/spark/conf}]}`},
	{field: "`configMaps`", travels: template, app: "fields", spark: addsOwn,
		pod:       `spec: {volumes: [{name: settings-vol, configMap: {name: settings}}]}`,
		container: `volumeMounts: [{name: settings-vol, mountPath: /settings, readOnly: true}]`},
	{field: "`volumeMounts`", travels: template, app: "fields", spark: addsOwn,
		pod:       `spec: {volumes: [{name: data, emptyDir: {sizeLimit: 1Gi}}, {name: claim, persistentVolumeClaim: {claimName: shared}}]}`,
		container: `volumeMounts: [{name: data, mountPath: /data, subPath: sub}, {name: claim, mountPath: /claim, readOnly: true}]`},
	{field: "`volumeMounts` (scratch space)", travels: template, app: "fields",
		spark:     "takes volumes called `spark-local-dir-*` of the template as scratch space, of whatever kind they are, and adds none",
		pod:       `spec: {volumes: [{name: spark-local-dir-1, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce]}}}}]}`,
		container: `{env: [{name: SPARK_LOCAL_DIRS, value: /scratch}], volumeMounts: [{name: spark-local-dir-1, mountPath: /scratch}]}`},
	{field: "`ports`", travels: template, app: "fields", spark: addsOwn,
		container: `ports: [{name: metrics, containerPort: 9090, protocol: TCP}, {name: blockmanager, containerPort: 7079, protocol: TCP}]`},
	{field: "`hostNetwork`", travels: template, app: "fields", spark: nothing, pod: `spec: {hostNetwork: true, dnsPolicy: ClusterFirstWithHostNet}`},
	{field: "`hostAliases`", travels: template, app: "fields", spark: nothing, pod: `spec: {hostAliases: [{ip: 10.0.0.1, hostnames: [a.example.com]}]}`},
	{field: "`initContainers`", travels: template, app: "fields", spark: nothing,
		pod: `spec: {initContainers: [{name: prepare, image: "example.com/prepare:1", command: [prepare], volumeMounts: [{name: data, mountPath: /seen}]}]}`},
	{field: "`sidecars`", travels: template, app: "fields", spark: "puts its own container last",
		pod: `{metadata: {annotations: {kubectl.kubernetes.io/default-container: spark-kubernetes-executor}}, spec: {containers: [{name: sidecar, image: "example.com/sidecar:1", args: [serve], volumeMounts: [{name: data, mountPath: /seen}]}]}}`},
	{field: "`dnsConfig`", travels: template, app: "fields", spark: nothing, pod: `spec: {dnsConfig: {nameservers: [10.0.0.53], options: [{name: ndots, value: "2"}]}}`},
	{field: "`priorityClassName`", travels: template, app: "fields", spark: nothing, pod: `spec: {priorityClassName: high, priority: 1000}`},
	{field: "`schedulerName`", travels: "template; property `spark.kubernetes.executor.scheduler.name`", app: "overridden",
		spark: "the property wins over the template", pod: `spec: {schedulerName: other-scheduler}`},
	{field: "`nodeSelector`, `.nodeSelector`", travels: "template; properties `spark.kubernetes.{executor.,}node.selector.*`", app: "fields",
		spark: "the properties win over the template, key by key", pod: `spec: {nodeSelector: {pool: spark}}`},
	{field: "`affinity`", travels: template, app: "fields", spark: nothing,
		pod: `spec: {affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 7, podAffinityTerm: {topologyKey: kubernetes.io/hostname}}]}}}`},
	{field: "`tolerations`", travels: template, app: "fields", spark: nothing, pod: `spec: {tolerations: [{key: spot, operator: Exists, effect: NoSchedule}]}`},
	{field: "`memoryLimit`", travels: "not at all (warning)", app: "fields",
		spark: "sets the limit to the request, over that of the template", container: `resources: {requests: {memory: 1000Mi}, limits: {memory: 1000Mi}}`},
	{field: "`gpu`", travels: template, app: "fields", spark: "adds the limits of `spark.executor.resource.*`", container: `resources: {limits: {nvidia.com/gpu: 2}}`},
	{field: "`.monitoring` (volume and port)", travels: "not in this release (warning)", spark: nothing},
	{field: "`securityContext`", travels: template, app: "fields", spark: nothing, before: "4.3",
		container: `securityContext: {readOnlyRootFilesystem: true, allowPrivilegeEscalation: true, capabilities: {drop: [NET_RAW]}}`},
	{field: "`securityContext`", travels: "template; property `spark.kubernetes.executor.securityContext.allowPrivilegeEscalation`", app: "fields", from: "4.3",
		spark:     "sets allowPrivilegeEscalation from the property, whose default is false, over the template: the property is set to what the field says, else the template",
		container: `securityContext: {readOnlyRootFilesystem: true, allowPrivilegeEscalation: true, capabilities: {drop: [NET_RAW]}}`},
	{field: "`securityContext.privileged`", travels: template, app: "overridden", spark: nothing, before: "4.3",
		container: `securityContext: {privileged: true, allowPrivilegeEscalation: null}`},
	{field: "`securityContext.privileged`", travels: "template; the same property", app: "overridden", from: "4.3",
		spark:     "would forbid to escalate, which the API server refuses of privileged containers: the property is set to true",
		container: `securityContext: {privileged: true, allowPrivilegeEscalation: true}`},
	{field: "`podSecurityContext`", travels: template, app: "fields", spark: nothing,
		pod: `spec: {securityContext: {fsGroup: 185, runAsUser: 185, runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}}`},
	{field: "`terminationGracePeriodSeconds`", travels: template, app: "fields", before: "4.1", spark: nothing, pod: `spec: {terminationGracePeriodSeconds: 77}`},
	{field: "`terminationGracePeriodSeconds`", travels: "template; property `spark.kubernetes.executor.terminationGracePeriodSeconds`", app: "fields", from: "4.1",
		spark: "sets it from the property, whose default is 30 s, over the template: the property is set to what the field says, else the template",
		pod:   `spec: {terminationGracePeriodSeconds: 77}`},
	{field: "`lifecycle`", travels: template, app: "fields", spark: nothing, container: `lifecycle: {preStop: {exec: {command: [sleep, "1"]}}}`},
	{field: "`lifecycle`, with `spark.decommission.enabled`", travels: "not at all (warning)", app: "overridden",
		spark: "puts a hook of its own in place", container: `lifecycle: {preStop: {exec: {command: [/opt/decom.sh]}}}`},
	{field: "`shareProcessNamespace`", travels: template, app: "fields", spark: nothing, pod: `spec: {shareProcessNamespace: true}`},
	{field: "the gang (`.scheduling`)", travels: "template, `spec.schedulingGroup`", app: "fields", spark: "knows no such field and passes it on",
		pod: `spec: {schedulingGroup: {}}`},

	{field: "`labels`", travels: "properties `spark.kubernetes.executor.label.*`", app: "fields", spark: "adds its own, which can't be set",
		pod: `metadata: {labels: {tier: executor, team: a, spark-role: executor}}`},
	{field: "`annotations`", travels: "properties `spark.kubernetes.executor.annotation.*`", app: "fields", spark: nothing, pod: `metadata: {annotations: {note: executor}}`},
	{field: "`envVars`", travels: "properties `spark.executorEnv.*`", app: "fields", spark: nothing, container: `env: [{name: OLD, value: "2"}]`},
	{field: "`envSecretKeyRefs`", travels: "properties `spark.kubernetes.executor.secretKeyRef.*`", app: "fields", spark: nothing,
		container: `env: [{name: PASSWORD, valueFrom: {secretKeyRef: {name: keys, key: password}}}]`},
	{field: "`secrets`", travels: "properties `spark.kubernetes.executor.secrets.*`; a second path of one secret: template", app: "fields", spark: addsOwn,
		pod:       `spec: {volumes: [{name: keys-volume, secret: {secretName: keys}}]}`,
		container: `volumeMounts: [{name: keys-volume, mountPath: /keys}, {name: keys-volume, mountPath: /keys-again}]`},
	{field: "`serviceAccount`", travels: "template (both fields); property `spark.kubernetes.authenticate.executor.serviceAccountName`", app: "fields",
		spark: "keeps the account of a template that has the older of the two fields", pod: `spec: {serviceAccountName: executor, serviceAccount: executor}`},
	{field: "`cores`, `coreRequest`, `coreLimit`, `memory`, `memoryOverhead`", travels: "properties", app: "fields", spark: "sets CPU and memory over the template",
		container: `{resources: {requests: {cpu: 250m, memory: 1000Mi}, limits: {cpu: "2"}}, env: [{name: SPARK_EXECUTOR_MEMORY, value: 600m}, {name: SPARK_EXECUTOR_CORES, value: "1"}]}`},
	{field: "`.image`, `.imagePullPolicy`", travels: "properties", app: "overridden", spark: "sets both over the template",
		container: `{image: "example.com/spark:1", imagePullPolicy: Always}`},
	{field: "template: labels and annotations", travels: template, app: "overridden", spark: addsOwn + ", which win",
		pod: `metadata: {labels: {of: template, spark-role: executor}, annotations: {of: template}}`},
	{field: "template: serviceAccountName", travels: "template (both fields)", app: "overridden", spark: "keeps it",
		pod: `spec: {serviceAccountName: of-the-template, serviceAccount: of-the-template}`},
	{field: "template: restartPolicy, hostname", travels: "not at all (warning)", app: "overridden", spark: "sets them: `Never`, and the name of the pod",
		pod: `spec: {restartPolicy: Never}`},
	{field: "template: terminationGracePeriodSeconds", travels: template, app: "overridden", before: "4.1", spark: nothing, pod: `spec: {terminationGracePeriodSeconds: 99}`},
	{field: "template: terminationGracePeriodSeconds", travels: "template; property as above", app: "overridden", from: "4.1", spark: "as above", pod: `spec: {terminationGracePeriodSeconds: 99}`},
	{field: "template: imagePullSecrets, nodeSelector", travels: template, app: "overridden", spark: addsOwn,
		pod: `spec: {imagePullSecrets: [{name: of-the-template}, {name: of-the-field}], nodeSelector: {of: template}}`},
	{field: "template: all else of the pod", travels: template, app: "overridden", spark: nothing,
		pod: `spec: {subdomain: of-the-template, runtimeClassName: of-the-template, topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}`},
	{field: "template: env of the container", travels: template, app: "overridden", spark: addsOwn + ", and the last of one name counts",
		container: `env: [{name: OF, value: template}, {name: BOTH, value: property}]`},
	{field: "template: image, imagePullPolicy of the container", travels: "not at all (warning)", app: "overridden", spark: "sets both",
		container: `{image: "example.com/spark:1", imagePullPolicy: Always}`},
	{field: "template: CPU request, memory of the container", travels: "not at all (warning)", app: "overridden", spark: "sets them",
		container: `resources: {requests: {cpu: "1", memory: 984Mi}, limits: {memory: 984Mi}}`},
	{field: "template: CPU limit, other resources of the container", travels: template, app: "overridden", spark: "sets the CPU limit where `coreLimit` is given, and adds `spark.executor.resource.*`",
		container: `resources: {requests: {ephemeral-storage: 1Gi}, limits: {cpu: "3", ephemeral-storage: 2Gi, nvidia.com/gpu: 2}}`},
	{field: "template: all else of the container", travels: template, app: "overridden", spark: nothing,
		container: `{livenessProbe: {tcpSocket: {port: 7079}, periodSeconds: 30}, ports: [{name: of-template, containerPort: 9091}]}`},
}
