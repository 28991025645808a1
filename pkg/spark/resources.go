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
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	defaultMemory = "1g"
	// defaultMinOverhead is the least memory outside of the heap, in MiB: fixed in 3.5, the properties' default in 4.0.
	defaultMinOverhead = int64(384)
	// jvmOverheadFactor and otherOverheadFactor are the shares of the heap that are added by default (Config
	// MEMORY_OVERHEAD_FACTOR, DriverConf NON_JVM_MEMORY_OVERHEAD_FACTOR).
	jvmOverheadFactor   = 0.1
	otherOverheadFactor = 0.4
)

// resolveResources works out what the containers of Spark ask for: BasicDriverFeatureStep and, for executors,
// ResourceProfile.getResourcesForClusterManager with BasicExecutorFeatureStep.
func (a *Application) resolveResources(rep *report) {
	a.driver.resources = a.roleResources(&a.driver, a.roleMemory(&a.driver, rep), rep)
	executor := a.roleMemory(&a.executor, rep)
	if a.conf.boolean(keyOffHeapEnabled, false, rep) {
		s, ok := a.conf[keyOffHeapSize]
		if !ok {
			rep.err(field.Required(a.sparkConfPath(keyOffHeapSize), "memory outside of the heap is on and needs a size"))
		}
		executor += a.size(keyOffHeapSize, "0", "b", rep)
		if ok && isZero(s.value) {
			rep.invalid(s.path, s.value, "must be more than 0")
		}
	}
	if a.Language == Python {
		executor += a.size(keyExecutorPySparkMemory, "0", "m", rep)
	}
	a.executor.resources = a.roleResources(&a.executor, executor, rep)
	a.driverMemoryLimit(rep)
}

func (a *Application) size(key, fallback, unit string, rep *report) int64 {
	n, err := mebibytes(a.conf.value(fallback, key), unit)
	if err != nil {
		s := a.conf[key]
		rep.invalid(s.path, s.value, "%v", err)
	}
	return n
}

// roleMemory is heap and overhead in MiB.
func (a *Application) roleMemory(r *role, rep *report) int64 {
	heap := a.size(r.keyMemory, defaultMemory, "m", rep)
	if s, ok := a.conf[r.keyMemory]; ok && isZero(s.value) {
		rep.invalid(s.path, s.value, "must be more than 0")
	}
	factor := a.overheadFactor(r, rep)
	if _, ok := a.conf[r.keyMemoryOverhead]; ok {
		return heap + a.size(r.keyMemoryOverhead, "0", "m", rep)
	}
	least := defaultMinOverhead
	if a.Line.readsMinMemoryOverhead() {
		least = a.size(r.keyMinMemoryOverhead, "384m", "m", rep)
	}
	return heap + max(int64(math.Min(factor*float64(heap), float64(maxMebibytes))), least)
}

func isZero(size string) bool {
	digits := strings.TrimRight(strings.ToLower(strings.TrimSpace(size)), "bkmgtp")
	n, err := strconv.ParseInt(digits, 10, 64)
	return err == nil && n == 0
}

// overheadFactor is the share of the heap that is added for a role.
func (a *Application) overheadFactor(r *role, rep *report) float64 {
	if s, ok := a.conf[r.keyMemoryOverheadFactor]; ok {
		return readFactor(s, "must be a decimal number above 0, such as 0.2", func(f float64) bool { return f > 0 }, rep)
	}
	return a.commonOverheadFactor(rep)
}

// commonOverheadFactor is the share that is written into the properties. A role's own isn't.
func (a *Application) commonOverheadFactor(rep *report) float64 {
	if s, ok := a.conf[keyMemoryOverheadFactor]; ok {
		return readFactor(s, "must be a decimal number that isn't negative, such as 0.2", func(f float64) bool { return f >= 0 }, rep)
	}
	if a.Language == Java {
		return jvmOverheadFactor
	}
	return otherOverheadFactor
}

// readFactor reads a share. The common one may be 0, a role's own may not.
func readFactor(s setting, rule string, allowed func(float64) bool, rep *report) float64 {
	f, err := strconv.ParseFloat(strings.TrimSpace(s.value), 64)
	if err != nil || !allowed(f) || math.IsInf(f, 0) || strings.ContainsAny(s.value, "xX_") {
		rep.invalid(s.path, s.value, "%s", rule)
		return 0
	}
	return f
}

func (a *Application) roleResources(r *role, memory int64, rep *report) corev1.ResourceRequirements {
	resources := corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
	cores := a.conf.integer(r.keyCores, 1, 1, math.MaxInt32, rep)
	request, from := *resource.NewQuantity(int64(cores), resource.DecimalSI), a.conf[r.keyCores].path
	if s, ok := a.conf[r.keyRequestCores]; ok {
		request, from = a.quantity(s, rep), s.path
	}
	resources.Requests[corev1.ResourceCPU] = request
	limit, limitPath, ok := a.cpuLimit(r, rep)
	if ok {
		resources.Limits[corev1.ResourceCPU] = limit
		if limit.Cmp(request) < 0 {
			rep.invalid(limitPath, limit.String(), "must not be below the CPU request, %s (%s)", request.String(), from)
		}
	}
	size := resource.MustParse(strconv.FormatInt(memory, 10) + "Mi")
	resources.Requests[corev1.ResourceMemory], resources.Limits[corev1.ResourceMemory] = size, size
	a.customResources(r, resources.Limits, rep)
	return resources
}

// cpuLimit is the property's, else the template's, which Spark leaves in place.
func (a *Application) cpuLimit(r *role, rep *report) (resource.Quantity, *field.Path, bool) {
	if s, ok := a.conf[r.keyLimitCores]; ok {
		return a.quantity(s, rep), s.path, true
	}
	container, path, _ := a.templateContainer(r)
	v, ok := lookup(container, "resources", "limits", "cpu")
	if !ok {
		return resource.Quantity{}, nil, false
	}
	q, err := quantityOf(v)
	return q, path.Child("resources", "limits").Key("cpu"), err == nil // the template was type-checked
}

// quantityOf reads a quantity that is a JSON string or number.
func quantityOf(v any) (resource.Quantity, error) {
	switch t := v.(type) {
	case string:
		return resource.ParseQuantity(t)
	case int64:
		return resource.ParseQuantity(strconv.FormatInt(t, 10))
	case float64:
		return resource.ParseQuantity(strconv.FormatFloat(t, 'f', -1, 64))
	default:
		return resource.Quantity{}, resource.ErrFormatWrong
	}
}

// quantity reads a quantity of CPU from a property.
func (a *Application) quantity(s setting, rep *report) resource.Quantity {
	q, err := resource.ParseQuantity(s.value)
	if err != nil || q.Sign() <= 0 {
		rep.invalid(s.path, s.value, "must be a quantity above 0, such as 500m or 2")
		return *resource.NewQuantity(1, resource.DecimalSI)
	}
	return q
}

// customResources adds spark.driver.resource.* and spark.executor.resource.* to the limits
// (KubernetesConf.buildResourcesQuantities).
func (a *Application) customResources(r *role, limits corev1.ResourceList, rep *report) {
	for _, p := range a.conf.withPrefix(r.prefixResource) {
		name, ok := strings.CutSuffix(p.name, ".amount")
		if !ok {
			continue
		}
		amount, err := strconv.ParseInt(strings.TrimSpace(p.value), 10, 64)
		if err != nil || amount < 0 {
			rep.invalid(p.path, p.value, "must be a whole number that isn't negative")
			continue
		}
		vendor, ok := a.conf[r.prefixResource+name+".vendor"]
		if !ok || vendor.value == "" {
			rep.err(field.Required(a.sparkConfPath(r.prefixResource+name+".vendor"), "Kubernetes knows devices by their vendor, such as nvidia.com"))
			continue
		}
		full := vendor.value + "/" + name
		if problems := validation.IsQualifiedName(full); len(problems) > 0 {
			rep.invalid(vendor.path, vendor.value, "makes no name of a resource of %q: %s", full, strings.Join(problems, "; "))
			continue
		}
		if amount > 0 {
			limits[corev1.ResourceName(full)] = *resource.NewQuantity(amount, resource.DecimalSI)
		}
	}
}

// driverMemoryLimit puts the driver's own memory limit in place of Spark's, as the operator's webhook does.
func (a *Application) driverMemoryLimit(rep *report) {
	text := a.driver.spec.MemoryLimit
	if !given(text) {
		return
	}
	path := a.driver.path.Child("memoryLimit")
	limit, err := resource.ParseQuantity(javaSizeAsQuantity(*text))
	if err != nil || limit.Sign() <= 0 {
		rep.invalid(path, *text, "must be a size above 0, such as 2g or 2Gi")
		return
	}
	request := a.driver.resources.Requests[corev1.ResourceMemory]
	if limit.Cmp(request) < 0 {
		rep.invalid(path, *text, "must not be below the memory request, %s, which is memory and its overhead", request.String())
	}
	a.driver.resources.Limits[corev1.ResourceMemory] = limit
}

// javaSizeAsQuantity turns Java's units into those of Kubernetes and leaves all else alone.
func javaSizeAsQuantity(text string) string {
	m := sizePattern.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	if m == nil {
		return text
	}
	switch unit := strings.TrimSuffix(m[2], "b"); unit {
	case "k", "m", "g", "t", "p":
		return m[1] + strings.ToUpper(unit) + "i"
	}
	return text
}
