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
	"context"
	"fmt"
	"sync"
	"time"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
)

const (
	// discoveryTTL is how long it is believed what the cluster serves.
	discoveryTTL = 30 * time.Second
	// probeTTL is how long it is believed that the cluster keeps the fields that we need.
	probeTTL = 5 * time.Minute
)

// prober finds out what the cluster can do for workload-aware scheduling. A Kubernetes API server with the feature gate
// GenericWorkload off drops spec.schedulingGroup of pods without a word, and the executors would be placed one by one;
// a dry run shows it.
type prober struct {
	client kubernetes.Interface
	clock  clock.PassiveClock

	mu         sync.Mutex
	served     Capability
	servedAt   time.Time
	probed     Capability
	probedAt   time.Time
	conclusive bool
}

// capability answers for a namespace, in which dry runs may be made.
func (p *prober) capability(ctx context.Context, namespace string) Capability {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.servedAt.IsZero() || p.clock.Since(p.servedAt) >= discoveryTTL || p.served.State == CapabilityUnknown {
		p.served, p.servedAt = p.discover(), p.clock.Now()
	}
	if p.served.State != CapabilityReady {
		// What is known of fields is known of another API server.
		p.probedAt = time.Time{}
		return p.served
	}
	ttl := probeTTL
	if !p.conclusive || p.probed.State != CapabilityReady {
		ttl = discoveryTTL
	}
	if p.probedAt.IsZero() || p.clock.Since(p.probedAt) >= ttl {
		p.probed, p.conclusive = p.probe(ctx, namespace)
		p.probedAt = p.clock.Now()
	}
	return p.probed
}

func (p *prober) discover() Capability {
	version := schedulingv1beta1.SchemeGroupVersion.String()
	notServed := Capability{State: CapabilityNotServed, Message: fmt.Sprintf(
		"the cluster does not serve workloads and podgroups of %s: kube-apiserver needs --feature-gates=GenericWorkload=true and --runtime-config=%s=true",
		version, version)}
	resources, err := p.client.Discovery().ServerResourcesForGroupVersion(version)
	if apierrors.IsNotFound(err) {
		return notServed
	}
	if err != nil {
		return Capability{State: CapabilityUnknown, Message: err.Error()}
	}
	found := map[string]bool{}
	for i := range resources.APIResources {
		found[resources.APIResources[i].Name] = true
	}
	if !found["workloads"] || !found["podgroups"] {
		return notServed
	}
	return Capability{State: CapabilityReady}
}

// probe creates, dry, a PodGroup and a member of it, and looks at what comes back. An admission plugin that refuses them
// proves nothing; what is then created for the attempt is compared as well.
func (p *prober) probe(ctx context.Context, namespace string) (Capability, bool) {
	dryRun := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	conclusive := true
	group, err := p.client.SchedulingV1beta1().PodGroups(namespace).Create(ctx, scheduling.ProbePodGroup(namespace), dryRun)
	if err != nil {
		conclusive = false
		klog.FromContext(ctx).V(2).Info("The probe for PodGroups was refused", "namespace", namespace, "reason", err.Error())
	} else if dropped := scheduling.DroppedFromPodGroup(group); dropped != "" {
		return fieldsDropped("PodGroups", dropped), true
	}
	pod, err := p.client.CoreV1().Pods(namespace).Create(ctx, scheduling.ProbePod(namespace), dryRun)
	if err != nil {
		conclusive = false
		klog.FromContext(ctx).V(2).Info("The probe for members of a PodGroup was refused", "namespace", namespace, "reason", err.Error())
	} else if dropped := scheduling.DroppedFromPod(pod); dropped != "" {
		return fieldsDropped("pods", dropped), true
	}
	return Capability{State: CapabilityReady}, conclusive
}

func fieldsDropped(resource, dropped string) Capability {
	return Capability{State: CapabilityFieldsDropped, Message: fmt.Sprintf(
		"kube-apiserver drops a field of %s that workload-aware scheduling needs: %s: its feature gate GenericWorkload is off", resource, dropped)}
}
