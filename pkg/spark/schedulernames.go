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

import "k8s.io/apimachinery/pkg/util/validation/field"

// Role is a role of a pod, or both.
type Role string

// The roles.
const (
	Driver   Role = "driver"
	Executor Role = "executor"
	Both     Role = "both"
)

// SchedulerName is one place that names a scheduler.
type SchedulerName struct {
	// Path is the place.
	Path *field.Path
	// Value is the name given there.
	Value string
	// Role says whose scheduler is named.
	Role Role
}

// SchedulerNames lists every place that names a scheduler: typed fields, Spark properties and templates.
func (a *Application) SchedulerNames() []SchedulerName {
	var names []SchedulerName
	add := func(role Role, value string, path *field.Path) {
		if value != "" {
			names = append(names, SchedulerName{Path: path, Value: value, Role: role})
		}
	}
	spec := &a.App.Spec
	if n := spec.Driver.SchedulerName; n != nil {
		add(Driver, *n, a.specPath.Child("driver", "schedulerName"))
	}
	if n := spec.Executor.SchedulerName; n != nil {
		add(Executor, *n, a.specPath.Child("executor", "schedulerName"))
	}
	for _, source := range []struct {
		key  string
		role Role
	}{{keySchedulerName, Both}, {keyDriverSchedulerName, Driver}, {keyExecutorSchedulerName, Executor}} {
		// The user's own property, which a typed field may shadow: it is named all the same.
		add(source.role, spec.SparkConf[source.key], a.sparkConfPath(source.key))
	}
	for _, role := range []Role{Driver, Executor} {
		if v, path, ok := a.TemplateField(role, "spec", "schedulerName"); ok {
			name, _ := v.(string)
			add(role, name, path)
		}
	}
	return names
}
