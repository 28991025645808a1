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
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// Where the files of spec.monitoring are in the pods, and what they are called, as the operator has them.
const (
	metricsDir               = "/etc/metrics/conf"
	metricsPropertiesKey     = "metrics.properties"
	prometheusConfigKey      = "prometheus.yaml"
	metricsVolumeName        = "spark-metrics-conf"
	defaultPrometheusPort    = 8090
	defaultPrometheusPortTag = "jmx-exporter"

	annotationScrape     = "prometheus.io/scrape"
	annotationScrapePort = "prometheus.io/port"
	annotationScrapePath = "prometheus.io/path"
)

// defaultMetricsProperties makes Spark publish its metrics over JMX, where the agent finds them, and those of the JVM
// among them (MetricsConfig, JmxSink and JvmSource of Spark).
const defaultMetricsProperties = `*.sink.jmx.class=org.apache.spark.metrics.sink.JmxSink
driver.source.jvm.class=org.apache.spark.metrics.source.JvmSource
executor.source.jvm.class=org.apache.spark.metrics.source.JvmSource
`

// defaultPrometheusConfig makes Prometheus' names of Spark's beans, which are called
// NAMESPACE.APPLICATION.(driver|EXECUTOR).METRIC by spark.metrics.namespace. Neither a namespace nor the name of an
// application has a dot.
const defaultPrometheusConfig = `lowercaseOutputName: true
attrNameSnakeCase: true
rules:
- pattern: metrics<name=([^.]+)\.([^.]+)\.driver\.spark\.streaming\.(.+)\.([^.,]+), type=gauges><>Value
  name: spark_streaming_driver_$4
  type: GAUGE
  labels: {app_namespace: "$1", app_id: "$2", query_name: "$3"}
- pattern: metrics<name=([^.]+)\.([^.]+)\.driver\.([^,]+), type=gauges><>Value
  name: spark_driver_$3
  type: GAUGE
  labels: {app_namespace: "$1", app_id: "$2"}
- pattern: metrics<name=([^.]+)\.([^.]+)\.driver\.([^,]+), type=counters><>Count
  name: spark_driver_$3_count
  type: COUNTER
  labels: {app_namespace: "$1", app_id: "$2"}
- pattern: metrics<name=([^.]+)\.([^.]+)\.driver\.([^,]+), type=(?:histograms|meters|timers)><>(\w+)
  name: spark_driver_$3_$4
  type: GAUGE
  labels: {app_namespace: "$1", app_id: "$2"}
- pattern: metrics<name=([^.]+)\.([^.]+)\.(\d+)\.([^,]+), type=gauges><>Value
  name: spark_executor_$4
  type: GAUGE
  labels: {app_namespace: "$1", app_id: "$2", executor_id: "$3"}
- pattern: metrics<name=([^.]+)\.([^.]+)\.(\d+)\.([^,]+), type=counters><>Count
  name: spark_executor_$4_count
  type: COUNTER
  labels: {app_namespace: "$1", app_id: "$2", executor_id: "$3"}
- pattern: metrics<name=([^.]+)\.([^.]+)\.(\d+)\.([^,]+), type=(?:histograms|meters|timers)><>(\w+)
  name: spark_executor_$4_$5
  type: GAUGE
  labels: {app_namespace: "$1", app_id: "$2", executor_id: "$3"}
`

// monitoring is what follows from spec.monitoring. The zero value is an application without.
type monitoring struct {
	// files are the files that the attempt's ConfigMap has to hold, by name.
	files map[string]string
	// agent says which roles run the Prometheus agent.
	agent map[Role]bool
	port  corev1.ContainerPort
	path  *field.Path
}

// mounts says whether a role needs the files. Both roles read metrics.properties.
func (m *monitoring) mounts(r Role) bool {
	_, properties := m.files[metricsPropertiesKey]
	_, configuration := m.files[prometheusConfigKey]
	return properties || configuration && m.agent[r]
}

func (m *monitoring) volume(configMap string) *corev1.Volume {
	source := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: configMap}}
	for _, key := range []string{metricsPropertiesKey, prometheusConfigKey} {
		if _, ok := m.files[key]; ok {
			source.Items = append(source.Items, corev1.KeyToPath{Key: key, Path: key})
		}
	}
	return &corev1.Volume{Name: metricsVolumeName, VolumeSource: corev1.VolumeSource{ConfigMap: source}}
}

// monitoringConf adds the properties that spec.monitoring stands for, and works out the rest of what follows from it.
func (a *Application) monitoringConf(rep *report) {
	spec, path := a.App.Spec.Monitoring, a.specPath.Child("monitoring")
	if spec == nil {
		return
	}
	a.monitoring = monitoring{files: map[string]string{}, agent: map[Role]bool{}, path: path}
	if spec.Prometheus == nil && !given(spec.MetricsProperties) && !given(spec.MetricsPropertiesFile) {
		rep.warnf(path, "has no effect: give prometheus, metricsProperties or metricsPropertiesFile")
		return
	}
	// The application's own name in place of Spark's id, which is another one for every attempt.
	a.conf.set(keyMetricsNamespace, a.App.Namespace+"."+a.App.Name, path, rep)
	a.metricsProperties(spec, path, rep)
	if spec.Prometheus == nil {
		for _, exposed := range []struct {
			name string
			set  bool
		}{{"exposeDriverMetrics", spec.ExposeDriverMetrics}, {"exposeExecutorMetrics", spec.ExposeExecutorMetrics}} {
			if exposed.set {
				rep.warnf(path.Child(exposed.name), "has no effect without %s", path.Child("prometheus"))
			}
		}
		return
	}
	if !spec.ExposeDriverMetrics && !spec.ExposeExecutorMetrics {
		rep.warnf(path.Child("prometheus"), "no agent is started, since neither exposeDriverMetrics nor exposeExecutorMetrics is true")
		return
	}
	a.prometheusAgent(spec, path.Child("prometheus"), rep)
}

func (a *Application) metricsProperties(spec *v1beta2.MonitoringSpec, path *field.Path, rep *report) {
	file, filePath := metricsDir+"/"+metricsPropertiesKey, path
	switch {
	case given(spec.MetricsPropertiesFile):
		file, filePath = *spec.MetricsPropertiesFile, path.Child("metricsPropertiesFile")
		if given(spec.MetricsProperties) {
			rep.warnf(path.Child("metricsProperties"), "has no effect, because %s is given: remove one of them", filePath)
		}
	case given(spec.MetricsProperties):
		a.monitoring.files[metricsPropertiesKey] = *spec.MetricsProperties
	default:
		a.monitoring.files[metricsPropertiesKey] = defaultMetricsProperties
	}
	a.conf.set(keyMetricsConf, file, filePath, rep)
}

// prometheusAgent lets the JVMs of the exposed roles start with the agent, whose options are added to what the user gave.
func (a *Application) prometheusAgent(spec *v1beta2.MonitoringSpec, path *field.Path, rep *report) {
	p := spec.Prometheus
	port := int32(defaultPrometheusPort)
	if p.Port != nil {
		port = *p.Port
	}
	name := defaultPrometheusPortTag
	if given(p.PortName) {
		name = *p.PortName
	}
	a.monitoring.port = containerPort(name, port)
	configuration := metricsDir + "/" + prometheusConfigKey
	switch {
	case given(p.ConfigFile):
		configuration = *p.ConfigFile
		if given(p.Configuration) {
			rep.warnf(path.Child("configuration"), "has no effect, because %s is given: remove one of them", path.Child("configFile"))
		}
	case given(p.Configuration):
		a.monitoring.files[prometheusConfigKey] = *p.Configuration
	default:
		a.monitoring.files[prometheusConfigKey] = defaultPrometheusConfig
	}
	number := strconv.Itoa(int(port))
	option := "-javaagent:" + p.JmxExporterJar + "=" + number + ":" + configuration
	if strings.ContainsAny(option, " \t\n\"'") {
		rep.invalid(path.Child("jmxExporterJar"), p.JmxExporterJar, "neither it nor configFile may have blanks or quotes: they become an option of the JVM")
	}
	for _, exposed := range []struct {
		role *role
		set  bool
	}{{&a.driver, spec.ExposeDriverMetrics}, {&a.executor, spec.ExposeExecutorMetrics}} {
		if !exposed.set {
			continue
		}
		r := exposed.role
		a.monitoring.agent[r.name] = true
		options := setting{value: option, path: path}
		if s, ok := a.conf[r.keyJavaOptions]; ok && strings.TrimSpace(s.value) != "" {
			options = setting{value: s.value + " " + option, path: s.path}
		}
		a.conf[r.keyJavaOptions] = options
		for key, value := range map[string]string{annotationScrape: "true", annotationScrapePort: number, annotationScrapePath: "/metrics"} {
			// What the user says of his pods goes first.
			if _, ok := a.conf[r.prefixAnnotation+key]; !ok {
				a.conf[r.prefixAnnotation+key] = setting{value: value, path: path}
			}
		}
	}
}

// driverMetrics mounts the files of spec.monitoring, and names the agent's port.
func driverMetrics(b *driverBuilder) {
	m := &b.a.monitoring
	if m.mounts(Driver) {
		b.addVolume(*m.volume(b.names.configMap), corev1.VolumeMount{MountPath: metricsDir, ReadOnly: true}, m.path)
	}
	for _, p := range b.ports() {
		if m.agent[Driver] && p.ContainerPort == m.port.ContainerPort {
			b.rep.invalid(m.path.Child("prometheus", "port"), p.ContainerPort, "is the driver's port %s: the agent needs one of its own", p.Name)
		}
	}
	if m.agent[Driver] && b.ledger.port(m.port.Name, m.port.ContainerPort, m.port, m.path.Child("prometheus")) {
		b.container.Ports = append(b.container.Ports, m.port)
	}
}

// metrics is driverMetrics for executors.
func (f *podFields) metrics(configMap string) {
	m := &f.a.monitoring
	if m.mounts(f.role.name) {
		f.addVolume(m.volume(configMap), &corev1.VolumeMount{Name: metricsVolumeName, MountPath: metricsDir, ReadOnly: true}, m.path, m.path)
	}
	if m.agent[f.role.name] && f.ledger.port(m.port.Name, m.port.ContainerPort, m.port, m.path.Child("prometheus")) {
		appendAt(f.container, "ports", f.json(m.port, m.path))
	}
}
