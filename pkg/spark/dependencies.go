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

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ivyDir is where packages are resolved: the home of the official images doesn't exist, so Ivy's default fails.
const ivyDir = "/tmp/.ivy2"

// dependencyConf adds the files that the application needs, as SparkSubmit.prepareSubmitEnvironment does. Packages are
// resolved by the driver alone: spark-submit resolves them too, but only for the sake of uploads.
func (a *Application) dependencyConf(rep *report) {
	deps, path := &a.App.Spec.Deps, a.specPath.Child("deps")
	for _, d := range []struct {
		key, name string
		values    []string
		files     bool
	}{
		{keyJars, "jars", deps.Jars, true},
		{keyFiles, "files", deps.Files, true},
		{keyPyFiles, "pyFiles", deps.PyFiles, true},
		{keyArchives, "archives", deps.Archives, true},
		{keyPackages, "packages", deps.Packages, false},
		{keyExcludePackages, "excludePackages", deps.ExcludePackages, false},
		{keyRepositories, "repositories", deps.Repositories, false},
	} {
		if len(d.values) > 0 {
			for i, v := range d.values {
				if d.files {
					checkFileList(path.Child(d.name).Index(i), v, rep)
				}
			}
			a.conf.set(d.key, strings.Join(commaList(strings.Join(d.values, ",")), ","), path.Child(d.name), rep)
		} else if s, ok := a.conf[d.key]; ok && d.files {
			checkFileList(s.path, s.value, rep)
		}
	}
	if packages, ok := a.conf[keyPackages]; ok && packages.value != "" {
		if _, ok := a.conf[keyIvy]; !ok {
			a.conf.set(keyIvy, ivyDir, packages.path, rep)
		}
	}
	if _, ok := a.conf[keyPyFiles]; !ok {
		a.conf[keyPyFiles] = setting{path: path.Child("pyFiles")}
	}
	if a.Language == Java {
		a.conf[keyJars] = a.withPrimaryJar(path.Child("jars"))
	}
}

// withPrimaryJar appends the application's jar to the jars, where Spark has it in cluster mode. The property is there
// even where it is empty.
func (a *Application) withPrimaryJar(path *field.Path) setting {
	s, ok := a.conf[keyJars]
	if !ok {
		s = setting{path: path}
	}
	jars := commaList(s.value)
	if a.main.jar {
		jars = append(jars, a.main.resource)
	}
	// It no longer is what the user wrote, so that nothing is said of it being shadowed.
	return setting{value: strings.Join(jars, ","), path: s.path}
}

func checkFileList(path *field.Path, list string, rep *report) {
	for _, uri := range commaList(list) {
		checkReachable(path, uri, rep)
	}
}
