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

package spark

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every manifest that people use today has to run as it is.
func TestCorpusBuilds(t *testing.T) {
	for name, apps := range fieldApplications(t) {
		for _, app := range apps {
			t.Run(name, func(t *testing.T) {
				before := app.DeepCopy()
				a, errs := Resolve(app, testSpecPath)
				require.NoError(t, errs.ToAggregate())
				objects, err := Build(a, testAttempt)
				require.NoError(t, err)
				assert.Equal(t, before, app, "the application was changed")
				checkObjects(t, objects)
			})
		}
	}
}
