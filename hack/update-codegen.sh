#!/usr/bin/env bash

# Copyright The spark-apiserver Authors.
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

# Writes everything that is generated from the API types: protobuf, deepcopy, defaults, conversion, declarative
# validation, OpenAPI, clientset, listers, informers and apply configurations. Needs protoc and network access to the
# Go module proxy (or a filled module cache).

set -o errexit -o nounset -o pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
MODULE="github.com/spark-apiserver/spark-apiserver"
BOILERPLATE="${ROOT}/hack/boilerplate.go.txt"

cd "${ROOT}"
command -v protoc >/dev/null || { echo "protoc is needed (package protobuf-compiler)" >&2; exit 1; }

# The generators are those of the version that go.mod names; they are installed apart from the user's own.
GOBIN="${CODEGEN_GOBIN:-${ROOT}/.cache/codegen-bin}"
export GOBIN
mkdir -p "${GOBIN}"
# Their folders are named below, and go list names one only once it is downloaded.
go mod download k8s.io/code-generator k8s.io/api k8s.io/apimachinery
CODEGEN_PKG="$(go list -m -f '{{.Dir}}' k8s.io/code-generator)"

TMP="$(mktemp -d)"
trap 'rm -rf "${TMP}"' EXIT

generate_protobuf() {
    echo "Generating protobuf code"
    go install k8s.io/code-generator/cmd/go-to-protobuf k8s.io/code-generator/cmd/go-to-protobuf/protoc-gen-gogo golang.org/x/tools/cmd/goimports

    # protoc resolves imports by import path, so that a folder is laid out by import path.
    local src="${TMP}/src"
    mkdir -p "${src}/k8s.io" "${src}/$(dirname "${MODULE}")"
    ln -s "$(go list -m -f '{{.Dir}}' k8s.io/api)" "${src}/k8s.io/api"
    ln -s "$(go list -m -f '{{.Dir}}' k8s.io/apimachinery)" "${src}/k8s.io/apimachinery"
    ln -s "${ROOT}" "${src}/${MODULE}"
    # Only for protoc: the intermediate .proto names gogo's options, the generated code does not import them.
    mkdir -p "${src}/github.com/gogo"
    go mod download github.com/gogo/protobuf@v1.3.2
    ln -s "$(go env GOMODCACHE)/github.com/gogo/protobuf@v1.3.2" "${src}/github.com/gogo/protobuf"

    local dependencies=(
        -k8s.io/apimachinery/pkg/util/intstr
        -k8s.io/apimachinery/pkg/api/resource
        -k8s.io/apimachinery/pkg/runtime/schema
        -k8s.io/apimachinery/pkg/runtime
        -k8s.io/apimachinery/pkg/apis/meta/v1
        -k8s.io/api/core/v1
        -k8s.io/api/networking/v1
        -k8s.io/api/scheduling/v1alpha3
    )
    PATH="${GOBIN}:${PATH}" "${GOBIN}/go-to-protobuf" \
        --go-header-file "${BOILERPLATE}" \
        --packages "${MODULE}/pkg/apis/sparkoperator/v1beta2" \
        --apimachinery-packages "$(IFS=,; echo "${dependencies[*]}")" \
        --proto-import "${src}" \
        --output-dir "${src}"
}

generate_protobuf

# shellcheck source=/dev/null
source "${CODEGEN_PKG}/kube_codegen.sh"

# The types embed those of these packages, which are read and never written.
KUBE_CODEGEN_READONLY_PKGS+=(
    k8s.io/api/core/v1
    k8s.io/api/networking/v1
    k8s.io/api/scheduling/v1alpha3
)

kube::codegen::gen_helpers --boilerplate "${BOILERPLATE}" "${ROOT}/pkg/apis"

if [[ "${UPDATE_API_KNOWN_VIOLATIONS:-}" == "true" ]]; then
    update_report=(--update-report)
fi
kube::codegen::gen_openapi \
    --output-dir "${ROOT}/pkg/generated/openapi" \
    --output-pkg "${MODULE}/pkg/generated/openapi" \
    --output-model-name-file zz_generated.model_name.go \
    --extra-pkgs k8s.io/api/autoscaling/v1 \
    --extra-pkgs k8s.io/api/core/v1 \
    --extra-pkgs k8s.io/api/networking/v1 \
    --extra-pkgs k8s.io/api/scheduling/v1alpha3 \
    --extra-pkgs k8s.io/apimachinery/pkg/util/intstr \
    --report-filename "${ROOT}/hack/openapi-violations.list" \
    "${update_report[@]:+"${update_report[@]}"}" \
    --boilerplate "${BOILERPLATE}" \
    "${ROOT}/pkg/apis"

# Apply configurations are made from the schema that the server publishes.
go run ./hack/models-schema >"${TMP}/models-schema.json"

kube::codegen::gen_client \
    --with-watch \
    --with-applyconfig \
    --applyconfig-name applyconfiguration \
    --applyconfig-openapi-schema "${TMP}/models-schema.json" \
    --prefers-protobuf \
    --output-dir "${ROOT}/pkg/generated" \
    --output-pkg "${MODULE}/pkg/generated" \
    --boilerplate "${BOILERPLATE}" \
    "${ROOT}/pkg/apis"
