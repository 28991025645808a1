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
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Program names one of the programs that a cluster is made of.
type Program string

// The upstream programs. SparkAPIServer and SimulatedDriver are ours and only appear in recorded state.
const (
	Etcd                  Program = "etcd"
	KubeAPIServer         Program = "kube-apiserver"
	KubeControllerManager Program = "kube-controller-manager"
	KubeScheduler         Program = "kube-scheduler"
	Kubectl               Program = "kubectl"
	Kwok                  Program = "kwok"
	Kubelet               Program = "kubelet"
	KubeProxy             Program = "kube-proxy"
	CoreDNS               Program = "coredns"
	SparkAPIServer        Program = "spark-apiserver"
	SimulatedDriver       Program = "simulated-spark-driver"
)

// genericWorkload is the gate of Workload, PodGroup and gang scheduling: beta and off by default in Kubernetes 1.37.
const genericWorkload = "GenericWorkload"

// Options say what cluster to start. The zero value is what most tests want: workload-aware scheduling on, simulated
// nodes possible but none added, the simulated Spark driver running inside this process.
type Options struct {
	// DataDir holds certificates, logs, kubeconfigs and etcd's data. Empty means a new temporary directory, which
	// Stop removes unless KeepData is set.
	DataDir string

	// KeepData keeps a temporary data directory after Stop. SPARK_TEST_CLUSTER_KEEP=1 in the environment does it too.
	KeepData bool

	// ExistingKubeconfig names the kubeconfig of a cluster that exists already: nothing of a control plane is started,
	// only what keeps simulated nodes and plays Spark on them. They are tainted there, so that nobody's pods land on them
	// by accident, and labelled: see SimulatedNodeKey.
	ExistingKubeconfig string

	// WithoutGenericWorkload starts the control plane as Kubernetes 1.37 is by default: the gate GenericWorkload off in
	// all three programs and scheduling.k8s.io/v1beta1 not served.
	WithoutGenericWorkload bool

	// FeatureGates are set in kube-apiserver, kube-controller-manager and kube-scheduler.
	FeatureGates map[string]bool

	// ProgramFeatureGates override FeatureGates and GenericWorkload in one program, for version skew.
	ProgramFeatureGates map[Program]map[string]bool

	// RuntimeConfig is added to kube-apiserver's --runtime-config.
	RuntimeConfig map[string]bool

	// SchedulerProfiles are further names that kube-scheduler answers to, with its ordinary plugins. Pods of batch schedulers
	// are placed this way without them: simulated, as far as anything but the names goes.
	SchedulerProfiles []string

	// ExtraArgs are appended to the arguments of a program.
	ExtraArgs map[Program][]string

	// WithoutKwok leaves out the simulated nodes' keeper. AddNode fails then.
	WithoutKwok bool

	// WithoutSimulatedDriver leaves out the simulated kubelet and driver for Spark pods: they stay as the scheduler
	// left them.
	WithoutSimulatedDriver bool

	// SimulatedRunTime is how long a simulated application computes once its executors run, unless it says otherwise
	// itself. Default: one second.
	SimulatedRunTime time.Duration

	// SimulatedBatchDelay is the longest pause between two rounds of a simulated driver's executor allocation. Spark's
	// own default is one second; default here: 100 ms.
	SimulatedBatchDelay time.Duration

	// Detached lets the processes outlive this one, in sessions of their own. The simulated driver is then a process as
	// well (SimulatedDriverCommand), and Stop must be called by Attach's caller.
	Detached bool

	// SimulatedDriverCommand runs the simulated driver of a detached cluster. The arguments --kubeconfig, --run-time and
	// --batch-delay are appended.
	SimulatedDriverCommand []string

	// StartTimeout bounds the wait for each program. Default: two minutes, since two cores may be busy with other work.
	StartTimeout time.Duration

	// Progress receives one line for every step that may take long. Default: standard error.
	Progress io.Writer
}

func (o Options) withDefaults() Options {
	if o.SimulatedRunTime == 0 {
		o.SimulatedRunTime = time.Second
	}
	if o.SimulatedBatchDelay == 0 {
		o.SimulatedBatchDelay = 100 * time.Millisecond
	}
	if o.StartTimeout == 0 {
		o.StartTimeout = 2 * time.Minute
	}
	if o.Progress == nil {
		o.Progress = os.Stderr
	}
	if os.Getenv("SPARK_TEST_CLUSTER_KEEP") == "1" {
		o.KeepData = true
	}
	return o
}

// featureGates returns the value of --feature-gates for a program, empty if there is nothing to set.
func (o Options) featureGates(p Program) string {
	gates := map[string]bool{}
	if !o.WithoutGenericWorkload {
		gates[genericWorkload] = true
	}
	maps.Copy(gates, o.FeatureGates)
	maps.Copy(gates, o.ProgramFeatureGates[p])
	return joinBools(gates)
}

// runtimeConfig returns the value of kube-apiserver's --runtime-config, empty if there is nothing to set.
func (o Options) runtimeConfig() string {
	config := map[string]bool{}
	if !o.WithoutGenericWorkload {
		// Without it a scheduler that has the gate on waits for its informers for ever and schedules nothing at all.
		config["scheduling.k8s.io/v1beta1"] = true
	}
	maps.Copy(config, o.RuntimeConfig)
	return joinBools(config)
}

// schedulerProfiles returns the profiles of kube-scheduler's configuration, empty for the usual one alone.
func (o Options) schedulerProfiles() string {
	if len(o.SchedulerProfiles) == 0 {
		return ""
	}
	var text strings.Builder
	text.WriteString("profiles:\n- schedulerName: default-scheduler\n")
	for _, name := range o.SchedulerProfiles {
		text.WriteString("- schedulerName: " + name + "\n")
	}
	return text.String()
}

func joinBools(m map[string]bool) string {
	parts := make([]string, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, k+"="+strconv.FormatBool(m[k]))
	}
	return strings.Join(parts, ",")
}
