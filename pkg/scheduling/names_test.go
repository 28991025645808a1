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
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
)

// The wanted names of this test come from workloadbuilder of Kubernetes 1.38 (0.38.0-beta.0). Objects are stored under them: they are
// never to change.
func TestWorkloadName(t *testing.T) {
	const uid types.UID = "0b7ac02c-5a8b-4a57-8f7c-2f6f0c3b5d11"
	for _, tc := range []struct {
		app  string
		uid  types.UID
		want string
	}{
		{"spark-pi", uid, "spark-pi-57cd5b698f"},
		{strings.Repeat("a", 63), uid, strings.Repeat("a", 63) + "-57cd5b698f"},
		{strings.Repeat("n", 300), "u", strings.Repeat("n", 242) + "-548bf4f8b6"},
		{"spark-pi", "", "spark-pi-69ddf977d7"},
		{"", uid, "57cd5b698f"},
	} {
		got := WorkloadName(tc.app, tc.uid)
		assert.Equal(t, tc.want, got)
		assert.Empty(t, validation.IsDNS1123Subdomain(got))
	}
}

func TestPodGroupName(t *testing.T) {
	for _, tc := range []struct {
		workload, template, submissionID string
		want                             string
	}{
		{"spark-pi-5d9f7c", "executors", "9c2a52f8-7a43-4c76-b1ad-6a5b22e4ef60", "spark-pi-5d9f7c-executors-9867cb864"},
		{"spark-pi-5d9f7c", "executors", "9c2a52f8-7a43-4c76-b1ad-6a5b22e4ef61", "spark-pi-5d9f7c-executors-99f59847f"},
		{"a", "bc", "", "a-bc-6fc6486b8f"},
		{"ab", "c", "", "ab-c-dfb9bdf77"},
		{strings.Repeat("w", 253), "executors", "s", strings.Repeat("w", 233) + "-executors-76bb6c969"},
		{"w", strings.Repeat("t", 253), "s", "w-" + strings.Repeat("t", 240) + "-5c847c99bc"},
		{strings.Repeat("w", 200), strings.Repeat("t", 200), "s", strings.Repeat("w", 121) + "-" + strings.Repeat("t", 121) + "-f5f947fdb"},
	} {
		got := PodGroupName(tc.workload, tc.template, tc.submissionID)
		assert.Equal(t, tc.want, got)
		assert.LessOrEqual(t, len(got), validation.DNS1123SubdomainMaxLength)
		assert.Empty(t, validation.IsDNS1123Subdomain(got))
	}
}
