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
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	mutatingadmissionpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	validatingadmissionpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	genericfeatures "k8s.io/apiserver/pkg/features"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fakediscovery "k8s.io/client-go/discovery/fake"
	clienttesting "k8s.io/client-go/testing"
	basecompatibility "k8s.io/component-base/compatibility"

	"github.com/spark-apiserver/spark-apiserver/pkg/apiserver"
	"github.com/spark-apiserver/spark-apiserver/pkg/features"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

func parse(t *testing.T, flags ...string) (*Options, error) {
	t.Helper()
	o := New()
	all := pflag.NewFlagSet("test", pflag.ContinueOnError)
	for _, set := range o.FlagSets().FlagSets {
		all.AddFlagSet(set)
	}
	return o, all.Parse(flags)
}

func complete(t *testing.T, flags ...string) *Options {
	t.Helper()
	o, err := parse(t, flags...)
	require.NoError(t, err)
	// Keys take long to make.
	o.SecureServing.ServerCert.FixtureDirectory = certificates
	require.NoError(t, o.Complete())
	return o
}

// certificates is where the first server's certificate is kept for the others.
var certificates string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "spark-apiserver-test-")
	if err != nil {
		panic(err)
	}
	certificates = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func TestValidate(t *testing.T) {
	for name, test := range map[string]struct {
		flags []string
		want  string // part of the message; empty for valid options
	}{
		"defaults, standalone":        {[]string{"--standalone"}, ""},
		"no cluster":                  {nil, "--standalone to try the API without one"},
		"missing kubeconfig":          {[]string{"--kubeconfig=/does/not/exist"}, "--kubeconfig /does/not/exist"},
		"external store":              {[]string{"--standalone", "--etcd-servers=https://etcd:2379", "--etcd-cafile=ca"}, ""},
		"relative data directory":     {[]string{"--standalone", "--data-dir=data"}, "absolute path"},
		"nonsense quota":              {[]string{"--standalone", "--embedded-etcd-quota=lots"}, `--embedded-etcd-quota "lots"`},
		"tiny quota":                  {[]string{"--standalone", "--embedded-etcd-quota=8"}, "at least"},
		"certificates for no network": {[]string{"--standalone", "--etcd-cafile=ca"}, "need --etcd-servers"},
		"overrides of no server":      {[]string{"--standalone", "--etcd-servers-overrides=sparkoperator.k8s.io/sparkapplications#http://x"}, "needs --etcd-servers"},
		"unknown encoding":            {[]string{"--standalone", "--storage-media-type=text/plain"}, "--storage-media-type"},
		"unknown controller":          {[]string{"--standalone", "--controllers=*,-nobody"}, `there is no controller "nobody"`},
		"no controllers":              {[]string{"--standalone", "--controllers=-*"}, ""},
		"no workers":                  {[]string{"--standalone", "--workers=0"}, "--workers must be at least 1"},
		"no requests":                 {[]string{"--standalone", "--kube-api-qps=0"}, "--kube-api-qps must not be 0"},
		"bad namespace":               {[]string{"--standalone", "--server-namespace=A_B"}, `--server-namespace "A_B"`},
		"two ways to a cluster":       {[]string{"--standalone", "--kubeconfig=x"}, "exclude each other"},
		"admin in a cluster":          {[]string{"--admin-kubeconfig=/x"}, "--admin-kubeconfig needs --standalone"},
		"replaced, not compared":      {[]string{"--store-identity-configmap=", "--replaces-store=x"}, "--replaces-store needs --store-identity-configmap"},
		"chance too big":              {[]string{"--standalone", "--goaway-chance=0.5"}, "--goaway-chance"},
		"ingress of no service":       {[]string{"--standalone", "--enable-ui-service=false", "--ingress-url-format=x.example.com"}, "--ingress-url-format needs --enable-ui-service"},
		"ingress of no host":          {[]string{"--standalone", "--ingress-url-format=http:///x"}, "--ingress-url-format: the host"},
		"ingress, unknown variable":   {[]string{"--standalone", "--ingress-url-format={{$name}}.example.com"}, "$name"},
		"annotations not JSON":        {[]string{"--standalone", "--ingress-annotations=a=b"}, "--ingress-annotations: "},
		"TLS with unknown fields":     {[]string{"--standalone", `--ingress-tls=[{"secret":"x"}]`}, "--ingress-tls: "},
		"election without a cluster":  {[]string{"--standalone", "--leader-elect"}, "--standalone and --leader-elect exclude each other"},
		"lease too short":             {[]string{"--leader-elect", "--leader-elect-lease-duration=10s"}, "--leader-elect-lease-duration must be more than --leader-elect-renew-deadline"},
		"deadline too short":          {[]string{"--leader-elect", "--leader-elect-renew-deadline=2s"}, "--leader-elect-renew-deadline must be more than 1.2 times"},
		"no retries":                  {[]string{"--leader-elect", "--leader-elect-retry-period=0s"}, "--leader-elect-retry-period must be more than 0"},
		"another lock":                {[]string{"--leader-elect", "--leader-elect-resource-lock=configmaps"}, "only leases are supported"},
		"lease without a name":        {[]string{"--leader-elect", "--leader-elect-resource-name="}, "--leader-elect-resource-name must not be empty"},
		"CBOR":                        {[]string{"--standalone", "--feature-gates=CBORServingAndStorage=true"}, "CBORServingAndStorage"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBERNETES_SERVICE_HOST", "")
			t.Cleanup(func() {
				require.NoError(t, utilfeature.DefaultMutableFeatureGate.Set(string(genericfeatures.CBORServingAndStorage)+"=false"))
			})
			errs := complete(t, test.flags...).Validate()
			if test.want == "" {
				assert.Empty(t, errs)
			} else {
				require.ErrorContains(t, utilerrors.NewAggregate(errs), test.want)
			}
		})
	}
}

func TestFeatureGates(t *testing.T) {
	const ours = features.SparkApplicationWorkloadAwareScheduling
	assert.False(t, complete(t).featureGates().Enabled(ours))
	for _, flags := range [][]string{
		{"--feature-gates=SparkApplicationWorkloadAwareScheduling=true"},
		{"--feature-gates=spark-apiserver:SparkApplicationWorkloadAwareScheduling=true"},
		{"--feature-gates=WatchList=true, SparkApplicationWorkloadAwareScheduling=true"},
		{"--feature-gates=WatchList=true", "--feature-gates=SparkApplicationWorkloadAwareScheduling=true"},
	} {
		o := complete(t, flags...)
		assert.True(t, o.featureGates().Enabled(ours), flags)
		assert.False(t, New().featureGates().Enabled(ours), "one server's gates are not another's")
	}
	o, err := parse(t, "--feature-gates=NoSuchGate=true")
	require.NoError(t, err)
	require.ErrorContains(t, o.Complete(), "NoSuchGate")
}

// TestKubernetesIsNotEmulatedByOurVersion: were the version of the API machinery taken from ours, everything younger would
// be off without a word.
func TestKubernetesIsNotEmulatedByOurVersion(t *testing.T) {
	o := complete(t, "--standalone")
	assert.Equal(t, "1.37", o.components.EffectiveVersionFor(basecompatibility.DefaultKubeComponent).EmulationVersion().String())
	assert.Equal(t, "0.1", o.components.EffectiveVersionFor(ComponentName).EmulationVersion().String())
	assert.True(t, utilfeature.DefaultFeatureGate.Enabled(genericfeatures.WatchList))
	assert.True(t, utilfeature.DefaultFeatureGate.Enabled(genericfeatures.MutatingAdmissionPolicy))

	o, err := parse(t, "--emulated-version=kube=1.31")
	require.NoError(t, err)
	require.Error(t, o.Complete())
}

// Replicas elect a leader where there can be several of them, unless the user decides otherwise.
func TestLeaderElectionDefault(t *testing.T) {
	for name, test := range map[string]struct {
		flags []string
		want  bool
	}{
		"embedded":             {nil, false},
		"embedded, asked for":  {[]string{"--leader-elect"}, true},
		"external":             {[]string{"--etcd-servers=https://etcd:2379"}, true},
		"external, turned off": {[]string{"--etcd-servers=https://etcd:2379", "--leader-elect=false"}, false},
		"standalone":           {[]string{"--standalone", "--etcd-servers=https://etcd:2379"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, complete(t, test.flags...).LeaderElection.LeaderElect)
		})
	}
}

func TestSideObjectSettings(t *testing.T) {
	assert.Equal(t, spark.SideSettings{UIService: true}, complete(t).SideObjects.settings())
	got := complete(t, "--enable-ui-service", "--ingress-url-format={{$appName}}.example.com", "--ingress-class-name=nginx",
		`--ingress-annotations={"a":"b"}`, `--ingress-tls=[{"hosts":["*.example.com"],"secretName":"tls"}]`).SideObjects.settings()
	assert.Equal(t, spark.SideSettings{
		UIService: true, IngressURLFormat: "{{$appName}}.example.com", IngressClassName: "nginx",
		IngressAnnotations: map[string]string{"a": "b"}, IngressTLS: []networkingv1.IngressTLS{{Hosts: []string{"*.example.com"}, SecretName: "tls"}},
	}, got)
}

func TestControllerSelection(t *testing.T) {
	known := []string{"a", "b"}
	for name, test := range map[string]struct {
		selection []string
		want      []string
	}{
		"all":            {[]string{"*"}, known},
		"one":            {[]string{"a"}, []string{"a"}},
		"all but one":    {[]string{"*", "-a"}, []string{"b"}},
		"none":           {nil, nil},
		"none, minus":    {[]string{"-*"}, nil},
		"none but one":   {[]string{"-*", "b"}, []string{"b"}},
		"minus prevails": {[]string{"a", "-a"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, (&ControllerOptions{Selection: test.selection}).Enabled(known))
		})
	}
	assert.Empty(t, complete(t, "--controllers=").Controllers.Enabled(apiserver.ControllerNames()))
	assert.Equal(t, apiserver.ControllerNames(), complete(t).Controllers.Enabled(apiserver.ControllerNames()))
}

func TestReplicasTakeOver(t *testing.T) {
	embedded := complete(t, "--standalone")
	assert.Zero(t, embedded.Server.ShutdownDelayDuration)
	assert.Zero(t, embedded.Server.GoawayChance)
	assert.True(t, embedded.Server.ShutdownSendRetryAfter)

	external := complete(t, "--standalone", "--etcd-servers=http://etcd:2379")
	assert.Equal(t, replicaShutdownDelay, external.Server.ShutdownDelayDuration)
	assert.InDelta(t, replicaGoawayChance, external.Server.GoawayChance, 0)

	chosen := complete(t, "--standalone", "--etcd-servers=http://etcd:2379", "--shutdown-delay-duration=0s", "--goaway-chance=0")
	assert.Zero(t, chosen.Server.ShutdownDelayDuration)
	assert.Zero(t, chosen.Server.GoawayChance)
}

func TestOneKubeconfigServesAll(t *testing.T) {
	o := complete(t, "--kubeconfig=a", "--authorization-kubeconfig=b")
	assert.Equal(t, "a", o.Authentication.RemoteKubeConfigFile)
	assert.Equal(t, "b", o.Authorization.RemoteKubeConfigFile)
}

func TestOwnNamespace(t *testing.T) {
	t.Setenv(podNamespaceVariable, "")
	file := filepath.Join(t.TempDir(), "namespace")
	assert.Equal(t, "spark-system", ownNamespace(file))
	require.NoError(t, os.WriteFile(file, []byte("from-account\n"), 0o600))
	assert.Equal(t, "from-account", ownNamespace(file))
	t.Setenv(podNamespaceVariable, "from-environment")
	assert.Equal(t, "from-environment", ownNamespace(file))
}

func TestPoliciesNeedTheirResources(t *testing.T) {
	mutating, validating := policyPlugins[0].resources, policyPlugins[1].resources
	served := func(resources ...string) *fakediscovery.FakeDiscovery {
		fake := &clienttesting.Fake{}
		if len(resources) > 0 {
			list := &metav1.APIResourceList{GroupVersion: admissionRegistrationVersion}
			for _, name := range resources {
				list.APIResources = append(list.APIResources, metav1.APIResource{Name: name})
			}
			fake.Resources = []*metav1.APIResourceList{list}
		}
		return &fakediscovery.FakeDiscovery{Fake: fake}
	}
	for name, test := range map[string]struct {
		cluster *fakediscovery.FakeDiscovery
		want    []string
	}{
		"1.37":                            {served(slices.Concat(mutating, validating)...), nil},
		"1.35":                            {served(validating...), []string{mutatingadmissionpolicy.PluginName}},
		"turned off by the administrator": {served(mutating...), []string{validatingadmissionpolicy.PluginName}},
		"without bindings":                {served(append([]string{mutating[0]}, validating...)...), []string{mutatingadmissionpolicy.PluginName}},
		"older":                           {served(), []string{mutatingadmissionpolicy.PluginName, validatingadmissionpolicy.PluginName}},
	} {
		t.Run(name, func(t *testing.T) {
			admission := genericoptions.NewAdmissionOptions()
			require.NoError(t, disableUnservedPlugins(admission, test.cluster))
			assert.Equal(t, test.want, admission.DisablePlugins)
			require.NoError(t, disableUnservedPlugins(admission, test.cluster))
			assert.Equal(t, test.want, admission.DisablePlugins, "no plugin is named twice")
		})
	}
}

func TestEveryFlagIsInOneGroupAndHasHelp(t *testing.T) {
	seen := map[string]string{}
	for name, set := range New().FlagSets().FlagSets {
		set.VisitAll(func(flag *pflag.Flag) {
			assert.Empty(t, seen[flag.Name], flag.Name)
			seen[flag.Name] = name
			assert.NotEmpty(t, flag.Usage, flag.Name)
		})
	}
	for _, name := range []string{"data-dir", "etcd-servers", "controllers", "feature-gates", "workers", "kubeconfig", "secure-port",
		"audit-policy-file", "enable-admission-plugins", "enable-priority-and-fairness", "encryption-provider-config", "v", "logging-format"} {
		assert.NotEmpty(t, seen[name], name)
	}
	assert.Equal(t, "feature", seen["feature-gates"])
}
