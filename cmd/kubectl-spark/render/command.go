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

// Package render is `kubectl spark render`: it prints the objects that the server would create for a SparkApplication,
// without a cluster. Defaulting, validation and compilation are the server's own functions.
package render

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/component-base/featuregate"

	"github.com/spark-apiserver/spark-apiserver/pkg/features"
	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

const description = `Print every object that the server would create for a SparkApplication.

Nothing is sent anywhere and no kubeconfig is read. Manifests are defaulted and validated as the server does it; then
the Workload and the PodGroup (where spec.scheduling asks for them), the claims, the ConfigMap, the headless Service and
the driver's pod are printed in the order in which they would be created, then what stands beside a driver: the Services
and Ingresses of the UI and of driverIngressOptions, and the PodDisruptionBudget. The executors' pods are created by the driver
from the template that is part of the ConfigMap.

For a ScheduledSparkApplication that is done for its next run: the SparkApplication which is created for it comes first.
In a manifest that was read back from a cluster the next run is the one that its status names; in others it is the first
one of the year 2026.

A file may hold several documents; other kinds are passed over with a note. Warnings, notes and errors go to standard
error. An application with errors is not rendered, the others are, and the exit code is 1.

What only a cluster knows is replaced by placeholders that depend on namespace and name alone, so that the same manifest
always gives the same output: the UID of the application, the submission ID and the time of the submission. A manifest
that was read back from a cluster carries the real ones, and these are used.

The feature gate SparkApplicationWorkloadAwareScheduling is on here unless --feature-gates says otherwise, and what the
host cluster itself would do (its priority classes, quotas, webhooks and defaults) is not played through.`

const examples = `  # What does the server make of this application?
  kubectl spark render -f spark-pi.yaml

  # All applications below a folder, and exit code 1 if one of them would be refused
  kubectl spark render -R -f jobs/ >/dev/null

  # Unknown fields are errors
  kubectl spark render --validate=strict -f spark-pi.yaml

  # The objects of the running attempt of an application
  kubectl get sparkapp spark-pi -o yaml | kubectl spark render -f -

  # What does a change of the manifest change?
  diff <(kubectl spark render -f old.yaml) <(kubectl spark render -f new.yaml)`

// FieldValidation says what happens to fields that are unknown or given twice.
type FieldValidation string

const (
	// FieldValidationIgnore passes over them, as the server does with fieldValidation=Ignore.
	FieldValidationIgnore FieldValidation = "ignore"
	// FieldValidationWarn warns about them. It is the default, as everywhere in Kubernetes.
	FieldValidationWarn FieldValidation = "warn"
	// FieldValidationStrict makes errors of them.
	FieldValidationStrict FieldValidation = "strict"
)

// Options are the flags of `kubectl spark render`.
type Options struct {
	genericiooptions.IOStreams

	// Filenames are files, folders, or "-" for standard input.
	Filenames []string
	// Recursive descends into folders of folders.
	Recursive bool
	// Namespace is the namespace of applications that name none.
	Namespace string
	// Output is yaml, json or name.
	Output string
	// Validate is how unknown fields and fields given twice are treated.
	Validate string
	// UID takes the place of the application's UID.
	UID string
	// SubmissionID takes the place of the attempt's ID.
	SubmissionID string
	// FeatureGates are NAME=true|false pairs, separated by commas.
	FeatureGates string
	// Schedulers are the batch schedulers that the server knows, and its default.
	Schedulers scheduling.Schedulers
	// IngressURLFormat is the server's flag of this name.
	IngressURLFormat string

	namespaceGiven bool
	validation     FieldValidation
	gate           featuregate.FeatureGate
}

// NewCommand returns the command `render`.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	o := &Options{IOStreams: streams, Namespace: "default", Output: outputYAML, Validate: string(FieldValidationWarn)}
	o.Schedulers.KubeSchedulers = []string{scheduling.DefaultKubeSchedulerName}
	cmd := &cobra.Command{
		Use:                   "render -f FILE",
		DisableFlagsInUseLine: true,
		Short:                 "Print the objects that the server would create",
		Long:                  description,
		Example:               examples,
		Args:                  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.namespaceGiven = cmd.Flags().Changed("namespace")
			if err := o.complete(); err != nil {
				return err
			}
			return o.Run()
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&o.Filenames, "filename", "f", nil, "file or folder with manifests, or - for standard input; may be repeated")
	flags.BoolVarP(&o.Recursive, "recursive", "R", false, "descend into the folders of a folder")
	flags.StringVarP(&o.Namespace, "namespace", "n", o.Namespace, "namespace of applications whose manifest names none")
	flags.StringVarP(&o.Output, "output", "o", o.Output, "format of the output: "+strings.Join(outputs, ", "))
	flags.StringVar(&o.Validate, "validate", o.Validate,
		"what to do about unknown fields and fields given twice: strict (or true) refuses them, warn warns, ignore (or false) is silent")
	flags.Lookup("validate").NoOptDefVal = string(FieldValidationStrict)
	flags.StringVar(&o.UID, "uid", "", "UID of the application (default: the manifest's, else a placeholder made of namespace and name)")
	flags.StringVar(&o.SubmissionID, "submission-id", "",
		"ID of the attempt, a UUID (default: the manifest's, else a placeholder made of namespace and name)")
	flags.StringVar(&o.FeatureGates, "feature-gates", "",
		"NAME=true|false pairs, separated by commas; "+string(features.SparkApplicationWorkloadAwareScheduling)+" is on by default here")
	flags.StringSliceVar(&o.Schedulers.KubeSchedulers, "kube-scheduler-names", o.Schedulers.KubeSchedulers,
		"names of kube-schedulers with the co-scheduling plugin, as the server's flag has them")
	flags.StringVar(&o.Schedulers.Default, "default-batch-scheduler", "", "batch scheduler of applications that choose nothing, as the server's flag has it")
	flags.StringVar(&o.IngressURLFormat, "ingress-url-format", "", "URL of Spark UIs, as the server's flag says it; without it the UI has no Ingress")
	_ = cmd.MarkFlagFilename("filename", "yaml", "yml", "json")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(outputs, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("validate", cobra.FixedCompletions([]string{"strict", "warn", "ignore"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *Options) complete() error {
	if len(o.Filenames) == 0 {
		return errors.New("name at least one file with -f, or - for standard input")
	}
	if !slices.Contains(outputs, o.Output) {
		return fmt.Errorf("--output: %q is none of %s", o.Output, strings.Join(outputs, ", "))
	}
	// The words for true and false are those that kubectl takes.
	switch strings.ToLower(o.Validate) {
	case "strict", "true", "":
		o.validation = FieldValidationStrict
	case "warn":
		o.validation = FieldValidationWarn
	case "ignore", "false":
		o.validation = FieldValidationIgnore
	default:
		return fmt.Errorf("--validate: %q is none of strict, warn and ignore", o.Validate)
	}
	gate := features.NewFeatureGate()
	if err := gate.SetFromMap(map[string]bool{string(features.SparkApplicationWorkloadAwareScheduling): true}); err != nil {
		return err
	}
	if err := gate.Set(o.FeatureGates); err != nil {
		return fmt.Errorf("--feature-gates: %w", err)
	}
	o.gate = gate
	if o.IngressURLFormat != "" {
		if err := spark.CheckIngressURLFormat(o.IngressURLFormat); err != nil {
			return fmt.Errorf("--ingress-url-format: %w", err)
		}
	}
	return nil
}

// Run renders all applications of all files. Errors of single documents are printed as they are met and only counted in
// the returned error.
func (o *Options) Run() error {
	r := &renderer{
		scheme:          newScheme(),
		namespace:       o.Namespace,
		namespaceGiven:  o.namespaceGiven,
		uid:             o.UID,
		submissionID:    o.SubmissionID,
		placeholderTime: time.Unix(0, 0).UTC(),
		schedulers:      o.Schedulers,
		gate:            o.gate,
		side:            spark.SideSettings{UIService: true, IngressURLFormat: o.IngressURLFormat},
	}
	printer := newPrinter(o.Output, o.Out)
	report := &report{out: o.ErrOut}
	for document, err := range documents(o.Filenames, o.Recursive, o.In) {
		if err != nil {
			report.errorf("%v", err)
			continue
		}
		if err := o.renderDocument(r, document, printer, report); err != nil {
			return err
		}
	}
	if err := printer.flush(); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	switch {
	case report.errors > 0:
		return fmt.Errorf("%d rendered, %d not", report.rendered, report.errors)
	case report.rendered == 0:
		return errors.New("no SparkApplication or ScheduledSparkApplication found")
	}
	return nil
}

// renderDocument renders the applications of one document. The error that it returns is one of writing the output.
func (o *Options) renderDocument(r *renderer, document document, printer printer, report *report) error {
	items, err := decode(r.scheme, document)
	if err != nil {
		report.errorf("%s: %v", document, err)
		return nil
	}
	for _, item := range items {
		if item.application == nil && item.schedule == nil {
			report.notef("%s: %s is passed over", document, item.describe())
			continue
		}
		where := fmt.Sprintf("%s: %s %q", document, strings.ToLower(item.kind.Kind), item.name)
		refused := false
		for _, strict := range item.strictErrors {
			switch o.validation {
			case FieldValidationStrict:
				report.problemf("%s: %v", where, strict)
				refused = true
			case FieldValidationWarn:
				report.warnf("%s: %v", where, strict)
			case FieldValidationIgnore:
			}
		}
		var result *result
		if item.schedule != nil {
			result = r.renderSchedule(item.schedule)
		} else {
			result = r.render(item.application)
		}
		for _, warning := range result.warnings {
			report.warnf("%s: %s", where, warning)
		}
		for _, problem := range result.errors {
			report.problemf("%s: %v", where, problem)
			refused = true
		}
		if refused {
			report.errors++
			continue
		}
		report.rendered++
		if err := printer.print(result); err != nil {
			return fmt.Errorf("writing the output: %w", err)
		}
	}
	return nil
}
