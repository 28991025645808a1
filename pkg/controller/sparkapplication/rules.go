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

// Rule names a rule by which Decide decides. docs/lifecycle.md has a row for each, and so has the table test; a test
// keeps the three together. A plan says which rules made it.
type Rule string

// Rules that hold in several states.
const (
	RuleDeleting     Rule = "Deleting"
	RuleSuspend      Rule = "Suspend"
	RuleEdit         Rule = "Edit"
	RuleEditInPlace  Rule = "EditInPlace"
	RuleInvalidate   Rule = "Invalidate"
	RuleInvalidated  Rule = "Invalidated"
	RuleRemovingPods Rule = "RemovingPods"
)

// Rules of submission.
const (
	RuleSubmit             Rule = "Submit"
	RuleAdoptDriver        Rule = "AdoptDriver"
	RuleCannotSubmit       Rule = "CannotSubmit"
	RuleCapabilityUnknown  Rule = "CapabilityUnknown"
	RuleCarryOutSubmission Rule = "CarryOutSubmission"
	RuleDriverNotKnown     Rule = "DriverNotKnown"
	RuleRenewAfterEdit     Rule = "RenewAfterEdit"
	RuleRefused            Rule = "Refused"
	RuleStaleIdentity      Rule = "StaleIdentity"
	RuleObstacle           Rule = "Obstacle"
	RuleDriverQueued       Rule = "DriverQueued"
)

// Rules about a driver.
const (
	RuleDriverPending       Rule = "DriverPending"
	RuleDriverRunning       Rule = "DriverRunning"
	RuleDriverUnknown       Rule = "DriverUnknown"
	RuleDriverSucceeded     Rule = "DriverSucceeded"
	RuleDriverFailed        Rule = "DriverFailed"
	RuleDriverGone          Rule = "DriverGone"
	RuleDriverTerminating   Rule = "DriverTerminating"
	RuleDriverNodeLost      Rule = "DriverNodeLost"
	RuleDriverCannotStart   Rule = "DriverCannotStart"
	RuleDriverStartDeadline Rule = "DriverStartDeadline"
	RuleObjectsRestored     Rule = "ObjectsRestored"
	RuleExecutorCannotStart Rule = "ExecutorCannotStart"
)

// Rules about a gang.
const (
	RuleMembershipMissing Rule = "MembershipMissing"
	RuleGroupObstacle     Rule = "GroupObstacle"
	RuleGroupsNotKnown    Rule = "GroupsNotKnown"
	RuleGroupRestored     Rule = "GroupRestored"
	RuleGangAdmitted      Rule = "GangAdmitted"
	RuleLowerMinCount     Rule = "LowerMinCount"
	RuleAdmissionDeadline Rule = "AdmissionDeadline"
)

// Rules about what follows an attempt.
const (
	RuleCompleted         Rule = "Completed"
	RuleRerunAfterSuccess Rule = "RerunAfterSuccess"
	RuleStopping          Rule = "Stopping"
	RuleRetryWait         Rule = "RetryWait"
	RuleRerun             Rule = "Rerun"
	RuleFailed            Rule = "Failed"
	RuleResubmit          Rule = "Resubmit"
	RuleEnded             Rule = "Ended"
	RuleTimeToLiveOver    Rule = "TimeToLiveOver"
	RulePendingRerun      Rule = "PendingRerun"
)

// Rules about suspension.
const (
	RuleSuspended     Rule = "Suspended"
	RuleStaySuspended Rule = "StaySuspended"
	RuleResume        Rule = "Resume"
)

// rule notes by which rule is decided.
func (d *decision) rule(r Rule) {
	d.plan.Rules = append(d.plan.Rules, r)
}
