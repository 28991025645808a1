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

package etcd

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.uber.org/zap"
	"k8s.io/klog/v2/ktesting"
)

func TestLoggingKeepsLevelAndFields(t *testing.T) {
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true), ktesting.Verbosity(infoVerbosity)))
	stopping := make(chan struct{})
	log := newLogger(logger, stopping).With(zap.String("member", "one"))

	log.Debug("hidden")
	log.Info("inner life", zap.Int("size", 3))
	log.Warn("slow", zap.Bool("very", true))
	log.Error("broken", zap.Error(errors.New("disk")))
	close(stopping)
	log.Error("closed", zap.Error(errors.New("on purpose")))

	underlier, ok := logger.GetSink().(ktesting.Underlier)
	if !assert.True(t, ok) {
		return
	}
	text := underlier.GetBuffer().String()
	assert.NotContains(t, text, "hidden")
	assert.Contains(t, text, `inner life member="one" size=3`)
	assert.Contains(t, text, `slow member="one" very=true`)
	assert.Contains(t, text, `ERROR broken member="one" error="disk"`)
	assert.Contains(t, text, `INFO closed member="one" error="on purpose"`)

	loud := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true), ktesting.Verbosity(debugVerbosity)))
	request := &etcdserverpb.InternalRaftRequest{Put: &etcdserverpb.PutRequest{Key: []byte("key"), Value: []byte("secret")}}
	newLogger(loud, nil).Debug("Apply", zap.Stringer("raftReq", request))
	underlier, ok = loud.GetSink().(ktesting.Underlier)
	if assert.True(t, ok) {
		assert.Contains(t, underlier.GetBuffer().String(), `Apply raftReq="not logged"`)
	}

	quiet := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.Verbosity(0)))
	assert.Nil(t, newLogger(quiet, nil).Check(zap.InfoLevel, "inner life"))
	assert.NotNil(t, newLogger(quiet, nil).Check(zap.WarnLevel, "slow"))
}
