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
	"io"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/spark-apiserver/spark-apiserver/test/cluster"
)

// Options say what to measure, and how often.
type Options struct {
	// Rounds of each benchmark.
	Rounds int
	// Objects that each round of the API benchmark writes, and the numbers of its writers.
	Objects int
	Writers []int
	// Watchers that a watch has.
	Watchers int
	// Lists are the lengths of lists.
	Lists []int
	// Bursts are how many applications are submitted at once.
	Bursts []int
	// Stored are the numbers of applications of the scale benchmark.
	Stored []int
	// Idle is how long stored applications are watched for requests.
	Idle time.Duration
	// SparkHome is an unpacked Spark, the folder of pyspark, for the peer of submissions. Empty leaves it out.
	SparkHome string
	// JVMs is how many applications spark-submit submits in a round.
	JVMs int
	// Profiles is a folder for CPU profiles of our server and of kube-apiserver during bursts. Empty for none.
	Profiles string
	// Save is called after each burst, which may take minutes: a later one may fail.
	Save func() error
	// Progress receives a line for every step.
	Progress io.Writer
}

// stage is a control plane of its own for one kind of benchmark, so that none inherits what another has left.
type stage struct {
	Options
	*cluster.Cluster
	server  *cluster.SparkServer
	report  *Report
	kube    kubernetes.Interface
	dynamic dynamic.Interface
	client  *client
}

const benchUser = "bench"

func (o Options) newStage(ctx context.Context, report *Report, run cluster.Options, server cluster.ServerOptions) (_ *stage, err error) {
	run.Progress = o.Progress
	c, err := cluster.Start(ctx, run)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			c.Stop()
		}
	}()
	s := &stage{Options: o, Cluster: c, report: report}
	server.FeatureGates = map[string]bool{"SparkApplicationWorkloadAwareScheduling": true}
	if s.server, err = c.StartSparkAPIServer(ctx, server); err != nil {
		return nil, err
	}
	if s.kube, err = kubernetes.NewForConfig(c.AdminConfig()); err != nil {
		return nil, err
	}
	if s.dynamic, err = dynamic.NewForConfig(c.AdminConfig()); err != nil {
		return nil, err
	}
	// Everybody's requests are authorized by RBAC; members of system:masters would pass it by.
	if _, err = s.kube.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "bench"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{
			{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: benchUser},
			{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: benchGroup},
		},
	}, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	through, err := c.ConfigFor(benchUser)
	if err != nil {
		return nil, err
	}
	direct := rest.CopyConfig(through)
	direct.Host, direct.CAFile, direct.CAData = s.server.URL(), "", s.server.CA()
	s.client, err = newClient(through, direct)
	return s, err
}

func (s *stage) namespace(ctx context.Context, name string) error {
	_, err := s.kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	return err
}

func (s *stage) say(format string, args ...any) {
	fmt.Fprintf(s.Progress, format+"\n", args...)
}

// usage is what the servers have used.
type usage map[cluster.Program]Usage

func (s *stage) usage() (usage, error) {
	all := usage{}
	for _, p := range []*cluster.Process{s.Etcd, s.KubeAPIServer, s.KubeControllerManager, s.KubeScheduler, s.server.Process} {
		u, err := UsageOf(p.PID())
		if err != nil {
			return nil, err
		}
		all[p.Name] = u
	}
	return all, nil
}

// since returns the CPU seconds of some programs, all if none is named, since before.
func (u usage) since(before usage, programs ...cluster.Program) float64 {
	var sum time.Duration
	for program, now := range u {
		if len(programs) > 0 && !slices.Contains(programs, program) {
			continue
		}
		sum += now.CPU - before[program].CPU
	}
	return sum.Seconds()
}
