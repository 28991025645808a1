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

# What an executor's container runs before it is stopped, if the application decommissions executors
# (spark.decommission.enabled): it tells the executor to move its blocks elsewhere, and waits until it has left. The
# pod's grace period bounds the wait.

set -o nounset -o pipefail

for folder in /proc/[0-9]*; do
    # Arguments are separated by zero bytes. The first is Java itself, so that no script that names the class is meant.
    { mapfile -d '' -t arguments <"${folder}/cmdline"; } 2>/dev/null || continue
    if [[ "${arguments[0]:-}" != *java || " ${arguments[*]} " != *" org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend "* ]]; then
        continue
    fi
    pid="${folder#/proc/}"
    echo "decommissioning the executor, process ${pid}"
    kill -s SIGPWR "${pid}" || exit
    # Returns when the process is gone.
    exec tail --pid="${pid}" --follow /dev/null
done
echo "no executor runs here"
