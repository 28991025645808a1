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
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
)

func TestValidateSparkApplicationLogOptions(t *testing.T) {
	type options = sparkoperator.SparkApplicationLogOptions
	for name, c := range map[string]struct {
		options options
		want    string // empty: valid
	}{
		"none":                {options{}, ""},
		"all":                 {options{Executor: new(int64(1)), Container: "a", SinceSeconds: new(int64(1)), TailLines: new(int64(0)), LimitBytes: new(int64(1))}, ""},
		"executor of zero":    {options{Executor: new(int64(0))}, "executor: Invalid value: 0: must be 1 or more"},
		"since of zero":       {options{SinceSeconds: new(int64(0))}, "sinceSeconds: Invalid value: 0: must be 1 or more"},
		"tail below zero":     {options{TailLines: new(int64(-1))}, "tailLines: Invalid value: -1: must be 0 or more"},
		"limit of zero":       {options{LimitBytes: new(int64(0))}, "limitBytes: Invalid value: 0: must be 1 or more"},
		"both of since":       {options{SinceSeconds: new(int64(1)), SinceTime: &metav1.Time{Time: time.Unix(1, 0)}}, "sinceTime: Forbidden: sinceSeconds is given too: at most one of the two may be"},
		"container of a path": {options{Container: "../x"}, `container: Invalid value: "../x"`},
	} {
		t.Run(name, func(t *testing.T) {
			errs := ValidateSparkApplicationLogOptions(&c.options)
			if c.want == "" {
				assert.Empty(t, errs)
				return
			}
			assert.ErrorContains(t, errs.ToAggregate(), c.want)
		})
	}
}
