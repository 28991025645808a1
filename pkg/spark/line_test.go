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

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

func TestResolveLine(t *testing.T) {
	for _, c := range []struct {
		version, want, warning string
		group                  bool
	}{
		{version: "3.5.3", want: "3.5", group: true},
		{version: "3.9.0", want: "3.5", group: true},
		{version: "v4.0.1", want: "4.0", group: true},
		{version: "4.0", want: "4.0", group: true},
		{version: "4.1.0-preview1", want: "4.1", group: true},
		{version: "4.2.0", want: "4.2", group: true},
		{version: "4.3.0", want: "4.3", group: true},
		{version: "4.4.0", want: "4.3", group: true, warning: "newer"},
		{version: "5.0.0", want: "4.3", group: true, warning: "newer"},
		{version: "3.4.1", want: "3.5", group: true, warning: "older"},
		{version: "3.3.0", want: "3.5", group: true, warning: "older"},
		{version: "3.2.4", want: "3.5", group: false, warning: "older"},
		{version: "2.4.8", want: "3.5", group: false, warning: "older"},
		{version: "latest", want: "4.3", group: true, warning: "can't be read"},
		{version: "4", want: "4.3", group: true, warning: "can't be read"},
		{version: "", want: "4.3", group: true, warning: "can't be read"},
		{version: "99999999999999999999.1", want: "4.3", group: true, warning: "can't be read"},
	} {
		t.Run(c.version, func(t *testing.T) {
			rep := &report{}
			line := resolveLine(c.version, testSpecPath.Child("sparkVersion"), rep)
			assert.Equal(t, c.want, line.String())
			assert.Equal(t, c.group, line.SupportsSchedulingGroup())
			if c.warning == "" {
				assert.Empty(t, rep.warnings)
			} else if assert.Len(t, rep.warnings, 1) {
				assert.Contains(t, rep.warnings[0], "spec.sparkVersion: ")
				assert.Contains(t, rep.warnings[0], c.warning)
			}
		})
	}
}

func version(v string) func(*v1beta2.SparkApplication) {
	return func(app *v1beta2.SparkApplication) { app.Spec.SparkVersion = v }
}

func TestLineSwitches(t *testing.T) {
	type switches struct {
		ports                               int
		protocol, label, image, accessMode  string
		escalation, publish, pythonProperty bool
	}
	for v, want := range map[string]switches{
		"3.5.3": {ports: 3, label: "bad", image: "i:{{SPARK_VERSION}}", accessMode: "ReadWriteOnce", pythonProperty: true},
		"4.0.1": {ports: 3, label: "id", image: "i:{{SPARK_VERSION}}", accessMode: "ReadWriteOncePod", pythonProperty: true},
		"4.1.0": {ports: 4, label: "id", image: "i:4.1.0", accessMode: "ReadWriteOncePod"},
		"4.2.0": {ports: 4, protocol: "grpc", label: "id", image: "i:4.2.0", accessMode: "ReadWriteOncePod"},
		"4.3.0": {ports: 4, protocol: "grpc", label: "id", image: "i:4.3.0", accessMode: "ReadWriteOncePod", escalation: true, publish: true},
	} {
		t.Run(v, func(t *testing.T) {
			edits := []func(*v1beta2.SparkApplication){version(v), func(app *v1beta2.SparkApplication) {
				app.Spec.Image = new("i:{{SPARK_VERSION}}")
				app.Spec.PythonVersion = new("3")
				app.Spec.MainApplicationFile = new("local:///a.py")
			}, withConf(
				"spark.kubernetes.driver.annotation.x", "{{APP_ID}}{{EXECUTOR_ID}}",
				"spark.kubernetes.driver.service.publishNotReadyAddresses", "true",
				"spark.kubernetes.driver.volumes.persistentVolumeClaim.data.mount.path", "/data",
				"spark.kubernetes.driver.volumes.persistentVolumeClaim.data.options.claimName", "OnDemand",
				"spark.kubernetes.driver.volumes.persistentVolumeClaim.data.options.storageClass", "fast",
				"spark.kubernetes.driver.volumes.persistentVolumeClaim.data.options.sizeLimit", "1Gi",
			)}
			if want.label == "id" {
				edits = append(edits, withConf("spark.kubernetes.driver.label.x", "{{APP_ID}}"))
			}
			_, o := built(t, edits...)
			checkObjects(t, o)
			spark := o.Driver.Spec.Containers[0]
			assert.Len(t, spark.Ports, want.ports)
			assert.Len(t, o.Service.Spec.Ports, want.ports)
			last := o.Service.Spec.Ports[len(o.Service.Spec.Ports)-1]
			if want.protocol == "" {
				assert.Nil(t, last.AppProtocol)
			} else {
				assert.Equal(t, want.protocol, *last.AppProtocol)
			}
			assert.Equal(t, o.Properties[keyAppID], o.Driver.Annotations["x"])
			if want.label == "id" {
				assert.Equal(t, o.Properties[keyAppID], o.Driver.Labels["x"])
			} else {
				_, errs := Resolve(newApp(version(v), withConf("spark.kubernetes.driver.label.x", "{{APP_ID}}")), testSpecPath)
				assert.NotEmpty(t, errs, "the label is not replaced, and can't hold braces")
			}
			assert.Equal(t, want.image, spark.Image)
			assert.Equal(t, want.accessMode, string(o.PersistentVolumeClaims[0].Spec.AccessModes[0]))
			assert.Equal(t, want.escalation, spark.SecurityContext != nil && !*spark.SecurityContext.AllowPrivilegeEscalation)
			assert.Equal(t, want.publish, o.Service.Spec.PublishNotReadyAddresses)
			assert.Equal(t, want.pythonProperty, o.Properties[keyPythonVersion] == "3")
		})
	}
}
