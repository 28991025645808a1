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
	"slices"
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
		// parts is of how many parts a Maven coordinate of the list is; 0 where there are none.
		parts int
	}{
		{keyJars, "jars", deps.Jars, true, 0},
		{keyFiles, "files", deps.Files, true, 0},
		{keyPyFiles, "pyFiles", deps.PyFiles, true, 0},
		{keyArchives, "archives", deps.Archives, true, 0},
		{keyPackages, "packages", deps.Packages, false, 3},
		{keyExcludePackages, "excludePackages", deps.ExcludePackages, false, 2},
		{keyRepositories, "repositories", deps.Repositories, false, 0},
	} {
		if len(d.values) > 0 {
			for i, v := range d.values {
				switch at := path.Child(d.name).Index(i); {
				case d.files:
					checkFileList(at, v, rep)
				case d.parts > 0:
					checkCoordinates(at, v, d.parts, rep)
				}
			}
			a.conf.set(d.key, strings.Join(commaList(strings.Join(d.values, ",")), ","), path.Child(d.name), rep)
		} else if s, ok := a.conf[d.key]; ok {
			switch {
			case d.files:
				checkFileList(s.path, s.value, rep)
			case d.parts > 0:
				checkCoordinates(s.path, s.value, d.parts, rep)
			}
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

// checkCoordinates is MavenUtils.extractMavenCoordinates, which ends the driver for anything else. An exclusion has no
// version.
func checkCoordinates(path *field.Path, list string, parts int, rep *report) {
	for _, coordinate := range commaList(list) {
		fields := strings.Split(strings.ReplaceAll(coordinate, "/", ":"), ":")
		blank := slices.ContainsFunc(fields, func(f string) bool { return strings.TrimSpace(f) == "" })
		switch {
		case len(fields) == parts && !blank:
		case parts == 2:
			rep.invalid(path, coordinate, "must be written as groupId:artifactId")
		default:
			rep.invalid(path, coordinate, "must be written as groupId:artifactId:version")
		}
	}
}
