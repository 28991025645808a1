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

import "strings"

// refusals tell the reasons of refused requests apart by the words of those who refuse, in the order in which they are
// looked for: the plugins ResourceQuota, PodSecurity, LimitRanger, Priority and ServiceAccount of kube-apiserver, and
// webhooks and policies.
var refusals = []struct {
	words  []string
	reason string
}{
	{[]string{"exceeded quota", "failed quota"}, ReasonQuotaExceeded},
	{[]string{"violates PodSecurity"}, ReasonPodSecurityViolated},
	{[]string{"no PriorityClass with name"}, ReasonPriorityClassNotFound},
	{[]string{"error looking up service account"}, ReasonServiceAccountNotFound},
	{[]string{"usage per Container is", "usage per Pod is", "limit to request ratio per", "per PersistentVolumeClaim is"}, ReasonLimitRangeExceeded},
	{[]string{"admission webhook", "ValidatingAdmissionPolicy", "denied the request"}, ReasonAdmissionDenied},
}

// refusalReason returns the reason of a condition for the message of a refused request.
func refusalReason(message string) string {
	for _, r := range refusals {
		for _, words := range r.words {
			if strings.Contains(message, words) {
				return r.reason
			}
		}
	}
	return ReasonSubmissionFailed
}
