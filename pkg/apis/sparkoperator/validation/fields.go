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

package validation

import (
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// serviceTypes are the types that a Service may have.
var serviceTypes = []corev1.ServiceType{
	corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeExternalName,
}

// templateVersion is the first version of Spark that reads pod templates.
var templateVersion = version.MustParseGeneric("3.0.0")

// validateTemplateVersion refuses pod templates for versions of Spark before 3.0, which have none. What can't be read as
// a version is answered with a warning elsewhere.
func validateTemplateVersion(spec *v1beta2.SparkApplicationSpec, path *field.Path) field.ErrorList {
	stated, err := version.ParseGeneric(spec.SparkVersion)
	if err != nil || stated.AtLeast(templateVersion) {
		return nil
	}
	var errs field.ErrorList
	detail := fmt.Sprintf("pod templates need Spark 3.0.0 or later, and sparkVersion is %s", spec.SparkVersion)
	if spec.Driver.Template != nil {
		errs = append(errs, field.Forbidden(path.Child("driver", "template"), detail))
	}
	if spec.Executor.Template != nil {
		errs = append(errs, field.Forbidden(path.Child("executor", "template"), detail))
	}
	return errs
}

// pythonVersions are those that the field has always had.
var pythonVersions = []string{"2", "3"}

func validatePythonVersion(spec *v1beta2.SparkApplicationSpec, path *field.Path) field.ErrorList {
	if v := spec.PythonVersion; v != nil && *v != "" {
		return oneOf(path.Child("pythonVersion"), *v, pythonVersions)
	}
	return nil
}

// validateNodeSelectors lets either the application or its roles say where pods may run, as it has always been.
func validateNodeSelectors(spec *v1beta2.SparkApplicationSpec, path *field.Path) field.ErrorList {
	if len(spec.NodeSelector) == 0 {
		return nil
	}
	var errs field.ErrorList
	detail := fmt.Sprintf("must not be set together with %s; keep the one or the other", path.Child("nodeSelector"))
	if selector := spec.Driver.NodeSelector; len(selector) > 0 {
		errs = append(errs, field.Invalid(path.Child("driver", "nodeSelector"), selector, detail))
	}
	if selector := spec.Executor.NodeSelector; len(selector) > 0 {
		errs = append(errs, field.Invalid(path.Child("executor", "nodeSelector"), selector, detail))
	}
	return errs
}

func validateUIOptions(options *v1beta2.SparkUIConfiguration, path *field.Path) field.ErrorList {
	if options == nil {
		return nil
	}
	return validateService(options.ServicePort, options.ServiceType, path)
}

// validateDriverIngressOptions keeps the Services and Ingresses apart that are named after port and URL.
func validateDriverIngressOptions(options []v1beta2.DriverIngressConfiguration, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	ports, urls := map[int32]bool{}, map[string]bool{}
	for i := range options {
		option, optionPath := &options[i], path.Index(i)
		switch port := option.ServicePort; {
		case port == nil:
			errs = append(errs, field.Required(optionPath.Child("servicePort"), "names the port of the driver"))
		case ports[*port]:
			errs = append(errs, field.Duplicate(optionPath.Child("servicePort"), *port))
		default:
			ports[*port] = true
		}
		switch url := option.IngressURLFormat; {
		case url == "":
			errs = append(errs, field.Required(optionPath.Child("ingressURLFormat"), "is the URL of the Ingress"))
		case urls[url]:
			errs = append(errs, field.Duplicate(optionPath.Child("ingressURLFormat"), url))
		default:
			urls[url] = true
			if err := spark.CheckIngressURLFormat(url); err != nil {
				errs = append(errs, field.Invalid(optionPath.Child("ingressURLFormat"), url, err.Error()))
			}
		}
		errs = append(errs, validateService(option.ServicePort, option.ServiceType, optionPath)...)
	}
	return errs
}

func validateService(port *int32, serviceType *corev1.ServiceType, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if port != nil {
		errs = append(errs, validatePortNumber(path.Child("servicePort"), *port)...)
	}
	if serviceType != nil {
		errs = append(errs, oneOf(path.Child("serviceType"), *serviceType, serviceTypes)...)
	}
	return errs
}

func validatePortNumber(path *field.Path, port int32) field.ErrorList {
	if port < 1 || port > math.MaxUint16 {
		return field.ErrorList{field.Invalid(path, port, "must be from 1 to 65535")}
	}
	return nil
}

func oneOf[T ~string](path *field.Path, value T, valid []T) field.ErrorList {
	if slices.Contains(valid, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, valid)}
}
