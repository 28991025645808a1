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
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestAttemptNames(t *testing.T) {
	for _, app := range []string{"spark-pi", "a", strings.Repeat("a", 63), strings.Repeat("a", 34) + "-b", "123app", "Über große Zähler", "北京", "", "--x--", "a.b"} {
		n := namesOf(app, "uid", testSubmissionID)
		assert.Empty(t, validation.IsDNS1035Label(n.service), "%q: %s", app, n.service)
		assert.Empty(t, validation.IsDNS1123Subdomain(n.configMap), app)
		assert.Empty(t, validation.IsDNS1123Label(n.prefix), "%q: %s", app, n.prefix)
		assert.LessOrEqual(t, len(n.prefix), 52)
		assert.Equal(t, n, namesOf(app, "uid", testSubmissionID), "names must not be random")
		for _, other := range []attemptNames{namesOf(app, "uid2", testSubmissionID), namesOf(app, "uid", "another")} {
			assert.NotEqual(t, n.service, other.service)
			assert.NotEqual(t, n.configMap, other.configMap)
			assert.NotEqual(t, n.prefix, other.prefix)
		}
	}
	assert.True(t, strings.HasPrefix(namesOf("spark-pi", "u", "s").prefix, "spark-pi-"))
	assert.Equal(t, "spark-0f8fad5bd9cb469fa16570867728950e", namesOf("x", "u", testSubmissionID).appID)
}

func TestAppNameLabel(t *testing.T) {
	for name, want := range map[string]string{
		"spark-pi": "spark-pi", "Spark Pi": "spark-pi", "_a_": "a", "a--b": "a-b", "北京": "", "a.b_c": "a-b-c",
		strings.Repeat("x", 70): strings.Repeat("x", 63), strings.Repeat("x", 62) + "-y": strings.Repeat("x", 62),
	} {
		assert.Equal(t, want, appNameLabel(name), name)
		assert.Empty(t, validation.IsValidLabelValue(appNameLabel(name)))
	}
}

func TestVolumeName(t *testing.T) {
	assert.Equal(t, "conf-vol", volumeName("conf", "-vol"))
	long := strings.Repeat("a", 100)
	names := map[string]string{}
	for _, object := range []string{"conf", "my.conf", "my-conf", "my.con.f", long, long + "b", strings.Repeat("a.", 60) + "a", strings.Repeat("a", 59), strings.Repeat("a", 60)} {
		name := volumeName(object, "-vol")
		assert.Empty(t, validation.IsDNS1123Label(name), "%s: %s", object, name)
		assert.Empty(t, names[name], "%s and %s share a name", object, names[name])
		names[name] = object
	}
}

func TestTruncated(t *testing.T) {
	assert.Equal(t, "abc", Truncated("abc", 10))
	assert.Len(t, Truncated(strings.Repeat("a", 300), 253), 253)
	assert.NotEqual(t, Truncated(strings.Repeat("a", 300), 253), Truncated(strings.Repeat("a", 301), 253))
}

func TestCheckSubmissionID(t *testing.T) {
	require.NoError(t, checkSubmissionID(testSubmissionID))
	for _, id := range []string{"", "a b", strings.Repeat("a", 63), "a-"} {
		require.Error(t, checkSubmissionID(id), id)
	}
}
