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
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apiserver/pkg/admission"
	genericoptions "k8s.io/apiserver/pkg/server/options"

	"github.com/spark-apiserver/spark-apiserver/pkg/apiserver/allowedschedulers"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
)

// SchedulerOptions say which schedulers applications may ask for.
type SchedulerOptions struct {
	// Default is the batch scheduler of applications that choose none.
	Default string
	// KubeSchedulers are the names of kube-schedulers with the co-scheduling plugin.
	KubeSchedulers []string
	// Allowed are the names of the schedulers that applications may name.
	Allowed []string
}

func newSchedulerOptions() *SchedulerOptions {
	return &SchedulerOptions{
		KubeSchedulers: []string{scheduling.DefaultKubeSchedulerName},
		Allowed:        []string{allowedschedulers.Any},
	}
}

func (o *SchedulerOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Default, "default-batch-scheduler", o.Default,
		"Batch scheduler of applications that choose nothing: neither spec.scheduling nor spec.batchScheduler nor the scheduler of a pod. "+
			"Default: none. A change acts on attempts that begin after it.")
	fs.StringSliceVar(&o.KubeSchedulers, "kube-scheduler-names", o.KubeSchedulers,
		"Names of kube-schedulers that have the co-scheduling plugin of kubernetes-sigs/scheduler-plugins, comma separated. They are batch "+
			"schedulers beside volcano and yunikorn.")
	fs.StringSliceVar(&o.Allowed, "allowed-schedulers", o.Allowed,
		"Schedulers that applications may name, as batch scheduler or as schedulerName of a pod, comma separated: '*' means all, and nothing "+
			"none but "+defaultScheduler+". The annotation "+allowedschedulers.Annotation+" of a namespace takes its place there.")
}

// defaultScheduler may always be named.
const defaultScheduler = "default-scheduler"

func (o *SchedulerOptions) schedulers() scheduling.Schedulers {
	return scheduling.Schedulers{Default: o.Default, KubeSchedulers: o.KubeSchedulers}
}

// register adds the plugin that keeps to the list, after those that may change what an application names.
func (o *SchedulerOptions) register(options *genericoptions.AdmissionOptions) {
	options.Plugins.Register(allowedschedulers.PluginName, func(io.Reader) (admission.Interface, error) {
		return allowedschedulers.New(o.Allowed, o.schedulers()), nil
	})
	options.RecommendedPluginOrder = append(options.RecommendedPluginOrder, allowedschedulers.PluginName)
}

func (o *SchedulerOptions) validate() []error {
	var errs []error
	for _, name := range o.KubeSchedulers {
		if name == defaultScheduler {
			errs = append(errs, fmt.Errorf("--kube-scheduler-names: %q is where pods go that name no scheduler", name))
		}
		for _, problem := range validation.NameIsDNSSubdomain(name, false) {
			errs = append(errs, fmt.Errorf("--kube-scheduler-names %q: %s", name, problem))
		}
	}
	if o.Default == "" {
		return errs
	}
	if known := o.schedulers().Names(); !slices.Contains(known, o.Default) {
		errs = append(errs, fmt.Errorf("--default-batch-scheduler: there is no batch scheduler %q (there is: %s)", o.Default, strings.Join(known, ", ")))
	}
	if !slices.Contains(o.Allowed, allowedschedulers.Any) && !slices.Contains(o.Allowed, o.Default) {
		errs = append(errs, fmt.Errorf("--allowed-schedulers must allow the default batch scheduler %q", o.Default))
	}
	return errs
}
