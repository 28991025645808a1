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
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// landing is where a field of a pod ends up: the driver's pod, or an executor's template with the properties beside it.
type landing struct {
	pod   *corev1.Pod
	spark *corev1.Container
	props map[string]string
	role  *role
}

func (l *landing) env(name string) *corev1.EnvVar {
	var found *corev1.EnvVar // the last one wins
	for i := range l.spark.Env {
		if l.spark.Env[i].Name == name {
			found = &l.spark.Env[i]
		}
	}
	return found
}

func (l *landing) mount(path string) (*corev1.VolumeMount, *corev1.Volume) {
	for i := range l.spark.VolumeMounts {
		m := &l.spark.VolumeMounts[i]
		if m.MountPath != path {
			continue
		}
		for j := range l.pod.Spec.Volumes {
			if l.pod.Spec.Volumes[j].Name == m.Name {
				return m, &l.pod.Spec.Volumes[j]
			}
		}
		return m, nil
	}
	return nil, nil
}

type fieldCase struct {
	set   func(app *v1beta2.SparkApplication, s *v1beta2.SparkPodSpec)
	check func(t *testing.T, l *landing)
}

func setPod(f func(s *v1beta2.SparkPodSpec)) func(*v1beta2.SparkApplication, *v1beta2.SparkPodSpec) {
	return func(_ *v1beta2.SparkApplication, s *v1beta2.SparkPodSpec) { f(s) }
}

// podFieldCases has a row for every field of SparkPodSpec.
var podFieldCases = map[string]fieldCase{
	"Template": {
		setPod(func(s *v1beta2.SparkPodSpec) {
			s.Template = rawJSON(`{"metadata":{"labels":{"from":"template"}},"spec":{"runtimeClassName":"gvisor"}}`)
		}),
		func(t *testing.T, l *landing) {
			assert.Equal(t, "template", l.pod.Labels["from"])
			assert.Equal(t, "gvisor", *l.pod.Spec.RuntimeClassName)
			assert.NotContains(t, l.props, l.role.prefixLabel+LabelMutatedBy)
		},
	},
	"Cores": {
		setPod(func(s *v1beta2.SparkPodSpec) { s.Cores = new(int32(3)) }),
		func(t *testing.T, l *landing) { assert.Equal(t, "3", l.props[l.role.keyCores]) },
	},
	"CoreLimit": {
		setPod(func(s *v1beta2.SparkPodSpec) { s.CoreLimit = new("1500m") }),
		func(t *testing.T, l *landing) {
			assert.Equal(t, "1500m", l.props[l.role.keyLimitCores])
			assertQuantity(t, "1500m", l.role.resources.Limits[corev1.ResourceCPU])
		},
	},
	"Memory": {
		setPod(func(s *v1beta2.SparkPodSpec) { s.Memory = new("2g") }),
		func(t *testing.T, l *landing) { assert.Equal(t, "2g", l.props[l.role.keyMemory]) },
	},
	"MemoryLimit": {
		setPod(func(s *v1beta2.SparkPodSpec) { s.MemoryLimit = new("4g") }),
		func(t *testing.T, l *landing) {
			if l.role.name == Driver {
				assertQuantity(t, "4Gi", l.spark.Resources.Limits[corev1.ResourceMemory])
			} // Spark decides for executors, which Warnings say
		},
	},
	"MemoryOverhead": {
		setPod(func(s *v1beta2.SparkPodSpec) { s.MemoryOverhead = new("1g") }),
		func(t *testing.T, l *landing) {
			assert.Equal(t, "1g", l.props[l.role.keyMemoryOverhead])
			assertQuantity(t, "2Gi", l.role.resources.Requests[corev1.ResourceMemory])
		},
	},
	"GPU": {
		setPod(func(s *v1beta2.SparkPodSpec) { s.GPU = &v1beta2.GPUSpec{Name: "nvidia.com/gpu", Quantity: 2} }),
		func(t *testing.T, l *landing) { assertQuantity(t, "2", l.spark.Resources.Limits["nvidia.com/gpu"]) },
	},
	"Image": {
		setPod(func(s *v1beta2.SparkPodSpec) { s.Image = new("example.com/own:1") }),
		func(t *testing.T, l *landing) {
			assert.Equal(t, "example.com/own:1", l.props[l.role.keyImage])
			if l.role.name == Driver {
				assert.Equal(t, "example.com/own:1", l.spark.Image)
			}
		},
	},
	"ConfigMaps": {
		setPod(func(s *v1beta2.SparkPodSpec) { s.ConfigMaps = []v1beta2.NamePath{{Name: "my.conf", Path: "/etc/my"}} }),
		func(t *testing.T, l *landing) {
			m, v := l.mount("/etc/my")
			require.NotNil(t, v)
			assert.Equal(t, "my.conf", v.ConfigMap.Name)
			assert.True(t, m.ReadOnly)
		},
	},
	"Secrets": {
		setPod(func(s *v1beta2.SparkPodSpec) {
			s.Secrets = []v1beta2.SecretInfo{
				{Name: "key", Path: "/mnt/key", Type: v1beta2.SecretTypeGCPServiceAccount},
				{Name: "token", Path: "/mnt/token/", Type: v1beta2.SecretTypeHadoopDelegationToken},
				{Name: "key", Path: "/mnt/again"},
				{Name: "with.dot", Path: "/mnt/dot"},
			}
		}),
		func(t *testing.T, l *landing) {
			assert.Equal(t, "/mnt/key", l.props[l.role.prefixSecrets+"key"])
			assert.Equal(t, "/mnt/token/", l.props[l.role.prefixSecrets+"token"])
			assert.NotContains(t, l.props, l.role.prefixSecrets+"with.dot", "Spark would name the volume after it, dot and all")
			assert.Equal(t, "/mnt/key/key.json", l.props[l.role.prefixEnv+"GOOGLE_APPLICATION_CREDENTIALS"])
			assert.Equal(t, "/mnt/token/hadoop.token", l.props[l.role.prefixEnv+"HADOOP_TOKEN_FILE_LOCATION"])
			m, _ := l.mount("/mnt/again")
			require.NotNil(t, m)
			assert.Equal(t, "key-volume", m.Name)
			_, v := l.mount("/mnt/dot")
			require.NotNil(t, v)
			assert.Equal(t, "with.dot", v.Secret.SecretName)
			if l.role.name == Driver {
				_, v := l.mount("/mnt/key")
				require.NotNil(t, v)
				assert.Equal(t, "key", v.Secret.SecretName)
				assert.Equal(t, "/mnt/key/key.json", l.env("GOOGLE_APPLICATION_CREDENTIALS").Value)
			}
		},
	},
	"Env": {
		setPod(func(s *v1beta2.SparkPodSpec) {
			s.Env = []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "NODE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}}}
			s.EnvVars = map[string]string{"A": "shadowed"}
		}),
		func(t *testing.T, l *landing) {
			assert.Equal(t, "1", l.env("A").Value)
			assert.Equal(t, "spec.nodeName", l.env("NODE").ValueFrom.FieldRef.FieldPath)
			if l.role.name == Executor {
				assert.NotContains(t, l.props, l.role.prefixEnv+"A", "Spark would append it after the template's and let it win")
			}
		},
	},
	"EnvVars": {
		setPod(func(s *v1beta2.SparkPodSpec) { s.EnvVars = map[string]string{"B": "2"} }),
		func(t *testing.T, l *landing) {
			assert.Equal(t, "2", l.props[l.role.prefixEnv+"B"])
			if l.role.name == Driver {
				assert.Equal(t, "2", l.env("B").Value)
			}
		},
	},
	"EnvFrom": {
		setPod(func(s *v1beta2.SparkPodSpec) {
			s.EnvFrom = []corev1.EnvFromSource{{Prefix: "P_", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}}}}
		}),
		func(t *testing.T, l *landing) {
			require.Len(t, l.spark.EnvFrom, 1)
			assert.Equal(t, "cm", l.spark.EnvFrom[0].ConfigMapRef.Name)
		},
	},
	"EnvSecretKeyRefs": {
		setPod(func(s *v1beta2.SparkPodSpec) {
			s.EnvSecretKeyRefs = map[string]v1beta2.NameKey{"PW": {Name: "db", Key: "password"}}
		}),
		func(t *testing.T, l *landing) {
			assert.Equal(t, "db:password", l.props[l.role.prefixSecretKeyRef+"PW"])
			if l.role.name == Driver {
				ref := l.env("PW").ValueFrom.SecretKeyRef
				assert.Equal(t, "db", ref.Name)
				assert.Equal(t, "password", ref.Key)
			}
		},
	},
	"Labels": {
		setPod(func(s *v1beta2.SparkPodSpec) { s.Labels = map[string]string{"team": "a"} }),
		func(t *testing.T, l *landing) {
			assert.Equal(t, "a", l.props[l.role.prefixLabel+"team"])
			if l.role.name == Driver {
				assert.Equal(t, "a", l.pod.Labels["team"])
			}
		},
	},
	"Annotations": {
		setPod(func(s *v1beta2.SparkPodSpec) { s.Annotations = map[string]string{"note": "x y"} }),
		func(t *testing.T, l *landing) {
			assert.Equal(t, "x y", l.props[l.role.prefixAnnotation+"note"])
			if l.role.name == Driver {
				assert.Equal(t, "x y", l.pod.Annotations["note"])
			}
		},
	},
	"VolumeMounts": {
		func(app *v1beta2.SparkApplication, s *v1beta2.SparkPodSpec) {
			app.Spec.Volumes = []corev1.Volume{
				{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
				{Name: "spark-local-dir-7", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: claimTemplate()}}},
				{Name: "unused"},
			}
			s.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data", SubPath: "x"}, {Name: "spark-local-dir-7", MountPath: "/scratch"}}
		},
		func(t *testing.T, l *landing) {
			m, v := l.mount("/data")
			require.NotNil(t, v)
			assert.Equal(t, "x", m.SubPath)
			assert.NotNil(t, v.EmptyDir)
			_, v = l.mount("/scratch")
			require.NotNil(t, v)
			assert.NotNil(t, v.Ephemeral)
			assert.False(t, slices.ContainsFunc(l.pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == "unused" }))
			if l.role.name == Driver {
				assert.Equal(t, "/scratch", l.env(envSparkLocalDirs).Value)
			}
		},
	},
	"Affinity": {
		setPod(func(s *v1beta2.SparkPodSpec) {
			s.Template = rawJSON(`{"spec":{"affinity":{"podAffinity":{}}}}`)
			s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{}}
		}),
		func(t *testing.T, l *landing) {
			assert.Equal(t, &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{}}, l.pod.Spec.Affinity)
		},
	},
	"Tolerations": {
		setPod(func(s *v1beta2.SparkPodSpec) {
			s.Template = rawJSON(`{"spec":{"tolerations":[{"key":"a","operator":"Exists"}]}}`)
			s.Tolerations = []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists}, {Key: "b", Operator: corev1.TolerationOpExists}}
		}),
		func(t *testing.T, l *landing) {
			assert.Equal(t, []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists}, {Key: "b", Operator: corev1.TolerationOpExists}}, l.pod.Spec.Tolerations)
		},
	},
	"PodSecurityContext": {
		setPod(func(s *v1beta2.SparkPodSpec) {
			s.PodSecurityContext = &corev1.PodSecurityContext{FSGroup: new(int64(185))}
		}),
		func(t *testing.T, l *landing) { assert.Equal(t, int64(185), *l.pod.Spec.SecurityContext.FSGroup) },
	},
	"SecurityContext": {
		setPod(func(s *v1beta2.SparkPodSpec) { s.SecurityContext = &corev1.SecurityContext{RunAsUser: new(int64(185))} }),
		func(t *testing.T, l *landing) { assert.Equal(t, int64(185), *l.spark.SecurityContext.RunAsUser) },
	},
	"SchedulerName": {
		func(app *v1beta2.SparkApplication, s *v1beta2.SparkPodSpec) {
			s.SchedulerName = new("mine")
			withConf("spark.kubernetes.scheduler.name", "other")(app)
		},
		func(t *testing.T, l *landing) {
			assert.Equal(t, "mine", l.pod.Spec.SchedulerName)
			assert.Equal(t, "mine", l.props[l.role.keySchedulerName], "else Spark lets the common property win over the template")
		},
	},
	"Sidecars": {
		setPod(func(s *v1beta2.SparkPodSpec) {
			s.Sidecars = []corev1.Container{{Name: "proxy", Image: "example.com/proxy"}}
		}),
		func(t *testing.T, l *landing) {
			require.Len(t, l.pod.Spec.Containers, 2)
			assert.Equal(t, "proxy", l.pod.Spec.Containers[0].Name)
			assert.Equal(t, l.role.containerName, l.spark.Name)
			assert.Equal(t, l.role.containerName, l.pod.Annotations[AnnotationDefaultContainer])
		},
	},
	"InitContainers": {
		setPod(func(s *v1beta2.SparkPodSpec) {
			s.InitContainers = []corev1.Container{{Name: "init", Image: "example.com/init"}}
		}),
		func(t *testing.T, l *landing) {
			require.Len(t, l.pod.Spec.InitContainers, 1)
			assert.Equal(t, "init", l.pod.Spec.InitContainers[0].Name)
		},
	},
	"HostNetwork": {
		setPod(func(s *v1beta2.SparkPodSpec) { s.HostNetwork = new(true) }),
		func(t *testing.T, l *landing) {
			assert.True(t, l.pod.Spec.HostNetwork)
			assert.Equal(t, corev1.DNSClusterFirstWithHostNet, l.pod.Spec.DNSPolicy)
		},
	},
	"NodeSelector": {
		setPod(func(s *v1beta2.SparkPodSpec) { s.NodeSelector = map[string]string{"disk": "ssd"} }),
		func(t *testing.T, l *landing) {
			assert.Equal(t, "ssd", l.pod.Spec.NodeSelector["disk"])
			assert.Equal(t, "ssd", l.props[l.role.prefixNodeSelector+"disk"])
		},
	},
	"DNSConfig": {
		setPod(func(s *v1beta2.SparkPodSpec) { s.DNSConfig = &corev1.PodDNSConfig{Nameservers: []string{"1.1.1.1"}} }),
		func(t *testing.T, l *landing) {
			assert.Equal(t, []string{"1.1.1.1"}, l.pod.Spec.DNSConfig.Nameservers)
		},
	},
	"TerminationGracePeriodSeconds": {
		func(app *v1beta2.SparkApplication, s *v1beta2.SparkPodSpec) {
			app.Spec.SparkVersion = "4.1.0"
			s.TerminationGracePeriodSeconds = new(int64(77))
		},
		func(t *testing.T, l *landing) {
			assert.Equal(t, int64(77), *l.pod.Spec.TerminationGracePeriodSeconds)
			if l.role.name == Executor {
				assert.Equal(t, "77s", l.props[keyExecutorGracePeriod], "since 4.1 the property wins over the template")
			}
		},
	},
	"ServiceAccount": {
		setPod(func(s *v1beta2.SparkPodSpec) { s.ServiceAccount = new("runner") }),
		func(t *testing.T, l *landing) {
			assert.Equal(t, "runner", l.pod.Spec.ServiceAccountName)
			assert.Equal(t, "runner", l.pod.Spec.DeprecatedServiceAccount, "Spark reads this one only")
			assert.Equal(t, "runner", l.props[l.role.keyServiceAccount])
		},
	},
	"HostAliases": {
		setPod(func(s *v1beta2.SparkPodSpec) {
			s.HostAliases = []corev1.HostAlias{{IP: "10.0.0.1", Hostnames: []string{"db"}}}
		}),
		func(t *testing.T, l *landing) { assert.Equal(t, "10.0.0.1", l.pod.Spec.HostAliases[0].IP) },
	},
	"ShareProcessNamespace": {
		setPod(func(s *v1beta2.SparkPodSpec) { s.ShareProcessNamespace = new(true) }),
		func(t *testing.T, l *landing) { assert.True(t, *l.pod.Spec.ShareProcessNamespace) },
	},
}

// driverFieldCases and executorFieldCases have a row for every field of the role's own.
var driverFieldCases = map[string]fieldCase{
	"PodName": {
		func(app *v1beta2.SparkApplication, _ *v1beta2.SparkPodSpec) {
			app.Spec.Driver.PodName = new("my-driver")
		},
		func(t *testing.T, l *landing) {
			assert.Equal(t, "my-driver", l.pod.Name)
			assert.Equal(t, "my-driver", l.props[keyDriverPodName])
		},
	},
	"CoreRequest": {
		func(app *v1beta2.SparkApplication, _ *v1beta2.SparkPodSpec) {
			app.Spec.Driver.CoreRequest = new("250m")
		},
		func(t *testing.T, l *landing) {
			assertQuantity(t, "250m", l.spark.Resources.Requests[corev1.ResourceCPU])
			assert.Equal(t, "250m", l.props["spark.kubernetes.driver.request.cores"])
		},
	},
	"JavaOptions": {
		func(app *v1beta2.SparkApplication, _ *v1beta2.SparkPodSpec) {
			app.Spec.Driver.JavaOptions = new("-Da=b")
		},
		func(t *testing.T, l *landing) { assert.Equal(t, "-Da=b", l.props["spark.driver.extraJavaOptions"]) },
	},
	"Lifecycle": {
		func(app *v1beta2.SparkApplication, _ *v1beta2.SparkPodSpec) {
			app.Spec.Driver.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 5}}}
		},
		func(t *testing.T, l *landing) { assert.Equal(t, int64(5), l.spark.Lifecycle.PreStop.Sleep.Seconds) },
	},
	"KubernetesMaster": {
		func(app *v1beta2.SparkApplication, _ *v1beta2.SparkPodSpec) {
			app.Spec.Driver.KubernetesMaster = new("https://10.0.0.1")
		},
		func(t *testing.T, l *landing) {
			assert.Equal(t, "https://10.0.0.1", l.props["spark.kubernetes.driver.master"])
		},
	},
	"ServiceAnnotations": {
		func(app *v1beta2.SparkApplication, _ *v1beta2.SparkPodSpec) {
			app.Spec.Driver.ServiceAnnotations = map[string]string{"a": "b"}
		},
		func(t *testing.T, l *landing) {
			assert.Equal(t, "b", l.props["spark.kubernetes.driver.service.annotation.a"])
		},
	},
	"ServiceLabels": {
		func(app *v1beta2.SparkApplication, _ *v1beta2.SparkPodSpec) {
			app.Spec.Driver.ServiceLabels = map[string]string{"c": "d"}
		},
		func(t *testing.T, l *landing) {
			assert.Equal(t, "d", l.props["spark.kubernetes.driver.service.label.c"])
		},
	},
	"Ports": {
		func(app *v1beta2.SparkApplication, _ *v1beta2.SparkPodSpec) {
			app.Spec.Driver.Ports = []v1beta2.Port{{Name: "jmx", Protocol: "tcp", ContainerPort: 9999}}
		},
		func(t *testing.T, l *landing) { assert.Contains(t, l.spark.Ports, containerPort("jmx", 9999)) },
	},
	"PriorityClassName": {
		func(app *v1beta2.SparkApplication, _ *v1beta2.SparkPodSpec) {
			app.Spec.Driver.Template = rawJSON(`{"spec":{"priority":3,"preemptionPolicy":"Never","priorityClassName":"low"}}`)
			app.Spec.Driver.PriorityClassName = new("high")
		},
		func(t *testing.T, l *landing) {
			assert.Equal(t, "high", l.pod.Spec.PriorityClassName)
			assert.Nil(t, l.pod.Spec.Priority)
			assert.Nil(t, l.pod.Spec.PreemptionPolicy)
		},
	},
}

var executorFieldCases = map[string]fieldCase{
	"Instances": {
		func(app *v1beta2.SparkApplication, _ *v1beta2.SparkPodSpec) {
			app.Spec.Executor.Instances = new(int32(8))
		},
		func(t *testing.T, l *landing) { assert.Equal(t, "8", l.props[keyExecutorInstances]) },
	},
	"CoreRequest": {
		func(app *v1beta2.SparkApplication, _ *v1beta2.SparkPodSpec) {
			app.Spec.Executor.CoreRequest = new("250m")
		},
		func(t *testing.T, l *landing) {
			assert.Equal(t, "250m", l.props["spark.kubernetes.executor.request.cores"])
			assertQuantity(t, "250m", l.role.resources.Requests[corev1.ResourceCPU])
		},
	},
	"JavaOptions": {
		func(app *v1beta2.SparkApplication, _ *v1beta2.SparkPodSpec) {
			app.Spec.Executor.JavaOptions = new("-Da=b")
		},
		func(t *testing.T, l *landing) { assert.Equal(t, "-Da=b", l.props["spark.executor.extraJavaOptions"]) },
	},
	"Lifecycle": {
		func(app *v1beta2.SparkApplication, _ *v1beta2.SparkPodSpec) {
			app.Spec.Executor.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 5}}}
		},
		func(t *testing.T, l *landing) { assert.Equal(t, int64(5), l.spark.Lifecycle.PreStop.Sleep.Seconds) },
	},
	"DeleteOnTermination": {
		func(app *v1beta2.SparkApplication, _ *v1beta2.SparkPodSpec) {
			app.Spec.Executor.DeleteOnTermination = new(false)
		},
		func(t *testing.T, l *landing) {
			assert.Equal(t, "false", l.props["spark.kubernetes.executor.deleteOnTermination"])
		},
	},
	"Ports": {
		func(app *v1beta2.SparkApplication, _ *v1beta2.SparkPodSpec) {
			app.Spec.Executor.Ports = []v1beta2.Port{{Name: "jmx", Protocol: "UDP", ContainerPort: 9999}}
		},
		func(t *testing.T, l *landing) {
			assert.Equal(t, []corev1.ContainerPort{{Name: "jmx", Protocol: corev1.ProtocolUDP, ContainerPort: 9999}}, l.spark.Ports)
		},
	},
	"PriorityClassName": {
		func(app *v1beta2.SparkApplication, _ *v1beta2.SparkPodSpec) {
			app.Spec.Executor.Template = rawJSON(`{"spec":{"priority":3,"priorityClassName":"low"}}`)
			app.Spec.Executor.PriorityClassName = new("high")
		},
		func(t *testing.T, l *landing) {
			assert.Equal(t, "high", l.pod.Spec.PriorityClassName)
			assert.Nil(t, l.pod.Spec.Priority)
		},
	},
}

// TestEveryPodFieldLands fails for a field that no row covers, so that a new one can't be forgotten.
func TestEveryPodFieldLands(t *testing.T) {
	assertCovered(t, reflect.TypeFor[v1beta2.SparkPodSpec](), podFieldCases)
	assertCovered(t, reflect.TypeFor[v1beta2.DriverSpec](), driverFieldCases)
	assertCovered(t, reflect.TypeFor[v1beta2.ExecutorSpec](), executorFieldCases)
	run := func(t *testing.T, role Role, c fieldCase) {
		a, o := built(t, func(app *v1beta2.SparkApplication) {
			spec := &app.Spec.Driver.SparkPodSpec
			if role == Executor {
				spec = &app.Spec.Executor.SparkPodSpec
			}
			c.set(app, spec)
		})
		checkObjects(t, o)
		l := &landing{pod: o.Driver, props: o.Properties, role: &a.driver}
		if role == Executor {
			l.pod, l.role = executorPod(t, o), &a.executor
		}
		l.spark = &l.pod.Spec.Containers[len(l.pod.Spec.Containers)-1]
		c.check(t, l)
	}
	for _, role := range []Role{Driver, Executor} {
		for name, c := range podFieldCases {
			t.Run(string(role)+"/"+name, func(t *testing.T) { run(t, role, c) })
		}
	}
	for name, c := range driverFieldCases {
		t.Run("driver's own/"+name, func(t *testing.T) { run(t, Driver, c) })
	}
	for name, c := range executorFieldCases {
		t.Run("executor's own/"+name, func(t *testing.T) { run(t, Executor, c) })
	}
}

func assertCovered[C any](t *testing.T, typ reflect.Type, cases map[string]C) {
	t.Helper()
	names := map[string]bool{}
	for f := range typ.Fields() {
		if !f.Anonymous {
			names[f.Name] = true
			assert.Contains(t, cases, f.Name, "no row covers %s.%s", typ.Name(), f.Name)
		}
	}
	for name := range cases {
		assert.True(t, names[name], "%s has no field %s", typ.Name(), name)
	}
}

type specCase struct {
	edit  func(s *v1beta2.SparkApplicationSpec)
	check func(t *testing.T, a *Application, o *Objects)
}

// elsewhere is for fields that other rows, tests or packages cover.
var elsewhere = specCase{}

func propertyIs(key, want string) func(*testing.T, *Application, *Objects) {
	return func(t *testing.T, _ *Application, o *Objects) { assert.Equal(t, want, o.Properties[key]) }
}

func warns(text string) func(*testing.T, *Application, *Objects) {
	return func(t *testing.T, a *Application, _ *Objects) {
		assert.True(t, slices.ContainsFunc(a.Warnings(), func(w string) bool { return len(w) > len(text) && w[:len(text)] == text }), "%v", a.Warnings())
	}
}

// besides looks at what stands beside an attempt.
func besides(fits func(*SideObjects) bool) func(*testing.T, *Application, *Objects) {
	return func(t *testing.T, a *Application, _ *Objects) {
		o, err := BuildSide(a, besideAttempt(SideSettings{UIService: true}))
		require.NoError(t, err)
		assert.True(t, fits(o), "%+v", o)
	}
}

var specFieldCases = map[string]specCase{
	"Suspend": elsewhere, "RestartPolicy": elsewhere, "TimeToLiveSeconds": elsewhere, // the controller's
	"BatchScheduler": elsewhere, "BatchSchedulerOptions": elsewhere, "Scheduling": elsewhere, // the scheduling rules'
	"Driver": elsewhere, "Executor": elsewhere, "DynamicAllocation": elsewhere, "Deps": elsewhere, "Mode": elsewhere, "Volumes": elsewhere,
	"Type": {func(s *v1beta2.SparkApplicationSpec) { s.Type = v1beta2.RApplicationType }, warns(`spec.type: "R" has no effect`)},
	"SparkVersion": {func(s *v1beta2.SparkApplicationSpec) { s.SparkVersion = "3.5.1" }, func(t *testing.T, _ *Application, o *Objects) {
		assert.Equal(t, "3.5.1", o.Driver.Labels[LabelSparkVersion])
	}},
	"ProxyUser": {func(s *v1beta2.SparkApplicationSpec) { s.ProxyUser = new("alice") }, func(t *testing.T, _ *Application, o *Objects) {
		assert.Equal(t, []string{"driver", "--proxy-user", "alice", "--properties-file"}, o.Driver.Spec.Containers[0].Args[:4])
	}},
	"Image": {func(s *v1beta2.SparkApplicationSpec) { s.Image = new("i:1") }, func(t *testing.T, _ *Application, o *Objects) {
		assert.Equal(t, "i:1", o.Driver.Spec.Containers[0].Image)
		assert.Equal(t, "i:1", o.Properties[keyImage])
		assert.Equal(t, "i:1", o.Properties["spark.kubernetes.executor.container.image"])
	}},
	"ImagePullPolicy": {func(s *v1beta2.SparkApplicationSpec) { s.ImagePullPolicy = new("Never") }, func(t *testing.T, _ *Application, o *Objects) {
		assert.Equal(t, corev1.PullNever, o.Driver.Spec.Containers[0].ImagePullPolicy)
		assert.Equal(t, "Never", o.Properties[keyImagePullPolicy])
	}},
	"ImagePullSecrets": {func(s *v1beta2.SparkApplicationSpec) { s.ImagePullSecrets = []string{"a", "b"} }, func(t *testing.T, _ *Application, o *Objects) {
		assert.Equal(t, []corev1.LocalObjectReference{{Name: "a"}, {Name: "b"}}, o.Driver.Spec.ImagePullSecrets)
		assert.Equal(t, "a,b", o.Properties[keyImagePullSecrets])
	}},
	"MainClass": {func(s *v1beta2.SparkApplicationSpec) { s.MainClass = new("a.B") }, func(t *testing.T, _ *Application, o *Objects) {
		assert.Equal(t, []string{"driver", "--properties-file", propertiesFile, "--class", "a.B", "local:///opt/app.jar"}, o.Driver.Spec.Containers[0].Args)
	}},
	"MainApplicationFile": {func(s *v1beta2.SparkApplicationSpec) { s.MainApplicationFile = new("s3a://b/x.jar") }, propertyIs(keyJars, "s3a://b/x.jar")},
	"Arguments": {func(s *v1beta2.SparkApplicationSpec) { s.Arguments = []string{"--a", "", "b c"} }, func(t *testing.T, _ *Application, o *Objects) {
		assert.Equal(t, []string{"--a", "", "b c"}, o.Driver.Spec.Containers[0].Args[6:])
	}},
	"SparkConf":  {func(s *v1beta2.SparkApplicationSpec) { s.SparkConf = map[string]string{"spark.x": "y"} }, propertyIs("spark.x", "y")},
	"HadoopConf": {func(s *v1beta2.SparkApplicationSpec) { s.HadoopConf = map[string]string{"fs.x": "y"} }, propertyIs("spark.hadoop.fs.x", "y")},
	"SparkConfigMap": {func(s *v1beta2.SparkApplicationSpec) { s.SparkConfigMap = new("conf") }, func(t *testing.T, a *Application, o *Objects) {
		assertConfigMap(t, a, o, "conf", "/etc/spark/conf", "spark-configmap-volume", "SPARK_CONF_DIR")
	}},
	"HadoopConfigMap": {func(s *v1beta2.SparkApplicationSpec) { s.HadoopConfigMap = new("conf") }, func(t *testing.T, a *Application, o *Objects) {
		assertConfigMap(t, a, o, "conf", "/etc/hadoop/conf", "hadoop-configmap-volume", "HADOOP_CONF_DIR")
	}},
	"NodeSelector": {func(s *v1beta2.SparkApplicationSpec) { s.NodeSelector = map[string]string{"zone": "a"} }, func(t *testing.T, _ *Application, o *Objects) {
		assert.Equal(t, "a", o.Driver.Spec.NodeSelector["zone"])
		assert.Equal(t, "a", o.Properties["spark.kubernetes.node.selector.zone"])
	}},
	"FailureRetries":       {func(s *v1beta2.SparkApplicationSpec) { s.FailureRetries = new(int32(3)) }, warns("spec.failureRetries: 3 has no effect")},
	"RetryInterval":        {func(s *v1beta2.SparkApplicationSpec) { s.RetryInterval = new(int64(3)) }, warns("spec.retryInterval: 3 has no effect")},
	"PythonVersion":        {func(s *v1beta2.SparkApplicationSpec) { s.PythonVersion = new("3") }, propertyIs(keyPythonVersion, "3")},
	"MemoryOverheadFactor": {func(s *v1beta2.SparkApplicationSpec) { s.MemoryOverheadFactor = new("0.25") }, propertyIs(keyMemoryOverheadFactor, "0.25")},
	"Monitoring":           {func(s *v1beta2.SparkApplicationSpec) { s.Monitoring = &v1beta2.MonitoringSpec{} }, warns("spec.monitoring: has no effect")},
	"SparkUIOptions": {func(s *v1beta2.SparkApplicationSpec) {
		s.SparkUIOptions = &v1beta2.SparkUIConfiguration{ServicePort: new(int32(81))}
	}, besides(func(o *SideObjects) bool { return o.UI.ServicePort == 81 })},
	"DriverIngressOptions": {func(s *v1beta2.SparkApplicationSpec) {
		s.DriverIngressOptions = []v1beta2.DriverIngressConfiguration{{ServicePort: new(int32(82)), IngressURLFormat: "x.example.com"}}
	}, besides(func(o *SideObjects) bool { return len(o.Ingresses) == 1 })},
	"DriverPodDisruptionBudget": {func(s *v1beta2.SparkApplicationSpec) { s.DriverPodDisruptionBudget = new(true) }, besides(func(o *SideObjects) bool { return o.PodDisruptionBudget != nil })},
}

func assertConfigMap(t *testing.T, a *Application, o *Objects, name, dir, volume, env string) {
	t.Helper()
	for _, pod := range []*corev1.Pod{o.Driver, executorPod(t, o)} {
		l := &landing{pod: pod, spark: &pod.Spec.Containers[0], role: &a.driver}
		m, v := l.mount(dir)
		require.NotNil(t, v)
		assert.Equal(t, volume, v.Name)
		assert.True(t, m.ReadOnly)
		assert.Equal(t, name, v.ConfigMap.Name)
		if pod == o.Driver {
			assert.Equal(t, dir, l.env(env).Value)
		}
	}
	assert.Equal(t, dir, o.Properties["spark.executorEnv."+env], "only a property wins over the variable that Spark sets")
}

var dependencyCases = map[string]specCase{
	"Jars":            {func(s *v1beta2.SparkApplicationSpec) { s.Deps.Jars = []string{"s3a://b/a.jar", "local:///b.jar"} }, propertyIs(keyJars, "s3a://b/a.jar,local:///b.jar,local:///opt/app.jar")},
	"Files":           {func(s *v1beta2.SparkApplicationSpec) { s.Deps.Files = []string{"https://x/a", "local:///b"} }, propertyIs(keyFiles, "https://x/a,local:///b")},
	"PyFiles":         {func(s *v1beta2.SparkApplicationSpec) { s.Deps.PyFiles = []string{"https://x/a.zip"} }, propertyIs(keyPyFiles, "https://x/a.zip")},
	"Archives":        {func(s *v1beta2.SparkApplicationSpec) { s.Deps.Archives = []string{"s3a://b/env.tgz#env"} }, propertyIs(keyArchives, "s3a://b/env.tgz#env")},
	"ExcludePackages": {func(s *v1beta2.SparkApplicationSpec) { s.Deps.ExcludePackages = []string{"a:b"} }, propertyIs(keyExcludePackages, "a:b")},
	"Repositories":    {func(s *v1beta2.SparkApplicationSpec) { s.Deps.Repositories = []string{"https://r"} }, propertyIs(keyRepositories, "https://r")},
	"Packages": {func(s *v1beta2.SparkApplicationSpec) { s.Deps.Packages = []string{"a:b:1", "c:d:2"} }, func(t *testing.T, _ *Application, o *Objects) {
		assert.Equal(t, "a:b:1,c:d:2", o.Properties[keyPackages])
		assert.Equal(t, "/tmp/.ivy2", o.Properties[keyIvy])
	}},
}

func dynamicAllocationCase(set func(d *v1beta2.DynamicAllocation), key, want string) specCase {
	return specCase{func(s *v1beta2.SparkApplicationSpec) {
		s.DynamicAllocation = &v1beta2.DynamicAllocation{Enabled: true}
		set(s.DynamicAllocation)
	}, propertyIs(key, want)}
}

var dynamicAllocationCases = map[string]specCase{
	"Enabled":                dynamicAllocationCase(func(*v1beta2.DynamicAllocation) {}, keyDynamicEnabled, "true"),
	"InitialExecutors":       dynamicAllocationCase(func(d *v1beta2.DynamicAllocation) { d.InitialExecutors = new(int32(2)) }, keyDynamicInitial, "2"),
	"MinExecutors":           dynamicAllocationCase(func(d *v1beta2.DynamicAllocation) { d.MinExecutors = new(int32(2)) }, keyDynamicMin, "2"),
	"MaxExecutors":           dynamicAllocationCase(func(d *v1beta2.DynamicAllocation) { d.MaxExecutors = new(int32(2)) }, keyDynamicMax, "2"),
	"ShuffleTrackingEnabled": dynamicAllocationCase(func(d *v1beta2.DynamicAllocation) { d.ShuffleTrackingEnabled = new(false) }, keyShuffleTrackingEnabled, "false"),
	"ShuffleTrackingTimeout": dynamicAllocationCase(func(d *v1beta2.DynamicAllocation) { d.ShuffleTrackingTimeout = new(int64(60000)) }, keyShuffleTrackingTimeout, "60000"),
}

func TestEveryFieldOfTheSpecLands(t *testing.T) {
	assertCovered(t, reflect.TypeFor[v1beta2.SparkApplicationSpec](), specFieldCases)
	assertCovered(t, reflect.TypeFor[v1beta2.Dependencies](), dependencyCases)
	assertCovered(t, reflect.TypeFor[v1beta2.DynamicAllocation](), dynamicAllocationCases)
	for _, cases := range []map[string]specCase{specFieldCases, dependencyCases, dynamicAllocationCases} {
		for name, c := range cases {
			if c.edit == nil {
				continue
			}
			t.Run(name, func(t *testing.T) {
				a, o := built(t, func(app *v1beta2.SparkApplication) { c.edit(&app.Spec) })
				checkObjects(t, o)
				c.check(t, a, o)
			})
		}
	}
}

func TestLabelsOfTheApplication(t *testing.T) {
	a, o := built(t, func(app *v1beta2.SparkApplication) {
		app.Labels = map[string]string{"team": "a", "version": "1", "kueue.x-k8s.io/queue-name": "q", LabelScheduledAppName: "nightly"}
		app.Annotations = map[string]string{"not": "copied"}
		app.Spec.Driver.Labels = map[string]string{"version": "2", LabelAppName: "other", LabelSubmissionID: "other"}
	})
	checkObjects(t, o)
	assert.Equal(t, map[string]string{
		"team": "a", "version": "2", LabelScheduledAppName: "nightly",
		LabelAppName: "spark-pi", LabelSubmissionID: testSubmissionID, LabelLaunchedBy: "true", LabelMutatedBy: "true",
		LabelSparkRole: "driver", LabelSparkVersion: "4.0.1", LabelSparkAppName: "spark-pi", LabelSparkAppSelector: "spark-0f8fad5bd9cb469fa16570867728950e",
	}, o.Driver.Labels)
	assert.Empty(t, o.Driver.Annotations)
	assert.Equal(t, "1", o.Properties["spark.kubernetes.executor.label.version"])
	assert.Equal(t, testSubmissionID, o.Properties["spark.kubernetes.executor.label."+LabelSubmissionID])
	assert.NotContains(t, o.Properties, "spark.kubernetes.executor.label.kueue.x-k8s.io/queue-name")
	warns("spec.driver.labels["+LabelAppName+"]: the value \"other\" has no effect")(t, a, o)
	warns("spec.driver.labels["+LabelSubmissionID+"]: the value \"other\" has no effect")(t, a, o)
}

func TestQuantityOfRequestsIsKept(t *testing.T) {
	_, o := built(t, driverTemplate(`{"spec":{"containers":[{"name":"x","resources":{"requests":{"ephemeral-storage":"1Gi","cpu":"7"},"limits":{"ephemeral-storage":"2Gi"}}}]}}`))
	spark := o.Driver.Spec.Containers[0]
	assert.Equal(t, "x", spark.Name)
	assertQuantity(t, "1Gi", spark.Resources.Requests[corev1.ResourceEphemeralStorage])
	assertQuantity(t, "2Gi", spark.Resources.Limits[corev1.ResourceEphemeralStorage])
	want := resource.MustParse("1")
	got := spark.Resources.Requests[corev1.ResourceCPU]
	assert.Zero(t, want.Cmp(got), "the template's cores are replaced")
}
