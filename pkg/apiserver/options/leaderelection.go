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
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	componentbaseconfig "k8s.io/component-base/config"
	componentbaseoptions "k8s.io/component-base/config/options"

	"github.com/spark-apiserver/spark-apiserver/pkg/apiserver/leadership"
)

const (
	leaderElectFlag = "leader-elect"

	// The times are kube-controller-manager's.
	defaultLeaseDuration = 15 * time.Second
	defaultRenewDeadline = 10 * time.Second
	defaultRetryPeriod   = 2 * time.Second

	leaderElectionAgent = ComponentName + "-leader-election"
)

// LeaderElectionOptions say whether and how one of several replicas is chosen to run the controllers. The flags are
// kube-controller-manager's.
type LeaderElectionOptions struct {
	componentbaseconfig.LeaderElectionConfiguration
}

func newLeaderElectionOptions() *LeaderElectionOptions {
	return &LeaderElectionOptions{componentbaseconfig.LeaderElectionConfiguration{
		LeaseDuration: metav1.Duration{Duration: defaultLeaseDuration},
		RenewDeadline: metav1.Duration{Duration: defaultRenewDeadline},
		RetryPeriod:   metav1.Duration{Duration: defaultRetryPeriod},
		ResourceLock:  resourcelock.LeasesResourceLock,
		ResourceName:  ComponentName,
	}}
}

func (o *LeaderElectionOptions) addFlags(fs *pflag.FlagSet) {
	componentbaseoptions.BindLeaderElectionFlags(&o.LeaderElectionConfiguration, fs)
}

func (o *LeaderElectionOptions) validate() []error {
	if !o.LeaderElect {
		return nil
	}
	var errs []error
	if o.ResourceLock != resourcelock.LeasesResourceLock {
		errs = append(errs, fmt.Errorf("--leader-elect-resource-lock %q: only leases are supported", o.ResourceLock))
	}
	if o.ResourceName == "" {
		errs = append(errs, errors.New("--leader-elect-resource-name must not be empty"))
	}
	if o.RetryPeriod.Duration <= 0 {
		errs = append(errs, errors.New("--leader-elect-retry-period must be more than 0"))
	}
	// The margin is client-go's: replicas ask a little later than told to, so that they don't ask all at once.
	if o.RenewDeadline.Duration <= o.RetryPeriod.Duration*6/5 {
		errs = append(errs, errors.New("--leader-elect-renew-deadline must be more than 1.2 times --leader-elect-retry-period"))
	}
	if o.LeaseDuration.Duration <= o.RenewDeadline.Duration {
		errs = append(errs, errors.New("--leader-elect-lease-duration must be more than --leader-elect-renew-deadline"))
	}
	if o.LeaseDuration.Duration < time.Second {
		errs = append(errs, errors.New("--leader-elect-lease-duration must be at least one second, the unit of a lease"))
	}
	return errs
}

// elector returns what elects a leader, or nil without an election.
func (o *Options) elector() (*leadership.Elector, error) {
	if !o.LeaderElection.LeaderElect {
		return nil, nil //nolint:nilnil // no election is a choice
	}
	config, err := o.Cluster.config()
	if err != nil {
		return nil, err
	}
	// A request that hangs must leave time for another.
	config.Timeout = o.LeaderElection.RenewDeadline.Duration / 2
	client, err := kubernetes.NewForConfig(rest.AddUserAgent(config, leaderElectionAgent))
	if err != nil {
		return nil, err
	}
	namespace := o.LeaderElection.ResourceNamespace
	if namespace == "" {
		namespace = o.Cluster.Namespace
	}
	return leadership.New(leadership.Options{
		Client:        client.CoordinationV1(),
		Namespace:     namespace,
		Name:          o.LeaderElection.ResourceName,
		LeaseDuration: o.LeaderElection.LeaseDuration.Duration,
		RenewDeadline: o.LeaderElection.RenewDeadline.Duration,
		RetryPeriod:   o.LeaderElection.RetryPeriod.Duration,
	})
}
