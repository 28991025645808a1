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

package validation

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
)

func TestUpdateValidatesMetadata(t *testing.T) {
	old := newApplication()
	app := edited(old, func(app *sparkoperator.SparkApplication) { app.Name = "other" })
	assertErrors(t, []want{{field.ErrorTypeInvalid, "metadata.name", "field is immutable"}}, ValidateSparkApplicationUpdate(app, old, gateOn))
}

// TestUpdateRatchets edits objects that were stored under other rules. Each is broken in a way of its own; what leaves
// the broken part alone passes.
func TestUpdateRatchets(t *testing.T) {
	nodeSelectors := func(app *sparkoperator.SparkApplication) {
		app.Spec.NodeSelector = map[string]string{"a": "b"}
		app.Spec.Driver.NodeSelector = map[string]string{"c": "d"}
	}
	batchScheduler := func(app *sparkoperator.SparkApplication) { app.Spec.BatchScheduler = new("vulcano") }
	pendingPods := func(app *sparkoperator.SparkApplication) {
		gang(app)
		withConf("spark.kubernetes.allocation.maxPendingPods", "2")(app)
	}
	denied := withConf("spark.master", "local")

	suspend := func(app *sparkoperator.SparkApplication) { app.Spec.Suspend = new(true) }
	ttl := func(app *sparkoperator.SparkApplication) { app.Spec.TimeToLiveSeconds = new(int64(60)) }
	label := func(app *sparkoperator.SparkApplication) { app.Labels = map[string]string{"a": "b"} }
	finalizer := func(app *sparkoperator.SparkApplication) { app.Finalizers = []string{"example.com/a"} }
	arguments := func(app *sparkoperator.SparkApplication) { app.Spec.Arguments = []string{"1000"} }
	instances := func(app *sparkoperator.SparkApplication) { app.Spec.Executor.Instances = new(int32(6)) }

	for _, stored := range []struct {
		name string
		edit edit
		opts Options
	}{
		{"gate off", gang, Options{}},
		{"node selectors", nodeSelectors, gateOn},
		{"batch scheduler", batchScheduler, gateOn},
		{"limit below the gang", pendingPods, gateOn},
		{"denied property", denied, gateOn},
	} {
		t.Run(stored.name, func(t *testing.T) {
			old := newApplication(stored.edit)
			assert.NotEmpty(t, ValidateSparkApplication(old, stored.opts), "it would be refused today")
			for name, change := range map[string]edit{
				"nothing": func(*sparkoperator.SparkApplication) {}, "suspend": suspend, "ttl": ttl, "label": label,
				"finalizer": finalizer, "arguments": arguments, "instances": instances,
			} {
				assert.Empty(t, ValidateSparkApplicationUpdate(edited(old, change), old, stored.opts), name)
			}
		})
	}

	for _, tc := range []struct {
		name     string
		old, new edit
		opts     Options
		want     []want
	}{
		{
			name: "a new mistake beside an old one", old: nodeSelectors, opts: gateOn,
			new:  func(app *sparkoperator.SparkApplication) { app.Spec.ImagePullPolicy = new("Sometimes") },
			want: []want{{field.ErrorTypeNotSupported, "spec.imagePullPolicy", ""}},
		},
		{
			name: "an old mistake made worse", old: nodeSelectors, opts: gateOn,
			new: func(app *sparkoperator.SparkApplication) {
				app.Spec.Driver.NodeSelector = map[string]string{"c": "e"}
			},
			want: []want{{field.ErrorTypeInvalid, "spec.driver.nodeSelector", ""}},
		},
		{
			name: "an old mistake put right", old: nodeSelectors, opts: gateOn,
			new: func(app *sparkoperator.SparkApplication) { app.Spec.NodeSelector = nil },
		},
		{
			name: "another batch scheduler", old: batchScheduler, opts: gateOn,
			new: func(app *sparkoperator.SparkApplication) {
				app.Spec.BatchScheduler = new("unicorn")
			},
			want: []want{{field.ErrorTypeNotSupported, "spec.batchScheduler", ""}},
		},
		{
			name: "more executors than may be pending", old: func(app *sparkoperator.SparkApplication) {
				gang(app)
				withConf("spark.kubernetes.allocation.maxPendingPods", "4")(app)
			}, opts: gateOn,
			new:  instances,
			want: []want{{field.ErrorTypeInvalid, "spec.sparkConf[spark.kubernetes.allocation.maxPendingPods]", "the gang, 6"}},
		},
		{
			name: "a mistake in a valid object", old: noScheduling, opts: gateOn,
			new:  denied,
			want: []want{{field.ErrorTypeForbidden, "spec.sparkConf[spark.master]", ""}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			old := newApplication(tc.old)
			app := edited(old, tc.new)
			assertErrors(t, tc.want, ValidateSparkApplicationUpdate(app, old, tc.opts))
		})
	}
}

func TestUpdateOfDeletedObjects(t *testing.T) {
	old := newApplication(func(app *sparkoperator.SparkApplication) {
		app.DeletionTimestamp, app.DeletionGracePeriodSeconds = &metav1.Time{}, new(int64(0))
		app.Finalizers = []string{"example.com/a"}
	})
	app := edited(old, withConf("spark.master", "local"), func(app *sparkoperator.SparkApplication) { app.Finalizers = nil })
	assert.Empty(t, ValidateSparkApplicationUpdate(app, old, gateOn))
}

// TestErrorKey identifies errors by type, field and value, pointers by what they point at.
func TestErrorKey(t *testing.T) {
	path := field.NewPath("spec")
	one, other := field.Invalid(path, new("a"), "first text"), field.Invalid(path, new("a"), "second text")
	assert.Equal(t, errorKey(one), errorKey(other))
	for _, different := range []*field.Error{
		field.Invalid(path, new("b"), "first text"),
		field.Invalid(path.Child("x"), new("a"), "first text"),
		field.Forbidden(path, "first text"),
		field.Invalid(path, func() {}, "a value without JSON"),
	} {
		assert.NotEqual(t, errorKey(one), errorKey(different))
	}
}
