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

package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// AddNode adds a simulated node that offers so much CPU and memory (quantities as in a pod, "3" and "16Gi") and room
// for 110 pods, and waits until the scheduler may use it.
func (c *Cluster) AddNode(ctx context.Context, name, cpu, memory string) error {
	return c.AddNodeWith(ctx, name, corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(cpu),
		corev1.ResourceMemory: resource.MustParse(memory),
		corev1.ResourcePods:   resource.MustParse("110"),
	}, nil)
}

// AddNodeWith adds a simulated node with any resources (devices, ephemeral storage) and labels.
func (c *Cluster) AddNodeWith(ctx context.Context, name string, capacity corev1.ResourceList, labels map[string]string) error {
	if c.Kwok == nil {
		return errors.New("the cluster was started without kwok: nobody would keep a simulated node alive")
	}
	client, err := kubernetes.NewForConfig(c.AdminConfig())
	if err != nil {
		return err
	}
	all := map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"}
	maps.Copy(all, labels)
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: all, Annotations: map[string]string{fakeNodeAnnotation: fakeNodeAnnotationValue}},
		Status:     corev1.NodeStatus{Capacity: capacity, Allocatable: capacity},
	}
	if c.existing {
		node.Labels[SimulatedNodeKey] = fakeNodeAnnotationValue
		node.Spec.Taints = []corev1.Taint{{Key: SimulatedNodeKey, Value: fakeNodeAnnotationValue, Effect: corev1.TaintEffectNoSchedule}}
	}
	if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("adding simulated node %s: %w", name, err)
	}
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, c.options.StartTimeout, true, func(ctx context.Context) (bool, error) {
		node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		return err == nil && schedulable(node), nil
	})
	if err != nil {
		return fmt.Errorf("waiting for simulated node %s to be ready: %w\nlast lines of kwok:\n%s", name, err, c.Kwok.LogTail(20))
	}
	return nil
}

func schedulable(node *corev1.Node) bool {
	ready := slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	// New nodes carry this taint until the node lifecycle controller has seen that they are ready.
	tainted := slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeNotReady })
	return ready && !tainted
}

// RemoveNode removes a simulated node. Pods that were bound to it are removed by the pod garbage collector, as on a
// real cluster.
func (c *Cluster) RemoveNode(ctx context.Context, name string) error {
	client, err := kubernetes.NewForConfig(c.AdminConfig())
	if err != nil {
		return err
	}
	err = client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
