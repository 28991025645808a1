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
	"math/rand"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
)

func newFiller(seed int64) *randfill.Filler {
	return randfill.New().RandSource(rand.NewSource(seed)).NilChance(0.4).NumElements(0, 3).MaxDepth(12).Funcs(
		func(template *runtime.RawExtension, c randfill.Continue) {
			template.Raw = []byte([]string{
				``, `null`, `{}`, `[]`, `7`, `{`, `{"spec":null}`, `{"spec":7}`, `{"spec":{"containers":[]}}`, `{"spec":{"containers":[null]}}`,
				`{"spec":{"schedulingGates":[null,7,{"name":7}],"schedulingGroup":7}}`, `{"metadata":{"labels":null},"spec":{"nodeName":"a"}}`,
			}[c.Intn(12)])
		},
		func(_ *metav1.FieldsV1, _ randfill.Continue) {},
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewQuantity(c.Int63n(1000), resource.DecimalSI)
		},
		func(v *intstr.IntOrString, c randfill.Continue) { *v = intstr.FromInt32(c.Int31n(1000)) },
		func(p *sparkoperator.SchedulingPolicy, c randfill.Continue) {
			if c.Bool() {
				p.Gang = &sparkoperator.GangSchedulingPolicy{}
			}
			if c.Bool() {
				p.Basic = &sparkoperator.BasicSchedulingPolicy{}
			}
		},
	)
}

// TestValidationNeverPanics validates random objects, and those that a valid one becomes by a random part.
func TestValidationNeverPanics(t *testing.T) {
	filler := newFiller(2962)
	for range 60 {
		app, old := &sparkoperator.SparkApplication{}, &sparkoperator.SparkApplication{}
		filler.Fill(app)
		filler.Fill(old)
		valid := newApplication(gang)
		half := newApplication(func(app *sparkoperator.SparkApplication) {
			filler.Fill(&app.Spec.Driver)
			filler.Fill(&app.Spec.SparkConf)
			filler.Fill(&app.Spec.Scheduling)
		})
		before := app.DeepCopy()
		for _, opts := range []Options{{}, gateOn} {
			for _, object := range []*sparkoperator.SparkApplication{app, old, half} {
				ValidateSparkApplication(object, opts)
				ValidateSparkApplicationUpdate(object, valid, opts)
				ValidateSparkApplicationUpdate(valid, object, opts)
				assert.Empty(t, ValidateSparkApplicationUpdate(withoutMetadata(object), withoutMetadata(object), opts), "no change is always valid")
			}
			ValidateSparkApplicationUpdate(app, old, opts)
		}
		ValidateSparkApplicationStatusUpdate(app, old)
		WarningsForSparkApplication(app, nil)
		WarningsForSparkApplication(app, old)
		WarningsForSparkApplication(half, valid)
		assert.Equal(t, before, app, "validation changes nothing")
	}
}

func withoutMetadata(app *sparkoperator.SparkApplication) *sparkoperator.SparkApplication {
	app = app.DeepCopy()
	app.ObjectMeta = metav1.ObjectMeta{Name: "spark-pi", Namespace: "team-a", UID: "u", ResourceVersion: "7", Generation: 1}
	return app
}
