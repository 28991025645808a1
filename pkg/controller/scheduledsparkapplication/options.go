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

package scheduledsparkapplication

import (
	"errors"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
)

// DefaultWorkers is how many schedules are handled at a time, unless Options say otherwise.
const DefaultWorkers = 4

// Options are what a Controller works with.
type Options struct {
	// SparkClient reaches the server of ScheduledSparkApplications, usually over loopback.
	SparkClient versioned.Interface
	// KubeClient reaches the cluster that events are written to.
	KubeClient kubernetes.Interface
	// Workers is how many schedules are handled at a time. Default: DefaultWorkers.
	Workers int
	// Clock is the clock by which is decided. Default: the real one.
	Clock clock.WithTicker
	// Local is the time zone of schedules that name none. Default: the one of the process.
	Local *time.Location
}

func (o *Options) complete() error {
	if o.SparkClient == nil || o.KubeClient == nil {
		return errors.New("the controller of ScheduledSparkApplications needs a client for them and a client for the cluster")
	}
	if o.Workers <= 0 {
		o.Workers = DefaultWorkers
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Local == nil {
		o.Local = time.Local
	}
	return nil
}
