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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

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
	return NamedSchedulers(&a.App.Spec, a.specPath)
}

// NamedSchedulers lists every place of a spec that names a scheduler, also of one that can't be resolved.
func NamedSchedulers(spec *v1beta2.SparkApplicationSpec, specPath *field.Path) []SchedulerName {
	var names []SchedulerName
	add := func(role Role, value string, path *field.Path) {
		if value != "" {
			names = append(names, SchedulerName{Path: path, Value: value, Role: role})
		}
	}
	if n := spec.Driver.SchedulerName; n != nil {
		add(Driver, *n, specPath.Child("driver", "schedulerName"))
	}
	if n := spec.Executor.SchedulerName; n != nil {
		add(Executor, *n, specPath.Child("executor", "schedulerName"))
	}
	for _, source := range []struct {
		key  string
		role Role
	}{{keySchedulerName, Both}, {keyDriverSchedulerName, Driver}, {keyExecutorSchedulerName, Executor}} {
		// The user's own property, which a typed field may shadow: it is named all the same.
		add(source.role, spec.SparkConf[source.key], specPath.Child("sparkConf").Key(source.key))
	}
	for _, source := range []struct {
		role     Role
		template *runtime.RawExtension
	}{{Driver, spec.Driver.Template}, {Executor, spec.Executor.Template}} {
		t := decodeTemplate(source.template, specPath.Child(string(source.role), "template"), "", &report{})
		if t.typed != nil {
			add(source.role, t.typed.Spec.SchedulerName, t.path.Child("spec", "schedulerName"))
		}
	}
	return names
}
