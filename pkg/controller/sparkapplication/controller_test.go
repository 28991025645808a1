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
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/controller/faultpoint"
	"github.com/spark-apiserver/spark-apiserver/pkg/features"
	sparkfake "github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned/fake"
)

// TestRun runs the controller with its own informers and workers.
func TestRun(t *testing.T) {
	sparkClient, kubeClient := sparkfake.NewSimpleClientset(), fake.NewSimpleClientset()
	c, err := New(t.Context(), Options{SparkClient: sparkClient, KubeClient: kubeClient, FeatureGate: features.NewFeatureGate()})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), klog.Logger{}))
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	_, err = sparkClient.SparkoperatorV1beta2().SparkApplications(testKey.Namespace).Create(ctx, newApp(), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := kubeClient.CoreV1().Pods(testKey.Namespace).Get(ctx, "pi-driver", metav1.GetOptions{})
		return !apierrors.IsNotFound(err)
	}, 30*time.Second, 10*time.Millisecond)
	app, err := sparkClient.SparkoperatorV1beta2().SparkApplications(testKey.Namespace).Get(ctx, testKey.Name, metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, v1beta2.ApplicationStateSubmitted, app.Status.AppState.State)
	cancel()
	require.NoError(t, <-done)
}

func TestNewNeedsItsClients(t *testing.T) {
	_, err := New(t.Context(), Options{})
	require.Error(t, err)
}

func TestFaultPointsAreDistinct(t *testing.T) {
	seen := map[faultpoint.Point]bool{}
	for _, point := range FaultPoints() {
		assert.False(t, seen[point], point)
		seen[point] = true
	}
	assert.Len(t, seen, 2*len(writes))
}
