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

# Fails when anything that hack/update-codegen.sh writes is stale, and says what. It generates into a copy of the tree,
# so that the tree itself is never touched.

set -o errexit -o nounset -o pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
TMP="$(mktemp -d)"
trap 'rm -rf "${TMP}"' EXIT

GENERATED=(pkg/apis pkg/generated hack/openapi-violations.list)

mkdir "${TMP}/tree"
tar -C "${ROOT}" --exclude=./.git --exclude=./.cache --exclude=./bin -cf - . | tar -C "${TMP}/tree" -xf -

# A file that is no longer generated must not survive in the copy.
rm -rf "${TMP}/tree/pkg/generated"
find "${TMP}/tree/pkg/apis" \( -name 'zz_generated.*' -o -name 'generated.pb.go' -o -name 'generated.proto' \) -delete

# The list of API rule violations is compared below, like every other generated file.
CODEGEN_GOBIN="${ROOT}/.cache/codegen-bin" UPDATE_API_KNOWN_VIOLATIONS=true \
    "${TMP}/tree/hack/update-codegen.sh"

stale=0
for path in "${GENERATED[@]}"; do
    diff -Naupr "${ROOT}/${path}" "${TMP}/tree/${path}" || stale=1
done
if [[ "${stale}" != 0 ]]; then
    echo "Generated files are stale: run hack/update-codegen.sh and commit what it changes." >&2
    exit 1
fi
echo "Generated files are up to date."
