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
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// checkObjects checks what the API server checks of any object, as far as it is easy to get wrong here.
func checkObjects(t *testing.T, o *Objects) {
	t.Helper()
	metas := []*metav1.ObjectMeta{&o.ConfigMap.ObjectMeta, &o.Service.ObjectMeta, &o.Driver.ObjectMeta}
	for _, claim := range o.PersistentVolumeClaims {
		metas = append(metas, &claim.ObjectMeta)
		assert.Empty(t, validation.IsDNS1123Subdomain(claim.Name), claim.Name)
	}
	for _, m := range metas {
		for key, value := range m.Labels {
			assert.Empty(t, validation.IsQualifiedName(key), key)
			assert.Empty(t, validation.IsValidLabelValue(value), "%s=%s", key, value)
		}
		assert.Equal(t, testSubmissionID, m.Labels[LabelSubmissionID])
		assert.NotEmpty(t, m.Labels[LabelAppName])
		controller := metav1.GetControllerOfNoCopy(m)
		if assert.NotNil(t, controller) {
			assert.Equal(t, "SparkApplication", controller.Kind)
			assert.True(t, *controller.BlockOwnerDeletion)
		}
	}
	assert.Empty(t, validation.IsDNS1035Label(o.Service.Name), o.Service.Name)
	assert.Empty(t, validation.IsDNS1123Subdomain(o.ConfigMap.Name), o.ConfigMap.Name)
	assert.Empty(t, validation.IsDNS1123Subdomain(o.Driver.Name), o.Driver.Name)
	prefix := o.Properties[keyExecutorPodNamePrefix]
	assert.Empty(t, validation.IsDNS1123Subdomain(prefix+"-exec-1"), prefix)
	assert.LessOrEqual(t, len(prefix), maxExecutorPrefix)
	for key, value := range o.Service.Spec.Selector {
		assert.Equal(t, value, o.Driver.Labels[key], "the Service does not select the driver by %s", key)
	}
	checkPodSpec(t, &o.Driver.Spec)
}

func checkPodSpec(t *testing.T, spec *corev1.PodSpec) {
	t.Helper()
	volumes := map[string]bool{}
	for i := range spec.Volumes {
		assert.False(t, volumes[spec.Volumes[i].Name], "volume %s twice", spec.Volumes[i].Name)
		assert.Empty(t, validation.IsDNS1123Label(spec.Volumes[i].Name))
		volumes[spec.Volumes[i].Name] = true
	}
	names := map[string]bool{}
	for i := range spec.Containers {
		c := &spec.Containers[i]
		assert.False(t, names[c.Name], "container %s twice", c.Name)
		names[c.Name] = true
		assert.NotEmpty(t, c.Image)
		for name, request := range c.Resources.Requests {
			if limit, ok := c.Resources.Limits[name]; ok {
				assert.GreaterOrEqual(t, limit.Cmp(request), 0, "%s: limit %s below request %s", name, limit.String(), request.String())
			}
		}
	}
	spark := &spec.Containers[len(spec.Containers)-1]
	paths, ports := map[string]bool{}, map[string]bool{}
	for _, m := range spark.VolumeMounts {
		assert.False(t, paths[m.MountPath], "%s mounted twice", m.MountPath)
		paths[m.MountPath] = true
		assert.True(t, volumes[m.Name], "mount of %s without a volume", m.Name)
	}
	for _, p := range spark.Ports {
		assert.False(t, p.Name != "" && ports[p.Name], "port %s twice", p.Name)
		ports[p.Name] = true
		assert.Empty(t, validation.IsValidPortNum(int(p.ContainerPort)))
	}
}
