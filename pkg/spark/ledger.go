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
	pathpkg "path"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ledger knows what a pod has and where it came from. Today's operator appends whatever it is told and lets the API
// server refuse the pod for a repeated name; here the same thing said twice counts once, and two different things are an
// error that names both places.
type ledger struct {
	rep *report
	// whole is the path of the role, for what no field is to blame for.
	whole      *field.Path
	volumes    map[string]entry
	mounts     map[string]entry
	ports      map[string]entry
	containers map[string]entry
	// wanted are the names of volumes that containers mount, with their places.
	wanted []entry
	// spark says that what is entered will be added by Spark's driver whatever the pod has already, so that even the same
	// thing twice makes the pod invalid.
	spark bool
}

type entry struct {
	value any
	path  *field.Path // nil for what Spark adds by itself
}

func newLedger(rep *report, whole *field.Path) *ledger {
	return &ledger{rep: rep, whole: whole, volumes: map[string]entry{}, mounts: map[string]entry{}, ports: map[string]entry{}, containers: map[string]entry{}}
}

// enter notes a thing and says whether it is new.
func (l *ledger) enter(table map[string]entry, what, key string, value any, path *field.Path) bool {
	old, ok := table[key]
	if !ok {
		table[key] = entry{value, path}
		return true
	}
	if !l.spark && sameJSON(old.value, value) {
		return false
	}
	other, remedy := "Spark itself", "choose another"
	switch {
	case path == nil && old.path == nil:
		path = l.whole // neither was asked for by a field of its own
	case path == nil:
		path = old.path
	case old.path != nil:
		other, remedy = old.path.String(), "remove one of them"
	}
	l.rep.invalid(path, key, "%s is also given by %s: %s", what, other, remedy)
	return false
}

// once enters what a template has, where nothing may be repeated.
func (l *ledger) once(table map[string]entry, key string, path *field.Path, enter func() bool) {
	if _, ok := table[key]; ok && key != "" {
		l.rep.err(field.Duplicate(path, key))
		return
	}
	enter()
}

// sameJSON says whether two values are written alike, whatever their types.
func sameJSON(a, b any) bool {
	one, errOne := toJSON(a)
	other, errOther := toJSON(b)
	return errOne == nil && errOther == nil && reflect.DeepEqual(one, other)
}

// volume notes a volume, which may be of any type that is written as JSON like a corev1.Volume.
func (l *ledger) volume(name string, value any, path *field.Path) bool {
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		l.rep.invalid(path, name, "is no name of a volume: %s", strings.Join(problems, "; "))
	}
	return l.enter(l.volumes, "a volume of this name", name, value, path)
}

// mount notes what is mounted at a path of the container of Spark.
func (l *ledger) mount(mountPath string, value any, path *field.Path) bool {
	switch {
	case mountPath == "":
		l.rep.err(field.Required(path, "name the path at which it is mounted"))
		return false
	case strings.Contains(mountPath, ":"):
		l.rep.invalid(path, mountPath, "must not contain a colon")
		return false
	case pathpkg.Clean(mountPath) == "/":
		l.rep.invalid(path, mountPath, "must not be the root of the container")
		return false
	}
	// "/data/" and "/data" are one place to the container, whatever the API server says.
	return l.enter(l.mounts, "this mount path", pathpkg.Clean(mountPath), value, path)
}

// want notes that a container mounts a volume. The volume may be entered later.
func (l *ledger) want(name string, path *field.Path) {
	l.wanted = append(l.wanted, entry{name, path})
}

// checkWanted refuses mounts of volumes that the pod doesn't have.
func (l *ledger) checkWanted() {
	for _, w := range l.wanted {
		if name, _ := w.value.(string); !l.hasVolume(name) {
			l.rep.invalid(w.path, name, "no volume has this name: add it to the volumes of the application or of the template")
		}
	}
}

func (l *ledger) hasVolume(name string) bool {
	_, ok := l.volumes[name]
	return ok
}

// port notes a port of the container of Spark. path is that of the port, nil for a port of Spark itself.
func (l *ledger) port(name string, number int32, value any, path *field.Path) bool {
	if problems := validation.IsValidPortNum(int(number)); len(problems) > 0 {
		l.rep.invalid(path.Child("containerPort"), number, "is no port: %s", strings.Join(problems, "; "))
	}
	if name == "" {
		return true // such ports can't collide by name
	}
	if problems := validation.IsValidPortName(name); len(problems) > 0 {
		l.rep.invalid(path.Child("name"), name, "is no name of a port: %s", strings.Join(problems, "; "))
	}
	if path != nil {
		path = path.Child("name")
	}
	return l.enter(l.ports, "a port of this name", name, value, path)
}

// container notes a container other than that of Spark.
func (l *ledger) container(name, image string, value any, path *field.Path) bool {
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		l.rep.invalid(path.Child("name"), name, "is no name of a container: %s", strings.Join(problems, "; "))
	}
	if image == "" {
		l.rep.err(field.Required(path.Child("image"), "name the image of the container"))
	}
	return l.enter(l.containers, "a container of this name", name, value, path.Child("name"))
}

// env checks the name of a variable by the rules of Kubernetes since 1.34.
func (l *ledger) env(name string, path *field.Path) {
	if problems := validation.IsRelaxedEnvVarName(name); len(problems) > 0 {
		l.rep.invalid(path, name, "is no name of an environment variable: %s", strings.Join(problems, "; "))
	}
}

// label checks a label by the rules of Kubernetes.
func (l *ledger) label(key, value string, path *field.Path) {
	if problems := validation.IsQualifiedName(key); len(problems) > 0 {
		l.rep.invalid(path, key, "is no key of a label: %s", strings.Join(problems, "; "))
	}
	if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
		l.rep.invalid(path, value, "is no value of a label: %s", strings.Join(problems, "; "))
	}
}

// annotation checks the key of an annotation by the rules of Kubernetes.
func (l *ledger) annotation(key string, path *field.Path) {
	if problems := validation.IsQualifiedName(strings.ToLower(key)); len(problems) > 0 {
		l.rep.invalid(path, key, "is no key of an annotation: %s", strings.Join(problems, "; "))
	}
}

// objectName checks the name of an object that a pod refers to.
func (l *ledger) objectName(kind, name string, path *field.Path) {
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		l.rep.invalid(path, name, "is no name of a %s: %s", kind, strings.Join(problems, "; "))
	}
}

func indexed(path *field.Path, name string, i int) *field.Path {
	return path.Child(name).Index(i)
}
