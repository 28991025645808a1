//go:build linux

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

package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/realnode"
)

// What a manifest puts into the containers is seen from inside of them, in the driver and in executors: config maps,
// secrets, volumes, environment, and the work of init containers and sidecars. A sidecar that runs on when Spark has ended
// doesn't keep the application from being complete.
func TestContainersHaveWhatTheManifestSays(t *testing.T) {
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			n := newTenant(t)
			script, err := os.ReadFile("testdata/seen.py")
			require.NoError(t, err)
			_, err = n.kube.CoreV1().ConfigMaps(n.namespace).Create(t.Context(), &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: "seen"}, Data: map[string]string{"seen.py": string(script)},
			}, metav1.CreateOptions{})
			require.NoError(t, err)
			n.create(n.manifest("seen.yaml", line))
			n.untilState("seen", v1beta2.ApplicationStateCompleted)

			seen := n.seen()
			require.Contains(t, seen, "driver")
			require.Contains(t, seen, "executor")
			for role, what := range seen {
				assert.Contains(t, what["downward"], "seen=\""+role+"\"", "the pod's own labels, in a volume")
				delete(what, "downward")
				assert.Equal(t, map[string]string{
					"configMap": "of the config map", "secret": "of the secret",
					"volume": "of the init container", "sidecar": "of the sidecar",
					"GREETING": "hello", "MODE": "nightly", "PASSWORD": "of the secret", "NODE_NAME": realnode.NodeName,
				}, what, role)
			}
			for _, status := range n.driver("seen").Status.ContainerStatuses {
				if status.Name == "companion" {
					assert.NotNil(t, status.State.Running, "the driver's sidecar runs on")
				}
			}
		})
	}
}

// seen reads the lines that seen.py has printed.
func (n *tenant) seen() map[string]map[string]string {
	n.t.Helper()
	all := map[string]map[string]string{}
	for line := range strings.Lines(n.driverLog("seen")) {
		if found, ok := strings.CutPrefix(line, "SEEN "); ok {
			role, content, _ := strings.Cut(found, " ")
			what := map[string]string{}
			require.NoError(n.t, json.Unmarshal([]byte(content), &what), content)
			all[role] = what
		}
	}
	return all
}
