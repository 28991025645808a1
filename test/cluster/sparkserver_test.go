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

package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/spark-apiserver/spark-apiserver/test/cluster"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/clustertest"
)

// stubEnv makes this test program a stand-in for our server, so that what starts and registers servers can be tested
// without one.
const stubEnv = "SPARK_TEST_CLUSTER_STUB_SERVER"

func stubServer() cluster.ServerOptions {
	return cluster.ServerOptions{Binary: os.Args[0], Name: "stub", Env: []string{stubEnv + "=1"}, FeatureGates: map[string]bool{"Some": true}}
}

// serveStub answers discovery of our group, and says who the cluster takes it for.
func serveStub() error {
	flags := map[string]string{}
	for _, arg := range os.Args[1:] {
		name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		flags[name] = value
	}
	config, err := clientcmd.BuildConfigFromFlags("", flags["kubeconfig"])
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	const path = "/apis/sparkoperator.k8s.io/v1beta2"
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var answer any
		switch r.URL.Path {
		case "/readyz":
			return
		case path:
			answer = metav1.APIResourceList{
				TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "sparkoperator.k8s.io/v1beta2",
				APIResources: []metav1.APIResource{{Name: "stubs", Kind: "Stub", Verbs: metav1.Verbs{"get"}}},
			}
		case path + "/stubs/self":
			review, err := client.AuthenticationV1().SelfSubjectReviews().Create(r.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			answer = map[string]any{"user": review.Status.UserInfo.Username, "flags": flags, "pid": os.Getpid()}
		default:
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(answer)
	})
	fmt.Fprintln(os.Stderr, "stub serves")
	server := &http.Server{Addr: "127.0.0.1:" + flags["secure-port"], Handler: handler, ReadHeaderTimeout: time.Minute}
	return server.ListenAndServeTLS(flags["tls-cert-file"], flags["tls-private-key-file"])
}

func TestSparkAPIServerLife(t *testing.T) {
	clustertest.SkipIfShort(t)
	server, err := shared.StartSparkAPIServer(t.Context(), stubServer())
	require.NoError(t, err)

	type answer struct {
		User  string
		Flags map[string]string
		PID   int
	}
	ask := func() (answer, error) {
		var a answer
		out, _, err := shared.Kubectl(t.Context(), "", "get", "--raw", "/apis/sparkoperator.k8s.io/v1beta2/stubs/self")
		if err != nil {
			return a, err
		}
		return a, json.Unmarshal([]byte(out), &a)
	}
	var first answer
	eventually(t, "the server to be reached through kube-apiserver", func() bool { first, err = ask(); return err == nil })
	assert.Equal(t, cluster.ServerIdentity, first.User, "the server works under the identity of the manifests")
	assert.Equal(t, "Some=true", first.Flags["feature-gates"])
	assert.Equal(t, server.DataDir, first.Flags["data-dir"])
	assert.Equal(t, server.PID(), first.PID)

	server.Kill()
	_, err = ask()
	require.Error(t, err, "a killed server answers nothing")
	require.NoError(t, server.Start(t.Context()))
	require.NoError(t, shared.WaitAPIServiceAvailable(t.Context(), "v1beta2.sparkoperator.k8s.io"))
	var second answer
	eventually(t, "the restarted server to be reached", func() bool { second, err = ask(); return err == nil })
	assert.NotEqual(t, first.PID, second.PID)
	assert.Equal(t, first.Flags, second.Flags)
	log, err := server.Log()
	require.NoError(t, err)
	assert.Equal(t, "stub serves\nstub serves\n", log, "one log over all starts")

	events, err := shared.AuditEvents(func(e *auditv1.Event) bool {
		return e.User.Username == cluster.ServerIdentity && e.ObjectRef != nil && e.ObjectRef.Resource == "selfsubjectreviews"
	})
	require.NoError(t, err)
	assert.NotEmpty(t, events, "whatever the server asks for is in the audit log")

	server.Stop()
	_, _, err = shared.Kubectl(context.WithoutCancel(t.Context()), "", "delete", "apiservice", "v1beta2.sparkoperator.k8s.io")
	require.NoError(t, err)
}
