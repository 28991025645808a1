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
	"math"
	"strconv"
)

// dynamicAllocationConf adds the properties of dynamic allocation. Where the block is given it decides, and the property
// that turns dynamic allocation on doesn't.
func (a *Application) dynamicAllocationConf(rep *report) {
	da, path := a.App.Spec.DynamicAllocation, a.specPath.Child("dynamicAllocation")
	if da == nil {
		return
	}
	if !da.Enabled {
		if _, ok := a.conf[keyDynamicEnabled]; ok {
			a.conf.set(keyDynamicEnabled, "false", path.Child("enabled"), rep)
		}
		return
	}
	a.conf.set(keyDynamicEnabled, "true", path.Child("enabled"), rep)
	for _, n := range []struct {
		key, name string
		value     *int32
	}{
		{keyDynamicInitial, "initialExecutors", da.InitialExecutors},
		{keyDynamicMin, "minExecutors", da.MinExecutors},
		{keyDynamicMax, "maxExecutors", da.MaxExecutors},
	} {
		if n.value != nil {
			a.conf.set(n.key, strconv.Itoa(int(*n.value)), path.Child(n.name), rep)
		}
	}
	tracking := da.ShuffleTrackingEnabled == nil || *da.ShuffleTrackingEnabled
	a.conf.set(keyShuffleTrackingEnabled, strconv.FormatBool(tracking), path.Child("shuffleTrackingEnabled"), rep)
	if da.ShuffleTrackingTimeout != nil {
		if *da.ShuffleTrackingTimeout < 0 {
			rep.invalid(path.Child("shuffleTrackingTimeout"), *da.ShuffleTrackingTimeout, "must not be negative")
		}
		a.conf.set(keyShuffleTrackingTimeout, strconv.FormatInt(*da.ShuffleTrackingTimeout, 10), path.Child("shuffleTrackingTimeout"), rep)
	}
}

// resolveExecutors works out the number of executors that Spark starts with
// (SchedulerBackendUtils.getInitialTargetExecutorNumber, ExecutorAllocationManager.validateSettings). Unlike Spark,
// which starts two, an application that says nothing gets one, as defaulting writes it.
func (a *Application) resolveExecutors(rep *report) {
	instances := a.specPath.Child("executor", "instances")
	if !a.conf.boolean(keyDynamicEnabled, false, rep) {
		a.Executors = Executors{Initial: a.conf.integer(keyExecutorInstances, 1, 1, math.MaxInt32, rep), Path: instances}
		if s, ok := a.conf[keyExecutorInstances]; ok {
			a.Executors.Path = s.path
		}
		return
	}
	a.Executors = Executors{Dynamic: true, Path: a.conf[keyDynamicEnabled].path}
	low := a.conf.integer(keyDynamicMin, 0, 0, math.MaxInt32, rep)
	high := a.conf.integer(keyDynamicMax, math.MaxInt32, 1, math.MaxInt32, rep)
	if low > high {
		s := a.conf[keyDynamicMin]
		rep.invalid(s.path, s.value, "must not be more than the upper bound, %d (%s)", high, a.conf[keyDynamicMax].path)
	}
	if s, ok := a.conf[keyDynamicInitial]; ok {
		// SchedulerBackendUtils fails the driver where the start is above the bound, and warns where it is below.
		if n := a.conf.integer(keyDynamicInitial, 0, 0, math.MaxInt32, rep); n > high && low <= high {
			rep.invalid(s.path, s.value, "must not be more than the upper bound, %d (%s)", high, a.conf[keyDynamicMax].path)
		}
	}
	for _, key := range []string{keyDynamicMin, keyDynamicInitial, keyExecutorInstances} {
		if n := a.conf.integer(key, 0, 0, math.MaxInt32, rep); n > a.Executors.Initial {
			a.Executors.Initial, a.Executors.Path = n, a.conf[key].path
		}
	}
}
