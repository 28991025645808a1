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
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func edit(f func(s *v1beta2.SparkApplicationSpec)) func(*v1beta2.SparkApplication) {
	return func(app *v1beta2.SparkApplication) { f(&app.Spec) }
}

// Each row is one thing that would fail later, with the path that is to blame and what is said of it.
func TestResolveRefuses(t *testing.T) {
	const volumes = "spark.kubernetes.driver.volumes."
	emptyDir := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	for name, c := range map[string]struct {
		edit   func(*v1beta2.SparkApplication)
		kind   field.ErrorType
		path   string
		detail string
	}{
		"denied: account":        {withConf("spark.kubernetes.authenticate.driver.serviceAccountName", "x"), field.ErrorTypeForbidden, "spec.sparkConf[spark.kubernetes.authenticate.driver.serviceAccountName]", "is not allowed: configure the service account"},
		"denied: master":         {withConf("spark.master", "x"), field.ErrorTypeForbidden, "spec.sparkConf[spark.master]", "managed"},
		"denied: image":          {withConf("spark.kubernetes.container.image", "x"), field.ErrorTypeForbidden, "spec.sparkConf[spark.kubernetes.container.image]", "image field"},
		"other namespace":        {withConf("spark.kubernetes.namespace", "x"), field.ErrorTypeInvalid, "spec.sparkConf[spark.kubernetes.namespace]", `must equal the application namespace "jobs", got "x"`},
		"bind address":           {withConf("spark.driver.bindAddress", "x"), field.ErrorTypeForbidden, "spec.sparkConf[spark.driver.bindAddress]", "address of its pod"},
		"driver feature steps":   {withConf("spark.kubernetes.driver.pod.featureSteps", "a.B"), field.ErrorTypeForbidden, "spec.sparkConf[spark.kubernetes.driver.pod.featureSteps]", "Java classes"},
		"client mode":            {edit(func(s *v1beta2.SparkApplicationSpec) { s.Mode = v1beta2.ClientMode }), field.ErrorTypeForbidden, "spec.mode", "cluster mode"},
		"no main file":           {edit(func(s *v1beta2.SparkApplicationSpec) { s.MainApplicationFile = nil }), field.ErrorTypeRequired, "spec.mainApplicationFile", ""},
		"no main class":          {edit(func(s *v1beta2.SparkApplicationSpec) { s.MainClass = nil }), field.ErrorTypeRequired, "spec.mainClass", "name the class"},
		"local main file":        {edit(func(s *v1beta2.SparkApplicationSpec) { s.MainApplicationFile = new("/opt/a.jar") }), field.ErrorTypeInvalid, "spec.mainApplicationFile", "local://"},
		"file main file":         {edit(func(s *v1beta2.SparkApplicationSpec) { s.MainApplicationFile = new("file:///a.py") }), field.ErrorTypeInvalid, "spec.mainApplicationFile", "local://"},
		"relative R file":        {edit(func(s *v1beta2.SparkApplicationSpec) { s.MainApplicationFile = new("a.R") }), field.ErrorTypeInvalid, "spec.mainApplicationFile", "local://"},
		"local jar":              {edit(func(s *v1beta2.SparkApplicationSpec) { s.Deps.Jars = []string{"s3a://x/a.jar", "b.jar"} }), field.ErrorTypeInvalid, "spec.deps.jars[1]", "local://"},
		"local file by conf":     {withConf("spark.files", "s3a://x,/a"), field.ErrorTypeInvalid, "spec.sparkConf[spark.files]", "local://"},
		"no image":               {edit(func(s *v1beta2.SparkApplicationSpec) { s.Image = nil; s.Driver.Image = new("i") }), field.ErrorTypeRequired, "spec.executor.image", "spec.image"},
		"pull policy":            {edit(func(s *v1beta2.SparkApplicationSpec) { s.ImagePullPolicy = new("Sometimes") }), field.ErrorTypeNotSupported, "spec.imagePullPolicy", "Always"},
		"memory of Kubernetes":   {edit(func(s *v1beta2.SparkApplicationSpec) { s.Driver.Memory = new("512Mi") }), field.ErrorTypeInvalid, "spec.driver.memory", "512m"},
		"memory of nothing":      {edit(func(s *v1beta2.SparkApplicationSpec) { s.Executor.Memory = new("0g") }), field.ErrorTypeInvalid, "spec.executor.memory", "more than 0"},
		"memory by conf":         {withConf("spark.executor.memory", "1.5g"), field.ErrorTypeInvalid, "spec.sparkConf[spark.executor.memory]", "whole number"},
		"overhead":               {edit(func(s *v1beta2.SparkApplicationSpec) { s.Executor.MemoryOverhead = new("x") }), field.ErrorTypeInvalid, "spec.executor.memoryOverhead", "whole number"},
		"overhead factor":        {edit(func(s *v1beta2.SparkApplicationSpec) { s.MemoryOverheadFactor = new("-1") }), field.ErrorTypeInvalid, "spec.memoryOverheadFactor", "isn't negative"},
		"overhead factor NaN":    {edit(func(s *v1beta2.SparkApplicationSpec) { s.MemoryOverheadFactor = new("NaN") }), field.ErrorTypeInvalid, "spec.memoryOverheadFactor", "decimal"},
		"off-heap without size":  {withConf("spark.memory.offHeap.enabled", "true"), field.ErrorTypeRequired, "spec.sparkConf[spark.memory.offHeap.size]", "size"},
		"off-heap of nothing":    {withConf("spark.memory.offHeap.enabled", "true", "spark.memory.offHeap.size", "0"), field.ErrorTypeInvalid, "spec.sparkConf[spark.memory.offHeap.size]", "more than 0"},
		"not a truth value":      {withConf("spark.memory.offHeap.enabled", "yes"), field.ErrorTypeInvalid, "spec.sparkConf[spark.memory.offHeap.enabled]", "true or false"},
		"memory limit":           {edit(func(s *v1beta2.SparkApplicationSpec) { s.Driver.MemoryLimit = new("1g") }), field.ErrorTypeInvalid, "spec.driver.memoryLimit", "below the memory request, 1408Mi"},
		"memory limit text":      {edit(func(s *v1beta2.SparkApplicationSpec) { s.Driver.MemoryLimit = new("much") }), field.ErrorTypeInvalid, "spec.driver.memoryLimit", "must be a size"},
		"core limit":             {edit(func(s *v1beta2.SparkApplicationSpec) { s.Driver.Cores = new(int32(2)); s.Driver.CoreLimit = new("1") }), field.ErrorTypeInvalid, "spec.driver.coreLimit", "below the CPU request, 2"},
		"core limit of template": {executorTemplateOf(`{"spec":{"containers":[{"resources":{"limits":{"cpu":"500m"}}}]}}`), field.ErrorTypeInvalid, "spec.executor.template.spec.containers[0].resources.limits[cpu]", "below the CPU request"},
		"core request text":      {edit(func(s *v1beta2.SparkApplicationSpec) { s.Driver.CoreRequest = new("one") }), field.ErrorTypeInvalid, "spec.driver.coreRequest", "quantity"},
		"cores by conf":          {withConf("spark.executor.cores", "0"), field.ErrorTypeInvalid, "spec.sparkConf[spark.executor.cores]", "from 1"},
		"vendor":                 {withConf("spark.driver.resource.gpu.amount", "1"), field.ErrorTypeRequired, "spec.sparkConf[spark.driver.resource.gpu.vendor]", "vendor"},
		"gpu without vendor":     {edit(func(s *v1beta2.SparkApplicationSpec) { s.Driver.GPU = &v1beta2.GPUSpec{Name: "gpu", Quantity: 1} }), field.ErrorTypeInvalid, "spec.driver.gpu.name", "vendor"},
		"instances":              {withConf("spark.executor.instances", "many"), field.ErrorTypeInvalid, "spec.sparkConf[spark.executor.instances]", "whole number"},
		"no instances":           {withConf("spark.executor.instances", "0"), field.ErrorTypeInvalid, "spec.sparkConf[spark.executor.instances]", "from 1"},
		"min above max": {edit(func(s *v1beta2.SparkApplicationSpec) {
			s.DynamicAllocation = &v1beta2.DynamicAllocation{Enabled: true, MinExecutors: new(int32(3)), MaxExecutors: new(int32(2))}
		}), field.ErrorTypeInvalid, "spec.dynamicAllocation.minExecutors", "upper bound, 2"},
		"template type":            {driverTemplate(`{"spec":{"hostNetwork":"yes"}}`), field.ErrorTypeInvalid, "spec.driver.template.spec.hostNetwork", "must be true or false"},
		"template is a list":       {executorTemplateOf(`[]`), field.ErrorTypeInvalid, "spec.executor.template", "must be an object"},
		"template is no JSON":      {executorTemplateOf(`{`), field.ErrorTypeInvalid, "spec.executor.template", "pod template"},
		"volume twice in template": {driverTemplate(`{"spec":{"volumes":[{"name":"a"},{"name":"a"}]}}`), field.ErrorTypeDuplicate, "spec.driver.template.spec.volumes[1].name", ""},
		"volume given twice": {func(app *v1beta2.SparkApplication) {
			driverTemplate(`{"spec":{"volumes":[{"name":"a","hostPath":{"path":"/x"}}]}}`)(app)
			app.Spec.Volumes = []corev1.Volume{{Name: "a", VolumeSource: emptyDir}}
			app.Spec.Driver.VolumeMounts = []corev1.VolumeMount{{Name: "a", MountPath: "/a"}}
		}, field.ErrorTypeInvalid, "spec.volumes[0].name", "spec.driver.template.spec.volumes[0].name"},
		"unknown volume": {edit(func(s *v1beta2.SparkApplicationSpec) {
			s.Executor.VolumeMounts = []corev1.VolumeMount{{Name: "a", MountPath: "/a"}}
		}), field.ErrorTypeInvalid, "spec.executor.volumeMounts[0].name", "no volume has this name"},
		"mount path twice": {edit(func(s *v1beta2.SparkApplicationSpec) {
			s.Volumes = []corev1.Volume{{Name: "a", VolumeSource: emptyDir}, {Name: "b", VolumeSource: emptyDir}}
			s.Driver.VolumeMounts = []corev1.VolumeMount{{Name: "a", MountPath: "/a"}, {Name: "b", MountPath: "/a"}}
		}), field.ErrorTypeInvalid, "spec.driver.volumeMounts[1].mountPath", "spec.driver.volumeMounts[0].mountPath"},
		"mount over Spark's": {edit(func(s *v1beta2.SparkApplicationSpec) {
			s.Driver.ConfigMaps = []v1beta2.NamePath{{Name: "a", Path: "/opt/spark/conf"}}
		}), field.ErrorTypeInvalid, "spec.driver.configMaps[0].path", "Spark itself"},
		"mount over the executors' conf": {edit(func(s *v1beta2.SparkApplicationSpec) {
			s.Executor.ConfigMaps = []v1beta2.NamePath{{Name: "a", Path: "/opt/spark/conf"}}
		}), field.ErrorTypeInvalid, "spec.executor.configMaps[0].path", "Spark itself"},
		"subPath": {edit(func(s *v1beta2.SparkApplicationSpec) {
			s.Volumes = []corev1.Volume{{Name: "a", VolumeSource: emptyDir}}
			s.Driver.VolumeMounts = []corev1.VolumeMount{{Name: "a", MountPath: "/a", SubPath: "../b"}}
		}), field.ErrorTypeInvalid, "spec.driver.volumeMounts[0].subPath", "relative"},
		"no mount path": {edit(func(s *v1beta2.SparkApplicationSpec) {
			s.Volumes = []corev1.Volume{{Name: "a", VolumeSource: emptyDir}}
			s.Driver.VolumeMounts = []corev1.VolumeMount{{Name: "a"}}
		}), field.ErrorTypeRequired, "spec.driver.volumeMounts[0].mountPath", ""},
		"volume of two types": {driverTemplate(`{"spec":{"volumes":[{"name":"a","emptyDir":{},"hostPath":{"path":"/x"}}]}}`), field.ErrorTypeInvalid, "spec.driver.template.spec.volumes[0].name", "emptyDir and hostPath"},
		"volume name": {edit(func(s *v1beta2.SparkApplicationSpec) {
			s.Volumes = []corev1.Volume{{Name: "A_b", VolumeSource: emptyDir}}
			s.Driver.VolumeMounts = []corev1.VolumeMount{{Name: "A_b", MountPath: "/a"}}
		}), field.ErrorTypeInvalid, "spec.volumes[0].name", "name of a volume"},
		"port of Spark": {edit(func(s *v1beta2.SparkApplicationSpec) {
			s.Driver.Ports = []v1beta2.Port{{Name: "spark-ui", Protocol: "TCP", ContainerPort: 4041}}
		}), field.ErrorTypeInvalid, "spec.driver.ports[0].name", "Spark itself"},
		"port of executors": {executorTemplateOf(`{"spec":{"containers":[{"ports":[{"name":"blockmanager","containerPort":7079,"protocol":"TCP"}]}]}}`), field.ErrorTypeInvalid, "spec.executor.template.spec.containers[0].ports[0].name", "Spark itself"},
		"port number": {edit(func(s *v1beta2.SparkApplicationSpec) {
			s.Driver.Ports = []v1beta2.Port{{Name: "x", Protocol: "TCP", ContainerPort: 70000}}
		}), field.ErrorTypeInvalid, "spec.driver.ports[0].containerPort", "no port"},
		"port protocol": {edit(func(s *v1beta2.SparkApplicationSpec) {
			s.Driver.Ports = []v1beta2.Port{{Name: "x", Protocol: "ICMP", ContainerPort: 7}}
		}), field.ErrorTypeNotSupported, "spec.driver.ports[0].protocol", "TCP"},
		"same ports":   {withConf("spark.ui.port", "7078"), field.ErrorTypeInvalid, "spec.sparkConf[spark.ui.port]", "must differ"},
		"port by conf": {withConf("spark.ui.port", "0"), field.ErrorTypeInvalid, "spec.sparkConf[spark.ui.port]", "from 1 to 65535"},
		"sidecar like Spark": {edit(func(s *v1beta2.SparkApplicationSpec) {
			s.Driver.Sidecars = []corev1.Container{{Name: DriverContainerName, Image: "x"}}
		}), field.ErrorTypeInvalid, "spec.driver.sidecars[0].name", "also given by"},
		"sidecar without image": {edit(func(s *v1beta2.SparkApplicationSpec) { s.Driver.Sidecars = []corev1.Container{{Name: "x"}} }), field.ErrorTypeRequired, "spec.driver.sidecars[0].image", ""},
		"same sidecar and init": {edit(func(s *v1beta2.SparkApplicationSpec) {
			s.Executor.Sidecars = []corev1.Container{{Name: "x", Image: "a"}}
			s.Executor.InitContainers = []corev1.Container{{Name: "x", Image: "b"}}
		}), field.ErrorTypeInvalid, "spec.executor.initContainers[0].name", "spec.executor.sidecars[0].name"},
		"reserved label":          {edit(func(s *v1beta2.SparkApplicationSpec) { s.Driver.Labels = map[string]string{"spark-role": "x"} }), field.ErrorTypeForbidden, "spec.driver.labels[spark-role]", "reserved"},
		"reserved executor label": {withConf("spark.kubernetes.executor.label.spark-exec-id", "x"), field.ErrorTypeForbidden, "spec.sparkConf[spark.kubernetes.executor.label.spark-exec-id]", "reserved"},
		"reserved label of app":   {func(app *v1beta2.SparkApplication) { app.Labels = map[string]string{"spark-app-name": "x"} }, field.ErrorTypeForbidden, "metadata.labels[spark-app-name]", "reserved"},
		"label value":             {edit(func(s *v1beta2.SparkApplicationSpec) { s.Executor.Labels = map[string]string{"a": "b c"} }), field.ErrorTypeInvalid, "spec.executor.labels[a]", "value of a label"},
		"label key of template":   {driverTemplate(`{"metadata":{"labels":{"a b":"c"}}}`), field.ErrorTypeInvalid, "spec.driver.template.metadata.labels[a b]", "key of a label"},
		"annotation key":          {edit(func(s *v1beta2.SparkApplicationSpec) { s.Driver.Annotations = map[string]string{"a b": "c"} }), field.ErrorTypeInvalid, "spec.driver.annotations[a b]", "key of an annotation"},
		"variable":                {edit(func(s *v1beta2.SparkApplicationSpec) { s.Driver.Env = []corev1.EnvVar{{Name: "A=B"}} }), field.ErrorTypeInvalid, "spec.driver.env[0].name", "environment variable"},
		"variable by map":         {edit(func(s *v1beta2.SparkApplicationSpec) { s.Executor.EnvVars = map[string]string{"A=B": ""} }), field.ErrorTypeInvalid, "spec.executor.envVars[A=B]", "environment variable"},
		"key of secret":           {withConf("spark.kubernetes.driver.secretKeyRef.A", "x"), field.ErrorTypeInvalid, "spec.sparkConf[spark.kubernetes.driver.secretKeyRef.A]", "a colon"},
		"secret name": {edit(func(s *v1beta2.SparkApplicationSpec) {
			s.Driver.Secrets = []v1beta2.SecretInfo{{Name: "A B", Path: "/x"}}
		}), field.ErrorTypeInvalid, "spec.driver.secrets[0].name", "name of a Secret"},
		"pod name":              {edit(func(s *v1beta2.SparkApplicationSpec) { s.Driver.PodName = new("A_b") }), field.ErrorTypeInvalid, "spec.driver.podName", "name of a pod"},
		"prefix of executors":   {withConf("spark.kubernetes.executor.podNamePrefix", strings.Repeat("a", 238)), field.ErrorTypeInvalid, "spec.sparkConf[spark.kubernetes.executor.podNamePrefix]", "237"},
		"grace period":          {edit(func(s *v1beta2.SparkApplicationSpec) { s.Driver.TerminationGracePeriodSeconds = new(int64(-1)) }), field.ErrorTypeInvalid, "spec.driver.terminationGracePeriodSeconds", "negative"},
		"volume type":           {withConf(volumes+"csi.a.mount.path", "/a"), field.ErrorTypeNotSupported, "spec.sparkConf[" + volumes + "csi.a.mount.path]", "nfs"},
		"volume without path":   {withConf(volumes+"emptyDir.a.options.medium", "Memory"), field.ErrorTypeRequired, "spec.sparkConf[" + volumes + "emptyDir.a.mount.path]", ""},
		"volume key":            {withConf(volumes+"emptyDir", "x"), field.ErrorTypeInvalid, "spec.sparkConf[" + volumes + "emptyDir]", "mount.path"},
		"hostPath without path": {withConf(volumes+"hostPath.a.mount.path", "/a"), field.ErrorTypeRequired, "spec.sparkConf[" + volumes + "hostPath.a.options.path]", ""},
		"nfs without server":    {withConf(volumes+"nfs.a.mount.path", "/a", volumes+"nfs.a.options.path", "/b"), field.ErrorTypeRequired, "spec.sparkConf[" + volumes + "nfs.a.options.server]", ""},
		"claim without a name":  {withConf(volumes+"persistentVolumeClaim.a.mount.path", "/a"), field.ErrorTypeRequired, "spec.sparkConf[" + volumes + "persistentVolumeClaim.a.options.claimName]", ""},
		"claim on demand":       {withConf(volumes+"persistentVolumeClaim.a.mount.path", "/a", volumes+"persistentVolumeClaim.a.options.claimName", "OnDemand"), field.ErrorTypeRequired, "spec.sparkConf[" + volumes + "persistentVolumeClaim.a.options.storageClass]", ""},
		"more executors at the start than at any time": {func(app *v1beta2.SparkApplication) {
			app.Spec.DynamicAllocation = &v1beta2.DynamicAllocation{Enabled: true, InitialExecutors: new(int32(9)), MaxExecutors: new(int32(2))}
		}, field.ErrorTypeInvalid, "spec.dynamicAllocation.initialExecutors", "the upper bound, 2"},
		"size of a volume":      {withConf(volumes+"emptyDir.a.mount.path", "/a", volumes+"emptyDir.a.options.sizeLimit", "500"), field.ErrorTypeInvalid, "spec.sparkConf[" + volumes + "emptyDir.a.mount.path]", "1024"},
		"two types, one name":   {withConf(volumes+"emptyDir.a.mount.path", "/a", volumes+"hostPath.a.mount.path", "/b", volumes+"hostPath.a.options.path", "/c"), field.ErrorTypeInvalid, "spec.sparkConf[" + volumes + "hostPath.a.mount.path]", "also given by"},
		"two volumes, one path": {withConf(volumes+"emptyDir.a.mount.path", "/a", volumes+"emptyDir.b.mount.path", "/a"), field.ErrorTypeInvalid, "spec.sparkConf[" + volumes + "emptyDir.b.mount.path]", "also given by"},
		"volume of executors": {func(app *v1beta2.SparkApplication) {
			withConf("spark.kubernetes.executor.volumes.emptyDir.a.mount.path", "/a")(app)
			executorTemplateOf(`{"spec":{"volumes":[{"name":"a"}]}}`)(app)
		}, field.ErrorTypeInvalid, "spec.sparkConf[spark.kubernetes.executor.volumes.emptyDir.a.mount.path]", "spec.executor.template.spec.volumes[0].name"},
		"ip family":           {withConf("spark.kubernetes.driver.service.ipFamilies", "IPv5"), field.ErrorTypeNotSupported, "spec.sparkConf[spark.kubernetes.driver.service.ipFamilies]", "IPv4"},
		"ip family policy":    {withConf("spark.kubernetes.driver.service.ipFamilyPolicy", "x"), field.ErrorTypeNotSupported, "spec.sparkConf[spark.kubernetes.driver.service.ipFamilyPolicy]", "SingleStack"},
		"keytab alone":        {withConf("spark.kerberos.keytab", "local:///k"), field.ErrorTypeRequired, "spec.sparkConf[spark.kerberos.principal]", "together"},
		"keytab to upload":    {withConf("spark.kerberos.keytab", "/k", "spark.kerberos.principal", "p"), field.ErrorTypeInvalid, "spec.sparkConf[spark.kerberos.keytab]", "local://"},
		"token without a key": {withConf("spark.kubernetes.kerberos.tokenSecret.name", "x"), field.ErrorTypeRequired, "spec.sparkConf[spark.kubernetes.kerberos.tokenSecret.itemKey]", "together"},
		"proxy and principal": {func(app *v1beta2.SparkApplication) {
			withConf("spark.kerberos.keytab", "local:///k", "spark.kerberos.principal", "p")(app)
			app.Spec.ProxyUser = new("u")
		}, field.ErrorTypeInvalid, "spec.proxyUser", "spark.kerberos.principal"},
		"krb5 file":                 {withConf("spark.kubernetes.kerberos.krb5.path", "/x"), field.ErrorTypeForbidden, "spec.sparkConf[spark.kubernetes.kerberos.krb5.path]", "ConfigMap"},
		"controller of driver":      {driverTemplate(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"x","uid":"u","controller":true}]}}`), field.ErrorTypeForbidden, "spec.driver.template.metadata.ownerReferences[0]", "controller"},
		"controller of an executor": {executorTemplateOf(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"x","uid":"u","controller":true}]}}`), field.ErrorTypeForbidden, "spec.executor.template.metadata.ownerReferences", "controller"},
		"too large":                 {withConf("spark.x", strings.Repeat("x", 1<<20)), field.ErrorTypeInvalid, "spec", "more than the 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			app := newApp(c.edit)
			before := app.DeepCopy()
			a, errs := Resolve(app, testSpecPath)
			require.NotNil(t, a)
			assert.Equal(t, before, app, "the application was changed")
			var found []string
			for _, e := range errs {
				if e.Type == c.kind && e.Field == c.path && strings.Contains(e.Detail, c.detail) {
					return
				}
				found = append(found, e.Error())
			}
			assert.Fail(t, "missing error", "want %s at %s with %q, got %q", c.kind, c.path, c.detail, found)
		})
	}
}

func TestResolveTakesThePathOfASpecElsewhere(t *testing.T) {
	_, errs := Resolve(newApp(withConf("spark.master", "x")), field.NewPath("spec", "template"))
	require.Len(t, errs, 1)
	assert.Equal(t, "spec.template.sparkConf[spark.master]", errs[0].Field)
}

func TestEveryDeniedKeyIsRefused(t *testing.T) {
	require.Len(t, deniedConf, 13)
	for key, reason := range deniedConf {
		got, denied := DeniedConf(key)
		assert.True(t, denied)
		assert.Equal(t, reason, got)
		a, errs := Resolve(newApp(withConf(key, "secret-value")), testSpecPath)
		require.Len(t, errs, 1, key)
		assert.Equal(t, field.ErrorTypeForbidden, errs[0].Type)
		assert.NotContains(t, errs[0].Error(), "secret-value")
		_, _, known := a.Conf(key)
		assert.Equal(t, strings.HasSuffix(key, "container.image"), known, "only the image field may set %s", key)
	}
	_, denied := DeniedConf("spark.executor.memory")
	assert.False(t, denied)
}

func TestWarnings(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*v1beta2.SparkApplication)
		want string
	}{
		"shadowed": {func(app *v1beta2.SparkApplication) {
			withConf("spark.driver.memory", "2g")(app)
			app.Spec.Driver.Memory = new("3g")
		}, `spec.sparkConf[spark.driver.memory]: the value "2g" has no effect, because spec.driver.memory makes it "3g"`},
		"shadowed by the app": {func(app *v1beta2.SparkApplication) {
			withConf("spark.kubernetes.container.image.pullPolicy", "Never")(app)
			app.Spec.ImagePullPolicy = new("Always")
		}, `spec.sparkConf[spark.kubernetes.container.image.pullPolicy]: the value "Never" has no effect, because spec.imagePullPolicy`},
		"shadowed by hadoop": {func(app *v1beta2.SparkApplication) {
			withConf("spark.hadoop.a", "1")(app)
			app.Spec.HadoopConf = map[string]string{"a": "2"}
		}, `spec.sparkConf[spark.hadoop.a]: the value "1" has no effect, because spec.hadoopConf[a]`},
		"shadowed jars": {func(app *v1beta2.SparkApplication) {
			withConf("spark.jars", "s3a://a")(app)
			app.Spec.Deps.Jars = []string{"s3a://b"}
		}, `spec.sparkConf[spark.jars]: the value "s3a://a" has no effect, because spec.deps.jars`},
		"name":                  {withConf("spark.app.name", "x"), `spec.sparkConf[spark.app.name]: the value "x" has no effect, because metadata.name`},
		"id":                    {withConf("spark.app.id", "x"), `spec.sparkConf[spark.app.id]: the value "x" has no effect`},
		"host":                  {withConf("spark.driver.host", "x"), `spec.sparkConf[spark.driver.host]: the value "x" has no effect`},
		"template file":         {withConf("spark.kubernetes.driver.podTemplateFile", "x"), `spec.sparkConf[spark.kubernetes.driver.podTemplateFile]: the value "x" has no effect: use spec.driver.template`},
		"executor's template":   {withConf("spark.kubernetes.executor.podTemplateFile", "x"), `spec.sparkConf[spark.kubernetes.executor.podTemplateFile]: the value "x" has no effect`},
		"no property of Spark":  {withConf("hive.x", "y"), `spec.sparkConf[hive.x]: has no effect`},
		"executor memory limit": {edit(func(s *v1beta2.SparkApplicationSpec) { s.Executor.MemoryLimit = new("2g") }), `spec.executor.memoryLimit: "2g" has no effect`},
		"python 4.2": {edit(func(s *v1beta2.SparkApplicationSpec) {
			s.SparkVersion = "4.2.0"
			s.PythonVersion = new("3")
			s.MainApplicationFile = new("local:///a.py")
		}), `spec.pythonVersion: "3" has no effect`},
		"class of python":      {edit(func(s *v1beta2.SparkApplicationSpec) { s.MainApplicationFile = new("local:///a.py") }), `spec.mainClass: "org.example.Pi" has no effect`},
		"gpu of nothing":       {edit(func(s *v1beta2.SparkApplicationSpec) { s.Driver.GPU = &v1beta2.GPUSpec{Name: "nvidia.com/gpu"} }), `spec.driver.gpu: "nvidia.com/gpu" with quantity 0 has no effect`},
		"unused volume":        {edit(func(s *v1beta2.SparkApplicationSpec) { s.Volumes = []corev1.Volume{{Name: "a"}} }), `spec.volumes[0]: "a" has no effect`},
		"unknown field":        {driverTemplate(`{"spec":{"newField":1}}`), `spec.driver.template: the field spec.newField is unknown: it is left out`},
		"unknown in executors": {executorTemplateOf(`{"spec":{"newField":1}}`), `spec.executor.template: the field spec.newField is unknown: it is handed to the executors`},
		"args of the template": {driverTemplate(`{"spec":{"containers":[{"args":["x"]}]}}`), `spec.driver.template.spec.containers[0].args: ["x"] comes before Spark's own`},
		"which container":      {driverTemplate(`{"spec":{"containers":[{"name":"a","image":"i"},{"name":"b","image":"i"}]}}`), `spec.driver.template.spec.containers: none is named spark-kubernetes-driver`},
		"variable of Spark":    {edit(func(s *v1beta2.SparkApplicationSpec) { s.Executor.Env = []corev1.EnvVar{{Name: "SPARK_USER"}} }), `spec.executor.env[0]: "SPARK_USER" has no effect`},
		"variable twice": {func(app *v1beta2.SparkApplication) {
			withConf("spark.executorEnv.A", "1")(app)
			app.Spec.Executor.Env = []corev1.EnvVar{{Name: "A"}}
		}, `spec.sparkConf[spark.executorEnv.A]: has no effect, because spec.executor.env[0]`},
		"lifecycle": {func(app *v1beta2.SparkApplication) {
			withConf("spark.decommission.enabled", "true")(app)
			app.Spec.Executor.Lifecycle = &corev1.Lifecycle{}
		}, `spec.executor.lifecycle: has no effect`},
		"no shuffle tracking": {edit(func(s *v1beta2.SparkApplicationSpec) {
			s.DynamicAllocation = &v1beta2.DynamicAllocation{Enabled: true, ShuffleTrackingEnabled: new(false)}
		}), `spec.dynamicAllocation.shuffleTrackingEnabled: "false" makes dynamic allocation fail`},
		"two hadoop maps": {func(app *v1beta2.SparkApplication) {
			withConf("spark.kubernetes.hadoop.configMapName", "x")(app)
			app.Spec.HadoopConfigMap = new("y")
		}, `spec.sparkConf[spark.kubernetes.hadoop.configMapName]: the value "x" has no effect, because spec.hadoopConfigMap`},
		"steps left out": {withConf("spark.kubernetes.driver.pod.excludedFeatureSteps", "x"), `spec.sparkConf[spark.kubernetes.driver.pod.excludedFeatureSteps]: "x" has no effect`},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := built(t, c.edit)
			matching := 0
			for _, w := range a.Warnings() {
				if strings.HasPrefix(w, c.want) {
					matching++
				}
			}
			assert.Equal(t, 1, matching, "%q", a.Warnings())
		})
	}
}

func TestNothingToWarnOf(t *testing.T) {
	a, _ := built(t, func(app *v1beta2.SparkApplication) {
		withConf("spark.driver.memory", "2g", "spark.app.name", "spark-pi", "spark.kubernetes.namespace", "jobs")(app)
		app.Spec.Executor.Cores = new(int32(2))
	})
	assert.Empty(t, a.Warnings())
}

func TestConfSaysWhereAValueComesFrom(t *testing.T) {
	a, _ := built(t, withConf("spark.x", "y"), edit(func(s *v1beta2.SparkApplicationSpec) { s.Driver.Memory = new("3g") }))
	for key, want := range map[string][2]string{
		"spark.x":             {"y", "spec.sparkConf[spark.x]"},
		"spark.driver.memory": {"3g", "spec.driver.memory"},
	} {
		value, path, ok := a.Conf(key)
		assert.True(t, ok)
		assert.Equal(t, want, [2]string{value, path.String()})
	}
	_, _, ok := a.Conf("spark.absent")
	assert.False(t, ok)
}

func TestSchedulerNames(t *testing.T) {
	a, _ := built(t, withConf("spark.kubernetes.scheduler.name", "a", "spark.kubernetes.driver.scheduler.name", "b", "spark.kubernetes.executor.scheduler.name", "c"),
		driverTemplate(`{"spec":{"schedulerName":"d"}}`), executorTemplateOf(`{"spec":{"schedulerName":"e"}}`),
		edit(func(s *v1beta2.SparkApplicationSpec) {
			s.Driver.SchedulerName = new("f")
			s.Executor.SchedulerName = new("g")
		}))
	got := map[string]string{}
	for _, n := range a.SchedulerNames() {
		got[n.Path.String()] = n.Value + " " + string(n.Role)
	}
	assert.Equal(t, map[string]string{
		"spec.driver.schedulerName": "f driver", "spec.executor.schedulerName": "g executor",
		"spec.sparkConf[spark.kubernetes.scheduler.name]":          "a both",
		"spec.sparkConf[spark.kubernetes.driver.scheduler.name]":   "b driver",
		"spec.sparkConf[spark.kubernetes.executor.scheduler.name]": "c executor",
		"spec.driver.template.spec.schedulerName":                  "d driver",
		"spec.executor.template.spec.schedulerName":                "e executor",
	}, got)
	a, _ = built(t)
	assert.Empty(t, a.SchedulerNames())
}

func TestExecutorPriorityClassName(t *testing.T) {
	a, _ := built(t, executorTemplateOf(`{"spec":{"priorityClassName":"low"}}`))
	assert.Equal(t, "low", a.ExecutorPriorityClassName)
	a, _ = built(t, executorTemplateOf(`{"spec":{"priorityClassName":"low"}}`), edit(func(s *v1beta2.SparkApplicationSpec) { s.Executor.PriorityClassName = new("high") }))
	assert.Equal(t, "high", a.ExecutorPriorityClassName)
}

func TestDriverPodName(t *testing.T) {
	for want, edits := range map[string][]func(*v1beta2.SparkApplication){
		"spark-pi-driver": nil,
		"by-conf":         {withConf("spark.kubernetes.driver.pod.name", "by-conf")},
		"typed":           {withConf("spark.kubernetes.driver.pod.name", "by-conf"), edit(func(s *v1beta2.SparkApplicationSpec) { s.Driver.PodName = new("typed") })},
	} {
		a, o := built(t, edits...)
		assert.Equal(t, want, a.DriverPodName)
		assert.Equal(t, want, o.Driver.Name)
		assert.Equal(t, want, o.Properties["spark.kubernetes.driver.pod.name"])
	}
}

func TestTemplateAsAnObject(t *testing.T) {
	_, o := built(t, func(app *v1beta2.SparkApplication) {
		app.Spec.Driver.Template = &runtime.RawExtension{Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}}}
	})
	assert.Equal(t, "b", o.Driver.Labels["a"])
	for _, empty := range []*runtime.RawExtension{nil, {}, {Raw: []byte("null")}, {Raw: []byte(`{"spec":null}`)}, {Raw: []byte(`{"spec":{"containers":[null]}}`)}} {
		_, o := built(t, func(app *v1beta2.SparkApplication) {
			app.Spec.Driver.Template, app.Spec.Executor.Template = empty, empty
		})
		checkObjects(t, o)
		assert.Equal(t, DriverContainerName, o.Driver.Spec.Containers[0].Name)
	}
}

func TestExecutorTemplateKeepsWhatItDoesNotKnow(t *testing.T) {
	_, o := built(t, executorTemplateOf(`{"metadata":{"future":{"a":[1,2.5,"x"]}},"spec":{"future":true,"containers":[{"name":"log","image":"i"},{"name":"spark-kubernetes-executor","future":7,"command":["/run"]}]}}`))
	spec, _ := lookup(o.ExecutorTemplate, "spec")
	future, _ := lookup(o.ExecutorTemplate, "metadata", "future", "a")
	assert.Equal(t, []any{int64(1), 2.5, "x"}, future)
	assert.Equal(t, true, spec.(map[string]any)["future"])
	containers := objectsAt(spec.(map[string]any), "containers")
	require.Len(t, containers, 2)
	assert.Equal(t, int64(7), containers[1]["future"])
	assert.Equal(t, []any{"/run"}, containers[1]["command"])
	assert.Equal(t, "spark-kubernetes-executor", o.Properties["spark.kubernetes.executor.podTemplateContainerName"])
}

// Spark reads the old field of the two, and overwrites the account of a template that has only the new one.
func TestExecutorTemplateNamesTheAccountTwice(t *testing.T) {
	for _, text := range []string{`{"spec":{"serviceAccountName":"sa"}}`, `{"spec":{"serviceAccount":"sa"}}`, `{"spec":{"serviceAccount":"old","serviceAccountName":"sa"}}`} {
		_, o := built(t, executorTemplateOf(text))
		pod := executorPod(t, o)
		assert.Equal(t, "sa", pod.Spec.ServiceAccountName)
		assert.Equal(t, "sa", pod.Spec.DeprecatedServiceAccount)
	}
}

func TestServiceLinks(t *testing.T) {
	_, o := built(t)
	assert.False(t, *o.Driver.Spec.EnableServiceLinks)
	assert.False(t, *executorPod(t, o).Spec.EnableServiceLinks)
	_, o = built(t, driverTemplate(`{"spec":{"enableServiceLinks":true}}`))
	assert.True(t, *o.Driver.Spec.EnableServiceLinks)
}
