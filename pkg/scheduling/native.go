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

package scheduling

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/scheduling/schedulingv1/workloadbuilder"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// Native is what the workload-aware scheduling of Kubernetes needs for one attempt of an application.
type Native struct {
	// Workload is the application's blueprint. It is the same for each of its attempts, apart from the size of the gang.
	Workload *schedulingv1beta1.Workload
	// PodGroup is the attempt's group of executors.
	PodGroup *schedulingv1beta1.PodGroup
	// Gang says whether the executors are placed all together or not at all.
	Gang bool
	// MinCount is the size of the gang: the number of executors that the attempt starts with. It is 0 without a gang.
	MinCount int32
}

// Compile returns the scheduling objects of an attempt, or nil for an application that doesn't use the workload-aware
// scheduling of Kubernetes. Whatever of the scheduling block can't be honoured is an error, for an object that was
// stored by another release too: it is never left out in silence.
func Compile(app *spark.Application, submissionID string) (*Native, error) {
	specPath := field.NewPath("spec")
	choice := Choose(&app.App.Spec, specPath)
	if !choice.Native() {
		return nil, nil
	}
	if submissionID == "" {
		return nil, errors.New("a PodGroup is named after its attempt, which has no submission ID")
	}
	errs := validateExclusive(&app.App.Spec, specPath, choice)
	errs = append(errs, validateSupported(app.App.Spec.Scheduling, specPath.Child("scheduling"))...)
	errs = append(errs, validateGangBounds(app, specPath, choice)...)
	errs = append(errs, validateGangSize(app, choice)...)
	errs = append(errs, validateGroupPriority(app, specPath)...)
	workloadName := WorkloadName(app.App.Name, app.App.UID)
	options := buildOptions(app.App, workloadName)
	// What another release has stored was not seen by the generated validation of this one.
	options.DisableDeclarativeValidation = false
	builder := workloadbuilder.NewBuilder(schedulingItem(app, specPath), options)
	errs = append(errs, builder.Validate(context.Background(), workloadbuilder.ValidationInput{})...)
	if len(errs) > 0 {
		return nil, errs.ToAggregate()
	}

	workload, err := builder.BuildWorkload()
	if err != nil {
		return nil, fmt.Errorf("compiling the Workload: %w", err)
	}
	podGroup, err := builder.NewPodGroup(PodGroupName(workloadName, ExecutorsTemplate, submissionID), ExecutorsTemplate)
	if err != nil {
		return nil, fmt.Errorf("compiling the PodGroup: %w", err)
	}

	// The builder keeps and shares what it returned, and the group shares the owner of the Workload.
	native := &Native{Workload: workload.DeepCopy(), PodGroup: podGroup.DeepCopy(), Gang: choice.Kind == Gang}
	if native.Gang {
		native.MinCount = app.Executors.Initial
	}
	if compiled := native.PodGroup.Spec.SchedulingPolicy.Gang != nil; compiled != native.Gang {
		// The builder reads a policy that is both as basic. Validation refuses it; a gang must not become one in silence.
		return nil, fmt.Errorf("%s: the policy must be either basic or gang", choice.Path)
	}
	native.Workload.TypeMeta = metav1.TypeMeta{APIVersion: schedulingv1beta1.SchemeGroupVersion.String(), Kind: "Workload"}
	native.Workload.Labels = objectLabels(app.App)
	native.PodGroup.TypeMeta = metav1.TypeMeta{APIVersion: schedulingv1beta1.SchemeGroupVersion.String(), Kind: "PodGroup"}
	native.PodGroup.Labels = objectLabels(app.App)
	native.PodGroup.Labels[spark.LabelSubmissionID] = submissionID
	return native, nil
}

// Group is the membership that is written into the template of the executors; nil for a nil receiver. The priority
// class is the one that the created PodGroup was given, which is not what it was asked for where the cluster has a
// default class: members and group must have the same priority for as long as the group lives. Empty means the class
// asked for.
func (n *Native) Group(priorityClassName string) *spark.Group {
	if n == nil {
		return nil
	}
	if priorityClassName == "" {
		priorityClassName = n.PodGroup.Spec.PriorityClassName
	}
	group := &spark.Group{
		PodGroupName:      n.PodGroup.Name,
		Gang:              n.Gang,
		MinCount:          n.MinCount,
		PriorityClassName: priorityClassName,
	}
	if mode := n.PodGroup.Spec.DisruptionMode; mode != nil {
		group.DisruptedTogether = mode.All != nil
	}
	for i := range n.PodGroup.Spec.ResourceClaims {
		claim := &n.PodGroup.Spec.ResourceClaims[i]
		// The entry of a pod must be the same as that of its group, or it is a claim of the pod's own.
		group.ResourceClaims = append(group.ResourceClaims, corev1.PodResourceClaim{
			Name: claim.Name, ResourceClaimName: claim.ResourceClaimName, ResourceClaimTemplateName: claim.ResourceClaimTemplateName,
		})
	}
	return group
}

// groupPriorityClass is the priority class that the group and its members are asked to have, or empty.
func groupPriorityClass(app *spark.Application) string {
	if scheduling := app.App.Spec.Scheduling; scheduling != nil && deref(scheduling.PriorityClassName) != "" {
		return *scheduling.PriorityClassName
	}
	return app.ExecutorPriorityClassName
}

// schedulingItem describes the executors to the builder. Validate and Compile share it, so that what was accepted is
// what is built.
func schedulingItem(app *spark.Application, specPath *field.Path) *workloadbuilder.WorkloadItem {
	item := &workloadbuilder.WorkloadItem{
		Name: ExecutorsTemplate,
		Path: specPath.Child("scheduling"),
		DefaultConfig: &workloadbuilder.SchedulingConfig{
			Policy:            &workloadbuilder.SchedulingPolicy{Basic: &workloadbuilder.BasicSchedulingPolicy{}},
			PriorityClassName: groupPriorityClass(app),
		},
		Callbacks: []workloadbuilder.SchedulingConfigFunc{func(config *workloadbuilder.SchedulingConfig) {
			// The one resolver of the number of executors decides, and nothing that the user wrote into the block.
			if config.Policy != nil && config.Policy.Gang != nil {
				config.Policy.Gang.MinCount = new(app.Executors.Initial)
			}
		}},
	}
	scheduling := app.App.Spec.Scheduling
	if scheduling == nil {
		return item
	}
	item.Input = workloadbuilder.WorkloadInput{
		Policy: workloadbuilder.PolicyInput{
			PodGroupData: scheduling.SchedulingPolicy,
			PathElements: []string{"schedulingPolicy"},
		},
		Constraints: workloadbuilder.ConstraintsInput{
			PodGroupData: scheduling.SchedulingConstraints,
			PathElements: []string{"schedulingConstraints"},
		},
		DisruptionMode: workloadbuilder.DisruptionModeInput{
			PodGroupData: scheduling.DisruptionMode,
			PathElements: []string{"disruptionMode"},
		},
		ResourceClaims: workloadbuilder.ResourceClaimsInput{
			PodGroupData: scheduling.ResourceClaims,
			PathElements: []string{"resourceClaims"},
		},
	}
	return item
}

func buildOptions(app *v1beta2.SparkApplication, workloadName string) workloadbuilder.BuildOptions {
	return workloadbuilder.BuildOptions{
		Name:      workloadName,
		Namespace: app.Namespace,
		Owner:     metav1.NewControllerRef(app, v1beta2.SchemeGroupVersion.WithKind("SparkApplication")),
		AllowedPolicies: []workloadbuilder.SchedulingPolicyOption{
			workloadbuilder.BasicPolicy, workloadbuilder.GangPolicy,
		},
		AllowedDisruptionModes: []workloadbuilder.DisruptionModeOption{workloadbuilder.SingleMode, workloadbuilder.AllMode},
		// The rules of the building blocks are part of the generated validation of our own types.
		DisableDeclarativeValidation: true,
	}
}

func objectLabels(app *v1beta2.SparkApplication) map[string]string {
	return map[string]string{
		spark.LabelAppName:    app.Name,
		spark.LabelLaunchedBy: spark.LabelTrue,
	}
}
