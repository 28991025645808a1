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

package server

import (
	"errors"
	"fmt"
	"slices"

	"go.uber.org/zap"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

// startLogging applies the flags of logging, and keeps what users have written from the log: from verbosity 8 on, client-go
// logs the bodies of all requests and answers, applications with the secrets of their specs among them.
func startLogging(o *logs.Options, gate featuregate.FeatureGate) error {
	if o.Options.Text.InfoBufferSize.Value() > 0 {
		// Nobody but component-base could flush that buffer.
		return errors.New("--log-text-info-buffer-size can't be used")
	}
	if err := logsapi.ValidateAndApply(o, gate); err != nil {
		return err
	}
	logger := klog.Background()
	sink := logger.GetSink()
	options := []klog.LoggerOption{klog.ContextualLogger(gate.Enabled(logsapi.ContextualLogging))}
	if writer, ok := sink.(textlogger.KlogBufferWriter); ok {
		options = append(options, klog.WriteKlogBuffer(writer.WriteKlogBuffer))
	}
	if buffered, ok := sink.(interface{ GetUnderlying() *zap.Logger }); ok {
		options = append(options, klog.FlushLogger(func() { _ = buffered.GetUnderlying().Sync() }))
	}
	klog.SetLoggerWithOptions(klog.New(newBodilessSink(sink)), options...)
	return nil
}

// bodiless are the messages with which client-go logs the bodies of requests and answers, under bodyKey.
var bodiless = []string{"Request Body", "Response Body"}

const bodyKey = "body"

// bodilessSink logs no bodies, but how long they are.
type bodilessSink struct {
	klog.LogSink
}

func newBodilessSink(sink klog.LogSink) klog.LogSink {
	return bodilessSink{LogSink: sink}.WithCallDepth(1) // one more call lies between the sink and the line that logs
}

// Init implements logr.LogSink. The inner sink is initialized already.
func (bodilessSink) Init(klog.RuntimeInfo) {}

// Info implements logr.LogSink.
func (s bodilessSink) Info(level int, msg string, keysAndValues ...any) {
	if slices.Contains(bodiless, msg) {
		keysAndValues = slices.Clone(keysAndValues)
		for i := 0; i+1 < len(keysAndValues); i += 2 {
			if keysAndValues[i] == bodyKey {
				keysAndValues[i+1] = fmt.Sprintf("not logged (%d characters)", len(fmt.Sprint(keysAndValues[i+1])))
			}
		}
	}
	s.LogSink.Info(level, msg, keysAndValues...)
}

// WithValues implements logr.LogSink.
func (s bodilessSink) WithValues(keysAndValues ...any) klog.LogSink {
	return bodilessSink{LogSink: s.LogSink.WithValues(keysAndValues...)}
}

// WithName implements logr.LogSink.
func (s bodilessSink) WithName(name string) klog.LogSink {
	return bodilessSink{LogSink: s.LogSink.WithName(name)}
}

// WithCallDepth implements logr.CallDepthLogSink.
func (s bodilessSink) WithCallDepth(depth int) klog.LogSink {
	if sink, ok := s.LogSink.(interface{ WithCallDepth(depth int) klog.LogSink }); ok {
		return bodilessSink{LogSink: sink.WithCallDepth(depth)}
	}
	return s
}
