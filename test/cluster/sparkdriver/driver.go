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

package sparkdriver

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

const (
	secondUnit           = time.Second
	defaultExecutorGrace = 30 * time.Second
	unseenTimeout        = 3 * time.Second
)

var (
	podsResource     = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	claimsResource   = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}
	servicesResource = schema.GroupVersionResource{Version: "v1", Resource: "services"}
)

// ending is how a driver container ends.
type ending struct {
	exitCode int32
	message  string
	// reason is the kubelet's for a container that failed. Default: Error.
	reason string
	// evicted says that the kubelet ended the pod.
	evicted bool
}

// driver plays one driver pod, from the start of its container to its end.
type driver struct {
	admin         kubernetes.Interface
	config        *rest.Config // the administrator's, from which the driver's own is derived
	pod           *corev1.Pod
	executors     func() []*corev1.Pod // those of the driver, as the shared watch last saw them
	held          func() bool          // whether the pod has HoldAnnotation, as the shared watch last saw it
	maxBatchDelay time.Duration
	runTime       time.Duration

	account   kubernetes.Interface // works as the pod's service account
	dynamic   dynamic.Interface    // the same, untyped
	conf      Conf
	script    script
	source    *executorSource
	target    int
	batchSize int
	delay     time.Duration
	ratio     float64
	patience  time.Duration // spark.scheduler.maxRegisteredResourcesWaitingTime
	tolerated int           // failed executors
	limit     int           // pending pods

	nextID  int
	created map[string]time.Time // executors that were posted and not yet seen
	counted map[string]bool      // failed executors, by name
}

// run plays the driver. A cancelled context means that the pod is gone; the ending is meaningless then.
func (d *driver) run(ctx context.Context) ending {
	container, err := driverContainer(d.pod)
	if err != nil {
		return ending{exitCode: exitFailed, message: err.Error()}
	}
	command, err := parseCommand(container.Args)
	if err != nil {
		return ending{exitCode: exitFailed, message: err.Error()}
	}
	text, err := readFile(ctx, d.admin, d.pod, container, command.propertiesFile)
	if err != nil {
		return ending{exitCode: exitFailed, message: "properties file: " + err.Error()}
	}
	properties, err := ParseProperties(text)
	if err != nil {
		return ending{exitCode: exitFailed, message: "properties file: " + err.Error()}
	}
	d.conf = properties
	d.script = scriptOf(d.pod, d.conf["spark.app.name"], d.runTime)
	if message, missing := command.notFound(); missing {
		return ending{exitCode: exitClassNotFound, message: message}
	}
	if err := d.initialize(ctx, container); err != nil {
		return ending{exitCode: exitFailed, message: "external scheduler cannot be instantiated: " + err.Error()}
	}
	klog.FromContext(ctx).Info("Simulated driver begins", "executors", d.target, "prefix", d.source.prefix)
	end := d.work(ctx)
	if ctx.Err() == nil {
		d.cleanUp(ctx)
	}
	return end
}

// initialize is what a SparkContext does before it allocates executors.
func (d *driver) initialize(ctx context.Context, container *corev1.Container) error {
	if !mountsToken(container) {
		return fmt.Errorf("no service account token is mounted at %s", tokenDir)
	}
	if err := d.authenticate(ctx); err != nil {
		return err
	}
	name := d.conf["spark.kubernetes.driver.pod.name"]
	if _, err := d.account.CoreV1().Pods(d.pod.Namespace).Get(ctx, name, metav1.GetOptions{}); err != nil {
		return fmt.Errorf("no pod was found named %s in the cluster in the namespace %s: %w", name, d.pod.Namespace, err)
	}
	if err := d.readSettings(); err != nil {
		return err
	}
	unique := strings.ReplaceAll(string(d.pod.UID), "-", "")
	d.source = &executorSource{
		conf: d.conf, driver: d.pod, template: map[string]any{}, script: d.script,
		prefix: executorPrefix(d.conf, unique[:min(16, len(unique))]), localDir: string(d.pod.UID),
	}
	if file := d.conf["spark.kubernetes.executor.podTemplateFile"]; file != "" {
		text, err := readFile(ctx, d.admin, d.pod, container, strings.TrimPrefix(file, "file://"))
		if err != nil {
			return fmt.Errorf("could not load pod from template file: %w", err)
		}
		if d.source.template, err = parseTemplate(text); err != nil {
			return err
		}
	}
	// Building one shows every mistake in the configuration before anything was created.
	if _, err := d.source.build(1); err != nil {
		return err
	}
	if err := d.createConfigMap(ctx, unique); err != nil {
		return err
	}
	return d.tryListAndWatch(ctx)
}

// authenticate makes clients that work with a token of the pod's service account, bound to the pod as a kubelet's is.
func (d *driver) authenticate(ctx context.Context) error {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: d.pod.Name, UID: d.pod.UID},
	}}
	name := cmp.Or(d.pod.Spec.ServiceAccountName, "default")
	request, err := d.admin.CoreV1().ServiceAccounts(d.pod.Namespace).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("the simulated kubelet got no token for service account %s: %w", name, err)
	}
	config := patient(rest.AnonymousClientConfig(d.config))
	config.BearerToken = request.Status.Token
	config.QPS = -1
	config.UserAgent = "simulated-spark-driver"
	if d.account, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	d.dynamic, err = dynamic.NewForConfig(config)
	return err
}

func (d *driver) readSettings() (err error) {
	if allocator := d.conf.get("direct", "spark.kubernetes.allocation.pods.allocator"); allocator != "direct" {
		return fmt.Errorf("the simulation only plays the allocator direct, not %s", allocator)
	}
	if d.target, err = d.conf.target(); err != nil {
		return err
	}
	if strings.HasPrefix(d.conf["spark.kubernetes.driver.master"], "local") {
		d.target = 0
	}
	source := executorSource{driver: d.pod}
	batch := 5
	switch major, minor := source.sparkVersion(); {
	case major > 4 || major == 4 && minor >= 2:
		batch = 20
	case major == 4:
		batch = 10
	}
	if d.batchSize, err = d.conf.integer("spark.kubernetes.allocation.batch.size", batch); err != nil {
		return err
	}
	if d.batchSize <= 0 {
		return fmt.Errorf("spark.kubernetes.allocation.batch.size must be positive")
	}
	if d.delay, err = d.conf.duration("spark.kubernetes.allocation.batch.delay", time.Second, time.Second); err != nil {
		return err
	}
	d.delay = max(min(d.delay, d.maxBatchDelay), 10*time.Millisecond)
	if d.ratio, err = d.conf.float("spark.scheduler.minRegisteredResourcesRatio", 0.8); err != nil {
		return err
	}
	if d.patience, err = d.conf.duration("spark.scheduler.maxRegisteredResourcesWaitingTime", time.Millisecond, 30*time.Second); err != nil {
		return err
	}
	if d.limit, err = d.conf.integer("spark.kubernetes.allocation.maxPendingPods", int(^uint32(0)>>1)); err != nil {
		return err
	}
	d.tolerated, err = d.conf.integer("spark.executor.maxNumFailures", max(3, 2*d.target))
	return err
}

// createConfigMap publishes the configuration files of the executors, as KubernetesClusterSchedulerBackend does.
func (d *driver) createConfigMap(ctx context.Context, unique string) error {
	if d.conf.boolean("spark.kubernetes.executor.disableConfigMap", false) {
		return nil
	}
	name := "spark-exec-" + unique[:min(16, len(unique))] + "-conf-map"
	configMap := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name:   name,
			Labels: map[string]string{labelAppSelector: d.source.appID(), labelRole: roleExecutor},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "v1", Kind: "Pod", Name: d.pod.Name, UID: d.pod.UID, Controller: new(true),
			}},
		},
		Immutable: new(true),
		Data:      map[string]string{"spark.kubernetes.namespace": d.pod.Namespace},
	}
	_, err := d.account.CoreV1().ConfigMaps(d.pod.Namespace).Create(ctx, configMap, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating the executors' ConfigMap: %w", err)
	}
	d.source.configMap = name
	return nil
}

// tryListAndWatch does once what Spark's watcher and poller do all the time. From then on the driver follows its
// executors through a watch that all simulated drivers share.
func (d *driver) tryListAndWatch(ctx context.Context) error {
	options := metav1.ListOptions{LabelSelector: labels.Set{labelAppSelector: d.source.appID(), labelRole: roleExecutor}.String()}
	pods := d.account.CoreV1().Pods(d.pod.Namespace)
	list, err := pods.List(ctx, options)
	if err != nil {
		return fmt.Errorf("listing executors: %w", err)
	}
	d.nextID = 1
	for i := range list.Items {
		// Left by ourselves, when the simulation was restarted while the driver ran.
		d.nextID = max(d.nextID, executorID(&list.Items[i])+1)
	}
	options.ResourceVersion = list.ResourceVersion
	watch, err := pods.Watch(ctx, options)
	if err != nil {
		return fmt.Errorf("watching executors: %w", err)
	}
	watch.Stop()
	return nil
}

func executorID(pod *corev1.Pod) int {
	id, _ := strconv.Atoi(pod.Labels[labelExecutorID])
	return id
}

// work allocates executors, waits for them, and runs the application.
func (d *driver) work(ctx context.Context) ending {
	d.created, d.counted = map[string]time.Time{}, map[string]bool{}
	begun := time.Now()
	var computing time.Time
	ticker := time.NewTicker(d.delay)
	defer ticker.Stop()
	for {
		live := d.observe(ctx)
		if len(d.counted) > d.tolerated {
			return ending{exitCode: exitTooManyExecutorLost, message: fmt.Sprintf("max number of executor failures (%d) reached", d.tolerated)}
		}
		d.allocate(ctx, live)
		registered := countRunning(live)
		switch {
		case computing.IsZero():
			enough := float64(registered) >= d.ratio*float64(d.target)
			// Out of patience user code starts, but no task runs before there is an executor.
			if enough || time.Since(begun) > d.patience && registered > 0 {
				computing = time.Now()
				klog.FromContext(ctx).Info("Simulated application computes", "executors", registered, "wanted", d.target)
			}
		case !d.script.hangs && !d.held() && time.Since(computing) >= d.script.runTime:
			if d.script.exitCode != 0 {
				return ending{exitCode: d.script.exitCode, message: "the application was told to fail", reason: d.script.reason, evicted: d.script.evicted}
			}
			return ending{}
		}
		select {
		case <-ctx.Done():
			return ending{exitCode: exitFailed, message: "the driver was stopped"}
		case <-ticker.C:
		}
	}
}

// observe returns the executors that live, and takes note of those that have failed, whose pods it deletes as
// ExecutorPodsLifecycleManager does.
func (d *driver) observe(ctx context.Context) []*corev1.Pod {
	var live []*corev1.Pod
	for _, pod := range d.executors() {
		delete(d.created, pod.Name)
		ended := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
		if !ended && pod.DeletionTimestamp == nil {
			live = append(live, pod)
			continue
		}
		if pod.Status.Phase == corev1.PodFailed {
			d.counted[pod.Name] = true
		}
		if ended && pod.DeletionTimestamp == nil && d.deletesExecutors() {
			err := d.account.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				klog.FromContext(ctx).Error(err, "Simulated driver can't delete an ended executor", "pod", klog.KObj(pod))
			}
		}
	}
	// Spark gives up on pods that it never sees after spark.kubernetes.allocation.executor.timeout. Here that can only be
	// one that was deleted between two looks.
	maps.DeleteFunc(d.created, func(_ string, at time.Time) bool { return time.Since(at) > unseenTimeout })
	return live
}

func (d *driver) deletesExecutors() bool {
	return d.conf.boolean("spark.kubernetes.executor.deleteOnTermination", true)
}

// allocate is one round of ExecutorPodsAllocator: nothing while a pod of the last round hasn't been seen, else as many
// as are missing, but no more than a batch. It doesn't wait for pods to run.
func (d *driver) allocate(ctx context.Context, live []*corev1.Pod) {
	if len(d.created) > 0 {
		return
	}
	pending := len(live) - countRunning(live)
	missing := min(d.target-len(live), d.batchSize, d.limit-pending)
	for range missing {
		id := d.nextID
		if err := d.create(ctx, id); err != nil {
			// The round ends and the next one tries again, for as long as it takes.
			klog.FromContext(ctx).Error(err, "Simulated driver can't create an executor", "executor", id)
			if apierrors.IsAlreadyExists(err) {
				d.nextID++
			}
			return
		}
		d.nextID++
	}
}

func (d *driver) create(ctx context.Context, id int) error {
	claims, err := d.source.claims(id)
	if err != nil {
		return err
	}
	for _, claim := range claims {
		_, err := d.dynamic.Resource(claimsResource).Namespace(d.pod.Namespace).Create(ctx, claim, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	pod, err := d.source.build(id)
	if err != nil {
		return err
	}
	created, err := d.dynamic.Resource(podsResource).Namespace(d.pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	d.created[created.GetName()] = time.Now()
	return nil
}

func countRunning(pods []*corev1.Pod) int {
	n := 0
	for _, p := range pods {
		if p.Status.Phase == corev1.PodRunning {
			n++
		}
	}
	return n
}

// cleanUp is KubernetesClusterSchedulerBackend.stop. What fails is logged and otherwise ignored, as there.
func (d *driver) cleanUp(ctx context.Context) {
	logger := klog.FromContext(ctx)
	selector := func(set labels.Set) metav1.ListOptions { return metav1.ListOptions{LabelSelector: set.String()} }
	application := labels.Set{labelAppSelector: d.source.appID()}
	ofExecutors := labels.Merge(application, labels.Set{labelRole: roleExecutor})
	if d.conf.boolean("spark.kubernetes.driver.service.deleteOnTermination", true) {
		// Untyped, since the typed client can't delete a collection of Services. Spark's client does.
		err := d.dynamic.Resource(servicesResource).Namespace(d.pod.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, selector(application))
		if err != nil {
			logger.Info("Simulated driver can't delete its services", "err", err)
		}
	}
	if d.deletesExecutors() {
		if err := d.account.CoreV1().Pods(d.pod.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, selector(ofExecutors)); err != nil {
			logger.Info("Simulated driver can't delete its executors", "err", err)
		}
		if d.source.configMap != "" {
			if err := d.account.CoreV1().ConfigMaps(d.pod.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, selector(ofExecutors)); err != nil {
				logger.Info("Simulated driver can't delete its executors' ConfigMap", "err", err)
			}
		}
	}
	if d.conf.boolean("spark.kubernetes.driver.ownPersistentVolumeClaim", true) {
		claims, err := d.source.claims(1)
		if err == nil && len(claims) > 0 {
			err = d.account.CoreV1().PersistentVolumeClaims(d.pod.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, selector(application))
		}
		if err != nil {
			logger.Info("Simulated driver can't delete its claims", "err", err)
		}
	}
}

// executorsOf filters the executors that belong to a driver pod.
func executorsOf(driver *corev1.Pod, pods []any) []*corev1.Pod {
	var own []*corev1.Pod
	for _, object := range pods {
		pod, ok := object.(*corev1.Pod)
		if ok && pod.Labels[labelRole] == roleExecutor && slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == driver.UID }) {
			own = append(own, pod)
		}
	}
	return own
}
