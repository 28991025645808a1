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

// The models-schema command prints the OpenAPI v2 models of the API, from which apply configurations are generated.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/spark-apiserver/spark-apiserver/pkg/generated/openapi"
)

func main() {
	if err := printModels(); err != nil {
		fmt.Fprintln(os.Stderr, "models-schema:", err)
		os.Exit(1)
	}
}

func printModels() error {
	definitions := openapi.GetOpenAPIDefinitions(func(name string) spec.Ref {
		return spec.MustCreateRef("#/definitions/" + name)
	})
	models := make(map[string]spec.Schema, len(definitions))
	for name, definition := range definitions {
		// The schema of version 2, where a definition has one of its own.
		if schema, ok := definition.Schema.Extensions[common.ExtensionV2Schema].(spec.Schema); ok {
			models[name] = schema
			continue
		}
		models[name] = definition.Schema
	}
	return json.NewEncoder(os.Stdout).Encode(&spec.Swagger{SwaggerProps: spec.SwaggerProps{
		Swagger:     "2.0",
		Info:        &spec.Info{InfoProps: spec.InfoProps{Title: "SparkApplication", Version: "unversioned"}},
		Paths:       &spec.Paths{},
		Definitions: models,
	}})
}
