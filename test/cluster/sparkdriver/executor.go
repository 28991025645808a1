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

package sparkdriver

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Labels that Spark puts on its pods.
const (
	labelRole              = "spark-role"
	labelAppSelector       = "spark-app-selector"
	labelAppName           = "spark-app-name"
	labelVersion           = "spark-version"
	labelExecutorID        = "spark-exec-id"
	labelResourceProfileID = "spark-exec-resourceprofile-id"
	roleDriver             = "driver"
	roleExecutor           = "executor"
)

// executorSource is all that an executor pod is made of, besides its id.
type executorSource struct {
	conf      Conf
	driver    *corev1.Pod
	template  map[string]any
	prefix    string // of the executors' names
	configMap string // holds the executors' configuration files; empty if disabled
	localDir  string // random part of the scratch directory
	script    script
}

// build makes the pod of executor id, in the order of Spark's executor feature steps.
func (s *executorSource) build(id int) (*unstructured.Unstructured, error) {
	b := newPodBuilder(s.template, s.conf["spark.kubernetes.executor.podTemplateContainerName"])
	if s.script.dropsGroup {
		delete(b.spec(), "schedulingGroup")
	}
	if err := s.basics(b, id); err != nil {
		return nil, err
	}
	s.credentials(b)
	s.secrets(b)
	if err := s.volumes(b, id); err != nil {
		return nil, err
	}
	s.hadoop(b)
	s.localDirs(b)
	return b.build(), nil
}

// basics is BasicExecutorFeatureStep.
func (s *executorSource) basics(b *podBuilder, id int) error {
	name := s.name(id)
	s.metadata(b, name, id)

	spec := b.spec()
	spec["hostname"] = hostname(name)
	spec["restartPolicy"] = "Never"
	s.placement(spec)

	c := b.container
	if c["name"] == nil {
		c["name"] = executorContainerName
	}
	image := s.conf.get("", "spark.kubernetes.executor.container.image", "spark.kubernetes.container.image")
	if image == "" {
		return fmt.Errorf("must specify the executor container image")
	}
	c["image"] = image
	c["imagePullPolicy"] = s.conf.get("IfNotPresent", "spark.kubernetes.container.image.pullPolicy")
	requests, limits, err := s.conf.executorResources()
	if err != nil {
		return err
	}
	maps.Copy(child(c, "resources", "requests"), requests)
	maps.Copy(child(c, "resources", "limits"), limits)
	if port := s.conf.get("7079", "spark.blockManager.port"); port != "0" {
		n, err := strconv.ParseInt(port, 10, 32)
		if err != nil {
			return fmt.Errorf("spark.blockManager.port: %w", err)
		}
		appendTo(c, "ports", map[string]any{"name": "blockmanager", "containerPort": n, "protocol": "TCP"})
	}
	appendTo(c, "args", roleExecutor)
	if err := s.environment(b, id); err != nil {
		return err
	}
	if s.conf.boolean("spark.decommission.enabled", false) {
		c["lifecycle"] = map[string]any{"preStop": map[string]any{"exec": map[string]any{
			"command": []any{s.conf.get("/opt/decom.sh", "spark.kubernetes.decommission.script")},
		}}}
	}
	if s.configMap != "" {
		b.addVolume(
			map[string]any{"name": "spark-conf-volume-exec", "configMap": map[string]any{"name": s.configMap}},
			map[string]any{"name": "spark-conf-volume-exec", "mountPath": "/opt/spark/conf"})
	}
	return nil
}

// name of executor pod id.
func (s *executorSource) name(id int) string { return fmt.Sprintf("%s-exec-%d", s.prefix, id) }

func (s *executorSource) metadata(b *podBuilder, name string, id int) {
	m := b.meta()
	m["name"] = name
	delete(m, "namespace")
	ids := strings.NewReplacer("{{APP_ID}}", s.appID(), "{{EXECUTOR_ID}}", strconv.Itoa(id))
	substituted := func(prefix string) map[string]any {
		values, names := s.conf.withPrefix(prefix)
		out := map[string]any{}
		for _, n := range names {
			out[n] = ids.Replace(values[n])
		}
		return out
	}
	labels := child(m, "labels")
	maps.Copy(labels, substituted("spark.kubernetes.executor.label."))
	maps.Copy(labels, map[string]any{
		labelRole: roleExecutor, labelAppSelector: s.appID(), labelAppName: appNameLabel(s.conf),
		labelExecutorID: strconv.Itoa(id), labelResourceProfileID: "0",
	})
	if version := s.driver.Labels[labelVersion]; version != "" {
		labels[labelVersion] = version
	}
	if annotations := substituted("spark.kubernetes.executor.annotation."); len(annotations) > 0 {
		maps.Copy(child(m, "annotations"), annotations)
	}
	appendTo(m, "ownerReferences", ownerReference(s.driver))
}

func ownerReference(driver *corev1.Pod) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "Pod", "name": driver.Name, "uid": string(driver.UID), "controller": true}
}

// placement is what decides where a pod may run and who decides it.
func (s *executorSource) placement(spec map[string]any) {
	for _, prefix := range []string{"spark.kubernetes.node.selector.", "spark.kubernetes.executor.node.selector."} {
		values, names := s.conf.withPrefix(prefix)
		for _, n := range names {
			child(spec, "nodeSelector")[n] = values[n]
		}
	}
	for secret := range strings.SplitSeq(s.conf["spark.kubernetes.container.image.pullSecrets"], ",") {
		if secret = strings.TrimSpace(secret); secret != "" {
			appendTo(spec, "imagePullSecrets", map[string]any{"name": secret})
		}
	}
	if scheduler := s.conf.get("", "spark.kubernetes.executor.scheduler.name", "spark.kubernetes.scheduler.name"); scheduler != "" {
		spec["schedulerName"] = scheduler
	}
	if major, minor := s.sparkVersion(); major > 4 || major == 4 && minor >= 1 {
		// From 4.1 on a property decides, over the template.
		grace, err := s.conf.duration("spark.kubernetes.executor.terminationGracePeriodSeconds", secondUnit, defaultExecutorGrace)
		if err == nil {
			spec["terminationGracePeriodSeconds"] = int64(grace.Seconds())
		}
	}
}

// sparkVersion is the line that the driver's image claims to be, by the label that the submitter set.
func (s *executorSource) sparkVersion() (major, minor int) {
	parts := strings.SplitN(s.driver.Labels[labelVersion], ".", 3)
	if len(parts) < 2 {
		return 0, 0
	}
	major, _ = strconv.Atoi(parts[0])
	minor, _ = strconv.Atoi(parts[1])
	return major, minor
}

func (s *executorSource) environment(b *podBuilder, id int) error {
	memory, err := mebibytes(s.conf.get("1g", "spark.executor.memory"))
	if err != nil {
		return err
	}
	b.addEnv("SPARK_USER", "simulated")
	b.addEnv("SPARK_DRIVER_URL", fmt.Sprintf("spark://CoarseGrainedScheduler@%s:%s",
		s.conf["spark.driver.host"], s.conf.get("7078", "spark.driver.port")))
	b.addEnv("SPARK_EXECUTOR_CORES", s.conf.get("1", "spark.executor.cores"))
	b.addEnv("SPARK_EXECUTOR_MEMORY", fmt.Sprintf("%dm", memory))
	b.addEnv("SPARK_APPLICATION_ID", s.appID())
	b.addEnv("SPARK_CONF_DIR", "/opt/spark/conf")
	b.addEnv("SPARK_EXECUTOR_ID", strconv.Itoa(id))
	b.addEnv("SPARK_RESOURCE_PROFILE_ID", "0")
	custom, names := s.conf.withPrefix("spark.executorEnv.")
	for _, n := range names {
		b.addEnv(n, custom[n])
	}
	if classPath, ok := s.conf["spark.executor.extraClassPath"]; ok {
		b.addEnv("SPARK_CLASSPATH", classPath)
	}
	for i, option := range strings.Fields(s.conf["spark.executor.extraJavaOptions"]) {
		b.addEnv(fmt.Sprintf("SPARK_JAVA_OPT_%d", i), option)
	}
	b.addEnvFromField("SPARK_EXECUTOR_POD_IP", "status.podIP")
	b.addEnvFromField("SPARK_EXECUTOR_POD_NAME", "metadata.name")
	return nil
}

// credentials is ExecutorKubernetesCredentialsFeatureStep. The trap is Spark's own: it looks at the deprecated field
// alone, so that a template which only sets serviceAccountName is overwritten.
func (s *executorSource) credentials(b *podBuilder) {
	spec := b.spec()
	if account, ok := spec["serviceAccount"].(string); ok && account != "" {
		return
	}
	account := s.conf.get("", "spark.kubernetes.authenticate.executor.serviceAccountName", "spark.kubernetes.authenticate.driver.serviceAccountName")
	if account != "" {
		spec["serviceAccount"], spec["serviceAccountName"] = account, account
	}
}

// secrets is MountSecretsFeatureStep and EnvSecretsFeatureStep.
func (s *executorSource) secrets(b *podBuilder) {
	mounts, names := s.conf.withPrefix("spark.kubernetes.executor.secrets.")
	for _, n := range names {
		b.addVolume(
			map[string]any{"name": n + "-volume", "secret": map[string]any{"secretName": n}},
			map[string]any{"name": n + "-volume", "mountPath": mounts[n]})
	}
	refs, variables := s.conf.withPrefix("spark.kubernetes.executor.secretKeyRef.")
	for _, v := range variables {
		secret, key, _ := strings.Cut(refs[v], ":")
		appendTo(b.container, "env", map[string]any{"name": v, "valueFrom": map[string]any{
			"secretKeyRef": map[string]any{"name": secret, "key": key},
		}})
	}
}

// hadoop is HadoopConfExecutorFeatureStep.
func (s *executorSource) hadoop(b *podBuilder) {
	configMap := s.conf.get("", "spark.kubernetes.executor.hadoopConfigMapName")
	if configMap == "" {
		return
	}
	b.addVolume(
		map[string]any{"name": "hadoop-properties", "configMap": map[string]any{"name": configMap}},
		map[string]any{"name": "hadoop-properties", "mountPath": "/opt/hadoop/conf"})
	b.addEnv("HADOOP_CONF_DIR", "/opt/hadoop/conf")
}

// localDirs is LocalDirsFeatureStep: volumes that are named for it, else scratch space of the pod's own.
func (s *executorSource) localDirs(b *podBuilder) {
	var dirs []string
	mounts, _ := b.container["volumeMounts"].([]any)
	for _, m := range mounts {
		mount, _ := m.(map[string]any)
		if name, _ := mount["name"].(string); strings.HasPrefix(name, "spark-local-dir-") {
			path, _ := mount["mountPath"].(string)
			dirs = append(dirs, path)
		}
	}
	if len(dirs) == 0 {
		emptyDir := map[string]any{}
		if s.conf.boolean("spark.kubernetes.local.dirs.tmpfs", false) {
			emptyDir["medium"] = "Memory"
		}
		for i, dir := range strings.Split(s.conf.get("/var/data/spark-"+s.localDir, "spark.local.dir"), ",") {
			name := fmt.Sprintf("spark-local-dir-%d", i+1)
			b.addVolume(
				map[string]any{"name": name, "emptyDir": maps.Clone(emptyDir)},
				map[string]any{"name": name, "mountPath": dir})
			dirs = append(dirs, dir)
		}
	}
	b.addEnv("SPARK_LOCAL_DIRS", strings.Join(dirs, ","))
}

func (s *executorSource) appID() string { return s.conf.get("", "spark.app.id") }

// appNameLabel is KubernetesConf.getAppNameLabel.
func appNameLabel(conf Conf) string {
	label := dashed(conf.get("spark", "spark.app.name"))
	if len(label) > 63 {
		label = label[:63]
	}
	return strings.TrimSuffix(strings.TrimPrefix(label, "-"), "-")
}

// dashed lower-cases a name and replaces whatever a DNS label can't hold, never by two dashes in a row.
func dashed(name string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(name)) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			out.WriteRune(r)
		} else if !strings.HasSuffix(out.String(), "-") {
			out.WriteByte('-')
		}
	}
	return out.String()
}

// executorPrefix is what executor names start with: the property, else made from the application's name as
// KubernetesConf.getResourceNamePrefix does.
func executorPrefix(conf Conf, unique string) string {
	if prefix := conf["spark.kubernetes.executor.podNamePrefix"]; prefix != "" {
		return prefix
	}
	prefix := strings.TrimPrefix(dashed(conf.get("spark", "spark.app.name")+"-"+unique), "-")
	if prefix[0] >= '0' && prefix[0] <= '9' {
		prefix = "x" + prefix[1:]
	}
	return prefix
}

// hostname is KubernetesUtils.getHostname: the end of the pod's name, without what a host name can't start with.
func hostname(podName string) string {
	name := podName[max(0, len(podName)-63):]
	return strings.ReplaceAll(strings.TrimLeft(name, "-._"), ".", "_")
}

// volumeTypes that a property may name.
var volumeTypes = []string{"hostPath", "persistentVolumeClaim", "emptyDir", "nfs"}

func isVolumeType(s string) bool { return slices.Contains(volumeTypes, s) }
