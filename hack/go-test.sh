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

# Runs `go test -v` with the given arguments and shows what matters while it runs: results, failures with their output,
# and the signs of life of long steps. The whole output is in the log file.
#
# In CI (CI=true) a skipped test is a failure: there everything must be present that a test could ask for.
#
# usage: hack/go-test.sh LOG ARGUMENT...

set -o errexit -o nounset -o pipefail

log="$1"
shift
mkdir -p "$(dirname "${log}")"

# Only lines that tell something are shown; grep's own answer is of no interest.
shown() {
    grep --line-buffered -E '^(--- |ok|FAIL|panic|test cluster: |#|[^ ]+\.go:[0-9]+)|^ +--- (FAIL|SKIP)' |
        grep --line-buffered -v -E '^--- PASS: .*\(0\.[0-9]+s\)$' || true
}

status=0
go test -v "$@" 2>&1 | tee "${log}" | shown || status=$?
if [[ "${status}" != 0 ]]; then
    echo
    echo "What the failed tests said (all of it is in ${log}):"
    grep -n -E '^ *--- FAIL|^panic:|Error Trace|Error:|Messages:|_test\.go:[0-9]+|build failed|^[^ ]+\.go:[0-9]+:' "${log}" | head -200 || true
    exit "${status}"
fi
if [[ "${CI:-}" == true ]] && grep -E '^ *--- SKIP' "${log}"; then
    echo "Tests were skipped (above); in CI that is a failure."
    exit 1
fi
