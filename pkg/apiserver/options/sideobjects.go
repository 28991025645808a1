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

package options

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// SideObjectOptions are about what stands beside the attempts of applications: Services and Ingresses. The flags are the
// Spark operator's.
type SideObjectOptions struct {
	// UIService says whether UIs get a Service.
	UIService bool
	// IngressURLFormat is the URL of UIs. Empty: UIs get no Ingress.
	IngressURLFormat string
	// IngressClassName is the class of Ingresses.
	IngressClassName string
	// IngressTLS and IngressAnnotations are JSON, and hold for applications that don't say otherwise.
	IngressTLS         string
	IngressAnnotations string
}

func newSideObjectOptions() *SideObjectOptions {
	return &SideObjectOptions{UIService: true}
}

func (o *SideObjectOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.UIService, "enable-ui-service", o.UIService, "Make a Service for the UI of every application that runs.")
	fs.StringVar(&o.IngressURLFormat, "ingress-url-format", o.IngressURLFormat,
		"URL of the UIs of applications, such as https://spark.example.com/{{$appNamespace}}/{{$appName}} or {{$appName}}.spark.example.com. "+
			"There is {{$appId}} besides. Empty: UIs get no Ingress. It needs --enable-ui-service.")
	fs.StringVar(&o.IngressClassName, "ingress-class-name", o.IngressClassName, "Class of the Ingresses of applications. Empty leaves it to the cluster.")
	fs.StringVar(&o.IngressTLS, "ingress-tls", o.IngressTLS,
		`TLS of Ingresses whose application doesn't say otherwise, as in an Ingress, in JSON: [{"hosts":["*.spark.example.com"],"secretName":"spark-tls"}].`)
	fs.StringVar(&o.IngressAnnotations, "ingress-annotations", o.IngressAnnotations,
		`Annotations of Ingresses whose application doesn't say otherwise, in JSON: {"example.com/auth":"required"}.`)
}

func (o *SideObjectOptions) validate() []error {
	var errs []error
	if o.IngressURLFormat != "" {
		if !o.UIService {
			errs = append(errs, errors.New("--ingress-url-format needs --enable-ui-service: an Ingress leads to a Service"))
		}
		if err := spark.CheckIngressURLFormat(o.IngressURLFormat); err != nil {
			errs = append(errs, fmt.Errorf("--ingress-url-format: %w", err))
		}
	}
	if _, err := decodeFlag[[]networkingv1.IngressTLS](o.IngressTLS); err != nil {
		errs = append(errs, fmt.Errorf("--ingress-tls: %w", err))
	}
	if _, err := decodeFlag[map[string]string](o.IngressAnnotations); err != nil {
		errs = append(errs, fmt.Errorf("--ingress-annotations: %w", err))
	}
	return errs
}

// settings are those of options that are valid.
func (o *SideObjectOptions) settings() spark.SideSettings {
	tls, _ := decodeFlag[[]networkingv1.IngressTLS](o.IngressTLS)
	annotations, _ := decodeFlag[map[string]string](o.IngressAnnotations)
	return spark.SideSettings{
		UIService: o.UIService, IngressURLFormat: o.IngressURLFormat, IngressClassName: o.IngressClassName,
		IngressTLS: tls, IngressAnnotations: annotations,
	}
}

// decodeFlag reads a flag in JSON. Empty is nothing.
func decodeFlag[T any](text string) (value T, err error) {
	if text == "" {
		return value, nil
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&value)
	return value, err
}
