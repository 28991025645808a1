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
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// claimTemplate is the smallest claim of an ephemeral volume.
func claimTemplate() *corev1.PersistentVolumeClaimTemplate {
	return &corev1.PersistentVolumeClaimTemplate{Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		},
	}}
}

// podRuleCases are fields of either role as a user writes them, with the path below the role at which they are refused;
// none for those that a cluster takes. Every row was tried with a real API server.
var podRuleCases = []struct{ spec, path string }{
	{`{"tolerations":[{"key":"a","operator":"Wrong","effect":"NoSchedule"}]}`, "tolerations[0].operator"},
	{`{"tolerations":[{"operator":"Equal"}]}`, "tolerations[0].operator"},
	{`{"tolerations":[{}]}`, "tolerations[0].operator"},
	{`{"tolerations":[null]}`, "tolerations[0].operator"},
	{`{"tolerations":[{"key":"a b","operator":"Exists"}]}`, "tolerations[0].key"},
	{`{"tolerations":[{"key":"a","operator":"Exists","value":"x"}]}`, "tolerations[0].value"},
	{`{"tolerations":[{"key":"a","operator":"Exists","effect":"NoSchedule","tolerationSeconds":5}]}`, "tolerations[0].effect"},
	{`{"tolerations":[{"key":"a","effect":"Nope"}]}`, "tolerations[0].effect"},
	{`{"tolerations":[{"operator":"Exists"},{"key":"a","value":"b","effect":"NoExecute","tolerationSeconds":5}]}`, ""},
	{`{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[]}}}}`, "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"},
	{`{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In"}]}]}}}}`, "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values"},
	{`{"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":200,"preference":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}]}}}`, "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight"},
	{`{"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchLabels":{"a":"b"}}}]}}}`, "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey"},
	{`{"affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":0,"podAffinityTerm":{"topologyKey":"x"}}]}}}`, "affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight"},
	{`{"affinity":{}}`, ""},
	{`{"hostAliases":[{"ip":"x","hostnames":["a"]}]}`, "hostAliases[0].ip"},
	{`{"hostAliases":[{"ip":"1.2.3.4","hostnames":["A_b"]}]}`, "hostAliases[0].hostnames[0]"},
	{`{"dnsConfig":{"nameservers":["x"]}}`, "dnsConfig.nameservers[0]"},
	{`{"dnsConfig":{"nameservers":["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"]}}`, "dnsConfig.nameservers"},
	{`{"dnsConfig":{"searches":["a b"]}}`, "dnsConfig.searches[0]"},
	{`{"dnsConfig":{"options":[{}]}}`, "dnsConfig.options[0].name"},
	{`{"podSecurityContext":{"runAsUser":-1}}`, "podSecurityContext.runAsUser"},
	{`{"podSecurityContext":{"supplementalGroups":[-1]}}`, "podSecurityContext.supplementalGroups[0]"},
	{`{"podSecurityContext":{"seccompProfile":{"type":"Localhost"}}}`, "podSecurityContext.seccompProfile.localhostProfile"},
	{`{"podSecurityContext":{"sysctls":[{"name":"x y","value":"1"}]}}`, "podSecurityContext.sysctls[0].name"},
	{`{"podSecurityContext":{"fsGroupChangePolicy":"Maybe"}}`, "podSecurityContext.fsGroupChangePolicy"},
	{`{"securityContext":{"privileged":true,"allowPrivilegeEscalation":false}}`, "securityContext.allowPrivilegeEscalation"},
	{`{"securityContext":{"runAsNonRoot":true,"runAsUser":0}}`, "securityContext.runAsUser"},
	{`{"securityContext":{"seccompProfile":{"type":"X"}}}`, "securityContext.seccompProfile.type"},
	{`{"securityContext":{"capabilities":{"add":["SYS_ADMIN"]},"allowPrivilegeEscalation":false}}`, ""},
	{`{"lifecycle":{"preStop":{}}}`, "lifecycle.preStop"},
	{`{"lifecycle":{"preStop":{"exec":{}}}}`, "lifecycle.preStop.exec.command"},
	{`{"lifecycle":{"preStop":{"exec":{"command":["x"]},"httpGet":{"port":80}}}}`, "lifecycle.preStop"},
	{`{"lifecycle":{"postStart":{"httpGet":{"port":"no_port!"}}}}`, "lifecycle.postStart.httpGet.port"},
	{`{"lifecycle":{"preStop":{"sleep":{"seconds":31}}}}`, "lifecycle.preStop.sleep.seconds"},
	{`{"lifecycle":{"preStop":{"sleep":{"seconds":31}}},"terminationGracePeriodSeconds":60}`, ""},
	{`{"env":[{"name":""}]}`, "env[0].name"},
	{`{"env":[{"name":"A","value":"x","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]}`, "env[0].valueFrom"},
	{`{"env":[{"name":"A","valueFrom":{}}]}`, "env[0].valueFrom"},
	{`{"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"nope"}}}]}`, "env[0].valueFrom.fieldRef.fieldPath"},
	{`{"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['a']"}}}]}`, ""},
	{`{"env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"s"}}}]}`, "env[0].valueFrom.secretKeyRef.key"},
	{`{"env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"Bad Name","key":"k"}}}]}`, "env[0].valueFrom.configMapKeyRef.name"},
	{`{"env":[{"name":"A","valueFrom":{"resourceFieldRef":{"resource":"limits.foo"}}}]}`, "env[0].valueFrom.resourceFieldRef.resource"},
	{`{"env":[{"name":"A","value":"a\u0000b"}]}`, "env[0].value"},
	{`{"envFrom":[{}]}`, "envFrom[0]"},
	{`{"envFrom":[{"configMapRef":{"name":"a"},"secretRef":{"name":"b"}}]}`, "envFrom[0]"},
	{`{"envFrom":[{"secretRef":{"name":"B_B"}}]}`, "envFrom[0].secretRef.name"},
	{`{"envFrom":[{"prefix":"1=","secretRef":{"name":"b"}}]}`, "envFrom[0].prefix"},
	{`{"envVars":{"":"x"}}`, "envVars[]"},
	{`{"labels":{"":"x"}}`, "labels[]"},
	{`{"gpu":{"name":"requests.nvidia.com/gpu","quantity":1}}`, "gpu.name"},
	{`{"image":"a b"}`, "image"},
	{`{"image":"${IMAGE}"}`, "image"},
	{`{"image":"<your image>"}`, "image"},
	{`{"image":"Spark"}`, "image"},
	{`{"image":"registry.example.com/Team/spark:1"}`, "image"},
	{`{"image":"spark:"}`, "image"},
	{`{"image":"/spark"}`, "image"},
	{`{"image":"https://registry.example.com/spark:1"}`, "image"},
	{`{"image":"spark@sha256:abc"}`, "image"},
	{`{"sidecars":[{"name":"s","image":"x:y:z"}]}`, "sidecars[0].image"},
	{`{"image":"Registry/spark"}`, ""},
	{`{"image":"localhost:5000/a/b_c/d-e.f__g:v1.2-x_Y@sha256:0123456789abcdef0123456789abcdef"}`, ""},
	{`{"image":"[::1]:5000/spark"}`, ""},
	{`{"image":"spark:{{SPARK_VERSION}}"}`, ""},
	{`{"javaOptions":"-Xmx2g"}`, "javaOptions"},
	{`{"sidecars":[{"name":"s","image":" x"}]}`, "sidecars[0].image"},
	{`{"sidecars":[{"name":"s","image":"x","imagePullPolicy":"X"}]}`, "sidecars[0].imagePullPolicy"},
	{`{"sidecars":[{"name":"s","image":"x","ports":[{"containerPort":0}]}]}`, "sidecars[0].ports[0].containerPort"},
	{`{"sidecars":[{"name":"s","image":"x","volumeMounts":[{"name":"none","mountPath":"/x"}]}]}`, "sidecars[0].volumeMounts[0].name"},
	{`{"sidecars":[{"name":"s","image":"x","volumeMounts":[{"name":"spark-local-dir-1","mountPath":"/x"}]}]}`, ""},
	{`{"sidecars":[{"name":"s","image":"x","resources":{"requests":{"cpu":"2"},"limits":{"cpu":"1"}}}]}`, "sidecars[0].resources.requests[cpu]"},
	{`{"sidecars":[{"name":"s","image":"x","resources":{"requests":{"foo":"1"}}}]}`, "sidecars[0].resources.requests[foo]"},
	{`{"sidecars":[{"name":"s","image":"x","resources":{"requests":{"nvidia.com/gpu":"1"}}}]}`, "sidecars[0].resources.limits[nvidia.com/gpu]"},
	{`{"sidecars":[{"name":"s","image":"x","livenessProbe":{}}]}`, "sidecars[0].livenessProbe"},
	{`{"sidecars":[{"name":"s","image":"x","terminationMessagePolicy":"X"}]}`, "sidecars[0].terminationMessagePolicy"},
	{`{"sidecars":[{"name":"s","image":"x","readinessProbe":{"httpGet":{"port":80}}}]}`, ""},
	{`{"initContainers":[{"name":"s","image":"x","lifecycle":{"preStop":{"exec":{"command":["x"]}}}}]}`, "initContainers[0].lifecycle"},
	{`{"initContainers":[{"name":"s","image":"x","restartPolicy":"Nope"}]}`, "initContainers[0].restartPolicy"},
	{`{"initContainers":[{"name":"s","image":"x","restartPolicy":"Always","livenessProbe":{"exec":{"command":["x"]}}}]}`, ""},
	{`{"configMaps":[{"name":"c","path":"/opt/spark/conf/"}]}`, "configMaps[0].path"},
	{`{"configMaps":[{"name":"c","path":"/"}]}`, "configMaps[0].path"},
	{`{"secrets":[{"name":"s","path":"/x/","secretType":"Generic"},{"name":"t","path":"/x","secretType":"Generic"}]}`, "secrets[1].path"},
	{`{"template":{"metadata":{"finalizers":["x"]}}}`, "template.metadata.finalizers[0]"},
	{`{"template":{"spec":{"activeDeadlineSeconds":0}}}`, "template.spec.activeDeadlineSeconds"},
	{`{"template":{"spec":{"dnsPolicy":"None"}}}`, "template.spec.dnsConfig.nameservers"},
	{`{"template":{"spec":{"dnsPolicy":"None"}},"dnsConfig":{"nameservers":["1.1.1.1"]}}`, ""},
	{`{"template":{"spec":{"hostname":"A_B"}}}`, "template.spec.hostname"},
	{`{"template":{"spec":{"ephemeralContainers":[{"name":"x","image":"y"}]}}}`, "template.spec.ephemeralContainers"},
	{`{"template":{"spec":{"topologySpreadConstraints":[{"maxSkew":0,"topologyKey":"x","whenUnsatisfiable":"DoNotSchedule"}]}}}`, "template.spec.topologySpreadConstraints[0].maxSkew"},
	{`{"template":{"spec":{"resourceClaims":[{"name":"x"}]}}}`, "template.spec.resourceClaims[0]"},
	{`{"template":{"spec":{"hostPID":true,"shareProcessNamespace":true}}}`, "template.spec.hostPID"},
	{`{"template":{"spec":{"hostUsers":false}},"hostNetwork":true}`, "template.spec.hostUsers"},
	{`{"template":{"spec":{"securityContext":{"runAsUser":-3}}}}`, "template.spec.securityContext.runAsUser"},
	{`{"template":{"spec":{"securityContext":{"runAsUser":-3}}},"podSecurityContext":{"runAsUser":3}}`, ""},
	{`{"template":{"spec":{"volumes":[{"name":"x","configMap":{}}]}}}`, "template.spec.volumes[0].configMap.name"},
	{`{"template":{"spec":{"containers":[{"volumeMounts":[{"name":"nope","mountPath":"/x"}]}]}}}`, "template.spec.containers[0].volumeMounts[0].name"},
	{`{"template":{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":0}}}]}}}`, "template.spec.containers[0].livenessProbe.httpGet.port"},
	{`{"template":{"spec":{"containers":[{"ports":[{"containerPort":80,"hostPort":99999}]}]}}}`, "template.spec.containers[0].ports[0].hostPort"},
	{`{"template":{"spec":{"containers":[{"resources":{"requests":{"cpu":"5"}}}]}}}`, ""},
	{`{"template":{"spec":{"containers":[{"resources":{"requests":{"nvidia.com/gpu":"1"}}}]}}}`, "template.spec.containers[0].resources.limits[nvidia.com/gpu]"},
	{`{"template":{"metadata":{"name":"x","creationTimestamp":null},"spec":{"restartPolicy":"Always","terminationGracePeriodSeconds":-5}}}`, ""},
}

func TestPodRules(t *testing.T) {
	for _, c := range podRuleCases {
		for _, role := range []Role{Driver, Executor} {
			t.Run(string(role)+"/"+c.spec, func(t *testing.T) {
				app := newApp()
				var into any = &app.Spec.Driver
				if role == Executor {
					into = &app.Spec.Executor
				}
				require.NoError(t, json.Unmarshal([]byte(c.spec), into))
				_, errs := Resolve(app, testSpecPath)
				if c.path == "" {
					assert.Empty(t, errs)
					return
				}
				assertErrorAt(t, errs, "spec."+string(role)+"."+c.path)
			})
		}
	}
}

func assertErrorAt(t *testing.T, errs field.ErrorList, path string) {
	t.Helper()
	var found []string
	for _, e := range errs {
		if e.Field == path {
			return
		}
		found = append(found, e.Error())
	}
	assert.Fail(t, "missing error", "want one at %s, got %q", path, found)
}

func TestVolumeRules(t *testing.T) {
	for _, c := range []struct{ source, path string }{
		{`{}`, ""},
		{`{"hostPath":{}}`, "hostPath.path"},
		{`{"hostPath":{"path":"/a/../b"}}`, "hostPath.path"},
		{`{"hostPath":{"path":"/a","type":"X"}}`, "hostPath.type"},
		{`{"nfs":{"server":"s"}}`, "nfs.path"},
		{`{"persistentVolumeClaim":{"claimName":""}}`, "persistentVolumeClaim.claimName"},
		{`{"configMap":{}}`, "configMap.name"},
		{`{"configMap":{"name":"c","defaultMode":5000}}`, "configMap.defaultMode"},
		{`{"configMap":{"name":"c","items":[{"key":"k","path":"../x"}]}}`, "configMap.items[0].path"},
		{`{"secret":{"secretName":"s","items":[{"path":"x"}]}}`, "secret.items[0].key"},
		{`{"secret":{}}`, "secret.secretName"},
		{`{"emptyDir":{"sizeLimit":"-1"}}`, "emptyDir.sizeLimit"},
		{`{"csi":{}}`, "csi.driver"},
		{`{"image":{}}`, "image.reference"},
		{`{"downwardAPI":{"items":[{"path":"x"}]}}`, "downwardAPI.items[0]"},
		{`{"ephemeral":{}}`, "ephemeral.volumeClaimTemplate"},
		{`{"ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"]}}}}`, "ephemeral.volumeClaimTemplate.spec.resources.requests[storage]"},
		{`{"ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}}}`, ""},
		{`{"projected":{"sources":[{"secret":{"name":"a"},"configMap":{"name":"b"}}]}}`, "projected.sources[0]"},
		{`{"projected":{"sources":[{"serviceAccountToken":{"path":"t","expirationSeconds":5}}]}}`, "projected.sources[0].serviceAccountToken.expirationSeconds"},
		{`{"projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}}`, ""},
	} {
		t.Run(c.source, func(t *testing.T) {
			app := newApp(func(app *v1beta2.SparkApplication) {
				volume := corev1.Volume{Name: "v"}
				require.NoError(t, json.Unmarshal([]byte(c.source), &volume.VolumeSource))
				app.Spec.Volumes = []corev1.Volume{volume}
				app.Spec.Executor.VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
			})
			_, errs := Resolve(app, testSpecPath)
			if c.path == "" {
				assert.Empty(t, errs)
				return
			}
			assertErrorAt(t, errs, "spec.volumes[0]."+c.path)
		})
	}
}

func TestLaunchRules(t *testing.T) {
	spec := func(change func(*v1beta2.SparkApplicationSpec)) func(*v1beta2.SparkApplication) {
		return func(app *v1beta2.SparkApplication) { change(&app.Spec) }
	}
	for name, c := range map[string]struct {
		edit func(*v1beta2.SparkApplication)
		path string
	}{
		"NUL in an argument":         {spec(func(s *v1beta2.SparkApplicationSpec) { s.Arguments = []string{"a\x00b"} }), "spec.arguments[0]"},
		"class with a blank":         {spec(func(s *v1beta2.SparkApplicationSpec) { s.MainClass = new("a.B ") }), "spec.mainClass"},
		"an option as class":         {spec(func(s *v1beta2.SparkApplicationSpec) { s.MainClass = new("-x") }), "spec.mainClass"},
		"a blank class":              {spec(func(s *v1beta2.SparkApplicationSpec) { s.MainClass = new(" ") }), "spec.mainClass"},
		"a file with a blank":        {spec(func(s *v1beta2.SparkApplicationSpec) { s.MainApplicationFile = new("local:///a b.jar") }), "spec.mainApplicationFile"},
		"no file at all":             {spec(func(s *v1beta2.SparkApplicationSpec) { s.MainApplicationFile = new("local://x.jar") }), "spec.mainApplicationFile"},
		"package":                    {spec(func(s *v1beta2.SparkApplicationSpec) { s.Deps.Packages = []string{"a:b:1", "a:b"} }), "spec.deps.packages[1]"},
		"package by conf":            {withConf("spark.jars.packages", "a:b:1,c"), "spec.sparkConf[spark.jars.packages]"},
		"exclusion":                  {spec(func(s *v1beta2.SparkApplicationSpec) { s.Deps.ExcludePackages = []string{"a:b:1"} }), "spec.deps.excludePackages[0]"},
		"properties in java options": {withConf("spark.executor.extraJavaOptions", "-Dspark.x=y"), "spec.sparkConf[spark.executor.extraJavaOptions]"},
		"heap in java options":       {withConf("spark.driver.defaultJavaOptions", "-Xmx1g"), "spec.sparkConf[spark.driver.defaultJavaOptions]"},
		"task CPUs":                  {withConf("spark.task.cpus", "4"), "spec.sparkConf[spark.task.cpus]"},
		"batch size":                 {withConf("spark.kubernetes.allocation.batch.size", "0"), "spec.sparkConf[spark.kubernetes.allocation.batch.size]"},
		"IP families":                {withConf("spark.kubernetes.driver.service.ipFamilies", "IPv4,IPv6"), "spec.sparkConf[spark.kubernetes.driver.service.ipFamilies]"},
		"one local folder twice":     {withConf("spark.local.dir", "/a,/a"), "spec.sparkConf[spark.local.dir]"},
		"annotations": {spec(func(s *v1beta2.SparkApplicationSpec) {
			s.Executor.Annotations = map[string]string{"a": strings.Repeat("x", 300_000)}
		}), "spec.executor.annotations"},
		"shuffle tracking": {spec(func(s *v1beta2.SparkApplicationSpec) {
			s.DynamicAllocation = &v1beta2.DynamicAllocation{Enabled: true, ShuffleTrackingTimeout: new(int64(-5))}
		}), "spec.dynamicAllocation.shuffleTrackingTimeout"},
	} {
		t.Run(name, func(t *testing.T) {
			_, errs := Resolve(newApp(c.edit), testSpecPath)
			assertErrorAt(t, errs, c.path)
			for _, e := range errs {
				assert.NotContains(t, e.Field, "nil", "every error names a field")
			}
		})
	}
	_, errs := Resolve(newApp(withConf(
		"spark.kubernetes.driver.service.ipFamilies", "IPv4,IPv6", "spark.kubernetes.driver.service.ipFamilyPolicy", "PreferDualStack",
		"spark.jars.packages", "a:b:1, c/d:2", "spark.task.cpus", "1")), testSpecPath)
	assert.Empty(t, errs)
}

// A namespace in a template would make Spark's client refuse to create the executors.
func TestTemplateMetadataIsCleaned(t *testing.T) {
	const text = `{"metadata":{"name":"x","namespace":"other","labels":{"a":"b"},"somethingNew":1}}`
	a, o := built(t, driverTemplate(text), executorTemplateOf(text))
	assert.Equal(t, map[string]any{"labels": map[string]any{"a": "b"}, "somethingNew": int64(1)}, o.ExecutorTemplate["metadata"])
	assert.Equal(t, "jobs", o.Driver.Namespace)
	assert.Contains(t, strings.Join(a.Warnings(), "\n"), `spec.executor.template.metadata.namespace: "other" has no effect`)
}

func TestLocalFileOfAHost(t *testing.T) {
	a, errs := Resolve(newApp(func(app *v1beta2.SparkApplication) { app.Spec.MainApplicationFile = new("local://opt/spark/a.jar") }), testSpecPath)
	require.Empty(t, errs)
	assert.Contains(t, strings.Join(a.Warnings(), "\n"), "write local:///opt/spark/a.jar")
}

func TestLongArgumentIsWarnedOf(t *testing.T) {
	a, errs := Resolve(newApp(func(app *v1beta2.SparkApplication) {
		app.Spec.Arguments = []string{strings.Repeat("x", maxArgument), strings.Repeat("x", maxArgument+1)}
	}), testSpecPath)
	require.Empty(t, errs)
	require.Len(t, a.Warnings(), 1)
	assert.Contains(t, a.Warnings()[0], "spec.arguments[1]")
}
