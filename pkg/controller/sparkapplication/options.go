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
	"errors"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/component-base/featuregate"
	"k8s.io/utils/clock"

	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// DefaultWorkers is how many applications are handled at a time, unless Options say otherwise.
const DefaultWorkers = 10

// Options are what a Controller works with.
type Options struct {
	// SparkClient reaches the server of SparkApplications, usually over loopback.
	SparkClient versioned.Interface
	// KubeClient reaches the cluster in which applications run. Its rate limit is the controller's, so it should have
	// none.
	KubeClient kubernetes.Interface
	// DynamicClient reaches the same cluster for the PodGroups of batch schedulers. Nil without one: applications that
	// need such a PodGroup are refused then.
	DynamicClient dynamic.Interface
	// Schedulers are the batch schedulers that applications may ask for.
	Schedulers scheduling.Schedulers
	// MetadataClient reaches the same cluster. Without it a ConfigMap or a Service that somebody removes from a running
	// driver is not made again.
	MetadataClient metadata.Interface
	// Workers is how many applications are handled at a time. Default: DefaultWorkers.
	Workers int
	// Settings are what an administrator decides. Default: DefaultSettings.
	Settings *Settings
	// Side are the server's settings for side objects.
	Side spark.SideSettings
	// FeatureGate knows the gates of package features.
	FeatureGate featuregate.FeatureGate
	// Clock is the clock by which is decided. Default: the real one.
	Clock clock.WithTicker
}

func (o *Options) complete() error {
	if o.SparkClient == nil || o.KubeClient == nil || o.FeatureGate == nil {
		return errors.New("the controller of SparkApplications needs a client for SparkApplications, a client for the cluster and a feature gate")
	}
	if o.Workers <= 0 {
		o.Workers = DefaultWorkers
	}
	if o.Settings == nil {
		o.Settings = new(DefaultSettings())
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return nil
}
