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

// propertiesFile is where the driver finds spark.properties.
const (
	sparkConfDir       = "/opt/spark/conf"
	propertiesFileName = "spark.properties"
	propertiesFile     = sparkConfDir + "/" + propertiesFileName
)

// driverCommand is DriverCommandFeatureStep. The image's entrypoint runs; only its arguments are given.
func driverCommand(b *driverBuilder) {
	main := b.a.main
	c := b.container
	c.Args = append(c.Args, SparkRoleDriver)
	if user := b.a.App.Spec.ProxyUser; given(user) {
		c.Args = append(c.Args, "--proxy-user", *user)
	}
	c.Args = append(c.Args, "--properties-file", propertiesFile, "--class", main.class, main.resource)
	c.Args = append(c.Args, b.a.App.Spec.Arguments...)
	if b.a.Language == Python {
		if s, ok := b.conf[keyPySparkPython]; ok {
			b.addEnv("PYSPARK_PYTHON", s.value)
		}
		if s, ok := b.conf.first(keyPySparkDriverPython, keyPySparkPython); ok {
			b.addEnv("PYSPARK_DRIVER_PYTHON", s.value)
		}
	}
	b.property(keyResourceType, string(b.a.Language))
}
