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

// Package version says which release of spark-apiserver this is. Release builds set its variables with -ldflags -X. The
// version variables of k8s.io/component-base are never set: the emulated version of Kubernetes, and with it every
// feature gate of the API machinery, is derived from them.
package version

import (
	"cmp"
	"runtime"
	"runtime/debug"

	apimachineryversion "k8s.io/apimachinery/pkg/version"
)

// Release is the number of this release as major.minor. Feature gates of ours are versioned by it.
const Release = "0.1"

// Set by release builds.
var (
	gitVersion = "v" + Release + ".0-dev"
	gitCommit  string
	buildDate  string
)

// Get returns the version of this binary. What a release build did not set is taken from the build information that Go
// puts into every binary.
func Get() apimachineryversion.Info {
	info := apimachineryversion.Info{
		Major:      "0",
		Minor:      "1",
		GitVersion: gitVersion,
		GitCommit:  gitCommit,
		BuildDate:  buildDate,
		GoVersion:  runtime.Version(),
		Compiler:   runtime.Compiler,
		Platform:   runtime.GOOS + "/" + runtime.GOARCH,
	}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return info
	}
	for _, setting := range build.Settings {
		switch setting.Key {
		case "vcs.revision":
			info.GitCommit = cmp.Or(info.GitCommit, setting.Value)
		case "vcs.time":
			info.BuildDate = cmp.Or(info.BuildDate, setting.Value)
		case "vcs.modified":
			info.GitTreeState = "clean"
			if setting.Value == "true" {
				info.GitTreeState = "dirty"
			}
		}
	}
	return info
}
