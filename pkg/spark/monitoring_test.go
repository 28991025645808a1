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
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func monitoredBy(m v1beta2.MonitoringSpec) func(*v1beta2.SparkApplication) {
	return func(app *v1beta2.SparkApplication) { app.Spec.Monitoring = &m }
}

func TestPrometheusAgent(t *testing.T) {
	a, o := built(t, monitoredBy(v1beta2.MonitoringSpec{
		ExposeDriverMetrics: true, ExposeExecutorMetrics: true,
		Prometheus: &v1beta2.PrometheusSpec{JmxExporterJar: "/opt/agent.jar"},
	}), func(app *v1beta2.SparkApplication) { app.Spec.Driver.JavaOptions = new("-Dx=1") },
		withConf("spark.executor.extraJavaOptions", "-Dy=2", "spark.metrics.namespace", "mine"))

	assert.Equal(t, "jobs.spark-pi", o.Properties["spark.metrics.namespace"])
	assert.Contains(t, a.Warnings()[0], "spark.metrics.namespace", "what is overruled is told")
	assert.Equal(t, "/etc/metrics/conf/metrics.properties", o.Properties["spark.metrics.conf"])
	const agent = "-javaagent:/opt/agent.jar=8090:/etc/metrics/conf/prometheus.yaml"
	assert.Equal(t, "-Dx=1 "+agent, o.Properties["spark.driver.extraJavaOptions"])
	assert.Equal(t, "-Dy=2 "+agent, o.Properties["spark.executor.extraJavaOptions"], "options of sparkConf are not lost")
	assert.Equal(t, defaultMetricsProperties, o.ConfigMap.Data["metrics.properties"])
	assert.Equal(t, defaultPrometheusConfig, o.ConfigMap.Data["prometheus.yaml"])

	annotations := map[string]string{"prometheus.io/scrape": "true", "prometheus.io/port": "8090", "prometheus.io/path": "/metrics"}
	for key, value := range annotations {
		assert.Equal(t, value, o.Driver.Annotations[key])
		assert.Equal(t, value, o.Properties["spark.kubernetes.executor.annotation."+key])
	}
	port := corev1.ContainerPort{Name: "jmx-exporter", ContainerPort: 8090, Protocol: corev1.ProtocolTCP}
	container := o.Driver.Spec.Containers[0]
	assert.Contains(t, container.Ports, port)
	assert.Contains(t, container.VolumeMounts, corev1.VolumeMount{Name: "spark-metrics-conf", MountPath: "/etc/metrics/conf", ReadOnly: true})
	volume := corev1.Volume{Name: "spark-metrics-conf", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: o.ConfigMap.Name},
		Items:                []corev1.KeyToPath{{Key: "metrics.properties", Path: "metrics.properties"}, {Key: "prometheus.yaml", Path: "prometheus.yaml"}},
	}}}
	assert.Contains(t, o.Driver.Spec.Volumes, volume)

	executor := executorPod(t, o)
	assert.Contains(t, executor.Spec.Volumes, volume)
	assert.Contains(t, executor.Spec.Containers[0].Ports, port)
	assert.Contains(t, executor.Spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "spark-metrics-conf", MountPath: "/etc/metrics/conf", ReadOnly: true})
}

func hasMetricsVolume(pod *corev1.Pod) bool {
	for i := range pod.Spec.Volumes {
		if pod.Spec.Volumes[i].Name == metricsVolumeName {
			return true
		}
	}
	return false
}

func TestMonitoringOfOneRole(t *testing.T) {
	_, o := built(t, monitoredBy(v1beta2.MonitoringSpec{
		ExposeDriverMetrics: true, MetricsPropertiesFile: new("/opt/metrics.properties"),
		Prometheus: &v1beta2.PrometheusSpec{JmxExporterJar: "/opt/agent.jar", Port: new(int32(9090)), PortName: new("metrics"), Configuration: new("rules: []")},
	}))
	assert.Equal(t, "/opt/metrics.properties", o.Properties["spark.metrics.conf"])
	assert.Equal(t, "rules: []", o.ConfigMap.Data["prometheus.yaml"])
	assert.NotContains(t, o.ConfigMap.Data, "metrics.properties")
	assert.Equal(t, "-javaagent:/opt/agent.jar=9090:/etc/metrics/conf/prometheus.yaml", o.Properties["spark.driver.extraJavaOptions"])
	assert.Contains(t, o.Driver.Spec.Containers[0].Ports, corev1.ContainerPort{Name: "metrics", ContainerPort: 9090, Protocol: corev1.ProtocolTCP})
	assert.True(t, hasMetricsVolume(o.Driver))

	executor := executorPod(t, o)
	assert.False(t, hasMetricsVolume(executor))
	assert.Empty(t, executor.Spec.Containers[0].Ports)
	assert.NotContains(t, o.Properties, "spark.executor.extraJavaOptions")
	assert.NotContains(t, o.Properties, "spark.kubernetes.executor.annotation.prometheus.io/scrape")
}

// With both files from the image there is nothing to mount, and the port is declared all the same.
func TestMonitoringWithFilesOfTheImage(t *testing.T) {
	_, o := built(t, monitoredBy(v1beta2.MonitoringSpec{
		ExposeDriverMetrics: true, MetricsPropertiesFile: new("/opt/metrics.properties"),
		Prometheus: &v1beta2.PrometheusSpec{JmxExporterJar: "/opt/agent.jar", ConfigFile: new("/opt/prometheus.yaml")},
	}))
	assert.False(t, hasMetricsVolume(o.Driver))
	assert.Equal(t, "-javaagent:/opt/agent.jar=8090:/opt/prometheus.yaml", o.Properties["spark.driver.extraJavaOptions"])
	assert.Contains(t, o.Driver.Spec.Containers[0].Ports, corev1.ContainerPort{Name: "jmx-exporter", ContainerPort: 8090, Protocol: corev1.ProtocolTCP})
}

func TestMetricsWithoutPrometheus(t *testing.T) {
	a, o := built(t, monitoredBy(v1beta2.MonitoringSpec{ExposeDriverMetrics: true, MetricsProperties: new("*.sink.x=y")}))
	assert.Equal(t, "*.sink.x=y", o.ConfigMap.Data["metrics.properties"])
	assert.Equal(t, "/etc/metrics/conf/metrics.properties", o.Properties["spark.metrics.conf"])
	assert.True(t, hasMetricsVolume(o.Driver))
	assert.True(t, hasMetricsVolume(executorPod(t, o)), "both roles read the file")
	assert.NotContains(t, o.Properties, "spark.driver.extraJavaOptions")
	assert.Equal(t, []string{"spec.monitoring.exposeDriverMetrics: has no effect without spec.monitoring.prometheus"}, a.Warnings())
}

func TestMonitoringWarnings(t *testing.T) {
	agent := v1beta2.PrometheusSpec{JmxExporterJar: "/opt/agent.jar"}
	both := agent
	both.ConfigFile, both.Configuration = new("/opt/p.yaml"), new("rules: []")
	for want, m := range map[string]v1beta2.MonitoringSpec{
		"spec.monitoring: has no effect: give":                               {},
		"spec.monitoring.prometheus: no agent is started":                    {Prometheus: &agent},
		"spec.monitoring.prometheus.configuration: has no effect, because":   {ExposeDriverMetrics: true, Prometheus: &both},
		"spec.monitoring.metricsProperties: has no effect, because spec.mon": {MetricsProperties: new("x"), MetricsPropertiesFile: new("/x")},
	} {
		a, errs := Resolve(newApp(monitoredBy(m)), testSpecPath)
		require.Empty(t, errs)
		require.Len(t, a.Warnings(), 1, want)
		assert.Contains(t, a.Warnings()[0], want)
	}
}

func TestMonitoringErrors(t *testing.T) {
	blank := monitoredBy(v1beta2.MonitoringSpec{ExposeDriverMetrics: true, Prometheus: &v1beta2.PrometheusSpec{JmxExporterJar: "/opt/my agent.jar"}})
	_, errs := Resolve(newApp(blank), testSpecPath)
	require.Len(t, errs, 1)
	assert.Equal(t, "spec.monitoring.prometheus.jmxExporterJar", errs[0].Field)

	// The driver's own port: the agent and Spark can't both listen on it.
	taken := monitoredBy(v1beta2.MonitoringSpec{ExposeDriverMetrics: true, Prometheus: &v1beta2.PrometheusSpec{JmxExporterJar: "/a.jar", Port: new(int32(4040))}})
	_, errs = Resolve(newApp(taken), testSpecPath)
	require.NotEmpty(t, errs)
	assert.Contains(t, errs.ToAggregate().Error(), "4040")
}

func TestAnnotationsOfTheUserGoFirst(t *testing.T) {
	_, o := built(t, monitoredBy(v1beta2.MonitoringSpec{ExposeDriverMetrics: true, Prometheus: &v1beta2.PrometheusSpec{JmxExporterJar: "/opt/agent.jar"}}),
		func(app *v1beta2.SparkApplication) {
			app.Spec.Driver.Annotations = map[string]string{"prometheus.io/scrape": "false"}
		})
	assert.Equal(t, "false", o.Driver.Annotations["prometheus.io/scrape"])
	assert.Equal(t, "8090", o.Driver.Annotations["prometheus.io/port"])
}

// The rules find Spark's beans, each by the first rule that fits.
func TestDefaultPrometheusRules(t *testing.T) {
	var config struct {
		Rules []struct {
			Pattern, Name, Type string
			Labels              map[string]string
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(defaultPrometheusConfig), &config))
	for bean, want := range map[string]string{
		"metrics<name=jobs.spark-pi.driver.BlockManager.disk.diskSpaceUsed_MB, type=gauges><>Value":       "spark_driver_BlockManager.disk.diskSpaceUsed_MB",
		"metrics<name=jobs.spark-pi.driver.spark.streaming.my-query.inputRate-total, type=gauges><>Value": "spark_streaming_driver_inputRate-total",
		"metrics<name=jobs.spark-pi.driver.LiveListenerBus.numEventsPosted, type=counters><>Count":        "spark_driver_LiveListenerBus.numEventsPosted_count",
		"metrics<name=jobs.spark-pi.driver.DAGScheduler.messageProcessingTime, type=timers><>Mean":        "spark_driver_DAGScheduler.messageProcessingTime_Mean",
		"metrics<name=jobs.spark-pi.7.executor.bytesRead, type=counters><>Count":                          "spark_executor_executor.bytesRead_count",
		"metrics<name=jobs.spark-pi.12.jvm.heap.used, type=gauges><>Value":                                "spark_executor_jvm.heap.used",
		"metrics<name=jobs.spark-pi.1.CodeGenerator.compilationTime, type=histograms><>Count":             "spark_executor_CodeGenerator.compilationTime_Count",
		"java.lang<type=Memory><HeapMemoryUsage>used":                                                     "",
	} {
		got := ""
		for _, rule := range config.Rules {
			pattern := regexp.MustCompile("^.*(?:" + rule.Pattern + ").*$")
			if groups := pattern.FindStringSubmatchIndex(bean); groups != nil {
				got = string(pattern.ExpandString(nil, regexp.MustCompile(`\$(\d)`).ReplaceAllString(rule.Name, "$${$1}"), bean, groups))
				assert.Equal(t, "jobs", string(pattern.ExpandString(nil, rule.Labels["app_namespace"], bean, groups)))
				assert.Equal(t, "spark-pi", string(pattern.ExpandString(nil, rule.Labels["app_id"], bean, groups)))
				break
			}
		}
		assert.Equal(t, want, got, bean)
	}
}
