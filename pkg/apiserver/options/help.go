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
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/component-base/featuregate"
)

// moveFlags moves flags from one group to another.
func moveFlags(from, to *pflag.FlagSet, names ...string) {
	rest := pflag.NewFlagSet("", pflag.ContinueOnError)
	from.VisitAll(func(flag *pflag.Flag) {
		if slices.Contains(names, flag.Name) {
			to.AddFlag(flag)
		} else {
			rest.AddFlag(flag)
		}
	})
	name := from.Name()
	*from = *pflag.NewFlagSet(name, pflag.ExitOnError)
	from.SetNormalizeFunc(pflag.CommandLine.GetNormalizeFunc())
	from.AddFlagSet(rest)
}

// describeFlags says of flags of the API machinery what they mean here.
func (o *Options) describeFlags() {
	describe := func(set, name, usage string) {
		if flag := o.flags.FlagSet(set).Lookup(name); flag != nil {
			flag.Usage = usage
		}
	}
	gates := o.flags.FlagSet("feature").Lookup(featureGatesFlag)
	gates.Value = featureGatesValue{Value: gates.Value, ours: o.ourFeatureNames()}
	gates.Usage = "Comma-separated list of name=true or name=false. Gates of the API machinery may be written kube:name, ours " +
		ComponentName + ":name. Ours are:\n" + strings.Join(o.describeFeatures(), "\n") +
		"\nThose of the API machinery are described in the documentation of kube-apiserver."

	describe("feature", "emulated-version", "Emulate an older release of "+ComponentName+", as "+ComponentName+"=MAJOR.MINOR. "+
		"The API machinery always works as the version of Kubernetes that it comes from.")
	describe("feature", "min-compatibility-version", "The oldest release of "+ComponentName+" that this one has to work beside, as "+
		ComponentName+"=MAJOR.MINOR.")
	for _, name := range []string{"emulation-forward-compatible", "runtime-config-emulation-forward-compatible"} {
		if flag := o.flags.FlagSet("feature").Lookup(name); flag != nil {
			flag.Hidden = true // there is no --runtime-config
		}
	}
	describe("leader election", leaderElectFlag, "Whether this replica runs the controllers only while it holds a lease in the cluster, so that "+
		"one of several replicas does. The API is served in any case. With --etcd-servers the default is true.")
	describe("leader election", "leader-elect-lease-duration", "How long the others wait for a leader of which nothing is heard before they "+
		"take its place.")
	describe("leader election", "leader-elect-renew-deadline", "How long a leader tries to renew the lease before it stops its controllers. "+
		"It must be less than the duration of the lease; the difference is what a request that is under way may take.")
	describe("leader election", "leader-elect-retry-period", "How often replicas ask for the lease, and the leader renews it.")
	describe("leader election", "leader-elect-resource-name", "Name of the lease.")
	describe("leader election", "leader-elect-resource-namespace", "Namespace of the lease. Default: --server-namespace.")
	if flag := o.flags.FlagSet("leader election").Lookup("leader-elect-resource-lock"); flag != nil {
		flag.Hidden = true // there is no choice
	}
	describe("etcd", "etcd-servers", "URLs of an etcd to use instead of the embedded store, comma separated "+
		"(https://host:2379). This is what several replicas need.")
	describe("etcd", "storage-media-type", "The encoding of new and changed objects in the store: application/vnd.kubernetes.protobuf "+
		"or application/json. Objects in either encoding can be read.")
	describe("serving requests", "shutdown-delay-duration", "How long a server that is told to end goes on as before, with only /readyz "+
		"saying that it ends, so that its endpoint can disappear first. With --etcd-servers the default is "+replicaShutdownDelay.String()+".")
	describe("serving requests", "goaway-chance", "Fraction of the requests upon which a client is asked to connect anew, so that "+
		"connections come to be spread over the replicas: from 0, never, to 0.02. With --etcd-servers the default is 0.001.")
}

func (o *Options) describeFeatures() []string {
	var lines []string
	for feature, spec := range o.components.FeatureGateFor(ComponentName).(featuregate.MutableFeatureGate).GetAll() {
		if spec.PreRelease == featuregate.Alpha || spec.PreRelease == featuregate.Beta {
			state := "false"
			if spec.Default {
				state = "true"
			}
			if name := string(feature); !strings.HasPrefix(name, "All") {
				lines = append(lines, name+"=true|false ("+string(spec.PreRelease)+" - default="+state+")")
			}
		}
	}
	slices.Sort(lines)
	return lines
}
