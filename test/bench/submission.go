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
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	versioned "github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
)

// What every submitted application has.
const (
	executorsEach     = 5
	submissionSpaces  = 3
	driverAccount     = "spark"
	submittedVersion  = "4.0.1"
	submissionPatient = 20 * time.Minute
)

var submissionNamespaces = [submissionSpaces]string{"bench-a", "bench-b", "bench-c"}

// submission is a stage on which applications run.
type submission struct {
	*stage
	spark versioned.Interface
}

// Submissions measures bursts of applications, each of one driver and five executors that are placed together, in three
// namespaces, and what one application costs in writes.
func (o Options) Submissions(ctx context.Context, report *Report) error {
	if err := o.driverPods(ctx, report); err != nil {
		return fmt.Errorf("to driver pods: %w", err)
	}
	// No cap on gangs that wait, since there is room for all of them.
	s, err := o.newSubmission(ctx, report, cluster.Options{})
	if err != nil {
		return err
	}
	defer s.Stop()
	if err := s.makeRoom(ctx); err != nil {
		return err
	}
	if err := s.writesOfOne(ctx); err != nil {
		return err
	}
	for _, size := range o.Bursts {
		rounds := o.roundsOf(size)
		for round := range rounds {
			s.say("bench: the lives of %d applications, round %d of %d", size, round+1, rounds)
			if err := s.lives(ctx, size, round); err != nil {
				return fmt.Errorf("%d applications: %w", size, err)
			}
			if err := o.Save(); err != nil {
				return err
			}
		}
	}
	report.Notes = append(report.Notes, "Lives: nodes, kubelets and Spark drivers are simulated, in the process that measures and on the same cores.")
	return nil
}

// roundsOf leaves out the repetition of what takes minutes and varies less.
func (o Options) roundsOf(size int) int {
	if size >= 1000 {
		return 1
	}
	return o.Rounds
}

// driverPods measures submissions alone: there are no nodes, so that nothing but the submission takes place. The peer is the
// real spark-submit, with as many at once as there are cores.
func (o Options) driverPods(ctx context.Context, report *Report) error {
	s, err := o.newSubmission(ctx, report, cluster.Options{WithoutKwok: true, WithoutSimulatedDriver: true})
	if err != nil {
		return err
	}
	defer s.Stop()
	for _, size := range o.Bursts {
		rounds := o.roundsOf(size)
		for round := range rounds {
			s.say("bench: submission of %d applications, round %d of %d", size, round+1, rounds)
			if err := s.submit(ctx, size, round); err != nil {
				return fmt.Errorf("%d applications: %w", size, err)
			}
			if err := o.Save(); err != nil {
				return err
			}
			if o.SparkHome != "" && size == o.Bursts[0] {
				if err := s.jvms(ctx, burstTopic(size), round); err != nil {
					return fmt.Errorf("spark-submit: %w", err)
				}
			}
		}
	}
	if len(o.Bursts) > 0 {
		report.Promise("submission: applications a second, create to driver pod", report.Median(burstTopic(o.Bursts[0]), "ours", "rate"), 40, true, "a second")
	}
	return nil
}

func (o Options) newSubmission(ctx context.Context, report *Report, run cluster.Options) (*submission, error) {
	s, err := o.newStage(ctx, report, run, cluster.ServerOptions{Audited: true, ExtraFlags: []string{"--max-waiting-gangs=0"}})
	if err != nil {
		return nil, err
	}
	b := &submission{stage: s}
	if b.spark, err = versioned.NewForConfig(s.AdminConfig()); err == nil {
		err = b.makeNamespaces(ctx)
	}
	if err != nil {
		s.Stop()
		return nil, err
	}
	return b, nil
}

func burstTopic(size int) string {
	return fmt.Sprintf("submission of %d applications, to the driver pod", size)
}

// makeRoom adds nodes for all pods of the largest burst.
func (s *submission) makeRoom(ctx context.Context) error {
	const podsEach = 3000
	most := 1
	for _, size := range s.Bursts {
		most = max(most, size)
	}
	for i := range most*(1+executorsEach)/podsEach + 2 {
		if err := s.AddNodeWith(ctx, fmt.Sprintf("room-%d", i), corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("20k"), corev1.ResourceMemory: resource.MustParse("40Ti"),
			corev1.ResourcePods: *resource.NewQuantity(podsEach, resource.DecimalSI),
		}, nil); err != nil {
			return err
		}
	}
	return nil
}

// makeNamespaces makes them, each with a service account for drivers.
func (s *submission) makeNamespaces(ctx context.Context) error {
	rights, _, err := s.Kubectl(ctx, "", "kustomize", filepath.Join(s.Binaries.RepoRoot, "artifacts", "spark-driver"))
	if err != nil {
		return err
	}
	for _, namespace := range submissionNamespaces {
		if err := s.namespace(ctx, namespace); err != nil {
			return err
		}
		if _, _, err := s.Kubectl(ctx, strings.ReplaceAll(rights, "namespace: default", "namespace: "+namespace), "apply", "-f", "-"); err != nil {
			return err
		}
	}
	return nil
}

func submitted(namespace, name string) *v1beta2.SparkApplication {
	app := &v1beta2.SparkApplication{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: v1beta2.SparkApplicationSpec{
			Type: v1beta2.ScalaApplicationType, SparkVersion: submittedVersion,
			Image:               new("apache/spark:" + submittedVersion),
			MainClass:           new("org.apache.spark.examples.SparkPi"),
			MainApplicationFile: new("local:///opt/spark/examples/jars/spark-examples.jar"),
			Scheduling: &v1beta2.SparkSchedulingSpec{
				SchedulingPolicy: &sparkoperator.SchedulingPolicy{Gang: &sparkoperator.GangSchedulingPolicy{}},
			},
		},
	}
	app.Spec.Driver.ServiceAccount = new(driverAccount)
	app.Spec.Executor.Instances = new(int32(executorsEach))
	return app
}

// submit submits applications all at once and waits for the last driver pod.
func (s *submission) submit(ctx context.Context, size, round int) error {
	return s.burst(ctx, size, round, func(l *life) bool { return !l.driver.IsZero() }, func(b *burst, seen *ends) error {
		return b.report(burstTopic(size), seen.lastDriver, "driver pod", seen.toDriver)
	})
}

// lives submits applications all at once and waits for the end of the last.
func (s *submission) lives(ctx context.Context, size, round int) error {
	return s.burst(ctx, size, round, func(l *life) bool { return !l.ended.IsZero() }, (*burst).reportLives)
}

// burst submits applications all at once, waits until all have come as far as reached says, and cleans up once it is reported.
func (s *submission) burst(ctx context.Context, size, round int, reached func(*life) bool, report func(*burst, *ends) error) error {
	ctx, cancel := context.WithTimeout(ctx, submissionPatient)
	defer cancel()
	b, err := s.begin(ctx, size, round)
	if err != nil {
		return err
	}
	defer b.observed.stop()
	seen, err := b.observed.wait(ctx, b.names, reached)
	if err != nil {
		return err
	}
	if err := report(b, seen); err != nil {
		return err
	}
	return s.cleanUp(ctx)
}

// reportLives reports lives that have all ended.
func (b *burst) reportLives(seen *ends) error {
	size := len(b.names)
	topic := fmt.Sprintf("lives of %d applications with five executors each", size)
	if err := b.report(topic, seen.lastEnd, "driver pod", seen.toDriver); err != nil {
		return err
	}
	r := b.submission.report
	for _, stage := range []struct {
		name      string
		durations []time.Duration
	}{{"running gang", seen.toGang}, {"status lag", seen.statusLag}} {
		r.Add(topic, "ours", stage.name+" p50", "s", Percentile(stage.durations, 50).Seconds())
		r.Add(topic, "ours", stage.name+" p99", "s", Percentile(stage.durations, 99).Seconds())
	}
	r.Add(topic, "ours", "not completed", "applications", float64(seen.failed))
	r.Add(topic, "ours", "drivers beyond one", "pods", float64(seen.extraDrivers))
	const pods = 36_000
	if size*(1+executorsEach) >= pods {
		r.Promise("status lag p99 at 36,000 pods", Percentile(seen.statusLag, 99).Seconds(), 2, false, "s")
		r.Promise("6,000 applications: not completed, or with a second driver", float64(seen.failed+seen.extraDrivers), 0, false, "applications")
	}
	return nil
}

// burst is a number of applications that were created all at once.
type burst struct {
	*submission
	names    []string
	observed *lives
	before   usage
	began    time.Time
	created  *measured
}

func (s *submission) begin(ctx context.Context, size, round int) (_ *burst, err error) {
	b := &burst{submission: s, names: make([]string, size)}
	if b.observed, err = s.watchLives(ctx); err != nil {
		return nil, err
	}
	if b.before, err = s.usage(); err != nil {
		b.observed.stop()
		return nil, err
	}
	s.profile(ctx, fmt.Sprintf("burst-%d", size))
	b.began = time.Now()
	const writers = 8
	b.created, err = together(ctx, writers, size, func(ctx context.Context, i int) ([]byte, error) {
		namespace := submissionNamespaces[i%submissionSpaces]
		app := submitted(namespace, fmt.Sprintf("burst-%d-%05d", round, i))
		b.names[i] = namespace + "/" + app.Name
		b.observed.creates(b.names[i], time.Now())
		_, err := s.spark.SparkoperatorV1beta2().SparkApplications(namespace).Create(ctx, app, metav1.CreateOptions{})
		return nil, err
	})
	if err != nil {
		b.observed.stop()
		return nil, err
	}
	return b, nil
}

func (b *burst) report(topic string, last time.Time, stage string, durations []time.Duration) error {
	after, err := b.usage()
	if err != nil {
		return err
	}
	n := float64(len(b.names))
	add := func(name, unit string, value float64) { b.submission.report.Add(topic, "ours", name, unit, value) }
	add("rate", "a second", n/last.Sub(b.began).Seconds())
	add("create p99", "ms", milliseconds(Percentile(b.created.latencies, 99)))
	add(stage+" p50", "s", Percentile(durations, 50).Seconds())
	add(stage+" p99", "s", Percentile(durations, 99).Seconds())
	add("CPU of spark-apiserver", "ms each", after.since(b.before, cluster.SparkAPIServer)*1000/n)
	add("CPU of the control plane", "ms each", after.since(b.before)*1000/n)
	add("memory of spark-apiserver", "MiB", after[cluster.SparkAPIServer].MemoryMiB)
	return nil
}

// cleanUp deletes all applications, and waits until the garbage collector has taken everything else.
func (s *submission) cleanUp(ctx context.Context) error {
	for _, namespace := range submissionNamespaces {
		if err := s.spark.SparkoperatorV1beta2().SparkApplications(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			return err
		}
	}
	left := 0
	err := wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		left = 0
		for _, namespace := range submissionNamespaces {
			pods, err := s.kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: 1})
			if err != nil {
				return false, err
			}
			configMaps, err := s.kube.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{LabelSelector: spark.LabelAppName, Limit: 1})
			if err != nil {
				return false, err
			}
			groups, err := s.kube.SchedulingV1beta1().PodGroups(namespace).List(ctx, metav1.ListOptions{Limit: 1})
			if err != nil {
				return false, err
			}
			left += len(pods.Items) + len(configMaps.Items) + len(groups.Items)
		}
		return left == 0, nil
	})
	if err != nil {
		return fmt.Errorf("%d kinds of objects are left behind: %w", left, err)
	}
	return nil
}

// writesOfOne counts what our server writes for an application with two executors that nothing else disturbs.
func (s *submission) writesOfOne(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, submissionPatient)
	defer cancel()
	namespace, name := submissionNamespaces[0], "alone"
	observed, err := s.watchLives(ctx)
	if err != nil {
		return err
	}
	defer observed.stop()
	app := submitted(namespace, name)
	app.Spec.Executor.Instances = new(int32(2))
	key := namespace + "/" + name
	observed.creates(key, time.Now())
	if _, err := s.spark.SparkoperatorV1beta2().SparkApplications(namespace).Create(ctx, app, metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := observed.wait(ctx, []string{key}, func(l *life) bool { return !l.ended.IsZero() }); err != nil {
		return err
	}
	running := observed.runningAt(key)
	toRunning, toEnd := map[string]int{}, map[string]int{}
	events, err := s.OwnRequests(s.server, func(e *auditv1.Event) bool {
		return e.ObjectRef != nil && e.ObjectRef.Namespace == namespace && cluster.IsWrite(e)
	})
	if err != nil {
		return err
	}
	for i := range events {
		what := events[i].Verb + " " + strings.TrimSuffix(events[i].ObjectRef.Resource+"/"+events[i].ObjectRef.Subresource, "/")
		toEnd[what]++
		if !events[i].StageTimestamp.After(running) {
			toRunning[what]++
		}
	}
	const topic = "writes of one application with two executors"
	total := func(counts map[string]int) (sum float64) {
		for _, n := range counts {
			sum += float64(n)
		}
		return sum
	}
	for what, n := range toEnd {
		s.report.Add(topic, what, "to running driver", "writes", float64(toRunning[what]))
		s.report.Add(topic, what, "to Complete", "writes", float64(n))
	}
	s.report.Add(topic, "all", "to running driver", "writes", total(toRunning))
	s.report.Add(topic, "all", "to Complete", "writes", total(toEnd))
	s.report.Promise("writes to running driver", total(toRunning), 10, false, "writes")
	s.report.Promise("writes to Complete, two executors", total(toEnd), 16, false, "writes")
	if total(toEnd) == 0 {
		return fmt.Errorf("no write of %s is in the audit logs", cluster.ServerIdentity)
	}
	return s.cleanUp(ctx)
}
