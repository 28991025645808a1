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
	"slices"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
)

// The klog verbosity at which etcd's messages appear. What etcd calls information is the trace of its inner life.
const (
	infoVerbosity  = 4
	debugVerbosity = 8
)

// deliberate are warnings about choices that are right here: there is no network to be secured on, and no user to log in.
var deliberate = map[string]bool{
	"Running http and grpc server on single port. This is not recommended for production.": true,
	"simple token is not cryptographically signed":                                         true,
}

// newLogger returns a zap logger that writes to a klog logger. Once stopping is closed, errors are what was to be expected,
// and are no longer shown as such.
func newLogger(logger klog.Logger, stopping <-chan struct{}) *zap.Logger {
	return zap.New(&klogCore{logger: logger, stopping: stopping})
}

// klogCore writes what is logged through zap to a klog logger. Zap itself ends the process or panics after the entries
// that call for it.
type klogCore struct {
	logger   klog.Logger
	stopping <-chan struct{}
	fields   []zapcore.Field
}

var _ zapcore.Core = &klogCore{}

func verbosity(level zapcore.Level) int {
	switch {
	case level >= zapcore.WarnLevel:
		return 0
	case level == zapcore.InfoLevel:
		return infoVerbosity
	default:
		return debugVerbosity
	}
}

// severity is the level that an entry is shown with.
func (c *klogCore) severity(level zapcore.Level) zapcore.Level {
	select {
	case <-c.stopping:
		if level <= zapcore.ErrorLevel {
			return min(level, zapcore.InfoLevel)
		}
	default:
	}
	return level
}

// Enabled implements zapcore.LevelEnabler.
func (c *klogCore) Enabled(level zapcore.Level) bool {
	level = c.severity(level)
	return level >= zapcore.ErrorLevel || c.logger.V(verbosity(level)).Enabled()
}

// With implements zapcore.Core.
func (c *klogCore) With(fields []zapcore.Field) zapcore.Core {
	return &klogCore{logger: c.logger, stopping: c.stopping, fields: slices.Concat(c.fields, fields)}
}

// Check implements zapcore.Core.
func (c *klogCore) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(entry.Level) && !deliberate[entry.Message] {
		return checked.AddCore(entry, c)
	}
	return checked
}

// Write implements zapcore.Core.
func (c *klogCore) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	keysAndValues := make([]any, 0, 2*(len(c.fields)+len(fields)))
	for _, field := range slices.Concat(c.fields, fields) {
		keysAndValues = append(keysAndValues, field.Key, fieldValue(field))
	}
	if level := c.severity(entry.Level); level >= zapcore.ErrorLevel {
		c.logger.Error(nil, entry.Message, keysAndValues...)
	} else {
		c.logger.V(verbosity(level)).Info(entry.Message, keysAndValues...)
	}
	if entry.Level > zapcore.ErrorLevel {
		klog.Flush() // zap is about to end the process
	}
	return nil
}

// Sync implements zapcore.Core.
func (c *klogCore) Sync() error {
	klog.Flush()
	return nil
}

// contents are the fields with which etcd logs whole requests: keys and values, which is what users have written.
var contents = map[string]bool{"raftReq": true, "raft-request": true}

func fieldValue(field zapcore.Field) any {
	if contents[field.Key] {
		return "not logged"
	}
	encoder := zapcore.NewMapObjectEncoder()
	field.AddTo(encoder)
	if len(encoder.Fields) == 1 {
		for _, value := range encoder.Fields {
			return value
		}
	}
	return encoder.Fields
}
