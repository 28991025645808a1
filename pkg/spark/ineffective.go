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

import "slices"

// warnOfIneffective warns of fields that are accepted and do nothing, so that no one takes them for granted.
func (a *Application) warnOfIneffective(rep *report) {
	spec, path := &a.App.Spec, a.specPath
	warn := func(given bool, name, format string, args ...any) {
		if given {
			rep.warnf(path.Child(name), format, args...)
		}
	}
	if spec.FailureRetries != nil {
		warn(true, "failureRetries", "%d has no effect: use %s", *spec.FailureRetries, path.Child("restartPolicy", "onFailureRetries"))
	}
	if spec.RetryInterval != nil {
		warn(true, "retryInterval", "%d has no effect: use %s", *spec.RetryInterval, path.Child("restartPolicy", "onFailureRetryInterval"))
	}
	if given(spec.PythonVersion) && (!a.Line.readsPythonVersion() || a.Language != Python) {
		warn(true, "pythonVersion", "%q has no effect on a %s application of Spark %s: set %s", *spec.PythonVersion, a.Language, a.Line, keyPySparkPython)
	}
	if limit := a.executor.spec.MemoryLimit; given(limit) {
		rep.warnf(a.executor.path.Child("memoryLimit"), "%q has no effect: Spark sets the memory limit of executors to their request; use memory and memoryOverhead", *limit)
	}
	if s, ok := a.conf[keyDriverExcludedSteps]; ok {
		rep.warnf(s.path, "%q has no effect: the driver's pod is not made by spark-submit", s.value)
	}
	a.warnOfOverridden(&a.driver, rep)
	a.warnOfOverridden(&a.executor, rep)
	a.warnOfVolumes(rep)
	a.warnOfImpossibleScaling(rep)
}

// warnOfVolumes warns of volumes that nothing mounts, which are left out of the pods.
func (a *Application) warnOfVolumes(rep *report) {
	mounted := map[string]bool{}
	for _, r := range []*role{&a.driver, &a.executor} {
		for _, m := range r.spec.VolumeMounts {
			mounted[m.Name] = true
		}
		further := slices.Concat(r.spec.Sidecars, r.spec.InitContainers)
		for i := range further {
			for _, m := range further[i].VolumeMounts {
				mounted[m.Name] = true
			}
			for _, d := range further[i].VolumeDevices {
				mounted[d.Name] = true
			}
		}
		t := a.templateOf(r)
		podSpec, _ := lookup(t.object, "spec")
		object, _ := podSpec.(map[string]any)
		for _, key := range []string{"containers", "initContainers"} {
			for _, c := range objectsAt(object, key) {
				for _, m := range objectsAt(c, "volumeMounts") {
					mounted[text(m, "name")] = true
				}
			}
		}
	}
	for i := range a.App.Spec.Volumes {
		if name := a.App.Spec.Volumes[i].Name; !mounted[name] {
			rep.warnf(indexed(a.specPath, "volumes", i), "%q has no effect: nothing mounts it", name)
		}
	}
}

// warnOfImpossibleScaling warns of dynamic allocation without any means to keep shuffle data, which Spark refuses unless a
// plug-in that can't be seen from here provides for it (ExecutorAllocationManager.validateSettings).
func (a *Application) warnOfImpossibleScaling(rep *report) {
	if !a.Executors.Dynamic {
		return
	}
	quiet := &report{}
	decommission := a.conf.boolean(keyDecommissionEnabled, false, quiet) && a.conf.boolean("spark.storage.decommission.enabled", false, quiet)
	if s, ok := a.conf[keyShuffleTrackingEnabled]; ok && !decommission && !a.conf.boolean(keyShuffleTrackingEnabled, true, quiet) {
		rep.warnf(s.path, "%q makes dynamic allocation fail, unless a remote shuffle service or decommissioning of storage is set up", s.value)
	}
}
