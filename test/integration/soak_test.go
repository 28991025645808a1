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
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	typed "github.com/spark-apiserver/spark-apiserver/pkg/generated/clientset/versioned/typed/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/test/cluster"
	"github.com/spark-apiserver/spark-apiserver/test/cluster/clustertest"
)

var (
	soakTime = flag.Duration("soak", soakDefault(), "how long the soak test puts load on the server")
	soakSeed = flag.Uint64("soak-seed", uint64(time.Now().UnixNano()), "chooses what the users of the soak test do")
)

const (
	soakUsers = 6
	// soakPatience bounds what one user waits for.
	soakPatience = 3 * time.Minute
	// goroutineSlack is by how many goroutines the server may have more after the load: connections come and go.
	goroutineSlack = 25
)

// soakDefault is two minutes, and in CI what makes five together with everything around it.
func soakDefault() time.Duration {
	if os.Getenv("CI") == "true" {
		return 4 * time.Minute
	}
	return 2 * time.Minute
}

// Users create applications that succeed, fail, are retried, suspended, scaled, edited and deleted, all at once and for a
// while. In the end nothing of them is left, the server is what it was, and it has logged no error that isn't known.
func TestSoak(t *testing.T) {
	c := clustertest.New(t, cluster.Options{})
	server, err := c.StartSparkAPIServer(t.Context(), cluster.ServerOptions{FeatureGates: nativeScheduling})
	require.NoError(t, err)
	e, err := newEnvironment(c, server)
	require.NoError(t, err)
	t.Logf("-soak-seed=%d", *soakSeed)
	tenants := make([]*tenant, soakUsers)
	for i := range tenants {
		tenants[i] = e.tenant(t)
		tenants[i].addNode("24")
	}
	kinds := slices.Sorted(maps.Keys(soakKinds))
	// The first round is one of every kind, so that whatever is started once has been started before the first count.
	soak := func(round string, more func(done int, chance *rand.Rand) (kind string, ok bool)) map[string]int {
		var mu sync.Mutex
		played := map[string]int{}
		var users sync.WaitGroup
		for i, n := range tenants {
			users.Go(func() {
				chance := rand.New(rand.NewPCG(*soakSeed, uint64(i)))
				for done := 0; ; done++ {
					kind, ok := more(done, chance)
					if !ok {
						return
					}
					u := &soakUser{tenant: n, name: fmt.Sprintf("%s-%s-%d", kind, round, done), chance: chance}
					if err := u.play(t.Context(), soakKinds[kind]); err != nil {
						t.Errorf("%s/%s: %v", n.namespace, u.name, err)
						return
					}
					mu.Lock()
					played[kind]++
					mu.Unlock()
				}
			})
		}
		users.Wait()
		return played
	}
	soak("warm", func(done int, _ *rand.Rand) (string, bool) {
		return kinds[done%len(kinds)], done < len(kinds)
	})
	require.False(t, t.Failed(), "the first round")
	before := e.goroutines(t)
	end := time.Now().Add(*soakTime)
	played := soak("soak", func(_ int, chance *rand.Rand) (string, bool) {
		return kinds[chance.IntN(len(kinds))], time.Now().Before(end)
	})
	t.Logf("applications in %s: %v", *soakTime, played)
	for _, n := range tenants {
		n.until("nothing is left in "+n.namespace, func(c *assert.CollectT) { assert.Empty(c, n.leftovers()) })
	}
	var after int
	tenants[0].until("the server has no more goroutines than before", func(c *assert.CollectT) {
		after = e.goroutines(t)
		assert.LessOrEqual(c, after, before+goroutineSlack)
	})
	t.Logf("goroutines: %d before, %d after", before, after)
	e.requireKnownErrors(t)
}

// soakUser plays with one application.
type soakUser struct {
	*tenant
	name   string
	chance *rand.Rand
}

// soakKind is what an application is, what is done to it, and in which state it ends.
type soakKind struct {
	changes []change
	acts    func(ctx context.Context, u *soakUser) error
	// end is empty where the user deletes the application before its end.
	end v1beta2.ApplicationStateType
}

var soakKinds = map[string]soakKind{
	"succeeds": {changes: []change{gang, executors(2), withSideObjects}, end: v1beta2.ApplicationStateCompleted},
	"plain":    {changes: []change{executors(1)}, end: v1beta2.ApplicationStateCompleted},
	"fails":    {changes: []change{gang, executors(1), outcome("fail")}, end: v1beta2.ApplicationStateFailed},
	"retried": {changes: []change{executors(1), outcome("fail"), func(app *v1beta2.SparkApplication) {
		app.Spec.RestartPolicy = v1beta2.RestartPolicy{
			Type: v1beta2.RestartPolicyOnFailure, OnFailureRetries: new(int32(1)), OnFailureRetryInterval: new(int64(1)),
		}
	}}, end: v1beta2.ApplicationStateFailed},
	"suspended": {changes: []change{gang, executors(2), outcome("hang")}, end: v1beta2.ApplicationStateCompleted, acts: func(ctx context.Context, u *soakUser) error {
		if err := u.waitForState(ctx, v1beta2.ApplicationStateRunning); err != nil {
			return err
		}
		if err := u.patch(ctx, `{"spec":{"suspend":true}}`); err != nil {
			return err
		}
		if err := u.waitForState(ctx, v1beta2.ApplicationStateSuspended); err != nil {
			return err
		}
		return u.patch(ctx, `{"spec":{"suspend":false,"driver":{"annotations":{"simulated.spark-apiserver.io/outcome":"succeed"}}}}`)
	}},
	"scaled": {changes: []change{gang, executors(1), outcome("hang")}, end: v1beta2.ApplicationStateCompleted, acts: func(ctx context.Context, u *soakUser) error {
		if err := u.waitForState(ctx, v1beta2.ApplicationStateRunning); err != nil {
			return err
		}
		_, err := u.applications().UpdateScale(ctx, u.name, &autoscalingv1.Scale{
			ObjectMeta: metav1.ObjectMeta{Name: u.name, Namespace: u.namespace}, Spec: autoscalingv1.ScaleSpec{Replicas: 2},
		}, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		return u.patch(ctx, `{"spec":{"driver":{"annotations":{"simulated.spark-apiserver.io/outcome":"succeed"}}}}`)
	}},
	"deleted": {changes: []change{gang, executors(2), outcome("hang"), withSideObjects}, acts: func(ctx context.Context, u *soakUser) error {
		// Some time from before its first status to long after its executors run.
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(u.chance.IntN(4000)) * time.Millisecond):
			return nil
		}
	}},
}

// play creates the application, does to it what its kind says, waits for its end, deletes it and waits until nothing of
// it is left.
func (u *soakUser) play(ctx context.Context, kind soakKind) error {
	ctx, cancel := context.WithTimeout(ctx, soakPatience)
	defer cancel()
	if _, err := u.applications().Create(ctx, u.application(u.name, kind.changes...), metav1.CreateOptions{}); err != nil {
		return err
	}
	if kind.acts != nil {
		if err := kind.acts(ctx, u); err != nil {
			return err
		}
	}
	if kind.end != "" {
		if err := u.waitForState(ctx, kind.end); err != nil {
			return err
		}
	}
	propagation := []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground}[u.chance.IntN(2)]
	if err := u.applications().Delete(ctx, u.name, metav1.DeleteOptions{PropagationPolicy: &propagation}); err != nil {
		return err
	}
	return u.waitFor(ctx, "its end without a trace", func() (bool, error) {
		_, err := u.applications().Get(ctx, u.name, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return false, err
		}
		pods, err := u.kube.CoreV1().Pods(u.namespace).List(ctx, metav1.ListOptions{LabelSelector: labelApp + "=" + u.name})
		return err == nil && len(pods.Items) == 0, err
	})
}

func (u *soakUser) applications() typed.SparkApplicationInterface {
	return u.spark.SparkoperatorV1beta2().SparkApplications(u.namespace)
}

func (u *soakUser) patch(ctx context.Context, patch string) error {
	_, err := u.applications().Patch(ctx, u.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

func (u *soakUser) waitForState(ctx context.Context, state v1beta2.ApplicationStateType) error {
	return u.waitFor(ctx, string(state), func() (bool, error) {
		app, err := u.applications().Get(ctx, u.name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		is := app.Status.AppState
		if is.State != state && terminal(is.State) {
			return false, fmt.Errorf("it is %s (%s)", is.State, is.ErrorMessage)
		}
		return is.State == state, nil
	})
}

func (u *soakUser) waitFor(ctx context.Context, what string, happened func() (bool, error)) error {
	for {
		if ok, err := happened(); err != nil || ok {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		case <-time.After(glance):
		}
	}
}

// goroutines returns how many goroutines our server has.
func (e *environment) goroutines(t *testing.T) int {
	t.Helper()
	config := e.AdminConfig()
	config.CAFile, config.CAData = "", e.server.CA()
	client, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.server.URL()+"/metrics", http.NoBody)
	require.NoError(t, err)
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode, string(body))
	match := regexp.MustCompile(`(?m)^go_goroutines (\d+)$`).FindSubmatch(body)
	require.NotNil(t, match)
	n, err := strconv.Atoi(string(match[1]))
	require.NoError(t, err)
	return n
}

// requireKnownErrors fails for each line of the server's log that tells of an error and isn't among the known ones.
func (e *environment) requireKnownErrors(t *testing.T) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(e.Binaries.RepoRoot, "test", "integration", "testdata", "soak", "errors.yaml"))
	require.NoError(t, err)
	var known []struct{ Pattern, Reason string }
	require.NoError(t, yaml.UnmarshalStrict(content, &known))
	patterns := make([]*regexp.Regexp, 0, len(known))
	for _, k := range known {
		require.NotEmpty(t, k.Reason, "why %q is no fault", k.Pattern)
		patterns = append(patterns, regexp.MustCompile(k.Pattern))
	}
	log, err := e.server.Log()
	require.NoError(t, err)
	// "E1201 04:01:30.123456   12345 file.go:12] ...", and what Go itself prints.
	head := regexp.MustCompile(`^[EF]\d{4} [\d:.]+ +\d+ `)
	var unknown []error
	counts := make([]int, len(patterns))
	for line := range strings.Lines(log) {
		at := head.FindString(line)
		if at == "" && !strings.HasPrefix(line, "panic") && !strings.HasPrefix(line, "fatal error") {
			continue
		}
		i := slices.IndexFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(line[len(at):]) })
		if i < 0 {
			unknown = append(unknown, errors.New(strings.TrimSpace(line)))
			continue
		}
		counts[i]++
	}
	for i, n := range counts {
		t.Logf("known errors: %d of %q", n, known[i].Pattern)
	}
	if len(unknown) > 0 {
		assert.Fail(t, "errors in the log that nobody has looked at", "%d of them, such as:\n%v", len(unknown), errors.Join(unknown[:min(len(unknown), 20)]...))
	}
}
