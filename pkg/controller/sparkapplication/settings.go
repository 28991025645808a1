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

import "time"

// Settings are what an administrator decides for every application. The zero value waits for ever, keeps everything and
// forgives nothing.
type Settings struct {
	// CompletedTimeToLive and FailedTimeToLive are how long an application is kept that has ended as COMPLETED or FAILED
	// and has no timeToLiveSeconds of its own. Zero keeps it.
	CompletedTimeToLive, FailedTimeToLive time.Duration
	// InfrastructureRetries is how many failures by the cluster's doing are forgiven an application: it is run again
	// without a run of its own retries being used up. It needs a restartPolicy that runs it again at all.
	InfrastructureRetries int32

	// ContainerErrorGrace is how long a pod may be unable to start a container for a reason that may pass, such as an image
	// that can't be pulled or a ConfigMap that isn't there, counted from the time at which it got its node. Zero is for ever.
	ContainerErrorGrace time.Duration
	// DriverStartDeadline is how long a driver pod may exist without having started its container. Zero is for ever.
	DriverStartDeadline time.Duration
	// NodeLossGrace is how long a driver pod that is being deleted may stay beyond its time before its node is taken for
	// lost. Zero is for ever.
	NodeLossGrace time.Duration
	// ForceDeleteLostDrivers removes the pods of drivers whose node was lost without a word from the node, so that another
	// attempt can begin. The old driver may still run there.
	ForceDeleteLostDrivers bool

	// GangAdmissionDeadline is the deadline of gangs whose application has none. Zero is none.
	GangAdmissionDeadline time.Duration
	// MaxWaitingGangs is how many drivers of a namespace may wait for their gangs at a time. Zero is any number.
	MaxWaitingGangs int
}

// Defaults of Settings.
const (
	DefaultInfrastructureRetries = 5
	DefaultContainerErrorGrace   = 5 * time.Minute
	DefaultNodeLossGrace         = time.Minute
	DefaultMaxWaitingGangs       = 50
)

// DefaultSettings are the settings of a server without flags.
func DefaultSettings() Settings {
	return Settings{
		InfrastructureRetries: DefaultInfrastructureRetries,
		ContainerErrorGrace:   DefaultContainerErrorGrace,
		NodeLossGrace:         DefaultNodeLossGrace,
		MaxWaitingGangs:       DefaultMaxWaitingGangs,
	}
}
