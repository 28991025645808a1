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
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	sparkclient "github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned/typed/sparkoperator/v1beta2"
)

// onlyHere selects the tenant's namespace, so that a policy or webhook of one test is none of another's business.
func (n *tenant) onlyHere() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: n.namespace}}
}

// ourKinds are rules for writes of these resources of our group.
func ourKinds(resources ...string) admissionregistrationv1.RuleWithOperations {
	return admissionregistrationv1.RuleWithOperations{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{v1beta2.SchemeGroupVersion.Group}, APIVersions: []string{v1beta2.SchemeGroupVersion.Version}, Resources: resources,
		},
	}
}

// validate makes a policy that holds in the tenant's namespace, with a parameter from a ConfigMap.
func (n *tenant) validate(name, parameters string, validation admissionregistrationv1.Validation, resources ...string) {
	n.t.Helper()
	name = n.namespace + "-" + name
	admission := n.kube.AdmissionregistrationV1()
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			ParamKind:        &admissionregistrationv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"},
			FailurePolicy:    new(admissionregistrationv1.Fail),
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: ourKinds(resources...)}}},
			Validations:      []admissionregistrationv1.Validation{validation},
		},
	}
	_, err := admission.ValidatingAdmissionPolicies().Create(n.t.Context(), policy, metav1.CreateOptions{})
	require.NoError(n.t, err)
	_, err = admission.ValidatingAdmissionPolicyBindings().Create(n.t.Context(), &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        name,
			ParamRef:          &admissionregistrationv1.ParamRef{Name: parameters, Namespace: n.namespace, ParameterNotFoundAction: new(admissionregistrationv1.DenyAction)},
			MatchResources:    &admissionregistrationv1.MatchResources{NamespaceSelector: n.onlyHere()},
			ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}, metav1.CreateOptions{})
	require.NoError(n.t, err)
	n.t.Cleanup(func() {
		_ = admission.ValidatingAdmissionPolicyBindings().Delete(context.Background(), name, metav1.DeleteOptions{})
		_ = admission.ValidatingAdmissionPolicies().Delete(context.Background(), name, metav1.DeleteOptions{})
	})
}

func (n *tenant) apps() sparkclient.SparkApplicationInterface {
	return n.spark.SparkoperatorV1beta2().SparkApplications(n.namespace)
}

var dryRun = metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}

// A ValidatingAdmissionPolicy of the cluster judges our kinds and their subresources, with parameters, and in dry runs.
func TestValidatingAdmissionPolicies(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.create(n.application("before", suspended, executors(2)))
	_, err := n.kube.CoreV1().ConfigMaps(n.namespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "limits"}, Data: map[string]string{"executors": "3"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	n.validate("instances", "limits", admissionregistrationv1.Validation{
		Expression:        `!has(object.spec.executor.instances) || object.spec.executor.instances <= int(params.data.executors)`,
		MessageExpression: `"at most " + params.data.executors + " executors here"`,
	}, "sparkapplications")
	n.validate("scale", "limits", admissionregistrationv1.Validation{
		Expression: `object.spec.replicas <= int(params.data.executors)`, Message: "not so many, by scaling either",
	}, "sparkapplications/scale")
	n.validate("status", "limits", admissionregistrationv1.Validation{
		Expression: `!has(object.status.submissionID) || object.status.submissionID != "forbidden"`, Message: "no such status",
	}, "sparkapplications/status")
	n.validate("schedules", "limits", admissionregistrationv1.Validation{
		Expression: `object.spec.template.executor.instances <= int(params.data.executors)`, Message: "not so many in a schedule either",
	}, "scheduledsparkapplications")

	refuses := func(c assert.TestingT, err error, message string) {
		if assert.Error(c, err) {
			assert.ErrorContains(c, err, message)
			assert.True(c, apierrors.IsInvalid(err) || apierrors.IsForbidden(err), "%v", err)
		}
	}
	n.until("the policy is in force", func(c *assert.CollectT) {
		_, err := n.apps().Create(t.Context(), n.application("many", suspended, executors(4)), dryRun)
		refuses(c, err, "at most 3 executors here")
	})
	_, err = n.apps().Create(t.Context(), n.application("many", suspended, executors(4)), metav1.CreateOptions{})
	refuses(t, err, n.namespace+"-instances")
	n.create(n.application("few", suspended, executors(3)))
	_, err = n.apps().Patch(t.Context(), "before", types.MergePatchType, []byte(`{"spec":{"executor":{"instances":4}}}`), metav1.PatchOptions{})
	refuses(t, err, "at most 3 executors here")

	n.until("the policy for scaling is in force", func(c *assert.CollectT) {
		_, errOut, err := n.kubectl("", "scale", "sparkapp/before", "--replicas=4")
		if assert.Error(c, err) {
			assert.Contains(c, errOut, "not so many, by scaling either")
		}
	})
	n.mustKubectl("", "scale", "sparkapp/before", "--replicas=3")
	n.until("the policy for the status is in force", func(c *assert.CollectT) {
		_, err := n.apps().Patch(t.Context(), "before", types.MergePatchType, []byte(`{"status":{"submissionID":"forbidden"}}`),
			metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, "status")
		refuses(c, err, "no such status")
	})
	n.until("the policy for schedules is in force", func(c *assert.CollectT) {
		_, err := n.spark.SparkoperatorV1beta2().ScheduledSparkApplications(n.namespace).Create(t.Context(), n.schedule("yearly", "0 0 1 1 *", executors(4)), dryRun)
		refuses(c, err, "not so many in a schedule either")
	})
}

// mutate makes a policy that holds in the tenant's namespace.
func (n *tenant) mutate(name string, mutation admissionregistrationv1.Mutation, resources ...string) {
	n.t.Helper()
	name = n.namespace + "-" + name
	admission := n.kube.AdmissionregistrationV1()
	_, err := admission.MutatingAdmissionPolicies().Create(n.t.Context(), &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			FailurePolicy:      new(admissionregistrationv1.Fail),
			ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
			MatchConstraints:   &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: ourKinds(resources...)}}},
			Mutations:          []admissionregistrationv1.Mutation{mutation},
		},
	}, metav1.CreateOptions{})
	require.NoError(n.t, err)
	_, err = admission.MutatingAdmissionPolicyBindings().Create(n.t.Context(), &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{
			PolicyName: name, MatchResources: &admissionregistrationv1.MatchResources{NamespaceSelector: n.onlyHere()},
		},
	}, metav1.CreateOptions{})
	require.NoError(n.t, err)
	n.t.Cleanup(func() {
		_ = admission.MutatingAdmissionPolicyBindings().Delete(context.Background(), name, metav1.DeleteOptions{})
		_ = admission.MutatingAdmissionPolicies().Delete(context.Background(), name, metav1.DeleteOptions{})
	})
}

// A MutatingAdmissionPolicy of the cluster changes our kinds and their subresources before they are validated, by the
// schema that the cluster has from us.
func TestMutatingAdmissionPolicies(t *testing.T) {
	t.Parallel()
	n := shared.tenant(t)
	n.mutate("apply", admissionregistrationv1.Mutation{
		PatchType: admissionregistrationv1.PatchTypeApplyConfiguration,
		ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{Expression: `Object{
			metadata: Object.metadata{labels: {"team": "data"}},
			spec: Object.spec{nodeSelector: {"pool": "spark"}, executor: Object.spec.executor{memory: "2g"}}}`},
	}, "sparkapplications")
	n.mutate("patch", admissionregistrationv1.Mutation{
		PatchType: admissionregistrationv1.PatchTypeJSONPatch,
		JSONPatch: &admissionregistrationv1.JSONPatch{Expression: `[JSONPatch{op: "add", path: "/spec/sparkConf", value: {"spark.eventLog.enabled": "true"}}]`},
	}, "sparkapplications")
	// For a Scale, of a built-in kind too, the plugin finds no schema to apply a configuration by.
	n.mutate("scale", admissionregistrationv1.Mutation{
		PatchType: admissionregistrationv1.PatchTypeJSONPatch,
		JSONPatch: &admissionregistrationv1.JSONPatch{Expression: `[JSONPatch{op: "replace", path: "/spec/replicas", value: 7}]`},
	}, "sparkapplications/scale")

	var app *v1beta2.SparkApplication
	n.until("both policies are in force", func(c *assert.CollectT) {
		var err error
		app, err = n.apps().Create(t.Context(), n.application("dry", suspended), dryRun)
		if assert.NoError(c, err) {
			assert.Equal(c, "data", app.Labels["team"])
			assert.Equal(c, "true", app.Spec.SparkConf["spark.eventLog.enabled"])
		}
	})
	app = n.create(n.application("pi", suspended))
	assert.Equal(t, "data", app.Labels["team"])
	assert.Equal(t, map[string]string{"pool": "spark", reserved: n.namespace}, app.Spec.NodeSelector)
	assert.Equal(t, new("2g"), app.Spec.Executor.Memory)
	assert.Equal(t, map[string]string{"spark.eventLog.enabled": "true"}, app.Spec.SparkConf)
	stored := n.get("pi")
	assert.Equal(t, app.Spec, stored.Spec)

	n.until("the policy for scaling is in force", func(c *assert.CollectT) {
		out, errOut, err := n.kubectl("", "scale", "sparkapp/pi", "--replicas=2", "-o", "json")
		if assert.NoError(c, err, out+errOut) {
			assert.EqualValues(c, 7, *n.get("pi").Spec.Executor.Instances)
		}
	})
}
