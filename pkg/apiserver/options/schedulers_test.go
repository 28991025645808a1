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
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spark-apiserver/spark-apiserver/pkg/apiserver/allowedschedulers"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
)

func TestSchedulerOptions(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want scheduling.Schedulers
		errs []string
	}{
		"defaults":       {want: scheduling.Schedulers{KubeSchedulers: []string{"kube-scheduler"}}},
		"names":          {args: []string{"--kube-scheduler-names=a,b"}, want: scheduling.Schedulers{KubeSchedulers: []string{"a", "b"}}},
		"default":        {args: []string{"--default-batch-scheduler=volcano"}, want: scheduling.Schedulers{Default: "volcano", KubeSchedulers: []string{"kube-scheduler"}}},
		"unknown":        {args: []string{"--default-batch-scheduler=vulcano"}, errs: []string{`no batch scheduler "vulcano" (there is: volcano, yunikorn, kube-scheduler)`}},
		"forbidden":      {args: []string{"--default-batch-scheduler=volcano", "--allowed-schedulers=yunikorn"}, errs: []string{`must allow the default batch scheduler "volcano"`}},
		"no name":        {args: []string{"--kube-scheduler-names=a b"}, errs: []string{`--kube-scheduler-names "a b"`}},
		"the usual name": {args: []string{"--kube-scheduler-names=default-scheduler"}, errs: []string{"name no scheduler"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := newSchedulerOptions()
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			o.addFlags(flags)
			require.NoError(t, flags.Parse(tc.args))
			errs := o.validate()
			require.Len(t, errs, len(tc.errs))
			for i, want := range tc.errs {
				require.ErrorContains(t, errs[i], want)
			}
			if len(tc.errs) == 0 {
				assert.Equal(t, tc.want, o.schedulers())
			}
		})
	}
}

// The plugin comes after all that may change what an application names, and before quota.
func TestAllowedSchedulersIsARegisteredPlugin(t *testing.T) {
	o := New()
	assert.Contains(t, o.Admission.Plugins.Registered(), allowedschedulers.PluginName)
	order := o.Admission.RecommendedPluginOrder
	require.Greater(t, len(order), 2)
	assert.Equal(t, allowedschedulers.PluginName, order[len(order)-2])
}
