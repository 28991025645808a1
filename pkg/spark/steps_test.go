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
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func driverOf(o *Objects) *landing {
	return &landing{pod: o.Driver, spark: &o.Driver.Spec.Containers[len(o.Driver.Spec.Containers)-1], props: o.Properties}
}

// The whole of what a plain application consists of, so that nothing can creep in or get lost.
func TestPlainApplication(t *testing.T) {
	_, o := built(t)
	const app = "spark-0f8fad5bd9cb469fa16570867728950e"
	name := namesOf("spark-pi", "8c1a2d34-0000-4000-8000-0123456789ab", testSubmissionID)
	owner := []metav1.OwnerReference{{
		APIVersion: "sparkoperator.k8s.io/v1beta2", Kind: "SparkApplication", Name: "spark-pi", UID: "8c1a2d34-0000-4000-8000-0123456789ab",
		Controller: new(true), BlockOwnerDeletion: new(true),
	}}
	labels := map[string]string{LabelAppName: "spark-pi", LabelSubmissionID: testSubmissionID, LabelCreatedBy: "true"}

	assert.Equal(t, map[string]string{
		"spark.app.id": app, "spark.app.name": "spark-pi", "spark.app.submitTime": "1796070056123",
		"spark.driver.blockManager.port": "7079", "spark.driver.cores": "1", "spark.driver.host": name.service + ".jobs.svc",
		"spark.driver.memory": "1g", "spark.driver.port": "7078", "spark.executor.cores": "1", "spark.executor.instances": "1",
		"spark.executor.memory": "1g", "spark.jars": "local:///opt/app.jar",
		"spark.kubernetes.container.image":                                                "example.com/spark:4.0.1",
		"spark.kubernetes.driver.container.image":                                         "example.com/spark:4.0.1",
		"spark.kubernetes.driver.label.sparkoperator.k8s.io/app-name":                     "spark-pi",
		"spark.kubernetes.driver.label.sparkoperator.k8s.io/launched-by-spark-operator":   "true",
		"spark.kubernetes.driver.label.sparkoperator.k8s.io/mutated-by-spark-operator":    "true",
		"spark.kubernetes.driver.label.sparkoperator.k8s.io/submission-id":                testSubmissionID,
		"spark.kubernetes.driver.pod.name":                                                "spark-pi-driver",
		"spark.kubernetes.executor.container.image":                                       "example.com/spark:4.0.1",
		"spark.kubernetes.executor.label.sparkoperator.k8s.io/app-name":                   "spark-pi",
		"spark.kubernetes.executor.label.sparkoperator.k8s.io/launched-by-spark-operator": "true",
		"spark.kubernetes.executor.label.sparkoperator.k8s.io/mutated-by-spark-operator":  "true",
		"spark.kubernetes.executor.label.sparkoperator.k8s.io/submission-id":              testSubmissionID,
		"spark.kubernetes.executor.podNamePrefix":                                         name.prefix,
		"spark.kubernetes.executor.podTemplateContainerName":                              "spark-kubernetes-executor",
		"spark.kubernetes.executor.podTemplateFile":                                       "/opt/spark/pod-template/pod-spec-template.yml",
		"spark.kubernetes.memoryOverheadFactor":                                           "0.1",
		"spark.kubernetes.namespace":                                                      "jobs",
		"spark.kubernetes.resource.type":                                                  "java",
		"spark.kubernetes.submitInDriver":                                                 "true",
		"spark.master":                                                                    "k8s://https://kubernetes.default.svc",
		"spark.submit.deployMode":                                                         "cluster",
		"spark.submit.pyFiles":                                                            "",
	}, o.Properties)

	assert.Equal(t, &corev1.Service{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Name: name.service, Namespace: "jobs", OwnerReferences: owner, Labels: map[string]string{
			LabelAppName: "spark-pi", LabelSubmissionID: testSubmissionID, LabelCreatedBy: "true", LabelSparkAppSelector: app,
		}},
		Spec: corev1.ServiceSpec{
			ClusterIP: "None", IPFamilyPolicy: new(corev1.IPFamilyPolicySingleStack), IPFamilies: []corev1.IPFamily{"IPv4"},
			Selector: o.Driver.Labels,
			Ports: []corev1.ServicePort{
				{Name: "driver-rpc-port", Port: 7078, TargetPort: intstr.FromInt32(7078)},
				{Name: "blockmanager", Port: 7079, TargetPort: intstr.FromInt32(7079)},
				{Name: "spark-ui", Port: 4040, TargetPort: intstr.FromInt32(4040)},
			},
		},
	}, o.Service)

	assert.Equal(t, name.configMap, o.ConfigMap.Name)
	assert.Equal(t, labels, o.ConfigMap.Labels)
	assert.Equal(t, owner, o.ConfigMap.OwnerReferences)
	assert.True(t, *o.ConfigMap.Immutable)
	assert.Len(t, o.ConfigMap.Data, 3)
	assert.Equal(t, "jobs", o.ConfigMap.Data["spark.kubernetes.namespace"])
	assert.Equal(t, o.Properties, readProperties(t, o.ConfigMap.Data["spark.properties"]))
	assert.JSONEq(t, `{"apiVersion":"v1","kind":"Pod","spec":{"enableServiceLinks":false,"containers":[{"name":"spark-kubernetes-executor"}]}}`, o.ConfigMap.Data["podspec-configmap-key"])

	assert.Equal(t, owner, o.Driver.OwnerReferences)
	l := driverOf(o)
	assert.Equal(t, corev1.RestartPolicyNever, o.Driver.Spec.RestartPolicy)
	assert.Equal(t, corev1.PullIfNotPresent, l.spark.ImagePullPolicy)
	assert.Empty(t, l.spark.Command)
	assert.Empty(t, o.Driver.Spec.SchedulerName)
	var env, volumes []string
	for _, e := range l.spark.Env {
		env = append(env, e.Name+"="+e.Value)
	}
	for _, v := range o.Driver.Spec.Volumes {
		volumes = append(volumes, v.Name)
	}
	assert.Equal(t, []string{
		"SPARK_USER=spark", "SPARK_APPLICATION_ID=" + app, "SPARK_DRIVER_BIND_ADDRESS=", "SPARK_LOCAL_DIRS=" + name.localDir, "SPARK_CONF_DIR=/opt/spark/conf",
	}, env)
	assert.Equal(t, []string{"pod-template-volume", "spark-local-dir-1", "spark-conf-volume-driver"}, volumes)
	assert.Empty(t, o.PersistentVolumeClaims)
}

func TestCommandOfScripts(t *testing.T) {
	for name, c := range map[string]struct {
		file, class, resource, kind string
	}{
		"python":          {"local:///a.py", "org.apache.spark.deploy.PythonRunner", "local:///a.py", "python"},
		"remote python":   {"s3a://b/a.py", "org.apache.spark.deploy.PythonRunner", "s3a://b/a.py", "python"},
		"R":               {"local:///a.R", "org.apache.spark.deploy.RRunner", "local:///a.R", "r"},
		"small r":         {"local:///a.r", "org.apache.spark.deploy.RRunner", "local:///a.r", "r"},
		"R without a URI": {"/opt/a.R", "org.apache.spark.deploy.RRunner", "file:/opt/a.R", "r"},
		"java":            {"https://x/a.jar", "org.example.Pi", "https://x/a.jar", "java"},
		"no main file":    {"spark-internal", "org.example.Pi", "spark-internal", "java"},
	} {
		t.Run(name, func(t *testing.T) {
			_, o := built(t, edit(func(s *v1beta2.SparkApplicationSpec) {
				s.MainApplicationFile = new(c.file)
				if c.kind != "java" {
					s.MainClass = nil
				}
			}))
			assert.Equal(t, []string{"driver", "--properties-file", "/opt/spark/conf/spark.properties", "--class", c.class, c.resource}, driverOf(o).spark.Args)
			assert.Equal(t, c.kind, o.Properties["spark.kubernetes.resource.type"])
			jars, ok := o.Properties["spark.jars"]
			assert.Equal(t, c.kind == "java", ok)
			if c.resource != "spark-internal" && c.kind == "java" {
				assert.Equal(t, c.file, jars)
			} else {
				assert.Empty(t, jars)
			}
		})
	}
}

func TestPythonInterpreters(t *testing.T) {
	_, o := built(t, python, withConf("spark.pyspark.python", "/p", "spark.pyspark.driver.python", "/d"))
	assert.Equal(t, "/p", driverOf(o).env("PYSPARK_PYTHON").Value)
	assert.Equal(t, "/d", driverOf(o).env("PYSPARK_DRIVER_PYTHON").Value)
	_, o = built(t, python, withConf("spark.pyspark.python", "/p"))
	assert.Equal(t, "/p", driverOf(o).env("PYSPARK_DRIVER_PYTHON").Value)
	_, o = built(t, python)
	assert.Nil(t, driverOf(o).env("PYSPARK_PYTHON"))
}

func TestVolumesByProperties(t *testing.T) {
	const p = "spark.kubernetes.driver.volumes."
	_, o := built(t, withConf(
		p+"hostPath.host.mount.path", "/host", p+"hostPath.host.mount.readOnly", "true", p+"hostPath.host.options.path", "/srv", p+"hostPath.host.options.type", "Directory",
		p+"nfs.net.mount.path", "/net", p+"nfs.net.mount.subPath", "sub", p+"nfs.net.options.server", "s", p+"nfs.net.options.path", "/e",
		p+"emptyDir.tmp.mount.path", "/tmp/x", p+"emptyDir.tmp.mount.subPathExpr", "$(A)", p+"emptyDir.tmp.options.medium", "Memory", p+"emptyDir.tmp.options.sizeLimit", "1Gi",
		p+"persistentVolumeClaim.old.mount.path", "/old", p+"persistentVolumeClaim.old.options.claimName", "theirs",
		p+"persistentVolumeClaim.new.mount.path", "/new", p+"persistentVolumeClaim.new.options.claimName", "OnDemand",
		p+"persistentVolumeClaim.new.options.storageClass", "fast", p+"persistentVolumeClaim.new.options.sizeLimit", "5Gi",
		p+"persistentVolumeClaim.new.label.a", "b", p+"persistentVolumeClaim.new.annotation.c", "d",
	))
	checkObjects(t, o)
	l := driverOf(o)
	m, v := l.mount("/host")
	assert.True(t, m.ReadOnly)
	assert.Equal(t, corev1.HostPathVolumeSource{Path: "/srv", Type: new(corev1.HostPathDirectory)}, *v.HostPath)
	m, v = l.mount("/net")
	assert.Equal(t, "sub", m.SubPath)
	assert.Equal(t, corev1.NFSVolumeSource{Server: "s", Path: "/e"}, *v.NFS)
	m, v = l.mount("/tmp/x")
	assert.Equal(t, "$(A)", m.SubPathExpr)
	assert.Equal(t, corev1.StorageMediumMemory, v.EmptyDir.Medium)
	assertQuantity(t, "1Gi", *v.EmptyDir.SizeLimit)
	_, v = l.mount("/old")
	assert.Equal(t, "theirs", v.PersistentVolumeClaim.ClaimName)
	_, v = l.mount("/new")
	require.Len(t, o.PersistentVolumeClaims, 1)
	claim := o.PersistentVolumeClaims[0]
	assert.Equal(t, claim.Name, v.PersistentVolumeClaim.ClaimName)
	assert.Equal(t, "b", claim.Labels["a"])
	assert.Equal(t, "true", claim.Labels[LabelCreatedBy])
	assert.Equal(t, map[string]string{"c": "d"}, claim.Annotations)
	assert.Equal(t, "fast", *claim.Spec.StorageClassName)
	assertQuantity(t, "5Gi", claim.Spec.Resources.Requests[corev1.ResourceStorage])
}

func TestReadWriteOnceOfOldClaims(t *testing.T) {
	const p = "spark.kubernetes.driver.volumes.persistentVolumeClaim.a."
	_, o := built(t, withConf(p+"mount.path", "/a", p+"options.claimName", "c", p+"options.storageClass", "s", p+"options.sizeLimit", "1Gi", "spark.kubernetes.legacy.useReadWriteOnceAccessMode", "true"))
	assert.Equal(t, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, o.PersistentVolumeClaims[0].Spec.AccessModes)
	assert.Equal(t, "c", o.PersistentVolumeClaims[0].Name)
}

func TestHadoopAndKerberos(t *testing.T) {
	_, o := built(t, withConf(
		"spark.kubernetes.hadoop.configMapName", "hadoop", "spark.kubernetes.kerberos.krb5.configMapName", "krb",
		"spark.kubernetes.kerberos.tokenSecret.name", "tokens", "spark.kubernetes.kerberos.tokenSecret.itemKey", "t",
	))
	checkObjects(t, o)
	l := driverOf(o)
	_, v := l.mount("/opt/hadoop/conf")
	assert.Equal(t, "hadoop", v.ConfigMap.Name)
	assert.Equal(t, "/opt/hadoop/conf", l.env("HADOOP_CONF_DIR").Value)
	assert.Equal(t, "hadoop", o.Properties["spark.kubernetes.executor.hadoopConfigMapName"])
	m, v := l.mount("/etc/krb5.conf")
	assert.Equal(t, "krb5.conf", m.SubPath)
	assert.Equal(t, "krb", v.ConfigMap.Name)
	_, v = l.mount("/mnt/secrets/hadoop-credentials")
	assert.Equal(t, "tokens", v.Secret.SecretName)
	assert.Equal(t, "/mnt/secrets/hadoop-credentials/t", l.env("HADOOP_TOKEN_FILE_LOCATION").Value)
}

func TestLocalDirs(t *testing.T) {
	_, o := built(t, withConf("spark.local.dir", "/a, /b", "spark.kubernetes.local.dirs.tmpfs", "true"))
	l := driverOf(o)
	assert.Equal(t, "/a,/b", l.env("SPARK_LOCAL_DIRS").Value)
	for path, volume := range map[string]string{"/a": "spark-local-dir-1", "/b": "spark-local-dir-2"} {
		m, v := l.mount(path)
		require.NotNil(t, v)
		assert.Equal(t, volume, m.Name)
		assert.Equal(t, corev1.StorageMediumMemory, v.EmptyDir.Medium)
	}
	_, o = built(t, withConf("spark.kubernetes.driver.volumes.emptyDir.spark-local-dir-x.mount.path", "/x", "spark.local.dir", "/unused"))
	assert.Equal(t, "/x", driverOf(o).env("SPARK_LOCAL_DIRS").Value)
}

func TestPortsByProperties(t *testing.T) {
	_, o := built(t, withConf("spark.driver.port", "1", "spark.blockManager.port", "2", "spark.ui.port", "3"))
	l := driverOf(o)
	for i, want := range []int32{1, 2, 3} {
		assert.Equal(t, want, l.spark.Ports[i].ContainerPort)
		assert.Equal(t, want, o.Service.Spec.Ports[i].Port)
	}
	assert.Equal(t, "2", o.Properties["spark.driver.blockManager.port"])
	_, o = built(t, withConf("spark.driver.blockManager.port", "5", "spark.blockManager.port", "2"))
	assert.Equal(t, int32(5), driverOf(o).spark.Ports[1].ContainerPort)
}

func TestServiceSettings(t *testing.T) {
	a, o := built(t, withConf(
		"spark.kubernetes.driver.service.ipFamilyPolicy", "RequireDualStack", "spark.kubernetes.driver.service.ipFamilies", "IPv6,IPv4",
		"spark.kubernetes.driver.service.annotation.a", "b", "spark.kubernetes.driver.service.label.c", "d",
		"spark.kubernetes.driver.service.label."+LabelAppName, "other",
	))
	checkObjects(t, o)
	assert.Equal(t, corev1.IPFamilyPolicyRequireDualStack, *o.Service.Spec.IPFamilyPolicy)
	assert.Equal(t, []corev1.IPFamily{"IPv6", "IPv4"}, o.Service.Spec.IPFamilies)
	assert.Equal(t, "b", o.Service.Annotations["a"])
	assert.Equal(t, "d", o.Service.Labels["c"])
	assert.Equal(t, "spark-pi", o.Service.Labels[LabelAppName])
	assert.Len(t, a.Warnings(), 1)
}

func TestEnvironmentOfTheUserWins(t *testing.T) {
	_, o := built(t, edit(func(s *v1beta2.SparkApplicationSpec) {
		s.SparkConfigMap = new("conf")
		s.Driver.EnvVars = map[string]string{"A": "map"}
		s.Driver.Env = []corev1.EnvVar{{Name: "A", Value: "list"}, {Name: "SPARK_CONF_DIR", Value: "/mine"}}
	}))
	assert.Equal(t, "list", driverOf(o).env("A").Value)
	assert.Equal(t, "/mine", driverOf(o).env("SPARK_CONF_DIR").Value)
}

func TestTokensStayOutOfTheProperties(t *testing.T) {
	_, o := built(t, withConf("spark.kubernetes.authenticate.submission.oauthToken", "hush"))
	assert.Equal(t, "<present_but_redacted>", o.Properties["spark.kubernetes.authenticate.submission.oauthToken"])
	assert.NotContains(t, o.ConfigMap.Data["spark.properties"], "hush")
}

func TestSidecarsCanMountVolumesOfTheApplication(t *testing.T) {
	_, o := built(t, edit(func(s *v1beta2.SparkApplicationSpec) {
		s.Volumes = []corev1.Volume{{Name: "logs", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		s.Driver.Sidecars = []corev1.Container{{Name: "x", Image: "i", VolumeMounts: []corev1.VolumeMount{{Name: "logs", MountPath: "/logs"}}}}
	}))
	checkObjects(t, o)
	assert.Equal(t, "logs", o.Driver.Spec.Volumes[0].Name)
	for _, v := range executorPod(t, o).Spec.Volumes {
		assert.NotEqual(t, "logs", v.Name)
	}
}

func TestTheSameThingTwiceCountsOnce(t *testing.T) {
	_, o := built(t, driverTemplate(`{"spec":{
		"volumes":[{"name":"a","emptyDir":{}}],
		"initContainers":[{"name":"i","image":"x","resources":{}}],
		"containers":[{"name":"spark-kubernetes-driver","volumeMounts":[{"name":"a","mountPath":"/a"}]},{"name":"s","image":"x","resources":{}}]}}`),
		edit(func(s *v1beta2.SparkApplicationSpec) {
			s.Volumes = []corev1.Volume{{Name: "a", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
			s.Driver.VolumeMounts = []corev1.VolumeMount{{Name: "a", MountPath: "/a"}}
			s.Driver.Sidecars = []corev1.Container{{Name: "s", Image: "x"}}
			s.Driver.InitContainers = []corev1.Container{{Name: "i", Image: "x"}}
			s.Driver.Ports = []v1beta2.Port{{Name: "spark-ui", Protocol: "TCP", ContainerPort: 4040}}
		}))
	checkObjects(t, o)
	assert.Len(t, o.Driver.Spec.Containers, 2)
	assert.Len(t, o.Driver.Spec.InitContainers, 1)
}

func TestMetadataOfTheTemplateThatIsNotATemplates(t *testing.T) {
	_, o := built(t, driverTemplate(`{"metadata":{"name":"x","namespace":"y","resourceVersion":"1","uid":"u","generateName":"g","finalizers":["a/b"],
		"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"n","uid":"u"}]}}`))
	assert.Equal(t, "spark-pi-driver", o.Driver.Name)
	assert.Equal(t, "jobs", o.Driver.Namespace)
	assert.Empty(t, string(o.Driver.UID)+o.Driver.ResourceVersion+o.Driver.GenerateName)
	assert.Equal(t, []string{"a/b"}, o.Driver.Finalizers)
	assert.Len(t, o.Driver.OwnerReferences, 2)
}

func TestPrivilegeEscalation(t *testing.T) {
	const key = "spark.kubernetes.driver.securityContext.allowPrivilegeEscalation"
	typed := func(allow bool) func(*v1beta2.SparkApplication) {
		return edit(func(s *v1beta2.SparkApplicationSpec) {
			s.Driver.SecurityContext = &corev1.SecurityContext{AllowPrivilegeEscalation: new(allow)}
		})
	}
	of := func(context string) func(*v1beta2.SparkApplication) {
		return driverTemplate(`{"spec":{"containers":[{"name":"spark-kubernetes-driver","securityContext":` + context + `}]}}`)
	}
	for name, c := range map[string]struct {
		edits []func(*v1beta2.SparkApplication)
		want  *bool
	}{
		"default":                {nil, new(false)},
		"template":               {[]func(*v1beta2.SparkApplication){of(`{"allowPrivilegeEscalation":true}`)}, new(true)},
		"property over template": {[]func(*v1beta2.SparkApplication){of(`{"allowPrivilegeEscalation":true}`), withConf(key, "false")}, new(false)},
		"field over property":    {[]func(*v1beta2.SparkApplication){typed(true), withConf(key, "false")}, new(true)},
		"privileged":             {[]func(*v1beta2.SparkApplication){of(`{"privileged":true}`), withConf(key, "false")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, o := built(t, append(c.edits, version("4.3.0"))...)
			assert.Equal(t, c.want, o.Driver.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation)
		})
	}
}
