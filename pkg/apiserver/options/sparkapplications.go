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

package options

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/spark-apiserver/spark-apiserver/pkg/controller/sparkapplication"
)

func addSparkApplicationFlags(fs *pflag.FlagSet, s *sparkapplication.Settings) {
	fs.DurationVar(&s.CompletedTimeToLive, "completed-time-to-live", s.CompletedTimeToLive,
		"How long a SparkApplication is kept that has completed and has no timeToLiveSeconds of its own. 0 keeps it.")
	fs.DurationVar(&s.FailedTimeToLive, "failed-time-to-live", s.FailedTimeToLive,
		"How long a SparkApplication is kept that has failed and has no timeToLiveSeconds of its own. 0 keeps it.")
	fs.Int32Var(&s.InfrastructureRetries, "infrastructure-retries", s.InfrastructureRetries,
		"How many runs of a SparkApplication that the cluster ended (eviction, preemption, loss of a node) are run again without using up its "+
			"onFailureRetries. A restartPolicy that retries nothing retries nothing here either.")
	fs.DurationVar(&s.ContainerErrorGrace, "container-error-grace", s.ContainerErrorGrace,
		"How long a driver or executor pod that has a node may be unable to start a container, for example because its image can't be pulled or a "+
			"ConfigMap is not there, before the attempt fails. 0 waits for ever.")
	fs.DurationVar(&s.DriverStartDeadline, "driver-start-deadline", s.DriverStartDeadline,
		"How long a driver pod may exist without having started, for whatever reason, before the attempt fails. 0 waits for ever.")
	fs.DurationVar(&s.NodeLossGrace, "node-loss-grace", s.NodeLossGrace,
		"How long a driver pod that is being deleted may stay beyond its time before its node is taken for lost and the attempt fails. 0 waits for ever.")
	fs.BoolVar(&s.ForceDeleteLostDrivers, "force-delete-lost-drivers", s.ForceDeleteLostDrivers,
		"Remove the driver pod of an attempt whose node was lost without asking the node, so that another attempt can begin. The old driver may still run.")
	fs.DurationVar(&s.GangAdmissionDeadline, "gang-admission-deadline", s.GangAdmissionDeadline,
		"How long the gang of a SparkApplication without admissionDeadlineSeconds may wait after its driver has started before the attempt fails. 0 waits for ever.")
	fs.IntVar(&s.MaxWaitingGangs, "max-waiting-gangs", s.MaxWaitingGangs,
		"How many drivers of a namespace may wait for their gangs at a time. Further applications wait without a driver. 0 is any number.")
}

func validateSparkApplicationSettings(s *sparkapplication.Settings) []error {
	var errs []error
	for name, value := range map[string]time.Duration{
		"completed-time-to-live": s.CompletedTimeToLive, "failed-time-to-live": s.FailedTimeToLive,
		"container-error-grace": s.ContainerErrorGrace, "driver-start-deadline": s.DriverStartDeadline,
		"node-loss-grace": s.NodeLossGrace, "gang-admission-deadline": s.GangAdmissionDeadline,
	} {
		if value < 0 {
			errs = append(errs, fmt.Errorf("--%s must not be negative", name))
		}
	}
	if s.InfrastructureRetries < 0 {
		errs = append(errs, fmt.Errorf("--infrastructure-retries must not be negative"))
	}
	if s.MaxWaitingGangs < 0 {
		errs = append(errs, fmt.Errorf("--max-waiting-gangs must not be negative"))
	}
	return errs
}
