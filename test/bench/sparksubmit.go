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

package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// jvms submits applications of the same shape with the real spark-submit, as many at once as there are cores.
func (s *submission) jvms(ctx context.Context, topic string, round int) error {
	ctx, cancel := context.WithTimeout(ctx, submissionPatient)
	defer cancel()
	// The driver only has to be made, not to run.
	const namespace = "bench-spark-submit"
	if round == 0 {
		if err := s.namespace(ctx, namespace); err != nil {
			return err
		}
	}
	token, err := s.ServiceAccountToken(ctx, submissionNamespaces[0], driverAccount, time.Hour)
	if err != nil {
		return err
	}
	if round == 0 {
		if err := s.allowDriverAccount(ctx, namespace); err != nil {
			return err
		}
	}
	var mu sync.Mutex
	var cpu time.Duration
	var peak float64
	m, err := together(ctx, runtime.NumCPU(), s.JVMs, func(ctx context.Context, i int) ([]byte, error) {
		used, memory, err := s.sparkSubmit(ctx, namespace, fmt.Sprintf("submit-%d-%d", round, i), token)
		mu.Lock()
		defer mu.Unlock()
		cpu += used
		peak = max(peak, memory)
		return nil, err
	})
	if err != nil {
		return err
	}
	drivers, err := s.kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: spark.LabelSparkRole + "=" + spark.SparkRoleDriver})
	if err != nil {
		return err
	}
	if len(drivers.Items) != s.JVMs {
		return fmt.Errorf("there are %d drivers of %d submissions", len(drivers.Items), s.JVMs)
	}
	s.report.Add(topic, "spark-submit", "rate", "a second", m.rate())
	s.report.Add(topic, "spark-submit", "driver pod p50", "s", Percentile(m.latencies, 50).Seconds())
	s.report.Add(topic, "spark-submit", "driver pod p99", "s", Percentile(m.latencies, 99).Seconds())
	s.report.Add(topic, "spark-submit", "CPU of the submitter", "ms each", milliseconds(cpu)/float64(s.JVMs))
	s.report.Add(topic, "spark-submit", "memory of one submitter", "MiB", peak)
	return s.kube.CoreV1().Pods(namespace).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}, metav1.ListOptions{})
}

// allowDriverAccount lets the account of another namespace submit in this one, and gives drivers an account here.
func (s *submission) allowDriverAccount(ctx context.Context, namespace string) error {
	_, _, err := s.Kubectl(ctx, `
apiVersion: v1
kind: ServiceAccount
metadata: {name: `+driverAccount+`, namespace: `+namespace+`}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: submitter, namespace: `+namespace+`}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
subjects: [{kind: ServiceAccount, name: `+driverAccount+`, namespace: `+submissionNamespaces[0]+`}]
`, "apply", "-f", "-")
	return err
}

// sparkSubmit runs one to its end and returns its CPU time and peak memory in MiB.
func (s *submission) sparkSubmit(ctx context.Context, namespace, name, token string) (time.Duration, float64, error) {
	conf := map[string]string{
		"spark.kubernetes.namespace":                              namespace,
		"spark.kubernetes.container.image":                        "apache/spark:" + submittedVersion,
		"spark.kubernetes.authenticate.driver.serviceAccountName": driverAccount,
		"spark.kubernetes.authenticate.submission.oauthToken":     token,
		"spark.kubernetes.authenticate.submission.caCertFile":     s.CAFile(),
		"spark.kubernetes.submission.waitAppCompletion":           "false",
		"spark.executor.instances":                                fmt.Sprint(executorsEach),
		// Nothing runs these drivers: they stay where they are, and cost nothing.
		"spark.kubernetes.driver.node.selector.bench-spark-submit": "nowhere",
	}
	args := []string{"--master", "k8s://" + s.ServerURL(), "--deploy-mode", "cluster", "--name", name, "--class", "org.apache.spark.examples.SparkPi"}
	for key, value := range conf {
		args = append(args, "--conf", key+"="+value)
	}
	args = append(args, "local:///opt/spark/examples/jars/spark-examples.jar")
	command := exec.CommandContext(ctx, filepath.Join(s.SparkHome, "bin", "spark-submit"), args...)
	command.Env = append(os.Environ(), "SPARK_HOME="+s.SparkHome, "KUBECONFIG="+os.DevNull)
	var said strings.Builder
	command.Stdout, command.Stderr = &said, &said
	if err := command.Run(); err != nil {
		return 0, 0, fmt.Errorf("%w: %s", err, lastLines(said.String()))
	}
	return command.ProcessState.UserTime() + command.ProcessState.SystemTime(), peakMemory(command.ProcessState), nil
}

func lastLines(s string) string {
	const most = 2000
	return s[max(len(s)-most, 0):]
}
