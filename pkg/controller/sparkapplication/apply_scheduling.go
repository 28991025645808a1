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

import (
	"context"
	"encoding/json"
	"fmt"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/scheduling"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// probeExtras makes a dry run of the attempt's PodGroup where it holds more than every PodGroup does: what the cluster's gates
// don't let in is dropped without a word. What the dry run can't tell, the comparison of what is created does.
func (a *applier) probeExtras(ctx context.Context, s *Snapshot, group *schedulingv1beta1.PodGroup) error {
	if len(scheduling.Extras(&s.Application.Spec, field.NewPath("spec"))) == 0 {
		return nil
	}
	probe := group.DeepCopy()
	probe.Name, probe.GenerateName = "", scheduling.ProbeName
	got, err := a.kube.SchedulingV1beta1().PodGroups(group.Namespace).Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return a.schedulingFailure(s, eventReasonFailedPodGroupCreate, classify("create a PodGroup", err))
	}
	if difference := podGroupDifference(probe, got); difference != "" {
		return a.schedulingFailure(s, eventReasonFailedPodGroupCreate, refused(ReasonSchedulingFieldsDropped,
			"kube-apiserver drops a part of the PodGroup: "+difference+scheduling.GateOfDifference(difference)))
	}
	return nil
}

// ensureWorkload makes sure of the application's Workload. What comes back is compared: a field that the API server
// dropped must not be taken for honoured.
func (a *applier) ensureWorkload(ctx context.Context, s *Snapshot, want *schedulingv1beta1.Workload) error {
	client := a.kube.SchedulingV1beta1().Workloads(s.Application.Namespace)
	got, created, err := createOrAdopt(ctx, a, s.Application, writeWorkload, "Workload", want, client)
	if err != nil {
		return a.schedulingFailure(s, eventReasonFailedWorkloadCreate, err)
	}
	difference := scheduling.WorkloadDifference(want, got)
	if created {
		if difference != "" {
			if err := a.deleteWorkload(ctx, got); err != nil {
				return err
			}
			return a.schedulingFailure(s, eventReasonFailedWorkloadCreate, refused(ReasonSchedulingFieldsDropped, "the created Workload is not what was asked for: "+difference+scheduling.GateOfDifference(difference)))
		}
		a.event(s.Application, normal(eventReasonWorkloadCreated, actionSchedule, "created Workload "+got.Name))
		return nil
	}
	switch {
	case deleting(got):
		return waiting("Workload " + got.Name + " is being removed")
	case difference != "":
		return a.replaceWorkload(ctx, s, got, difference)
	case workloadSize(got) != workloadSize(want):
		resized := got.DeepCopy()
		resized.Spec.PodGroupTemplates[0].SchedulingPolicy.Gang.MinCount = workloadSize(want)
		return a.write(writeWorkloadMinCount, func() error {
			_, err := client.Update(ctx, resized, metav1.UpdateOptions{})
			return err
		})
	}
	return nil
}

// replaceWorkload removes a Workload of ours that is no longer what the application compiles to, such as after an edit
// of the executors' priority class. Almost everything in a Workload is immutable, so it is made again under its name,
// when no PodGroup refers to it.
func (a *applier) replaceWorkload(ctx context.Context, s *Snapshot, got *schedulingv1beta1.Workload, difference string) error {
	message := fmt.Sprintf("Workload %s is to be replaced: %s", got.Name, difference)
	switch {
	case s.PodGroup != nil:
		return &Obstacle{Kind: ObstacleStaleIdentity, Reason: ReasonWaitingForCleanup, Message: message}
	case len(s.StalePodGroups) > 0 || !s.PodGroupsKnown:
		return waiting(message)
	}
	if err := a.deleteWorkload(ctx, got); err != nil {
		return err
	}
	return waiting(message)
}

func (a *applier) deleteWorkload(ctx context.Context, workload *schedulingv1beta1.Workload) error {
	return a.write(writeWorkloadDelete, func() error {
		return gone(a.kube.SchedulingV1beta1().Workloads(workload.Namespace).Delete(ctx, workload.Name, byUID(workload.UID)))
	})
}

// ensurePodGroup makes sure of the attempt's PodGroup and returns it as the API server has it.
func (a *applier) ensurePodGroup(ctx context.Context, m *memory, s *Snapshot, want *schedulingv1beta1.PodGroup) (*schedulingv1beta1.PodGroup, error) {
	client := a.kube.SchedulingV1beta1().PodGroups(s.Application.Namespace)
	got, created, err := createOrAdopt(ctx, a, s.Application, writePodGroup, "PodGroup", want, client)
	if err != nil {
		return nil, a.schedulingFailure(s, eventReasonFailedPodGroupCreate, err)
	}
	if !created && (deleting(got) || got.Labels[spark.LabelSubmissionID] != want.Labels[spark.LabelSubmissionID]) {
		// The scheduler knows groups by their names. A name is never used for a second group.
		return nil, &Obstacle{Kind: ObstacleStaleIdentity, Reason: ReasonPreparingAttempt, Message: "PodGroup " + got.Name + " of an earlier attempt can't be used again"}
	}
	if difference := podGroupDifference(want, got); difference != "" {
		if err := a.deletePodGroup(ctx, m, got.Namespace, got.Name, got.UID); err != nil {
			return nil, err
		}
		return nil, a.schedulingFailure(s, eventReasonFailedPodGroupCreate, refused(ReasonSchedulingFieldsDropped, "the created PodGroup is not what was asked for: "+difference+scheduling.GateOfDifference(difference)))
	}
	if created {
		a.event(s.Application, normal(eventReasonPodGroupCreated, actionSchedule, "created PodGroup "+got.Name))
	}
	m.podGroup, m.podGroupAt = got, a.clock.Now()
	s.PodGroup = got
	return got, nil
}

func podGroupDifference(want, got *schedulingv1beta1.PodGroup) string {
	if difference := scheduling.PodGroupDifference(want, got); difference != "" {
		return difference
	}
	if w, g := groupSize(want), groupSize(got); w != g {
		return fmt.Sprintf("spec.schedulingPolicy.gang.minCount: asked for %d, got %d", w, g)
	}
	return ""
}

// restorePodGroup creates the PodGroup of a running attempt again, under its name, after somebody has removed it.
// Executors would otherwise wait for it, in silence and for ever.
func (a *applier) restorePodGroup(ctx context.Context, m *memory, s *Snapshot) error {
	status := &s.Application.Status
	submission, err := s.Compile(status.SubmissionID, status.LastSubmissionAttemptTime.Time, "")
	if err != nil || submission.Native == nil || len(status.WorkloadScheduling.PodGroups) == 0 {
		return refused(ReasonCompilationFailed, fmt.Sprintf("the PodGroup can't be made again: %v", err))
	}
	record := status.WorkloadScheduling.PodGroups[0]
	want := submission.Native.PodGroup.DeepCopy()
	want.Spec.PriorityClassName = record.PriorityClassName
	// The spec may have been edited since; the attempt is what its record says.
	if gang := want.Spec.SchedulingPolicy.Gang; gang != nil && record.MinCount != nil {
		gang.MinCount = *record.MinCount
		if status.WorkloadScheduling.AdmittedTime != nil {
			gang.MinCount = minCountOne
		}
	}
	got, created, err := createOrAdopt(ctx, a, s.Application, writePodGroup, "PodGroup", want, a.kube.SchedulingV1beta1().PodGroups(want.Namespace))
	if err != nil {
		return a.schedulingFailure(s, eventReasonFailedPodGroupCreate, err)
	}
	if created {
		a.event(s.Application, warning(eventReasonPodGroupCreated, actionSchedule, "created PodGroup "+got.Name+" again, which was removed while its executors need it"))
	}
	m.podGroup, m.podGroupAt = got, a.clock.Now()
	s.PodGroup = got
	return nil
}

// lowerMinCount lowers the minCount of an admitted gang to 1.
func (a *applier) lowerMinCount(ctx context.Context, m *memory, s *Snapshot) error {
	group := s.PodGroup
	if group == nil || keepMinCount() {
		return nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": group.UID, "resourceVersion": group.ResourceVersion},
		"spec":     map[string]any{"schedulingPolicy": map[string]any{"gang": map[string]any{"minCount": minCountOne}}},
	})
	if err != nil {
		return err
	}
	return a.write(writePodGroupMinCount, func() error {
		patched, err := a.kube.SchedulingV1beta1().PodGroups(group.Namespace).Patch(ctx, group.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		m.podGroup, m.podGroupAt = patched, a.clock.Now()
		s.PodGroup = patched
		return nil
	})
}

// schedulingFailure tells of a refused scheduling object. An API that isn't served any more has a reason of its own.
func (a *applier) schedulingFailure(s *Snapshot, eventReason string, err error) error {
	obstacle, other := asObstacle(err)
	if other != nil || obstacle.Kind != ObstacleRefused {
		return err
	}
	a.event(s.Application, warning(eventReason, actionSchedule, obstacle.Message))
	return obstacle
}

func groupSize(group *schedulingv1beta1.PodGroup) int32 {
	return policySize(&group.Spec.SchedulingPolicy)
}

func workloadSize(workload *schedulingv1beta1.Workload) int32 {
	if len(workload.Spec.PodGroupTemplates) == 0 {
		return 0
	}
	return policySize(&workload.Spec.PodGroupTemplates[0].SchedulingPolicy)
}

func policySize(policy *schedulingv1beta1.PodGroupSchedulingPolicy) int32 {
	if policy.Gang == nil {
		return 0
	}
	return policy.Gang.MinCount
}
