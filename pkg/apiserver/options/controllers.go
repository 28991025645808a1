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
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/spark-apiserver/spark-apiserver/pkg/controller/sparkapplication"
)

const defaultWorkers = 16

// ControllerOptions say which controllers run, and how.
type ControllerOptions struct {
	// Selection names controllers as kube-controller-manager does: "*" is all, "name" one more, "-name" one less.
	Selection []string
	// Workers is how many objects each controller handles at a time.
	Workers int
	// SparkApplications are what holds for every SparkApplication.
	SparkApplications sparkapplication.Settings
}

func newControllerOptions() *ControllerOptions {
	return &ControllerOptions{Selection: []string{"*"}, Workers: defaultWorkers, SparkApplications: sparkapplication.DefaultSettings()}
}

func (o *ControllerOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.Selection, "controllers", o.Selection,
		"Controllers that this replica runs, comma separated: '*' means all, 'name' one of them, '-name' all but this one, and '-*' or "+
			"nothing none at all. There are: scheduledsparkapplication, sparkapplication.")
	fs.IntVar(&o.Workers, "workers", o.Workers, "How many objects a controller handles at a time.")
	addSparkApplicationFlags(fs, &o.SparkApplications)
}

// Enabled returns those of the known controllers that are selected.
func (o *ControllerOptions) Enabled(known []string) []string {
	var enabled []string
	for _, name := range known {
		switch {
		case slices.Contains(o.Selection, "-"+name), slices.Contains(o.Selection, "-*") && !slices.Contains(o.Selection, name):
		case slices.Contains(o.Selection, name), slices.Contains(o.Selection, "*"):
			enabled = append(enabled, name)
		}
	}
	return enabled
}

func (o *ControllerOptions) validate(known []string) []error {
	var errs []error
	for _, entry := range o.Selection {
		name := strings.TrimPrefix(entry, "-")
		if name != "*" && name != "" && !slices.Contains(known, name) {
			errs = append(errs, fmt.Errorf("--controllers: there is no controller %q (there are: %s)", name, strings.Join(known, ", ")))
		}
	}
	if o.Workers < 1 {
		errs = append(errs, errors.New("--workers must be at least 1"))
	}
	return append(errs, validateSparkApplicationSettings(&o.SparkApplications)...)
}
