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

package v1beta2_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/install"
	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// decodeLogOptions reads query parameters as the server does.
func decodeLogOptions(query string) (*sparkoperator.SparkApplicationLogOptions, error) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, err
	}
	out := &sparkoperator.SparkApplicationLogOptions{}
	return out, runtime.NewParameterCodec(scheme).DecodeParameters(values, v1beta2.SchemeGroupVersion, out)
}

func TestLogOptionsOfAQuery(t *testing.T) {
	got, err := decodeLogOptions("executor=7&container=sidecar&follow=true&previous=1&sinceSeconds=30&timestamps=false&tailLines=0&limitBytes=1024")
	require.NoError(t, err)
	assert.Equal(t, &sparkoperator.SparkApplicationLogOptions{
		Executor: new(int64(7)), Container: "sidecar", Follow: true, Previous: true, SinceSeconds: new(int64(30)),
		TailLines: new(int64(0)), LimitBytes: new(int64(1024)),
	}, got)

	got, err = decodeLogOptions("sinceTime=2026-12-01T01:02:03Z")
	require.NoError(t, err)
	at := time.Date(2026, 12, 1, 1, 2, 3, 0, time.UTC)
	assert.True(t, got.SinceTime.Equal(&metav1.Time{Time: at}), "%v", got.SinceTime)

	got, err = decodeLogOptions("")
	require.NoError(t, err)
	assert.Equal(t, &sparkoperator.SparkApplicationLogOptions{}, got)
}

func TestLogOptionsThatCantBeRead(t *testing.T) {
	for query, want := range map[string]string{
		"executor=one":         `executor: "one" is no whole number`,
		"executor=1.5":         `executor: "1.5" is no whole number`,
		"tailLines=all":        `tailLines: "all" is no whole number`,
		"limitBytes=1k":        `limitBytes: "1k" is no whole number`,
		"sinceSeconds=5m":      `sinceSeconds: "5m" is no whole number`,
		"follow=yes":           `follow: "yes" is neither true nor false`,
		"previous=f":           `previous: "f" is neither true nor false`,
		"timestamps=on":        `timestamps: "on" is neither true nor false`,
		"sinceTime=yesterday":  `sinceTime: "yesterday" is no time`,
		"sinceTime=2026-12-01": `sinceTime: "2026-12-01" is no time`,
	} {
		_, err := decodeLogOptions(query)
		require.ErrorContains(t, err, want, query)
	}
}
