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

package sparkapplication

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubefake "k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"
	testingclock "k8s.io/utils/clock/testing"
)

// dryCluster answers dry runs.
type dryCluster struct {
	*kubefake.Clientset
	served, dropsMembership, dropsPolicy, refusesPods, down bool
	probes                                                  int
}

func newDryCluster() *dryCluster {
	c := &dryCluster{Clientset: kubefake.NewSimpleClientset(), served: true}
	c.PrependReactor("get", "resource", func(k8stesting.Action) (bool, runtime.Object, error) {
		c.Resources = []*metav1.APIResourceList{}
		if c.down {
			return true, nil, apierrors.NewServiceUnavailable("down")
		}
		if c.served {
			c.Resources = append(c.Resources, &metav1.APIResourceList{
				GroupVersion: schedulingv1beta1.SchemeGroupVersion.String(),
				APIResources: []metav1.APIResource{{Name: "workloads"}, {Name: "podgroups"}},
			})
		}
		return false, nil, nil
	})
	c.PrependReactor("create", "*", func(action k8stesting.Action) (bool, runtime.Object, error) {
		c.probes++
		create := action.(k8stesting.CreateActionImpl)
		if len(create.CreateOptions.DryRun) == 0 {
			panic("a probe must be a dry run")
		}
		object := create.Object.DeepCopyObject()
		switch o := object.(type) {
		case *corev1.Pod:
			if c.refusesPods {
				return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "probe", errInjected)
			}
			if c.dropsMembership {
				o.Spec.SchedulingGroup = nil
			}
		case *schedulingv1beta1.PodGroup:
			if c.dropsPolicy {
				o.Spec.SchedulingPolicy.Gang = nil
			}
		}
		return true, object, nil
	})
	return c
}

func TestCapability(t *testing.T) {
	for name, test := range map[string]struct {
		edit func(c *dryCluster)
		want CapabilityState
	}{
		"all there":               {func(*dryCluster) {}, CapabilityReady},
		"not served":              {func(c *dryCluster) { c.served = false }, CapabilityNotServed},
		"discovery does not work": {func(c *dryCluster) { c.down = true }, CapabilityUnknown},
		"membership is dropped":   {func(c *dryCluster) { c.dropsMembership = true }, CapabilityFieldsDropped},
		"the policy is dropped":   {func(c *dryCluster) { c.dropsPolicy = true }, CapabilityFieldsDropped},
		"a refusal says nothing":  {func(c *dryCluster) { c.refusesPods = true }, CapabilityReady},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := newDryCluster()
			test.edit(cluster)
			p := &prober{client: cluster, clock: testingclock.NewFakeClock(startOfTime)}
			got := p.capability(t.Context(), "jobs")
			assert.Equal(t, test.want, got.State, got.Message)
			assert.Equal(t, test.want == CapabilityReady, got.Message == "", "what is wrong is said")
		})
	}
}

func TestCapabilityIsBelievedForAWhile(t *testing.T) {
	cluster := newDryCluster()
	clock := testingclock.NewFakeClock(startOfTime)
	p := &prober{client: cluster, clock: clock}
	for range 10 {
		assert.Equal(t, CapabilityReady, p.capability(t.Context(), "jobs").State)
	}
	assert.Equal(t, 2, cluster.probes, "one PodGroup and one pod")

	cluster.served = false
	assert.Equal(t, CapabilityReady, p.capability(t.Context(), "jobs").State)
	clock.Step(discoveryTTL)
	assert.Equal(t, CapabilityNotServed, p.capability(t.Context(), "jobs").State)

	// Another API server comes up, with another gate.
	cluster.served, cluster.dropsMembership = true, true
	clock.Step(discoveryTTL)
	assert.Equal(t, CapabilityFieldsDropped, p.capability(t.Context(), "jobs").State)
	cluster.dropsMembership = false
	clock.Step(discoveryTTL)
	assert.Equal(t, CapabilityReady, p.capability(t.Context(), "jobs").State)
	assert.Less(t, discoveryTTL, probeTTL/2)
	clock.Step(time.Second)
}
