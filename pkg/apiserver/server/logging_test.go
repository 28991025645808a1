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

package server

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"
)

const loggingFormat = "TEST_LOGGING_FORMAT"

// TestLogProcess is the process of TestLogsHoldNoBodies: logging can be set up once in a process.
func TestLogProcess(t *testing.T) {
	format := os.Getenv(loggingFormat)
	if format == "" {
		return
	}
	o := logs.NewOptions()
	o.Format, o.Verbosity = format, 10
	require.NoError(t, startLogging(o, utilfeature.DefaultFeatureGate))
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "application/json")
		_, _ = out.Write([]byte(`{"apiVersion":"v1","kind":"ConfigMap","data":{"key":"` + secretMarker + `"}}`))
	}))
	defer server.Close()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	require.NoError(t, err)
	for name, logger := range map[string]klog.Logger{
		"background": klog.Background(), "named": klog.LoggerWithName(klog.Background(), "controller"), "with values": klog.LoggerWithValues(klog.Background(), "a", "b"),
	} {
		ctx := klog.NewContext(context.Background(), logger)
		_, err = client.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "pi"}, Data: map[string]string{"key": secretMarker},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		logger.Info("The end", "of", name)
	}
	klog.Infof("The old way") // libraries do it
	klog.Flush()
}

// TestLogsHoldNoBodies looks at what client-go logs at the highest verbosity, in both formats.
func TestLogsHoldNoBodies(t *testing.T) {
	for _, format := range []string{logsapi.DefaultLogFormat, logsapi.JSONLogFormat} {
		t.Run(format, func(t *testing.T) {
			program, err := os.Executable()
			require.NoError(t, err)
			var out bytes.Buffer
			command := exec.CommandContext(t.Context(), program, "-test.run=^TestLogProcess$")
			command.Env = append(os.Environ(), loggingFormat+"="+format)
			command.Stdout, command.Stderr = &out, &out
			require.NoError(t, command.Run(), out.String())
			log := out.String()
			assert.NotContains(t, log, secretMarker)
			assert.Equal(t, 3, strings.Count(log, "Request Body"), log)
			assert.Equal(t, 3, strings.Count(log, "Response Body"), log)
			assert.Contains(t, log, "not logged (")
			assert.Equal(t, 3, strings.Count(log, "The end"), "the rest is logged")
			assert.Contains(t, log, "The old way")
			for line := range strings.Lines(log) {
				if strings.Contains(line, "The end") {
					assert.Contains(t, line, "logging_test.go:", "the place is the caller's, not ours")
				}
			}
		})
	}
}
