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
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// sparkConfPath is the path of a property that the user wrote.
func (a *Application) sparkConfPath(key string) *field.Path {
	return a.specPath.Child("sparkConf").Key(key)
}

// collectConf gathers the configuration: sparkConf, then hadoopConf, then the typed fields, where a later source wins.
func (a *Application) collectConf(rep *report) {
	a.freeConf(rep)
	a.applicationConf(rep)
	a.dependencyConf(rep)
	for _, r := range []*role{&a.driver, &a.executor} {
		a.roleConf(r, rep)
	}
	a.driverConf(rep)
	a.executorConf(rep)
	a.dynamicAllocationConf(rep)
	// Last, because it adds to what the others say.
	a.monitoringConf(rep)
}

// freeConf takes over what the user wrote as properties.
func (a *Application) freeConf(rep *report) {
	spec := &a.App.Spec
	for _, key := range slices.Sorted(maps.Keys(spec.SparkConf)) {
		path, value := a.sparkConfPath(key), spec.SparkConf[key]
		if reason, denied := DeniedConf(key); denied {
			rep.err(field.Forbidden(path, "sparkConf key "+strconv.Quote(key)+" is not allowed: "+reason))
			continue
		}
		if reason, ok := unavailableConf[key]; ok {
			rep.err(field.Forbidden(path, reason))
			continue
		}
		if !strings.HasPrefix(key, keyPrefix) {
			rep.warnf(path, "has no effect: Spark reads only properties that start with %q", keyPrefix)
			continue
		}
		a.conf[key] = setting{value: value, path: path, free: true}
	}
	if s, ok := a.conf[keyNamespace]; ok && s.value != a.App.Namespace {
		rep.invalid(s.path, s.value, "must equal the application namespace %q, got %q", a.App.Namespace, s.value)
	}
	for _, key := range slices.Sorted(maps.Keys(spec.HadoopConf)) {
		a.conf.set(prefixHadoop+key, spec.HadoopConf[key], a.specPath.Child("hadoopConf").Key(key), rep)
	}
}

// applicationConf adds what the fields say that are for driver and executors.
func (a *Application) applicationConf(rep *report) {
	spec, path, name := &a.App.Spec, a.specPath, field.NewPath("metadata", "name")
	a.conf.set(keyNamespace, a.App.Namespace, field.NewPath("metadata", "namespace"), rep)
	a.conf.set(keyAppName, a.App.Name, name, rep)
	a.conf.set(keyDeployMode, string(v1beta2.ClusterMode), path.Child("mode"), rep)
	a.conf.setIf(keyImage, spec.Image, path.Child("image"), rep)
	a.conf.setIf(keyImagePullPolicy, spec.ImagePullPolicy, path.Child("imagePullPolicy"), rep)
	if len(spec.ImagePullSecrets) > 0 {
		a.conf.set(keyImagePullSecrets, strings.Join(spec.ImagePullSecrets, ","), path.Child("imagePullSecrets"), rep)
	}
	if a.Line.readsPythonVersion() {
		a.conf.setIf(keyPythonVersion, spec.PythonVersion, path.Child("pythonVersion"), rep)
	}
	if s, ok := a.conf[keyHadoopConfigMap]; ok && given(spec.HadoopConfigMap) {
		// Both set HADOOP_CONF_DIR, and Spark's would win in executors alone.
		rep.warnf(s.path, "the value %q has no effect, because %s is given: remove one of them", s.value, path.Child("hadoopConfigMap"))
		delete(a.conf, keyHadoopConfigMap)
	}
	a.conf.setIf(keyMemoryOverheadFactor, spec.MemoryOverheadFactor, path.Child("memoryOverheadFactor"), rep)
	for _, key := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		a.conf.set(prefixNodeSelector+key, spec.NodeSelector[key], path.Child("nodeSelector").Key(key), rep)
	}
}

// roleConf adds what the fields say that driver and executors have alike.
func (a *Application) roleConf(r *role, rep *report) {
	spec, path, c := r.spec, r.path, a.conf
	if given(spec.Image) {
		c.set(r.keyImage, *spec.Image, path.Child("image"), rep)
	} else if given(a.App.Spec.Image) {
		c.set(r.keyImage, *a.App.Spec.Image, a.specPath.Child("image"), rep)
	}
	if spec.Cores != nil {
		c.set(r.keyCores, strconv.Itoa(int(*spec.Cores)), path.Child("cores"), rep)
	}
	c.setIf(r.keyRequestCores, r.coreRequest, path.Child("coreRequest"), rep)
	c.setIf(r.keyLimitCores, spec.CoreLimit, path.Child("coreLimit"), rep)
	c.setIf(r.keyMemory, spec.Memory, path.Child("memory"), rep)
	c.setIf(r.keyMemoryOverhead, spec.MemoryOverhead, path.Child("memoryOverhead"), rep)
	c.setIf(r.keyServiceAccount, spec.ServiceAccount, path.Child("serviceAccount"), rep)
	c.setIf(r.keySchedulerName, spec.SchedulerName, path.Child("schedulerName"), rep)
	c.setIf(r.keyJavaOptions, r.javaOptions, path.Child("javaOptions"), rep)
	setAll := func(prefix string, values map[string]string, path *field.Path) {
		for _, key := range slices.Sorted(maps.Keys(values)) {
			c.set(prefix+key, values[key], path.Key(key), rep)
		}
	}
	a.labelConf(r, rep)
	setAll(r.prefixAnnotation, spec.Annotations, path.Child("annotations"))
	setAll(r.prefixNodeSelector, spec.NodeSelector, path.Child("nodeSelector"))
	setAll(r.prefixEnv, spec.EnvVars, path.Child("envVars"))
	for _, key := range slices.Sorted(maps.Keys(spec.EnvSecretKeyRefs)) {
		ref := spec.EnvSecretKeyRefs[key]
		c.set(r.prefixSecretKeyRef+key, ref.Name+":"+ref.Key, path.Child("envSecretKeyRefs").Key(key), rep)
	}
	a.secretConf(r, rep)
}

// labelConf adds the labels: the application's own, then the role's, then those that say which application and attempt
// a pod belongs to. The operator lets the role's labels win over the last; that would hide a pod from its application.
func (a *Application) labelConf(r *role, rep *report) {
	for _, key := range slices.Sorted(maps.Keys(a.App.Labels)) {
		if !strings.HasPrefix(key, LabelPrefixKueue) {
			a.conf.set(r.prefixLabel+key, a.App.Labels[key], field.NewPath("metadata", "labels").Key(key), rep)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.spec.Labels)) {
		a.conf.set(r.prefixLabel+key, r.spec.Labels[key], r.path.Child("labels").Key(key), rep)
	}
	a.ownLabel(r, LabelAppName, a.App.Name, rep)
	a.ownLabel(r, LabelLaunchedBy, LabelTrue, rep)
	if r.spec.Template == nil {
		a.ownLabel(r, LabelMutatedBy, LabelTrue, rep)
	}
	if s, ok := a.conf[r.prefixLabel+LabelSubmissionID]; ok {
		rep.warnf(s.path, "the value %q has no effect: the label holds the id of the attempt", s.value)
		delete(a.conf, r.prefixLabel+LabelSubmissionID)
	}
	for _, key := range r.reservedLabels {
		if s, ok := a.conf[r.prefixLabel+key]; ok {
			rep.err(field.Forbidden(s.path, "the label "+strconv.Quote(key)+" is reserved by Spark"))
		}
	}
}

func (a *Application) ownLabel(r *role, key, value string, rep *report) {
	if s, ok := a.conf[r.prefixLabel+key]; ok && s.value != value {
		rep.warnf(s.path, "the value %q has no effect: the label is %q on every pod of the application", s.value, value)
	}
	a.conf[r.prefixLabel+key] = setting{value: value, path: field.NewPath("metadata", "name")}
}

// secretConf adds the secrets whose volumes Spark can name; mountSecretsNatively takes care of the others.
func (a *Application) secretConf(r *role, rep *report) {
	for i := range r.spec.Secrets {
		secret, path := &r.spec.Secrets[i], r.path.Child("secrets").Index(i)
		if secretByConf(r.spec.Secrets, i) {
			a.conf.set(r.prefixSecrets+secret.Name, secret.Path, path.Child("path"), rep)
		}
		switch secret.Type {
		case v1beta2.SecretTypeGCPServiceAccount:
			a.conf.set(r.prefixEnv+"GOOGLE_APPLICATION_CREDENTIALS", inFolder(secret.Path, "key.json"), path.Child("path"), rep)
		case v1beta2.SecretTypeHadoopDelegationToken:
			a.conf.set(r.prefixEnv+envHadoopTokenFile, inFolder(secret.Path, "hadoop.token"), path.Child("path"), rep)
		}
	}
}

func inFolder(folder, file string) string { return strings.TrimSuffix(folder, "/") + "/" + file }

func (a *Application) driverConf(rep *report) {
	driver, path := &a.App.Spec.Driver, a.driver.path
	a.conf.setIf(keyDriverMaster, driver.KubernetesMaster, path.Child("kubernetesMaster"), rep)
	for _, key := range slices.Sorted(maps.Keys(driver.ServiceLabels)) {
		a.conf.set(prefixDriverServiceLabel+key, driver.ServiceLabels[key], path.Child("serviceLabels").Key(key), rep)
	}
	for _, key := range slices.Sorted(maps.Keys(driver.ServiceAnnotations)) {
		a.conf.set(prefixDriverServiceAnno+key, driver.ServiceAnnotations[key], path.Child("serviceAnnotations").Key(key), rep)
	}
	a.DriverPodName = Truncated(a.App.Name+driverPodSuffix, maxDriverPodName)
	if s, ok := a.conf[keyDriverPodName]; ok {
		a.DriverPodName = s.value
	}
	if given(driver.PodName) {
		a.DriverPodName = *driver.PodName
		a.conf.set(keyDriverPodName, *driver.PodName, path.Child("podName"), rep)
	} else if _, ok := a.conf[keyDriverPodName]; !ok {
		a.conf.set(keyDriverPodName, a.DriverPodName, field.NewPath("metadata", "name"), rep)
	}
}

func (a *Application) executorConf(rep *report) {
	executor, path := &a.App.Spec.Executor, a.executor.path
	if executor.Instances != nil {
		a.conf.set(keyExecutorInstances, strconv.Itoa(int(*executor.Instances)), path.Child("instances"), rep)
	}
	if executor.DeleteOnTermination != nil {
		a.conf.set(keyExecutorDeleteOnTermination, strconv.FormatBool(*executor.DeleteOnTermination), path.Child("deleteOnTermination"), rep)
	}
	a.overriddenConf(rep)
	// Spark appends its own variables after those of the template, so a variable of env that is a property as well would
	// lose. It won when the operator's webhook set it, and it is the more specific of the two.
	for i := range executor.Env {
		name, winner := executor.Env[i].Name, path.Child("env").Index(i)
		for _, key := range []string{prefixExecutorEnv + name, a.executor.prefixSecretKeyRef + name} {
			if s, ok := a.conf[key]; ok {
				rep.warnf(s.path, "has no effect, because %s sets the same variable: remove one of them", winner)
				delete(a.conf, key)
			}
		}
		if slices.Contains(executorOwnEnv, name) {
			rep.warnf(winner, "%q has no effect: Spark sets this variable of executors itself", name)
		}
	}
	// These win over Spark's own variables, which come before spark.executorEnv in the pod.
	if given(a.App.Spec.SparkConfigMap) {
		a.conf.set(prefixExecutorEnv+envSparkConfDir, sparkConfigMapDir, a.specPath.Child("sparkConfigMap"), rep)
	}
	if given(a.App.Spec.HadoopConfigMap) {
		a.conf.set(prefixExecutorEnv+envHadoopConfDir, hadoopConfigMapDir, a.specPath.Child("hadoopConfigMap"), rep)
	}
}

// executorOwnEnv are the variables that BasicExecutorFeatureStep and LocalDirsFeatureStep set.
var executorOwnEnv = []string{
	"SPARK_USER", "SPARK_DRIVER_URL", "SPARK_EXECUTOR_CORES", "SPARK_EXECUTOR_MEMORY", "SPARK_APPLICATION_ID", envSparkConfDir,
	"SPARK_EXECUTOR_ID", "SPARK_RESOURCE_PROFILE_ID", "SPARK_EXECUTOR_POD_IP", "SPARK_EXECUTOR_POD_NAME", envSparkLocalDirs,
}
