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
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// webhook is a server that admission asks.
type webhook struct {
	*httptest.Server
	mu    sync.Mutex
	asked []admissionv1.AdmissionRequest
}

// newWebhook starts a server that answers as decide says.
func newWebhook(t *testing.T, decide func(app *unstructured.Unstructured, answer *admissionv1.AdmissionResponse)) *webhook {
	w := &webhook{}
	w.Server = httptest.NewTLSServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		review := &admissionv1.AdmissionReview{}
		object := &unstructured.Unstructured{}
		if err := json.NewDecoder(in.Body).Decode(review); err != nil {
			http.Error(out, err.Error(), http.StatusBadRequest)
			return
		}
		if err := object.UnmarshalJSON(review.Request.Object.Raw); err != nil {
			http.Error(out, err.Error(), http.StatusBadRequest)
			return
		}
		w.mu.Lock()
		w.asked = append(w.asked, *review.Request)
		w.mu.Unlock()
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
		decide(object, review.Response)
		review.Request = nil
		out.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(out).Encode(review)
	}))
	t.Cleanup(w.Close)
	return w
}

// about returns what was asked about an application.
func (w *webhook) about(name string) []admissionv1.AdmissionRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []admissionv1.AdmissionRequest
	for i := range w.asked {
		if w.asked[i].Name == name {
			found = append(found, w.asked[i])
		}
	}
	return found
}

func (w *webhook) client() admissionregistrationv1.WebhookClientConfig {
	return admissionregistrationv1.WebhookClientConfig{
		URL:      new(w.URL + "/admit"),
		CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.Certificate().Raw}),
	}
}

func (n *tenant) validatingWebhook(name string, client admissionregistrationv1.WebhookClientConfig, policy admissionregistrationv1.FailurePolicyType) {
	n.t.Helper()
	configurations := n.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: n.namespace + "-" + name},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: name + ".example.com", ClientConfig: client, AdmissionReviewVersions: []string{"v1"}, FailurePolicy: new(policy),
			SideEffects: new(admissionregistrationv1.SideEffectClassNone), NamespaceSelector: n.onlyHere(),
			Rules: []admissionregistrationv1.RuleWithOperations{ourKinds("sparkapplications", "sparkapplications/scale")},
		}},
	}
	_, err := configurations.Create(n.t.Context(), configuration, metav1.CreateOptions{})
	require.NoError(n.t, err)
	n.t.Cleanup(func() { _ = configurations.Delete(context.Background(), configuration.Name, metav1.DeleteOptions{}) })
}

func (n *tenant) mutatingWebhook(name string, client admissionregistrationv1.WebhookClientConfig) {
	n.t.Helper()
	configurations := n.kube.AdmissionregistrationV1().MutatingWebhookConfigurations()
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: n.namespace + "-" + name},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: name + ".example.com", ClientConfig: client, AdmissionReviewVersions: []string{"v1"},
			SideEffects: new(admissionregistrationv1.SideEffectClassNone), NamespaceSelector: n.onlyHere(),
			Rules: []admissionregistrationv1.RuleWithOperations{ourKinds("sparkapplications")},
		}},
	}
	_, err := configurations.Create(n.t.Context(), configuration, metav1.CreateOptions{})
	require.NoError(n.t, err)
	n.t.Cleanup(func() { _ = configurations.Delete(context.Background(), configuration.Name, metav1.DeleteOptions{}) })
}

// Webhooks of the cluster are asked about our kinds, in the version that users speak and with the user's name; dry runs
// say that they are some; and one that can't be reached is named.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	mutating := newWebhook(t, func(_ *unstructured.Unstructured, answer *admissionv1.AdmissionResponse) {
		answer.Patch = []byte(`[{"op":"add","path":"/metadata/labels","value":{"team":"data"}},{"op":"add","path":"/spec/executor/memory","value":"2g"}]`)
		answer.PatchType = new(admissionv1.PatchTypeJSONPatch)
		answer.Warnings = []string{"the executors' memory was chosen for you"}
	})
	validating := newWebhook(t, func(app *unstructured.Unstructured, answer *admissionv1.AdmissionResponse) {
		if replicas, found, _ := unstructured.NestedInt64(app.Object, "spec", "replicas"); found {
			answer.Allowed = replicas < 4
		} else {
			memory, _, _ := unstructured.NestedString(app.Object, "spec", "executor", "memory")
			answer.Allowed = memory == "2g" && app.GetAPIVersion() == v1beta2.SchemeGroupVersion.String() && app.GetName() != "unwanted"
		}
		answer.Result = &metav1.Status{Message: "not wanted here"}
	})
	n.mutatingWebhook("choose", mutating.client())
	n.validatingWebhook("judge", validating.client(), admissionregistrationv1.Fail)
	n.until("the webhooks are asked", func(c *assert.CollectT) {
		_, err := n.apps().Create(t.Context(), n.application("unwanted", suspended), dryRun)
		require.ErrorContains(c, err, `admission webhook "judge.example.com" denied the request: not wanted here`)
		assert.NotEmpty(c, mutating.about("unwanted"))
	})
	for _, request := range validating.about("unwanted") {
		assert.Equal(t, new(true), request.DryRun)
	}

	out, errOut, err := n.kubectl(manifest(t, n.application("pi", suspended)), "create", "-f", "-")
	require.NoError(t, err, out+errOut)
	assert.Contains(t, errOut, "Warning: the executors' memory was chosen for you")
	app := n.get("pi")
	assert.Equal(t, "data", app.Labels["team"])
	assert.Equal(t, new("2g"), app.Spec.Executor.Memory)
	requests := validating.about("pi")
	require.Len(t, requests, 1, "the mutated object is judged once")
	assert.Equal(t, new(false), requests[0].DryRun)
	assert.Equal(t, "kubernetes-admin", requests[0].UserInfo.Username, "the user of the request, not the one that passed it on")
	assert.Equal(t, admissionv1.Create, requests[0].Operation)
	assert.Equal(t, metav1.GroupVersionResource(v1beta2.SchemeGroupVersion.WithResource("sparkapplications")), requests[0].Resource)

	_, errOut, err = n.kubectl("", "scale", "sparkapp/pi", "--replicas=4")
	require.Error(t, err)
	assert.Contains(t, errOut, "not wanted here")
	n.mustKubectl("", "scale", "sparkapp/pi", "--replicas=3")

}

// A webhook that can't be reached refuses or passes as its failure policy says, and the error names it.
func TestUnreachableWebhooks(t *testing.T) {
	t.Parallel()
	gone := newWebhook(t, nil)
	unreachable := gone.client()
	gone.Close()
	t.Run("Fail", func(t *testing.T) {
		n := shared.tenant(t)
		n.validatingWebhook("absent", unreachable, admissionregistrationv1.Fail)
		n.until("the webhook is asked", func(c *assert.CollectT) {
			_, err := n.apps().Create(t.Context(), n.application("dry", suspended), dryRun)
			require.ErrorContains(c, err, `failed calling webhook "absent.example.com"`)
			assert.ErrorContains(c, err, gone.Listener.Addr().String())
		})
		_, err := n.apps().Create(t.Context(), n.application("pi", suspended), metav1.CreateOptions{})
		require.ErrorContains(t, err, "absent.example.com")
	})
	t.Run("Ignore", func(t *testing.T) {
		n := shared.tenant(t)
		n.validatingWebhook("absent", unreachable, admissionregistrationv1.Ignore)
		// Configurations come into force in the order in which they are made.
		second := newWebhook(t, func(app *unstructured.Unstructured, answer *admissionv1.AdmissionResponse) {
			answer.Allowed = app.GetName() != "unwanted"
		})
		n.validatingWebhook("second", second.client(), admissionregistrationv1.Fail)
		n.until("both webhooks are in force", func(c *assert.CollectT) {
			_, err := n.apps().Create(t.Context(), n.application("unwanted", suspended), dryRun)
			assert.ErrorContains(c, err, "second.example.com")
		})
		n.create(n.application("pi", suspended))
	})
}
