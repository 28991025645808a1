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
	"path"
	"regexp"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// Language is what an application is written in, as far as Spark tells languages apart. The text is the value of
// spark.kubernetes.resource.type.
type Language string

// The languages. Scala is Java to Spark.
const (
	Java   Language = "java"
	Python Language = "python"
	R      Language = "r"
)

// noMainResource is Spark's name for "there is no main file" (SparkLauncher.NO_RESOURCE).
const noMainResource = "spark-internal"

// The classes that run scripts (SparkSubmit.prepareSubmitEnvironment, KubernetesClientApplication).
const (
	pythonRunner = "org.apache.spark.deploy.PythonRunner"
	rRunner      = "org.apache.spark.deploy.RRunner"
)

// mainResource is what the driver runs.
type mainResource struct {
	class    string
	resource string
	// jar says that the main file is a jar for the class path.
	jar bool
}

// languageOf follows SparkSubmitArguments: scripts are told by the end of their name, all else is a jar.
func languageOf(mainFile string) Language {
	switch {
	case strings.HasSuffix(mainFile, ".py"):
		return Python
	case strings.HasSuffix(mainFile, ".R"), strings.HasSuffix(mainFile, ".r"):
		return R
	default:
		return Java
	}
}

func resolveMain(app *v1beta2.SparkApplication, specPath *field.Path, rep *report) (mainResource, Language) {
	filePath, classPath := specPath.Child("mainApplicationFile"), specPath.Child("mainClass")
	file := ""
	if app.Spec.MainApplicationFile != nil {
		file = strings.TrimSpace(*app.Spec.MainApplicationFile)
	}
	language := languageOf(file)
	warnOfType(app.Spec.Type, language, file, specPath, rep)
	if file == "" {
		rep.err(field.Required(filePath, "name the jar, the Python or the R file to run, or "+noMainResource+" for a class of the image"))
		return mainResource{}, language
	}
	class := ""
	if app.Spec.MainClass != nil {
		class = *app.Spec.MainClass
	}
	if language == R && scheme(file) == "" && strings.HasPrefix(file, "/") {
		// SparkSubmit uploads no R files: it passes the path on, which the image of the driver then has to hold.
		file = "file:" + file
	} else if file != noMainResource && !(language == R && scheme(file) == "file") {
		checkReachable(filePath, file, rep)
	}
	if strings.ContainsFunc(file, unicode.IsSpace) {
		rep.invalid(filePath, file, "must not contain white space: write %%20 where the name of the file has a blank")
	}
	switch language {
	case Python, R:
		if class != "" {
			rep.warnf(classPath, "%q has no effect on a %s application: remove it", class, language)
		}
		runner := pythonRunner
		if language == R {
			runner = rRunner
		}
		return mainResource{class: runner, resource: file}, language
	default:
		if strings.TrimSpace(class) == "" {
			rep.err(field.Required(classPath, "name the class to run: Spark can look for it only in jars of the submitter's machine"))
		} else if strings.ContainsFunc(class, unicode.IsSpace) || strings.HasPrefix(class, "-") {
			rep.invalid(classPath, class, "is no name of a class: write it like org.example.Main")
		}
		return mainResource{class: class, resource: file, jar: file != noMainResource}, language
	}
}

func warnOfType(stated v1beta2.SparkApplicationType, language Language, file string, specPath *field.Path, rep *report) {
	want := Java
	switch stated {
	case v1beta2.PythonApplicationType:
		want = Python
	case v1beta2.RApplicationType:
		want = R
	}
	if stated != "" && file != "" && want != language {
		rep.warnf(specPath.Child("type"), "%q has no effect: Spark tells the language by the main file, and runs %q as a %s application", stated, path.Base(file), language)
	}
}

var schemePattern = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.\-]*):`)

// scheme returns the scheme of a URI in lower case, or nothing.
func scheme(uri string) string {
	m := schemePattern.FindStringSubmatch(uri)
	if m == nil {
		return ""
	}
	return strings.ToLower(m[1])
}

// checkReachable refuses files of the submitter's machine. spark-submit would upload them; there is no such machine here.
func checkReachable(path *field.Path, uri string, rep *report) {
	if s := scheme(uri); s == "" || s == "file" {
		rep.invalid(path, uri, "names a file of the submitter's machine, which can't be reached: use local:// for a file inside of the image, or a URI that the driver can fetch such as s3a:// or https://")
	} else if s == "local" {
		checkLocal(path, uri, rep)
	}
}

// checkLocal looks for a path where a URI of a file inside of the image has none. What stands between two slashes and the
// next one is the name of a machine, which Spark drops without a word.
func checkLocal(path *field.Path, uri string, rep *report) {
	rest := uri[len("local:"):]
	host, file := "", rest
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		host, file, _ = strings.Cut(after, "/")
	}
	switch {
	case strings.Trim(file, "/") == "":
		rep.invalid(path, uri, "names no file: write it like local:///opt/spark/app.jar")
	case host != "":
		rep.warnf(path, "%q means the file /%s of the image: write local:///%s/%s if that was meant", uri, file, host, file)
	}
}
