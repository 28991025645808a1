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

package integration

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// directly changes a configuration so that it reaches our server itself. Both servers obey the cluster's flow schemas, and
// through kube-apiserver one could not tell which of them did.
func (e *environment) directly(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Host = e.server.URL()
	config.CAData = e.server.CA()
	return config
}

// flow makes a flow schema for a user's requests to our group, and the priority level that it names, which has no share.
func (n *tenant) flow(user string) *flowcontrolv1.FlowSchema {
	n.t.Helper()
	flows := n.kube.FlowcontrolV1()
	name := metav1.ObjectMeta{Name: n.namespace}
	_, err := flows.PriorityLevelConfigurations().Create(n.t.Context(), &flowcontrolv1.PriorityLevelConfiguration{
		ObjectMeta: name,
		Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
			Type: flowcontrolv1.PriorityLevelEnablementLimited,
			Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{
				NominalConcurrencyShares: new(int32(0)), LendablePercent: new(int32(0)), BorrowingLimitPercent: new(int32(0)),
				LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject},
			},
		},
	}, metav1.CreateOptions{})
	require.NoError(n.t, err)
	schema, err := flows.FlowSchemas().Create(n.t.Context(), &flowcontrolv1.FlowSchema{
		ObjectMeta: name,
		Spec: flowcontrolv1.FlowSchemaSpec{
			PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: name.Name},
			MatchingPrecedence:         100,
			Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
				Subjects: []flowcontrolv1.Subject{{Kind: flowcontrolv1.SubjectKindUser, User: &flowcontrolv1.UserSubject{Name: user}}},
				ResourceRules: []flowcontrolv1.ResourcePolicyRule{{
					Verbs: []string{flowcontrolv1.VerbAll}, APIGroups: []string{v1beta2.SchemeGroupVersion.Group},
					Resources: []string{"sparkapplications"}, Namespaces: []string{n.namespace},
				}},
			}},
		},
	}, metav1.CreateOptions{})
	require.NoError(n.t, err)
	n.t.Cleanup(func() {
		_ = flows.FlowSchemas().Delete(context.Background(), name.Name, metav1.DeleteOptions{})
		_ = flows.PriorityLevelConfigurations().Delete(context.Background(), name.Name, metav1.DeleteOptions{})
	})
	return schema
}

// Our server takes up the cluster's flow schemas and priority levels, which can name our kinds, and refuses what is beyond
// them. A level without a share does one request at a time.
func TestPriorityAndFairness(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	user := "user-of-" + n.namespace
	n.userWith(user, "edit")
	config, err := n.ConfigFor(user)
	require.NoError(t, err)
	config = n.directly(config)
	// A client of ours would try again, and not tell.
	client, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	ask := func() (*http.Response, error) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			config.Host+"/apis/sparkoperator.k8s.io/v1beta2/namespaces/"+n.namespace+"/sparkapplications", http.NoBody)
		if err != nil {
			return nil, err
		}
		answer, err := client.Do(request)
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(io.Discard, answer.Body)
		return answer, errors.Join(err, answer.Body.Close())
	}

	schema := n.flow(user)
	n.until("our server has taken up the flow schema", func(c *assert.CollectT) {
		answer, err := ask()
		require.NoError(t, err)
		assert.Equal(c, string(schema.UID), answer.Header.Get(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID))
		assert.Equal(c, http.StatusOK, answer.StatusCode)
	})
	n.until("one of many requests at once is refused", func(c *assert.CollectT) {
		var wait sync.WaitGroup
		var refused atomic.Int32
		for range 50 {
			wait.Go(func() {
				if answer, err := ask(); err != nil {
					assert.Fail(t, "no answer", "%v", err)
				} else if answer.StatusCode == http.StatusTooManyRequests {
					refused.Add(1)
				}
			})
		}
		wait.Wait()
		assert.NotZero(c, refused.Load())
	})
	// Nobody else is held up.
	_, err = n.apps().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
}
